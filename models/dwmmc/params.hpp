// Parameters of the DW-MMC host model. "choice" where the IP's data book is not public.
#pragma once

#include <cstdint>
#include <string>

#include "models/axi/master_port.hpp"
#include "models/core/params.hpp"

namespace vp {

struct DwmmcParams {
  DwmmcParams() {
    axi.outstanding_reads = axi.outstanding_writes =
        1;                      // the IDMAC's state machine moves one burst at a time
    axi.max_burst_beats = 256;  // PBL is the limit
  }
  // identity
  std::uint64_t hcon = 0x08C43101;   ///< 64-bit data, IDMAC with 64-bit addresses, one slot
  std::uint64_t verid = 0x5342280A;  ///< 2.80a
  std::uint64_t usrid = 0;
  std::uint64_t cmd_reset = 0x20000000;        ///< CMD after reset; seen with and without USE_HOLD
  std::uint64_t tmout_extended_from = 0x290A;  ///< version whose TMOUT[10:8] is a multiplier (choice)
  // clocks and delays
  double ciu_clock_hz = 200e6;        ///< what CLKDIV divides
  double core_clock_hz = 200e6;       ///< host core clock of the delays below
  std::uint64_t cmd_issue = 4;        ///< START written to command start, host core cycles
  std::uint64_t resp_latch = 2;       ///< response end to CMD_DONE
  std::uint64_t fifo_latency = 2;     ///< word sampled to word in the FIFO
  std::uint64_t crc_check = 2;        ///< frame end to block checked
  std::uint64_t dto_latch = 2;        ///< last block checked or CRC status to DATA_OVER
  std::uint64_t register_cycles = 2;  ///< register access, bus clock cycles
  std::uint64_t reset_cycles = 4;     ///< CTRL and BMOD resets to self-clear
  // data path
  std::uint64_t fifo_depth = 256;  ///< words of H_DATA_WIDTH
  bool fifo64_32 = false;          ///< a 64-bit FIFO is read as two 32-bit halves
  std::uint64_t prefetch_depth =
      0;                     ///< descriptors fetched ahead, 0..16; 0: read, move, close, read the next
  bool posted_drain = true;  ///< a burst frees the FIFO when its last W beat left, else at its B
  // sampling
  std::uint64_t sample_window_first = 0;   ///< first SAMPLE_PHASE that reads right above 52 MHz SDR
  std::uint64_t sample_window_last = 127;  ///< last one
  AxiMasterParams axi;                     ///< data width follows H_DATA_WIDTH

  void declare(ParamRegistry& r, const std::string& at);
};

}  // namespace vp
