#include "models/cpu/intc.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

namespace vp {

void IntcParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".access_cycles", access_cycles, "bus cycles", 0, 1000, "one register access");
}

Intc::Intc(sc_core::sc_module_name module, Context& ctx, const ClockDomain& bus, const IntcParams& params)
    : RegisterTarget(module, ctx, bus, params.access_cycles, intc::kRegisters, intc::kWindowBytes),
      pending_signal_(ctx.trace.add_vector(std::string(name()) + ".pending", intc::kLines)) {
  bank_.on_read(intc::kClaim, [this] { return claim(); });
  bank_.on_write(intc::kEnable, [this](const RegisterBank::WriteEvent&) { update(); });
  bank_.on_write(intc::kComplete, [this](const RegisterBank::WriteEvent& e) { complete(e.written); });
}

void Intc::set_irq(unsigned line, bool level) {
  if (line >= intc::kLines) throw std::logic_error(fmt::format("{}: no interrupt line {}", name(), line));
  const std::uint32_t bit = std::uint32_t{1} << line;
  if (level)
    bank_.set_bits(intc::kPending, bit);
  else
    bank_.clear_bits(intc::kPending, bit);
  ctx_.trace.change(pending_signal_, sc_core::sc_time_stamp(), bank_.get(intc::kPending));
  update();
}

std::uint32_t Intc::candidates() const {
  return static_cast<std::uint32_t>(bank_.get(intc::kPending) & bank_.get(intc::kEnable)) & ~claimed_;
}

std::uint64_t Intc::claim() {
  const std::uint32_t lines = candidates();
  if (lines == 0) return 0;
  const auto line = static_cast<unsigned>(std::countr_zero(lines));
  claimed_ |= std::uint32_t{1} << line;
  update();
  return line + 1;
}

/// A number that is not claimed is ignored (RISC-V PLIC 1.0.0, interrupt completion).
void Intc::complete(std::uint64_t number) {
  if (number == 0 || number > intc::kLines) return;
  claimed_ &= ~(std::uint32_t{1} << (number - 1));
  update();
}

}  // namespace vp
