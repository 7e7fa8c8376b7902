// CMD44 to CMD48 and what queue mode allows (JESD84-B51 6.6.39).
#include <algorithm>

#include "models/emmc/emmc.hpp"

namespace vp {
namespace {

constexpr std::uint32_t bit(unsigned n) { return 1u << n; }

constexpr std::uint64_t commands(std::initializer_list<unsigned> list) {
  std::uint64_t mask = 0;
  for (const unsigned c : list) mask |= std::uint64_t{1} << c;
  return mask;
}

// Legal with the queue on and empty, and with tasks in it; everything else is illegal.
constexpr std::uint64_t kLegalEmpty = commands({0, 5, 6, 7, 8, 9, 10, 12, 13, 15, 21, 35, 36, 38, 44, 45, 48});
constexpr std::uint64_t kLegalFilled = commands({0, 7, 12, 13, 15, 44, 45, 46, 47, 48});
constexpr std::uint64_t kQueueCommands = commands({44, 45, 46, 47, 48});

unsigned task_of(std::uint32_t argument) { return argument >> 16 & 0x1F; }

}  // namespace

bool Emmc::queue_on() const { return (ext_csd_[ext_csd::kCmdqModeEn] & 1) != 0; }

unsigned Emmc::queue_depth() const { return (ext_csd_[ext_csd::kCmdqDepth] & 0x1Fu) + 1; }

/// Does the queue's mode allow the command?
bool Emmc::queue_allows(unsigned index) const {
  const std::uint64_t asked = std::uint64_t{1} << index;
  if (!queue_on()) return (kQueueCommands & asked) == 0;
  return ((queue_.empty() ? kLegalEmpty : kLegalFilled) & asked) != 0;
}

/// CMD44: reliable 31, read 30, tag 29, context 28:25, forced 24, priority 23, task 20:16, blocks 15:0. A second CMD44
/// replaces the first.
void Emmc::queue_parameters(Call& c) {
  const unsigned id = task_of(c.cmd.argument);
  const bool taken = id >= queue_depth() || queue_[id].state != QueueTask::State::empty;
  if (taken || (c.cmd.argument & 0xFFFF) == 0) {
    status_ |= status::kError;
    queue_.parameters.reset();
    return;
  }
  queue_.parameters = c.cmd.argument;
}

/// CMD45: the start sector; the task exists from here on.
void Emmc::queue_address(Call& c) {
  if (!queue_.parameters) {
    status_ |= status::kError;
    return;
  }
  const std::uint32_t parameters = *queue_.parameters;
  queue_.parameters.reset();
  const std::uint64_t lba = c.cmd.argument;
  const std::uint32_t blocks = parameters & 0xFFFF;
  if (lba + blocks > partitions_[0].medium->blocks()) {
    status_ |= status::kAddressOutOfRange;
    return;
  }
  QueueTask& t = queue_.add(task_of(parameters));
  t.write = (parameters & bit(30)) == 0;
  t.high_priority = (parameters & bit(23)) != 0;
  t.through = (parameters & (bit(31) | bit(24))) != 0;
  t.blocks = blocks;
  t.lba = lba;
  t.graph = &c.graph;
  t.after = c.after;
  t.ready_at = c.now;
  context_.trace.change(tasks_signal_, c.now, queue_.used());
  prepare_tasks(c.now);
}

/// Starts the device's work on queued tasks while it has room for more.
void Emmc::prepare_tasks(sc_time at) {
  const std::uint64_t parallel = std::min<std::uint64_t>(params_.queue_parallel, queue_depth());
  while (queue_.working() < parallel) {
    QueueTask* t = queue_.next();
    if (!t) return;
    const sc_time queued_at = t->ready_at;
    t->state = QueueTask::State::prepared;
    if (t->write) {
      t->ready_at = std::max(at, queued_at);
    } else {
      // Waiting for the device to take the task up is waiting for its firmware.
      const sc_time from = std::max(at, queued_at);
      const NodeId taken = from > queued_at ? t->graph->add(t->after, Span::device_firmware, from) : t->after;
      const std::uint64_t first = partitions_[0].first_lba;
      ftl_->start_read(t->read, first + t->lba, t->blocks, first + partitions_[0].medium->blocks(), from, *t->graph,
                       taken);
      t->ready_at = t->read.ready(0, *t->graph).at;
    }
    queue_.counters.ready_ps += (t->ready_at - queued_at).value();
  }
}

/// The executing task is over at `at`.
void Emmc::finish_task(sc_time at) {
  if (!executing_) return;
  queue_.remove(*executing_);
  executing_ = nullptr;
  ++queue_.counters.executed;
  context_.trace.change(tasks_signal_, at, queue_.used());
  prepare_tasks(at);
}

void Emmc::execute_read(Call& c) { execute(c, false); }
void Emmc::execute_write(Call& c) { execute(c, true); }

void Emmc::execute(Call& c, bool write) {
  const unsigned id = task_of(c.cmd.argument);
  QueueTask& t = queue_[id];
  const bool ready = id < queue_depth() && (queue_.status(c.now) & bit(id)) != 0;
  if (!ready || t.write != write) {  // not ready, or the other direction: an error and no data
    status_ |= status::kError;
    return;
  }
  t.state = QueueTask::State::executing;
  executing_ = &t;
  Transfer& x = transfer_;
  x.running = true, x.writing = write, x.source = Source::medium, x.rejected = false, x.single = false;
  x.partition = &partitions_[0];
  x.lba = t.lba, x.blocks = t.blocks, x.moved = 0;
  x.reading = &t.read, x.write_plan = &t.write_plan;
  c.effect.block_bytes = kBlockBytes;
  if (!write) {
    if (ftl_->has_ecc_errors())
      for (std::uint32_t k = 0; k < t.blocks; ++k)
        if (ftl_->ecc_error(partitions_[0].first_lba + t.lba + k)) status_ |= status::kDeviceEccFailed;
    data_done_ = false;
    enter(CardState::data, c.now);
    c.effect.data = DataDir::read;
    return;
  }
  ftl_->start_write(t.write_plan, partitions_[0].first_lba + t.lba, t.through, c.now);
  busy_until_ = sc_time();
  enter(CardState::rcv, c.now);
  c.effect.data = DataDir::write;
}

/// CMD48: 1 discards the queue, 2 one task. A task that executes cannot be discarded.
void Emmc::manage_tasks(Call& c) {
  const unsigned operation = c.cmd.argument & 0xF, id = task_of(c.cmd.argument);
  if (operation == 1) {
    queue_.counters.discarded += queue_.used();
    queue_.clear();
    executing_ = nullptr;
  } else if (operation == 2 && queue_[id].state != QueueTask::State::empty &&
             queue_[id].state != QueueTask::State::executing) {
    ++queue_.counters.discarded;
    queue_.remove(queue_[id]);
    prepare_tasks(c.now);
  } else {
    status_ |= status::kError;
    return;
  }
  context_.trace.change(tasks_signal_, c.now, queue_.used());
  const sc_time until = c.now + from_ps(NandParams::us(params_.switch_other_us));
  busy(c, CardState::prg, until, c.graph.add(c.after, Span::busy, until));
}

}  // namespace vp
