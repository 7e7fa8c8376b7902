#include "models/cpu/timer.hpp"

#include <limits>

namespace vp {

void TimerParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".tick_hz", tick_hz, "Hz", 1, 1e9, "frequency of MTIME");
  r.add(at + ".access_cycles", access_cycles, "bus cycles", 0, 1000, "one register access");
}

Timer::Timer(sc_core::sc_module_name module, Context& ctx, const ClockDomain& bus, const TimerParams& params)
    : RegisterTarget(module, ctx, bus, params.access_cycles, timer::kRegisters, timer::kWindowBytes),
      tick_(std::string(name()) + ".tick", params.tick_hz),
      irq_signal_(ctx.trace.add_vector(std::string(name()) + ".irq", 1)) {
  bank_.on_read(timer::kMtime, [this] { return access_time().value() / tick_.period().value(); });
  bank_.on_write(timer::kMtimecmp, [this](const RegisterBank::WriteEvent&) { compare(); });
  SC_METHOD(expired);
  sensitive << expire_;
  dont_initialize();
}

/// The first instant at which MTIME >= MTIMECMP; the end of time when it does not come.
sc_time Timer::due() const {
  const std::uint64_t ticks = bank_.get(timer::kMtimecmp);
  const std::uint64_t period = tick_.period().value();
  if (ticks > std::numeric_limits<std::uint64_t>::max() / period) return sc_core::sc_max_time();
  return tick_.cycles(ticks);
}

void Timer::compare() {
  const sc_time now = sc_core::sc_time_stamp();
  expire_.cancel();
  const bool high = due() <= access_time();
  if (high != irq.level()) ctx_.trace.change(irq_signal_, now, high);
  irq.set(high);
  if (!high && due() != sc_core::sc_max_time()) expire_.notify(due() - now);
}

void Timer::expired() {
  ctx_.trace.change(irq_signal_, sc_core::sc_time_stamp(), 1);
  irq.set(true);
}

}  // namespace vp
