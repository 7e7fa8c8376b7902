// Parameters of the system DMA. EDMA3's internal latencies are not published: choices.
#pragma once

#include <cstdint>
#include <string>

#include "models/axi/master_port.hpp"
#include "models/core/params.hpp"

namespace vp {

struct SystemDmaParams {
  std::uint64_t param_sets = 256;     ///< parameter RAM (AM335x TRM: 256)
  std::uint64_t event_cycles = 8;     ///< event to first address, AXI cycles (choice)
  std::uint64_t link_cycles = 4;      ///< copy of a linked set before the channel's next event (choice)
  std::uint64_t chunk_bytes = 512;    ///< read and written as a unit (choice)
  std::uint64_t fifo_bytes = 1024;    ///< between read and write, whole chunks (choice)
  std::uint64_t register_cycles = 2;  ///< register access
  AxiMasterParams axi{.data_width_bits = 64, .max_burst_beats = 16};

  void declare(ParamRegistry& r, const std::string& at);
};

}  // namespace vp
