// hal:: on the native core: every call goes to the core whose firmware thread runs (see native_core.hpp).
#include <atomic>
#include <limits>

#include "models/cpu/native_core.hpp"

namespace hal {
namespace {

vp::NativeCore& core() { return vp::NativeCore::active(); }

/// Nanoseconds to kernel time; what does not fit is as late as can be.
sc_core::sc_time from_ns(std::uint64_t ns) {
  constexpr std::uint64_t kPsPerNs = 1000;
  if (ns > std::numeric_limits<std::uint64_t>::max() / kPsPerNs) return sc_core::sc_max_time();
  return vp::from_ps(ns * kPsPerNs);
}

}  // namespace

std::uint8_t read8(std::uint64_t address) { return static_cast<std::uint8_t>(core().read(address, 1)); }
std::uint16_t read16(std::uint64_t address) { return static_cast<std::uint16_t>(core().read(address, 2)); }
std::uint32_t read32(std::uint64_t address) { return static_cast<std::uint32_t>(core().read(address, 4)); }
std::uint64_t read64(std::uint64_t address) { return core().read(address, 8); }
void write8(std::uint64_t address, std::uint8_t value) { core().write(address, 1, value); }
void write16(std::uint64_t address, std::uint16_t value) { core().write(address, 2, value); }
void write32(std::uint64_t address, std::uint32_t value) { core().write(address, 4, value); }
void write64(std::uint64_t address, std::uint64_t value) { core().write(address, 8, value); }

void* ram(std::uint64_t address, std::size_t bytes) { return core().ram(address, bytes); }
/// Stores of the host are in program order before the next b_transport; only the compiler must not move them.
void barrier() { std::atomic_signal_fence(std::memory_order_seq_cst); }

void set_irq_handler(IrqHandler handler, void* context) { core().set_irq_handler(handler, context); }
void irq_enable(bool on) { core().irq_enable(on); }
bool irq_enabled() { return core().irq_enabled(); }
void wait_for_interrupt() { core().wait_for_interrupt(sc_core::sc_max_time()); }
bool wait_for_interrupt_until(std::uint64_t deadline_ns) {
  return core().wait_for_interrupt(from_ns(deadline_ns));
}

std::uint64_t now_ns() { return core().local_time().value() / 1000; }
void delay_ns(std::uint64_t ns) { core().delay(from_ns(ns)); }
void relax() { core().relax(); }
void cost(Cost what, std::uint64_t times) { core().cost(what, times); }
void event(Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  core().event(what, id, a, b, c);
}
void halt(int status) { core().halt(status); }

}  // namespace hal
