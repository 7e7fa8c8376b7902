// Interrupt controller: 32 level-sensitive lines to one CPU input, claim and complete as in the RISC-V PLIC.
// Modelled: enables, claim of the lowest line, lines blocked between claim and complete, direct calls in and
// out (the output is low before the access that lowers it returns). Not modelled: priorities, thresholds,
// several contexts.
#pragma once

#include "models/core/irq.hpp"
#include "models/core/params.hpp"
#include "models/cpu/intc_regs.hpp"
#include "models/cpu/register_target.hpp"

namespace vp {

struct IntcParams {
  std::uint64_t access_cycles = 2;  ///< choice: a small register block on the peripheral bus
  void declare(ParamRegistry& r, const std::string& at);
};

class Intc : public RegisterTarget, public IrqSink {
 public:
  IrqLine output;  ///< connect to the CPU's line 0

  Intc(sc_core::sc_module_name name, Context& ctx, const ClockDomain& bus, const IntcParams& params);

  /// Input line 0..31. Called at the kernel time it speaks of.
  void set_irq(unsigned line, bool level) override;

 private:
  std::uint32_t candidates() const;
  std::uint64_t claim();
  void complete(std::uint64_t number);
  void update() { output.set(candidates() != 0); }

  std::uint32_t claimed_ = 0;
  SignalId pending_signal_;
};

}  // namespace vp
