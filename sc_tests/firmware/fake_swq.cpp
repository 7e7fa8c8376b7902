#include "sc_tests/firmware/fake_swq.hpp"

#include <algorithm>
#include <stdexcept>

#include "models/sdhci/sdhci_regs.hpp"
#include "sc_tests/firmware/fake_board.hpp"

namespace fake {

namespace {
constexpr std::uint32_t kDatInhibit = 2;
std::uint32_t state_register() { return vp::find_register(vp::sdhci::kRegs, "PRESENT_STATE")->offset; }
bool executes(unsigned index) { return index == 46 || index == 47; }
bool ordinary(unsigned index) { return index == 17 || index == 18 || index == 24 || index == 25; }
unsigned task_of(std::uint32_t arg) { return arg >> 16 & 31; }
}  // namespace

bool Swq::mode_on() const { return board_.ext_csd[15] & 1; }
unsigned Swq::used() const {
  return static_cast<unsigned>(
      std::count_if(tasks_.begin(), tasks_.end(), [](const Task& t) { return t.used; }));
}
bool Swq::takes_data(unsigned index) const {
  return present && (executes(index) || (hold_data && ordinary(index)));
}

/// Before anything else: is the command allowed now?
void Swq::check(unsigned index, std::uint32_t) {
  if (!present) return;
  if (moving_) ++beside[index];
  const auto forbid = [](bool when, const char* why) {
    if (when) throw std::runtime_error(why);
  };
  forbid(moving_ && (executes(index) || ordinary(index) || index == 6),
         "command that needs DAT while data move");
  forbid(mode_on() && (ordinary(index) || index == 23), "ordinary transfer in queue mode");
  forbid(!mode_on() && index >= 44 && index <= 47, "queue command outside of queue mode");
  forbid(used() != 0 && index == 6, "CMD6 with tasks in the queue");
  forbid(params_ >= 0 && index != 45 && index != 12 && index != 48 && index != 13,
         "a command between CMD44 and CMD45");
  forbid(params_ < 0 && index == 45, "CMD45 without CMD44");
}

bool Swq::answer(unsigned index, std::uint32_t arg, std::uint32_t& r) {
  const unsigned id = index == 45 ? static_cast<unsigned>(params_) : task_of(arg);
  r = 0x900;
  if (index == 48) {
    if (refuse_discard && refuse_discard--) return false;
    tasks_ = {};
    params_ = -1;
    return true;
  }
  const std::uint32_t errors = r1_errors ? r1_errors(index, id) : 0;
  r |= errors;
  Task& t = tasks_[id];
  if (index == 44) {
    if (t.used) throw std::runtime_error("CMD44 for a task id in use");
    params_ = errors ? -1 : static_cast<int>(id);
    t.read = arg >> 30 & 1;
    t.blocks = arg & 0xFFFF;
    if (t.blocks == 0) throw std::runtime_error("CMD44 without blocks");
  } else if (index == 45) {
    params_ = -1;
    t.lba = arg;
    t.used = errors == 0;
    t.polls = 0;
    most = std::max(most, used());
  } else if (!ready(id) || t.read != (index == 46)) {
    throw std::runtime_error("execution of a task that is not ready, or of the other direction");
  }
  return true;
}

std::uint32_t Swq::status() {
  std::uint32_t bits = 0;
  for (unsigned id = 0; id < tasks_.size(); ++id) {
    if (!tasks_[id].used || (moving_ && executes(index_) && id == task_)) continue;
    ++tasks_[id].polls;
    if (ready(id)) bits |= 1u << id;
  }
  return bits;
}

void Swq::start(unsigned index, std::uint32_t arg) {
  index_ = index;
  task_ = task_of(arg);
  lba_ = executes(index) ? tasks_[task_].lba : arg;
  if (executes(index)) executed.push_back(task_);
  moving_ = card_busy_ = true;
  fate_ = Fate::good;
  if (executes(index) && fate) fate_ = fate(task_);
  if (ordinary(index) && board_.data_crc_fault && board_.data_crc_fault(index, arg)) fate_ = Fate::data_crc;
  board_.put(state_register(), 4, board_.get(state_register(), 4) | kDatInhibit);
  if (!hold_data) move();
}

void Swq::move() {
  if (fate_ == Fate::no_interrupt) return;
  moving_ = false;
  board_.put(state_register(), 4, board_.get(state_register(), 4) & ~kDatInhibit);
  if (fate_ == Fate::data_crc) return board_.raise(vp::sdhci::kIntDataCrc);
  const Task& t = tasks_[task_];
  const std::uint32_t count = board_.get(vp::find_register(vp::sdhci::kRegs, "BLOCK_COUNT")->offset, 2);
  if (executes(index_) && count != t.blocks) throw std::runtime_error("block count differs from the task's");
  board_.move(index_, lba_);
  card_busy_ = false;
  if (executes(index_)) tasks_[task_] = Task{};
}

/// The host forgets the transfer; the card is still in it.
void Swq::lines_reset() {
  moving_ = false;
  board_.put(state_register(), 4, board_.get(state_register(), 4) & ~kDatInhibit);
}

bool Swq::stop() {
  const bool was = card_busy_;
  if (was && executes(index_)) tasks_[task_] = Task{};
  card_busy_ = false;
  return was;
}

bool Swq::idle() {
  if (!moving_ || fate_ == Fate::no_interrupt) return false;
  move();
  return true;
}

}  // namespace fake
