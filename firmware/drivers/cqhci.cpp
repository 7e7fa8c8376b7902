#include "firmware/drivers/cqhci.hpp"

#include <atomic>

#include "firmware/drivers/cqhci_hw.hpp"
#include "firmware/drivers/sdhci_hw.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kOffLimitNs = 100'000;  // an idle engine halts at once; Linux polls for 100 us
constexpr std::uint32_t kAbsent = 0xFFFF'FFFF;

MmcError error_of(std::uint32_t status, std::uint32_t events) {
  if (status & (hw::kIntCommandCrc | hw::kIntCommandEndBit | hw::kIntCommandIndex))
    return MmcError::command_crc;
  if (status & hw::kIntCommandTimeout) return MmcError::command_timeout;
  if (status & (hw::kIntDataCrc | hw::kIntDataEndBit)) return MmcError::data_crc;
  if (status & hw::kIntDataTimeout) return MmcError::data_timeout;
  if (status & hw::kIntAdma) return MmcError::adma;
  if (events & cq::kResponseError) return MmcError::card_status;
  return MmcError::crypto;
}

std::uint32_t task_of(std::uint32_t half) {
  return (half & cq::kTaskValid) ? 1u << (half >> cq::kTaskLsb & cq::kTaskMask) : 0;
}
}  // namespace

std::uint32_t Cqhci::read(std::uint32_t o) const { return hal::read32(base_ + o); }
void Cqhci::write(std::uint32_t o, std::uint32_t v) { hal::write32(base_ + o, v); }

bool Cqhci::probe(Sdhci& host) {
  *this = Cqhci{};
  host_ = &host;
  base_ = host.cqe_base();
  if (!base_) return false;
  const std::uint32_t version = read(cq::kVersion);
  return version != 0 && version != kAbsent;
}

bool Cqhci::init(const CqhciConfig& config) {
  config_ = config;
  return tables_.init(config.shape, config.place, config.split_128m);
}

void Cqhci::set_interrupts(std::uint32_t events) {
  write(cq::kStatusEnable, events);
  write(cq::kSignalEnable, events);
}

/// Writes every register; the engine ends enabled. False when the enable bit does not stick.
bool Cqhci::configure() {
  std::uint32_t config = read(cq::kConfig);
  if (config & cq::kConfigEnable)
    write(cq::kConfig, config &= ~cq::kConfigEnable);  // sizes change while off only
  config &= ~(cq::kConfigDcmd | cq::kConfigTask128);
  if (config_.dcmd) config |= cq::kConfigDcmd;
  if (config_.shape.task128) config |= cq::kConfigTask128;
  write(cq::kConfig, config);
  write(cq::kListLow, static_cast<std::uint32_t>(tables_.list()));
  write(cq::kListHigh, static_cast<std::uint32_t>(tables_.list() >> 32));
  if (config_.idle_timer)
    write(cq::kSendStatus1, (read(cq::kSendStatus1) & ~cq::kIdleTimerMask) | config_.idle_timer);
  write(cq::kSendStatus2, config_.rca);
  if (config_.coalesce_count)
    write(cq::kCoalescing, cq::kCoalEnable | cq::kCoalReset | cq::kCoalCountWrite |
                               config_.coalesce_count << cq::kCoalCountLsb | cq::kCoalTimeoutWrite |
                               config_.coalesce_timeout);
  set_interrupts(0);
  write(cq::kConfig, config | cq::kConfigEnable);
  return read(cq::kConfig) & cq::kConfigEnable;
}

bool Cqhci::unhalt() {
  if (!(read(cq::kControl) & cq::kControlHalt)) return true;
  write(cq::kControl, 0);
  return poll_until([&] { return !(read(cq::kControl) & cq::kControlHalt); }, 0, kOffLimitNs);
}

bool Cqhci::enable() {
  rung_ = completed_ = 0;
  failed_ = false;
  host_->cqe_enter(*this);
  if (configure() && unhalt()) {
    set_interrupts(cq::kUsedEvents);
    return true;
  }
  host_->cqe_leave();
  return false;
}

bool Cqhci::off() {
  write(cq::kControl, cq::kControlHalt);
  const bool ok = poll_until([&] { return (read(cq::kControl) & cq::kControlHalt) != 0; }, 0, kOffLimitNs);
  host_->cqe_leave();
  return ok;
}

bool Cqhci::on() {
  host_->cqe_enter(*this);
  return unhalt();
}

std::uint32_t Cqhci::put_data(unsigned tag, CqTask task, std::span<const Segment> segments) {
  task.interrupt = config_.coalesce_count == 0;
  const std::uint32_t n = tables_.put_data(tag, task, segments);
  if (n) hal::cost(hal::Cost::descriptor, n + 1);
  return n;
}

void Cqhci::put_direct(std::uint8_t index, std::uint32_t arg) {
  tables_.put_direct(cq::kDirectSlot, index, arg);
  hal::cost(hal::Cost::descriptor);
}

bool Cqhci::ring(unsigned tag) {
  const std::uint32_t bit = 1u << tag;
  rung_ |= bit;  // before the doorbell: the interrupt may come with its write
  hal::barrier();
  write(cq::kDoorbell, bit);
  if (read(cq::kDoorbell) & bit) return true;
  // The task has ended already, or the engine was reset behind our back (SDHCI Software Reset For All).
  if (completed_ & bit) return true;
  return read(cq::kConfig) & cq::kConfigEnable;
}

std::uint32_t Cqhci::take_completed() {
  const std::uint32_t tags = std::atomic_ref(completed_).exchange(0, std::memory_order_relaxed);
  rung_ &= ~tags;
  return tags;
}

std::uint32_t Cqhci::direct_response() const { return read(cq::kDirectResponse); }

std::uint64_t Cqhci::snapshot() const {
  const std::uint64_t doorbells = read(cq::kDoorbell);
  return doorbells << 32 | read(cq::kNotification);
}

void Cqhci::cqe_irq(std::uint32_t status) {
  const std::uint32_t events = read(cq::kStatus);
  if (events) write(cq::kStatus, events);
  if (events & cq::kHalted) halted_ = true;
  if ((status & (hw::kIntCommandErrors | hw::kIntDataErrors | hw::kIntAdma)) || (events & cq::kErrorEvents))
    note_error(status, events);
  if (events & cq::kTaskComplete) {
    // First the counter, then the notifications: a task that ends in between is counted for the next
    // interrupt.
    if (config_.coalesce_count) write(cq::kCoalescing, cq::kCoalEnable | cq::kCoalReset);
    take_notifications();
  }
}

void Cqhci::take_notifications() {
  const std::uint32_t tags = read(cq::kNotification);
  if (tags) write(cq::kNotification, tags);
  if (tags & ~rung_) ++spurious_;
  std::atomic_ref(completed_).fetch_or(tags & rung_, std::memory_order_relaxed);
}

// The first error counts: what comes until recovery has run follows from it.
void Cqhci::note_error(std::uint32_t status, std::uint32_t events) {
  if (failed_) return;
  error_ = {status, events, read(cq::kErrorInfo), 0, error_of(status, events)};
  error_.tasks = task_of(error_.info) | task_of(error_.info >> cq::kDataHalfLsb);
  if (events & cq::kInvalidCrypto) error_.tasks |= read(cq::kDescriptorErrors);
  failed_ = true;
}

}  // namespace fw
