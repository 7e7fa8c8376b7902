#include "firmware/block/hsq_disk.hpp"

#include "firmware/block/transfer.hpp"
#include "firmware/drivers/irq_lock.hpp"
#include "firmware/hal/hal.hpp"
#include "firmware/mmc/commands.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint32_t kMaxAttempts = 2, kSmallWrite = 4096;
bool small_write(const Request& r) { return r.write && r.bytes == kSmallWrite; }
}  // namespace

void HsqDisk::init(MmcHost& host, Card& card, MmcDisk& legacy, const HsqDiskConfig& config) {
  host_ = &host;
  card_ = &card;
  legacy_ = &legacy;
  config_ = config;
  waiting_ = finished_ = {};
  running_ = flush_ = nullptr;
  failed_ = false;
  small_writes_ = 0;
  recoveries_ = 0;
  command_ = MmcCommand{};
}

unsigned HsqDisk::max_in_flight() const { return small_writes_ >= 2 ? config_.write_depth : config_.depth; }

std::uint32_t HsqDisk::tag(const Request&) const { return idle() && waiting_.count == 0 ? kNoTag : kHeldTag; }

void HsqDisk::issue(Request& r) {
  IrqLock lock;
  r.attempts = 0;
  if (small_write(r)) ++small_writes_;
  waiting_.push(&r);
  if (idle() && !failed_ && !r.flush) start_next();
}

/// From the interrupt of the request before it, or when the line is free. Flushes are left to service().
void HsqDisk::start_next() {
  if (waiting_.count == 0 || waiting_.front()->flush) return;
  Request& r = *waiting_.pop();
  hal::event(hal::Event::request_issue, r.slot, kNoTag);
  start(r);
}

void HsqDisk::start(Request& r) {
  running_ = &r;
  ++r.attempts;
  data_ = transfer_data(r, config_.max_seg_bytes, segments_);
  command_ = transfer_command(r, *card_, data_);
  command_.listener = this;
  host_->start(command_);
}

void HsqDisk::command_ended(MmcCommand& c) {
  if (c.error == MmcError::none && !(c.resp[0] & r1::kDataErrors)) {
    end(*running_, MmcError::none);
    return start_next();
  }
  failed_ = true;
  error_ = c.error != MmcError::none ? c.error : MmcError::card_status;
}

void HsqDisk::end(Request& r, MmcError error) {
  if (small_write(r)) --small_writes_;
  r.error = error;
  finished_.push(&r);
  running_ = nullptr;
}

/// driver_error: id = request slot, a = MmcError, b = recovery count. A request that nobody could start was not sent.
void HsqDisk::recover() {
  Request& r = *running_;
  ++recoveries_;
  hal::event(hal::Event::driver_error, r.slot, static_cast<std::uint64_t>(error_), recoveries_);
  const bool sent = error_ != MmcError::bad_request;
  const bool usable = sent && card_->recover(true, r.write);
  IrqLock lock;
  failed_ = false;
  if (usable && r.attempts < kMaxAttempts) return start(r);
  end(r, error_);
  start_next();
}

bool HsqDisk::pending() const {
  if (finished_.count || failed_) return true;
  if (flush_) return legacy_->pending();
  if (running_) return hal::now_ns() >= host_->deadline_ns();
  return waiting_.count != 0;
}

std::uint64_t HsqDisk::deadline_ns() const {
  if (flush_) return legacy_->deadline_ns();
  return running_ ? host_->deadline_ns() : kNever;
}

void HsqDisk::service() {
  if (flush_) {
    legacy_->service();
    Request* const r = legacy_->take_finished();
    if (!r) return;
    flush_ = nullptr;
    finished_.push(r);
  }
  if (running_ && !failed_ && hal::now_ns() >= host_->deadline_ns()) host_->abort_active();
  if (failed_) recover();
  IrqLock lock;
  if (!idle() || failed_ || waiting_.count == 0) return;
  if (!waiting_.front()->flush) return start_next();
  flush_ = waiting_.pop();
  legacy_->issue(*flush_);
}

Request* HsqDisk::take_finished() {
  if (finished_.count == 0) return nullptr;
  IrqLock lock;
  return finished_.pop();
}

}  // namespace fw
