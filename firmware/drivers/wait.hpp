// Waiting for something an interrupt handler does, without losing the wake-up: interrupts are off between the
// check and the sleep; WFI wakes on the line's level all the same, and the handler runs when they are let in
// again.
#pragma once

#include "firmware/hal/hal.hpp"

namespace fw {

/// Sleeps until `ready()`; false when `deadline_ns` comes first. Interrupts must be enabled, and are on
/// return.
template <class Ready>
bool wait_until(Ready ready, std::uint64_t deadline_ns) {
  hal::irq_enable(false);
  while (!ready() && hal::now_ns() < deadline_ns) {
    hal::wait_for_interrupt_until(deadline_ns);
    hal::irq_enable(true);
    hal::irq_enable(false);
  }
  const bool ok = ready();
  hal::irq_enable(true);
  return ok;
}

/// Polls a register condition every `step_ns`; false when it has not come true after `limit_ns`.
template <class Ready>
bool poll_until(Ready ready, std::uint64_t step_ns, std::uint64_t limit_ns) {
  const std::uint64_t deadline = hal::now_ns() + limit_ns;
  while (!ready()) {
    if (hal::now_ns() >= deadline) return false;
    if (step_ns)
      hal::delay_ns(step_ns);
    else
      hal::relax();
  }
  return true;
}

}  // namespace fw
