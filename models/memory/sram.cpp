#include "models/memory/sram.hpp"

namespace vp {

void SramParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".size", size, "bytes", 4096, std::uint64_t{1} << 32, "capacity");
  r.add(at + ".first_beat_cycles", first_beat_cycles, "axi cycles", 0, 1000, "address to first read beat");
  r.add(at + ".accept_cycles", accept_cycles, "axi cycles", 0, 1000, "last write beat to B");
}

Sram::Sram(sc_core::sc_module_name name, ClockDomain& clock, const SramParams& params, std::uint64_t base)
    : MemoryTarget(name, clock, {{base, params.size}}), params_(params) {}

void Sram::time_burst(AxiBurstTiming& burst) {
  if (burst.granted_ps == 0) burst.granted_ps = burst.issued_ps;
  if (burst.is_write) {
    burst.done_ps = burst.last_ps + params_.accept_cycles * period();
    return;
  }
  burst.first_ps = burst.issued_ps + params_.first_beat_cycles * period();
  burst.done_ps = burst.last_ps = burst.first_ps + burst.beats * period();
}

}  // namespace vp
