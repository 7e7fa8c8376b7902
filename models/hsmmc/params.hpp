// Parameters of the OMAP-HSMMC-like host. Sources: AM335x TRM 18; "choice" where the TRM gives no cycles.
#pragma once

#include <cstdint>
#include <string>

#include "models/core/params.hpp"

namespace vp {

struct HsmmcParams {
  std::uint64_t capabilities = 0x0361'0000;  ///< CAPA: high speed, DMA, 3.3 V and 3.0 V, 1024-byte blocks
  double functional_clock_hz = 96e6;         ///< what the divider divides (AM335x: 96 MHz)
  double core_clock_hz = 96e6;               ///< clock of the delays below
  std::uint64_t cmd_issue = 4;               ///< register write to command start
  std::uint64_t resp_latch = 2;              ///< response end to CC
  std::uint64_t crc_check = 2;               ///< frame end to block available
  std::uint64_t tc_latch = 2;                ///< last byte out of the buffer, or busy end, to TC
  std::uint64_t register_cycles = 2;         ///< register access, bus clock
  std::uint64_t data_first_beat = 2;         ///< address to first beat of a read of DATA, bus clock
  std::uint64_t data_accept = 1;             ///< last beat of a write of DATA to B, bus clock
  double clock_stable_us = 10;               ///< ICE to ICS
  std::uint64_t reset_cycles = 16;           ///< software resets
  std::uint64_t buffer_bytes = 1024;  ///< two halves; one buffer for blocks above half of it (TRM 18.3.9)

  void declare(ParamRegistry& r, const std::string& at);
};

}  // namespace vp
