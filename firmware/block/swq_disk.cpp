#include "firmware/block/swq_disk.hpp"

#include <bit>

#include "firmware/block/transfer.hpp"
#include "firmware/drivers/irq_lock.hpp"
#include "firmware/hal/hal.hpp"
#include "firmware/mmc/commands.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kMs = 1'000'000;
}  // namespace

void SwqDisk::init(MmcHost& host, Card& card, MmcDisk& legacy, const SwqDiskConfig& config) {
  host_ = &host;
  card_ = &card;
  legacy_ = &legacy;
  config_ = config;
  slots_ = {};
  all_ = free_ = config.depth >= kSlots ? ~0u : (1u << config.depth) - 1;
  live_ = 0;
  next_order_ = 0;
  next_deadline_ns_ = kNever;
  finished_ = {};
  line_ = Line::free;
  line_tag_ = pair_ = executing_ = culprit_ = kNone;
  status_stale_ = pumping_ = failed_ = lost_ = queue_mode_ = legacy_running_ = retrying_ = false;
  legacy_request_ = held_flush_ = nullptr;
  recoveries_ = 0;
  command_ = transfer_ = MmcCommand{};
  command_.listener = transfer_.listener = this;
}

std::uint32_t SwqDisk::tag(const Request& r) const {
  return r.flush ? kNoTag : static_cast<std::uint32_t>(std::countr_zero(free_));
}

void SwqDisk::issue(Request& r) {
  r.attempts = 0;
  if (r.flush) {
    legacy_request_ = &r;
    return serve_legacy();
  }
  const auto t = static_cast<unsigned>(std::countr_zero(free_));
  {
    IrqLock lock;
    free_ &= ~(1u << t);
    slots_[t] = {&r, Stage::waiting, r.mapped, next_order_++, 0};
    ++live_;
    arm(slots_[t]);
    pump();
  }
  if (r.mapped) return;
  hal::cost(hal::Cost::dma_map, r.io->buffer.pages_of(r.buffer_offset, r.bytes));
  IrqLock lock;
  r.mapped = true;
  slots_[t].mapped = true;
  pump();
}

void SwqDisk::arm(Slot& s) {
  s.deadline_ns = hal::now_ns() + config_.request_timeout_ms * kMs;
  if (s.deadline_ns < next_deadline_ns_) next_deadline_ns_ = s.deadline_ns;
}

/// The tags of requests that have not ended.
std::uint32_t SwqDisk::live() const {
  std::uint32_t mask = 0;
  for (unsigned t = 0; t < kSlots; ++t)
    if (slots_[t].stage != Stage::empty && slots_[t].stage != Stage::ended) mask |= 1u << t;
  return mask;
}

/// The oldest slot in a stage; kNone when there is none. A ready one must be mapped.
unsigned SwqDisk::oldest(Stage stage) const {
  unsigned best = kNone;
  for (std::uint32_t used = all_ & ~free_; used; used &= used - 1) {
    const auto t = static_cast<unsigned>(std::countr_zero(used));
    const Slot& s = slots_[t];
    if (s.stage != stage || (stage == Stage::ready && !s.mapped)) continue;
    if (best == kNone || s.order < slots_[best].order) best = t;
  }
  return best;
}

/// Keeps the CMD line busy while there is something to say. Interrupts are off, or this is their handler. A command that
/// cannot be started ends inside send().
void SwqDisk::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (line_ == Line::free && !failed_ && !legacy_running_ && !lost_ && send_next()) {
  }
  pumping_ = false;
}

bool SwqDisk::send_next() {
  if (pair_ != kNone) {
    const unsigned t = pair_;
    pair_ = kNone;
    send(Line::address, t, cmd::kQueueAddress, card_->address_arg(slots_[t].request->lba));
    return true;
  }
  if (executing_ == kNone)
    if (const unsigned t = oldest(Stage::ready); t != kNone) return execute(t), true;
  if (const unsigned t = oldest(Stage::waiting); t != kNone) {
    const Request& r = *slots_[t].request;
    send(Line::params, t, cmd::kQueueParams,
         (r.write ? 0 : cmd::kTaskRead) | t << cmd::kTaskLsb | r.bytes / kSectorBytes);
    return true;
  }
  if (!wants_status()) return false;
  status_stale_ = false;
  send(Line::status, kNone, cmd::kSendStatus, card_->rca_arg() | cmd::kQueueStatus);
  return true;
}

bool SwqDisk::wants_status() const {
  if (!any(Stage::queued) || any(Stage::ready)) return false;
  return status_stale_ || (executing_ == kNone && hal::now_ns() >= status_at_ns_);
}

void SwqDisk::send(Line what, unsigned tag, std::uint8_t index, std::uint32_t arg) {
  line_ = what;
  line_tag_ = tag;
  command_.index = index;
  command_.arg = arg;
  host_->start_beside(command_);
}

void SwqDisk::execute(unsigned tag) {
  Slot& s = slots_[tag];
  const Request& r = *s.request;
  s.stage = Stage::executing;
  executing_ = tag;
  line_ = Line::execute;
  line_tag_ = tag;
  data_ = transfer_data(r, config_.max_seg_bytes, segments_);
  transfer_.index = r.write ? cmd::kExecuteWrite : cmd::kExecuteRead;
  transfer_.arg = tag << cmd::kTaskLsb;
  transfer_.data = &data_;
  transfer_.timeout_ms = config_.request_timeout_ms;
  host_->start(transfer_);
}

void SwqDisk::command_answered(MmcCommand& c) {
  if (line_ != Line::execute) return;
  line_ = Line::free;
  if (c.resp[0] & r1::kDataErrors) return fail(executing_, MmcError::card_status);
  status_stale_ = true;  // what has become ready while nobody asked
  pump();
}

void SwqDisk::command_ended(MmcCommand& c) {
  if (failed_) return;  // recovery clears up
  const Line was = line_;
  if (&c == &transfer_) {
    const unsigned t = executing_;
    if (c.error != MmcError::none) return fail(t, c.error);
    executing_ = kNone;
    if (was == Line::execute) line_ = Line::free;
    status_stale_ = true;
    end(t, MmcError::none);
    return pump();
  }
  line_ = Line::free;
  if (c.error != MmcError::none) return fail(line_tag_, c.error);
  if (was == Line::status)
    tasks_ready(c.resp[0]);
  else if (c.resp[0] & r1::kDataErrors)
    return fail(line_tag_, MmcError::card_status);
  else if (was == Line::params)
    pair_ = line_tag_;
  else
    params_answered();
  pump();
}

/// CMD45 is accepted: the device has the task.
void SwqDisk::params_answered() {
  Slot& s = slots_[line_tag_];
  s.stage = Stage::queued;
  arm(s);
  status_stale_ = true;
}

void SwqDisk::tasks_ready(std::uint32_t status) {
  for (std::uint32_t bits = status & all_ & ~free_; bits; bits &= bits - 1) {
    Slot& s = slots_[static_cast<unsigned>(std::countr_zero(bits))];
    if (s.stage == Stage::queued) s.stage = Stage::ready;
  }
  status_at_ns_ = hal::now_ns() + config_.poll_ns;
}

void SwqDisk::end(unsigned tag, MmcError error) {
  Slot& s = slots_[tag];
  s.request->error = error;
  s.stage = Stage::ended;
  finished_.push({s.request, tag});
  if (--live_ == 0) next_deadline_ns_ = kNever;
}

/// The first error counts: what follows until recovery comes of it.
void SwqDisk::fail(unsigned tag, MmcError error) {
  if (failed_) return;
  failed_ = true;
  culprit_ = tag;
  error_ = error;
}

/// Nothing on the lines, tasks in the device, none known ready: QSR is read again at status_at_ns_.
bool SwqDisk::status_timer_runs() const {
  return line_ == Line::free && executing_ == kNone && !legacy_running_ && !failed_ && !lost_ &&
         any(Stage::queued) && !any(Stage::ready) && !any(Stage::waiting);
}

bool SwqDisk::pending() const {
  if (finished_.count || failed_) return true;
  if (legacy_running_) return legacy_->pending();
  if (legacy_request_ && empty()) return true;
  if (lost_ && !empty()) return true;
  const std::uint64_t now = hal::now_ns();
  return (now >= status_at_ns_ && status_timer_runs()) || (!empty() && now >= next_deadline_ns_);
}

std::uint64_t SwqDisk::deadline_ns() const {
  if (legacy_running_) return legacy_->deadline_ns();
  return status_timer_runs() && status_at_ns_ < next_deadline_ns_ ? status_at_ns_ : next_deadline_ns_;
}

void SwqDisk::service() {
  if (legacy_running_) legacy_ended();
  if (!legacy_running_ && (failed_ || (lost_ && !empty()) || past_deadline())) recover();
  serve_legacy();
  if (!status_timer_runs() || hal::now_ns() < status_at_ns_) return;
  IrqLock lock;
  pump();
}

Request* SwqDisk::take_finished() {
  if (finished_.count == 0) return nullptr;
  IrqLock lock;
  const Ended e = finished_.pop();
  if (e.tag != kNone) {
    slots_[e.tag] = Slot{};
    free_ |= 1u << e.tag;
  }
  return e.request;
}

}  // namespace fw
