// CMD44 to CMD48 and what queue mode allows (JESD84-B51 6.6.39).
#include <algorithm>

#include "models/emmc/emmc.hpp"

namespace vp {
namespace {

using State = QueueTask::State;

constexpr std::uint32_t bit(unsigned n) { return 1U << n; }

constexpr std::uint64_t commands(std::initializer_list<unsigned> list) {
  std::uint64_t mask = 0;
  for (const unsigned c : list) mask |= std::uint64_t{1} << c;
  return mask;
}

// Legal with the queue on and empty, and with tasks in it; everything else is illegal. CMD12 with nothing to stop
// is no error. CMD16 and the commands of transfers without a queue need CMDQ_MODE_EN = 0.
constexpr std::uint64_t kLegalEmpty =
    commands({0, 5, 6, 7, 8, 9, 10, 12, 13, 15, 21, 28, 29, 30, 31, 35, 36, 38, 44, 45, 48});
constexpr std::uint64_t kLegalFilled = commands({0, 7, 12, 13, 15, 44, 45, 46, 47, 48});
constexpr std::uint64_t kQueueCommands = commands({44, 45, 46, 47, 48});

// CMD48 operations.
constexpr unsigned kDiscardQueue = 1, kDiscardTask = 2;

unsigned task_of(std::uint32_t argument) { return argument >> 16 & 0x1F; }

}  // namespace

/// Not before the end of the busy of the CMD6 that turns it on.
bool Emmc::queue_on(sc_time now) const {
  return (ext_csd_[ext_csd::kCmdqModeEn] & 1) != 0 && now >= queue_from_;
}

unsigned Emmc::queue_depth() const { return (ext_csd_[ext_csd::kCmdqDepth] & 0x1FU) + 1; }

/// Does the queue's mode allow the command?
bool Emmc::queue_allows(unsigned index, sc_time now) const {
  const std::uint64_t asked = std::uint64_t{1} << index;
  if (!queue_on(now)) return (kQueueCommands & asked) == 0;
  return ((queue_.empty() ? kLegalEmpty : kLegalFilled) & asked) != 0;
}

/// CMD44: reliable 31, read 30, tag 29, context 28:25, forced 24, priority 23, task 20:16, blocks 15:0. Tag and
/// context have no effect. A second CMD44 replaces the first, also when it is wrong.
void Emmc::queue_parameters(Call& c) {
  const unsigned id = task_of(c.cmd.argument);
  queue_.parameters.reset();
  if (id >= queue_depth() || queue_[id].state != State::empty || (c.cmd.argument & 0xFFFF) == 0)
    status_ |= status::kError;
  else
    queue_.parameters = c.cmd.argument;
}

/// CMD45: the start sector; the task exists from here on, for the partition that is selected.
void Emmc::queue_address(Call& c) {
  if (!queue_.parameters) {
    status_ |= status::kError;
    return;
  }
  const std::uint32_t parameters = *queue_.parameters;
  queue_.parameters.reset();
  const std::uint64_t lba = c.cmd.argument;
  const std::uint32_t blocks = parameters & 0xFFFF;
  const unsigned access = ext_csd_[ext_csd::kPartitionConfig] & 7;
  if (lba + blocks > partitions_[access].medium->blocks()) {
    status_ |= status::kAddressOutOfRange;
    return;
  }
  QueueTask& t = queue_.add(task_of(parameters), c.now);
  t.write = (parameters & bit(30)) == 0;
  t.high_priority = (parameters & bit(23)) != 0;
  t.through = (parameters & (bit(31) | bit(24))) != 0 || access != 0;  // boot partitions are not cached
  t.blocks = blocks, t.lba = lba, t.partition = access;
  t.cmd45 = c.after;
  prepare_tasks(c.now);
  show_queue(c.now);
}

/// Starts the device's work on queued tasks while it has places for them.
void Emmc::prepare_tasks(sc_time at) {
  const std::uint64_t places = std::min<std::uint64_t>(params_.queue_parallel, queue_depth());
  for (std::uint64_t n = queue_.working(); n < places; ++n) {
    QueueTask* t = queue_.next();
    if (!t) return;
    prepare(*t, std::max(at, t->queued_at));
  }
}

void Emmc::prepare(QueueTask& t, sc_time from) {
  // Waiting for the device to take the task up is waiting for its firmware.
  const NodeId taken = t.causes.add(kRootNode, Span::device_firmware, from);
  const Partition& p = partitions_[t.partition];
  t.state = State::prepared;
  if (t.write) {
    prepare_write(t, from, taken);
  } else {
    ftl_->start_read(t.read, p.first_lba + t.lba, t.blocks, p.first_lba + p.medium->blocks(), from, t.causes,
                     taken, params_.queue_read_pages);
    t.ready = t.read.ready(0, t.causes);
  }
  ++queue_.counters.prepared;
  queue_.counters.ready_ps += (t.ready.at - t.queued_at).value();
}

/// A write can be taken when there is room in the RAM and, as emmc.queue_write_ready says, the firmware's work on it is
/// done.
void Emmc::prepare_write(QueueTask& t, sc_time from, NodeId taken) {
  t.ready = {from, taken};
  if (writes_wait_for_firmware_) {
    ftl_->start_write(t.write_plan, partitions_[t.partition].first_lba + t.lba, t.through, from);
    t.ready.at = t.write_plan.firmware_end();
    t.ready.why = t.causes.add(taken, Span::device_firmware, t.ready.at);
  }
  const sc_time room = ftl_->room_from(t.ready.at);
  if (room > t.ready.at) t.ready = {room, t.causes.add(t.ready.why, Span::nand_array, room)};
}

/// Puts what the task has waited for in the device into the host's graph, once; `after` stands for CMD45.
void Emmc::hand_over(QueueTask& t, CauseGraph& graph, NodeId after) {
  if (t.handed_over) return;
  t.handed_over = true;
  t.ready.why = copy_causes(t.causes, t.ready.why, graph, after);
  if (!t.write) t.read.move_causes(t.causes, graph, after);
}

BlockReady Emmc::queue_ready(unsigned tag, CauseGraph& graph, NodeId after) {
  if (tag >= TaskQueue::kMaxTasks || queue_[tag].state != State::prepared) return {sc_time(), after};
  hand_over(queue_[tag], graph, after);
  return {queue_[tag].ready.at, graph.later(after, queue_[tag].ready.why)};
}

sc_time Emmc::ready_at(unsigned task) const {
  const bool known = task < TaskQueue::kMaxTasks && queue_[task].state != State::empty &&
                     queue_[task].state != State::queued;
  return known ? queue_[task].ready.at : sc_core::sc_max_time();
}

void Emmc::execute_read(Call& c) { execute(c, false); }
void Emmc::execute_write(Call& c) { execute(c, true); }

/// An error is in the response, and no data follow. A task that is not ready, or of the other direction, stays; one
/// whose prefetched pages could not be corrected is over (6.6.39).
void Emmc::execute(Call& c, bool write) {
  queue_.parameters.reset();
  const unsigned id = task_of(c.cmd.argument);
  QueueTask& t = queue_[id];
  if ((queue_.status(c.now) & bit(id)) == 0 || t.write != write) {
    status_ |= status::kError;
    return;
  }
  if (block_length_ != kBlockBytes) {
    status_ |= status::kBlockLenError;
    return;
  }
  executing_ = &t;
  if (!write && ftl_->has_ecc_errors() && uncorrectable(t)) {
    status_ |= status::kDeviceEccFailed;
    transfer_.moved = 0;
    end_task(c.now);
    return;
  }
  t.state = State::executing;
  // The graph is the task's own request's; should it have been restarted, CMD45's node is not in it.
  hand_over(t, c.graph, c.graph.end(t.cmd45) == t.queued_at ? t.cmd45 : c.after);
  begin_execution(c, t);
  show_queue(c.now);
}

void Emmc::begin_execution(Call& c, QueueTask& t) {
  Transfer& x = transfer_;
  x.running = true, x.writing = t.write, x.source = Source::medium, x.rejected = false, x.single = false;
  x.partition = &partitions_[t.partition];
  x.lba = t.lba, x.blocks = t.blocks, x.moved = 0;
  x.reading = &t.read, x.write_plan = &t.write_plan;
  c.effect.block_bytes = kBlockBytes;
  if (t.write) {
    if (!writes_wait_for_firmware_)
      ftl_->start_write(t.write_plan, x.partition->first_lba + t.lba, t.through, c.now);
    busy_until_ = sc_time();
    c.effect.data = DataDir::write;
    enter(CardState::rcv, c.now);
  } else {
    ftl_->open_window(t.read, c.now, c.graph, c.after);
    data_done_ = false;
    c.effect.data = DataDir::read;
    enter(CardState::data, c.now);
  }
}

/// Is one of the pages fetched so far beyond correction? Later ones show while the data move.
bool Emmc::uncorrectable(const QueueTask& t) const {
  const std::uint64_t first = partitions_[t.partition].first_lba + t.lba;
  return ftl_->ecc_error_in(first, std::min(first + t.blocks, t.read.fetched_end()));
}

/// The executing task moves no more data; it leaves the queue at `at`, which may lie ahead.
void Emmc::end_task(sc_time at) {
  if (!executing_) return;
  QueueTask& t = *executing_;
  const bool known = t.state == State::ending;  // its end was to be later
  if (!known) ++(transfer_.moved == t.blocks ? queue_.counters.executed : queue_.counters.stopped);
  const sc_time before = known ? t.ends_at : at;
  t.state = State::ending;
  t.ends_at = at;
  show_queue(sc_core::sc_time_stamp());
  settle_queue(sc_core::sc_time_stamp());
  if (before > at) context_.trace.change(tasks_signal_, before, queue_.used());
}

/// Lets the executing task go when its end has come, and takes up the next.
void Emmc::settle_queue(sc_time now) {
  if (!executing_ || executing_->state != State::ending || now < executing_->ends_at) return;
  const sc_time at = executing_->ends_at;
  queue_.remove(*executing_);
  executing_ = nullptr;
  prepare_tasks(at);
  show_queue(at);
}

/// CMD48: discards the queue or one task that is in it. What a task has booked of the NAND stays booked.
void Emmc::manage_tasks(Call& c) {
  queue_.parameters.reset();
  const unsigned operation = c.cmd.argument & 0xF, id = task_of(c.cmd.argument);
  if (operation == kDiscardQueue) {
    queue_.counters.discarded += queue_.used();
    drop_tasks(~0U, c.now);
  } else if (operation == kDiscardTask && queue_[id].state != State::empty) {
    ++queue_.counters.discarded;
    drop_tasks(bit(id), c.now);
  } else {
    status_ |= status::kError;
    return;
  }
  prepare_tasks(c.now);
  show_queue(c.now);
  const sc_time until = c.now + from_ps(NandParams::us(params_.discard_us));
  busy(c, CardState::prg, until, c.graph.add(c.after, Span::busy, until));
}

void Emmc::drop_tasks(std::uint32_t which, sc_time now) {
  std::array<sc_time, TaskQueue::kMaxTasks> announced{};  // changes of the waveform that will not come
  for (unsigned id = 0; id < TaskQueue::kMaxTasks; ++id) {
    if ((which & bit(id)) == 0) continue;
    QueueTask& t = queue_[id];
    if (t.state == State::prepared) announced[id] = t.ready.at;
    if (t.state == State::ending) context_.trace.change(tasks_signal_, t.ends_at, 0);
    if (&t == executing_) executing_ = nullptr;
    queue_.remove(t);
  }
  for (const sc_time& at : announced)
    if (at > now) context_.trace.change(qsr_signal_, at, queue_.status(at));
}

/// The waveform from `now` on, as far as it is known.
void Emmc::show_queue(sc_time now) {
  if (!context_.trace.on()) return;
  context_.trace.change(tasks_signal_, now, queue_.used());
  if (executing_ && executing_->state == State::ending && executing_->ends_at > now)
    context_.trace.change(tasks_signal_, executing_->ends_at, queue_.used() - 1);
  context_.trace.change(qsr_signal_, now, queue_.status(now));
  for (unsigned id = 0; id < TaskQueue::kMaxTasks; ++id)
    if (queue_[id].state == State::prepared && queue_[id].ready.at > now)
      context_.trace.change(qsr_signal_, queue_[id].ready.at, queue_.status(queue_[id].ready.at));
}

}  // namespace vp
