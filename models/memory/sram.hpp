// On-chip SRAM behind an AXI port.
// Modelled: data, address-to-first-beat latency of reads, accept latency of writes, both pipelined and
// constant. Not modelled: banks, ECC, narrow-write read-modify-write. Timing: first R beat
// `first_beat_cycles` after AR at the port, then 1 A per beat; B leaves `accept_cycles` after the last W
// beat. One beat per A is kept by the interconnect's target port.
#pragma once

#include <string>

#include "models/core/params.hpp"
#include "models/memory/memory_target.hpp"

namespace vp {

struct SramParams {
  std::uint64_t size = 1 << 20;         ///< bytes (choice)
  std::uint64_t first_beat_cycles = 4;  ///< A (contract's worked example)
  std::uint64_t accept_cycles = 1;      ///< A (choice)
  void declare(ParamRegistry& r, const std::string& at);
};

class Sram : public MemoryTarget {
 public:
  /// Addresses start at `base`: 0 behind an interconnect that hands out offsets.
  Sram(sc_core::sc_module_name name, ClockDomain& clock, const SramParams& params, std::uint64_t base = 0);
  void time_burst(AxiBurstTiming& burst) override;

 private:
  SramParams params_;
};

}  // namespace vp
