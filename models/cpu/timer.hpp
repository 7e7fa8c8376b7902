// Timer: a free-running 64-bit count and one comparator with a level interrupt, as the RISC-V machine timer.
// MTIME is computed when it is read, never ticked; the comparator is one event. Not modelled: writing MTIME.
#pragma once

#include "models/core/irq.hpp"
#include "models/core/params.hpp"
#include "models/cpu/register_target.hpp"
#include "models/cpu/timer_regs.hpp"

namespace vp {

struct TimerParams {
  double tick_hz = 1e9;             ///< MTIME counts nanoseconds (choice)
  std::uint64_t access_cycles = 2;  ///< choice: a small register block on the peripheral bus
  void declare(ParamRegistry& r, const std::string& at);
};

class Timer : public RegisterTarget {
 public:
  IrqLine irq;

  Timer(sc_core::sc_module_name name, Context& ctx, const ClockDomain& bus, const TimerParams& params);

 private:
  SC_HAS_PROCESS(Timer);
  void compare();
  void expired();
  sc_time due() const;

  ClockDomain tick_;
  sc_core::sc_event expire_;
  SignalId irq_signal_;
};

}  // namespace vp
