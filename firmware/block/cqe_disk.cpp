#include "firmware/block/cqe_disk.hpp"

#include <bit>

#include "firmware/drivers/cqhci_hw.hpp"
#include "firmware/hal/hal.hpp"
#include "firmware/mmc/commands.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint32_t kNotQueued = 32;
constexpr std::uint32_t kMaxAttempts = 2;
constexpr unsigned kFlushTag = cq::kDirectSlot;
unsigned lowest(std::uint32_t tags) { return static_cast<unsigned>(std::countr_zero(tags)); }
}  // namespace

void CqeDisk::init(Cqhci& engine, Sdhci& host, Card& card, MmcDisk& legacy, const CqeDiskConfig& config) {
  engine_ = &engine;
  host_ = &host;
  card_ = &card;
  legacy_ = &legacy;
  config_ = config;
  slots_ = {};
  data_tags_ = config.depth >= kSlots ? ~0u : (1u << config.depth) - 1;
  free_ = data_tags_;
  outstanding_ = held_ = 0;
  next_deadline_ns_ = kNever;
  flushes_ = finished_ = {};
  legacy_flush_ = nullptr;
  legacy_running_ = recovering_ = engine_lost_ = queue_unclean_ = false;
  recoveries_ = 0;
}

// The card last: while the engine is on no ordinary command may be sent.
bool CqeDisk::start() {
  if (!card_->set_queue_mode(true)) return false;
  if (engine_->enable()) return true;
  card_->set_queue_mode(false);
  return false;
}

bool CqeDisk::stop() {
  if (!engine_->off()) return false;
  if (queue_unclean_ && !card_->discard_queue()) return false;  // CMD6 is illegal with tasks in the queue
  return card_->set_queue_mode(false);
}

unsigned CqeDisk::max_in_flight() const { return legacy_flush_ ? 0 : config_.depth; }

std::uint32_t CqeDisk::tag(const Request& r) const {
  if (!r.flush) return lowest(free_);
  return config_.dcmd ? kFlushTag : kNotQueued;
}

void CqeDisk::issue(Request& r) {
  r.attempts = 0;
  if (r.flush) {
    config_.dcmd ? flushes_.push(&r) : static_cast<void>(legacy_flush_ = &r);
    return start_flushes();
  }
  const unsigned t = lowest(free_);
  free_ &= ~(1u << t);
  slots_[t].request = &r;
  submit(t);
}

/// Writes the slot's descriptors.
bool CqeDisk::describe(unsigned t) {
  const Request& r = *slots_[t].request;
  if (r.flush) {
    engine_->put_direct(cmd::kSwitch, Card::switch_arg(ext_csd::kFlushCache, 1));
    return true;
  }
  const std::uint32_t n = gather(r.io->buffer, r.buffer_offset, r.bytes, config_.max_seg_bytes, segments_);
  CqTask task;
  task.read = !r.write;
  task.blocks = r.bytes / kSectorBytes;
  task.address = card_->address_arg(r.lba);
  return n != 0 && engine_->put_data(t, task, {segments_.data(), n}) != 0;
}

void CqeDisk::submit(unsigned t) {
  if (!describe(t)) return end(t, MmcError::bad_request);
  if (recovering_ || engine_lost_ || engine_->failed())
    held_ |= 1u << t;
  else
    ring(t);
}

void CqeDisk::ring(unsigned t) {
  Slot& s = slots_[t];
  const std::uint64_t limit = s.request->flush ? config_.flush_timeout_ms : config_.request_timeout_ms;
  s.error = MmcError::none;
  s.deadline_ns = hal::now_ns() + limit * kMs;
  if (s.deadline_ns < next_deadline_ns_) next_deadline_ns_ = s.deadline_ns;
  outstanding_ |= 1u << t;
  if (!engine_->ring(t)) engine_lost_ = true;
}

void CqeDisk::end(unsigned t, MmcError error) {
  const std::uint32_t bit = 1u << t;
  Slot& s = slots_[t];
  s.request->error = error;
  finished_.push(s.request);
  s.request = nullptr;
  s.error = MmcError::none;
  outstanding_ &= ~bit;
  held_ &= ~bit;
  free_ |= bit & data_tags_;
  if (outstanding_ == 0) next_deadline_ns_ = kNever;
}

void CqeDisk::collect() {
  for (std::uint32_t tags = engine_->take_completed() & outstanding_; tags; tags &= tags - 1) {
    const unsigned t = lowest(tags);
    slots_[t].request->flush ? direct_ended() : end(t, MmcError::none);
  }
}

// Errors that the engine's mask lets through are still in the response.
void CqeDisk::direct_ended() {
  constexpr std::uint32_t kErrors = r1::kDataErrors | r1::kSwitchError;
  if (!(engine_->direct_response() & kErrors)) return end(kFlushTag, MmcError::none);
  if (++slots_[kFlushTag].request->attempts >= kMaxAttempts) return end(kFlushTag, MmcError::card_status);
  outstanding_ &= ~(1u << kFlushTag);
  submit(kFlushTag);
}

bool CqeDisk::pending() const {
  if (finished_.count || engine_->has_completed()) return true;
  if (legacy_running_) return legacy_->pending();
  if (engine_->failed() || engine_lost_) return true;
  if (legacy_flush_ && (outstanding_ | held_) == 0) return true;
  return outstanding_ && hal::now_ns() >= next_deadline_ns_;
}

std::uint64_t CqeDisk::deadline_ns() const {
  return legacy_running_ ? legacy_->deadline_ns() : next_deadline_ns_;
}

bool CqeDisk::must_recover() { return engine_->failed() || engine_lost_ || past_deadline(); }

/// Blames the tasks whose time is over, and finds the next deadline.
bool CqeDisk::past_deadline() {
  const std::uint64_t now = hal::now_ns();
  if (!outstanding_ || now < next_deadline_ns_) return false;
  bool any = false;
  next_deadline_ns_ = kNever;
  for (std::uint32_t tags = outstanding_; tags; tags &= tags - 1) {
    Slot& s = slots_[lowest(tags)];
    if (s.deadline_ns <= now) {
      s.error = MmcError::software_timeout;
      any = true;
    } else if (s.deadline_ns < next_deadline_ns_) {
      next_deadline_ns_ = s.deadline_ns;
    }
  }
  return any;
}

void CqeDisk::service() {
  collect();
  if (legacy_running_) service_legacy();
  if (!legacy_running_ && must_recover()) recover();
  start_flushes();
}

void CqeDisk::start_flushes() {
  if (flushes_.count && !slots_[kFlushTag].request) {
    slots_[kFlushTag].request = flushes_.pop();
    submit(kFlushTag);
  }
  if (!legacy_flush_ || legacy_running_ || (outstanding_ | held_)) return;
  if (!engine_->off()) {  // still off limits for ordinary commands: recovery first, the flush after it
    engine_lost_ = true;
    if (++legacy_flush_->attempts < kMaxAttempts) return;
    legacy_flush_->error = MmcError::line_busy;
    finished_.push(legacy_flush_);
    legacy_flush_ = nullptr;
    return;
  }
  legacy_running_ = true;
  legacy_->issue(*legacy_flush_);
}

void CqeDisk::service_legacy() {
  legacy_->service();
  Request* const r = legacy_->take_finished();
  if (!r) return;
  finished_.push(r);
  legacy_flush_ = nullptr;
  legacy_running_ = false;
  if (!engine_->on()) engine_lost_ = true;
}

Request* CqeDisk::take_finished() { return finished_.pop(); }

}  // namespace fw
