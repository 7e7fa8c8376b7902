// The engine's half of error recovery, in the order of Linux's CQHCI driver: halt, (lines reset, CMD12, CMD48
// by others), clear, disable and enable, start.
#include <atomic>

#include "firmware/drivers/cqhci.hpp"
#include "firmware/drivers/cqhci_hw.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kStartHaltLimitNs =
    500 * kMs;  // a halt waits for the running transfer; 5 ms was too short
constexpr std::uint64_t kFinishHaltLimitNs = 20 * kMs, kClearLimitNs = 20 * kMs;
constexpr std::uint64_t kStepNs = 10'000;
}  // namespace

bool Cqhci::halt_for_recovery() {
  failed_ = true;  // from here on errors are consequences
  bool ok = true;
  if ((read(cq::kConfig) & cq::kConfigEnable) && !(read(cq::kControl) & cq::kControlHalt)) {
    halted_ = false;
    set_interrupts(cq::kHalted);
    write(cq::kControl, cq::kControlHalt);
    wait_until([this] { return halted_; }, hal::now_ns() + kStartHaltLimitNs);
    ok = read(cq::kControl) & cq::kControlHalt;
  }
  set_interrupts(0);
  take_notifications();
  return ok;
}

bool Cqhci::wait_halted(std::uint64_t limit_ns) {
  if (read(cq::kControl) & cq::kControlHalt) return true;
  write(cq::kControl, cq::kControlHalt);
  return poll_until([&] { return (read(cq::kControl) & cq::kControlHalt) != 0; }, kStepNs, limit_ns);
}

bool Cqhci::clear_tasks() {
  write(cq::kControl, cq::kControlHalt | cq::kControlClearAll);
  return poll_until([&] { return !(read(cq::kControl) & cq::kControlClearAll); }, kStepNs, kClearLimitNs);
}

// Tasks may be cleared while halted only, and an engine that does not halt must be disabled, but not before
// its tasks are cleared: the specification asks for both, so both are tried.
bool Cqhci::clear() {
  bool ok = wait_halted(kFinishHaltLimitNs);
  ok = clear_tasks() && ok;
  const bool enabled = configure();
  const bool halted = wait_halted(kFinishHaltLimitNs);
  if (!ok) ok = clear_tasks();
  rung_ = 0;
  if (const std::uint32_t stale = read(cq::kNotification)) write(cq::kNotification, stale);
  if (const std::uint32_t events = read(cq::kStatus)) write(cq::kStatus, events);
  std::atomic_ref(completed_).store(0, std::memory_order_relaxed);
  failed_ = false;
  return enabled && halted && ok;
}

bool Cqhci::restart() {
  host_->cqe_enter(*this);
  if (!unhalt()) {
    host_->cqe_leave();
    return false;
  }
  set_interrupts(cq::kUsedEvents);
  return true;
}

}  // namespace fw
