// Flushes, and error recovery of the queue driven by software: reset the lines, CMD12, CMD13 until not busy, CMD48, leave
// queue mode; the request to blame is retried without the queue (MmcDisk, which tries twice), queue mode comes back and
// everything else that was out is queued again in its old order. When the card does not follow, all that is out fails,
// and the next request tries the way back again.
#include <bit>

#include "firmware/block/swq_disk.hpp"
#include "firmware/drivers/irq_lock.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kNever = ~std::uint64_t{0};
}

/// A flush runs when the queue is empty.
void SwqDisk::serve_legacy() {
  if (!legacy_request_ || legacy_running_ || !empty() || failed_) return;
  start_legacy();
}

void SwqDisk::start_legacy() {
  legacy_running_ = true;
  legacy_->issue(*legacy_request_);
}

void SwqDisk::legacy_ended() {
  legacy_->service();
  Request* const r = legacy_->take_finished();
  if (!r) return;
  const bool retried = retrying_;
  if (retried) lost_ = !enter();
  IrqLock lock;
  finished_.push({r, kNone});
  legacy_request_ = held_flush_;
  held_flush_ = nullptr;
  legacy_running_ = retrying_ = false;
  pump();
}

/// Blames the oldest task whose time is over, and finds the next deadline.
bool SwqDisk::past_deadline() {
  const std::uint64_t now = hal::now_ns();
  if (empty() || now < next_deadline_ns_) return false;
  IrqLock lock;
  if (failed_) return true;
  unsigned late = kNone;
  next_deadline_ns_ = kNever;
  for (std::uint32_t used = live(); used; used &= used - 1) {
    const auto t = static_cast<unsigned>(std::countr_zero(used));
    const Slot& s = slots_[t];
    if (s.deadline_ns > now)
      next_deadline_ns_ = s.deadline_ns < next_deadline_ns_ ? s.deadline_ns : next_deadline_ns_;
    else if (late == kNone || s.order < slots_[late].order)
      late = t;
  }
  if (late != kNone) fail(late, MmcError::software_timeout);
  return failed_;
}

bool SwqDisk::enter() { return queue_mode_ = card_->set_queue_mode(true); }

/// CMD6 is illegal while tasks are in the card's queue: `discard` them first.
bool SwqDisk::leave(bool discard) {
  if (!queue_mode_) return true;
  if (discard && !card_->discard_queue()) return false;
  queue_mode_ = !card_->set_queue_mode(false);
  return !queue_mode_;
}

/// driver_error: id = request slot, a = MmcError, b = recovery count, c = the tasks that were out.
void SwqDisk::recover() {
  failed_ = true;  // also when the card is lost: nothing is sent until this is through
  ++recoveries_;
  if (culprit_ == kNone) {  // CMD13 failed, or the way back did: the oldest pays
    culprit_ = oldest(Stage::executing);
    for (const Stage s : {Stage::queued, Stage::ready, Stage::waiting})
      if (culprit_ == kNone) culprit_ = oldest(s);
  }
  const std::uint32_t slot = culprit_ != kNone ? slots_[culprit_].request->slot : 0;
  hal::event(hal::Event::driver_error, slot, static_cast<std::uint64_t>(error_), recoveries_, live());
  host_->reset_lines();
  const bool usable = !queue_mode_ || (card_->abort_queue() && leave(false));
  queue_again();
  lost_ = !usable;
  if (!usable) end_all(error_);
  const unsigned t = culprit_;
  failed_ = false;
  culprit_ = kNone;
  error_ = MmcError::none;
  if (usable && t == kNone) lost_ = !enter();
  if (!usable || t == kNone) return;
  // What waits to be flushed waits on: the retry is older.
  Request* const flush = legacy_request_;
  legacy_request_ = slots_[t].request;
  slots_[t] = Slot{};
  free_ |= 1u << t;
  --live_;
  held_flush_ = flush;
  retrying_ = true;
  hal::event(hal::Event::request_issue, legacy_request_->slot, kNoTag);
  start_legacy();
}

/// The lines are reset and the card's queue is empty: every task waits again, in its old order.
void SwqDisk::queue_again() {
  line_ = Line::free;
  line_tag_ = pair_ = executing_ = kNone;
  status_stale_ = false;
  next_deadline_ns_ = kNever;
  for (std::uint32_t used = live(); used; used &= used - 1) {
    Slot& s = slots_[static_cast<unsigned>(std::countr_zero(used))];
    s.stage = Stage::waiting;
    s.mapped = true;  // recovery does not run inside issue()
    arm(s);
  }
}

void SwqDisk::end_all(MmcError culprit_error) {
  for (std::uint32_t used = live(); used; used &= used - 1) {
    const auto t = static_cast<unsigned>(std::countr_zero(used));
    end(t, t == culprit_ && culprit_error != MmcError::none ? culprit_error : MmcError::not_ready);
  }
}

}  // namespace fw
