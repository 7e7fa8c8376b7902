// Parameters of the SDHCI / DWC MSHC host model. Sources: SDHCI 4.20; "choice" where the IP's data sheet is not public.
#pragma once

#include <cstdint>
#include <string>

#include "models/axi/master_port.hpp"
#include "models/core/params.hpp"

namespace vp {

struct SdhciParams {
  // identity
  std::uint64_t capabilities1 = 0x3E6DC881;  ///< every addressing mode, 8 bit, ADMA2, 1.8 V and 3.0 V
  std::uint64_t capabilities2 = 0x08000007;
  std::uint64_t version = 0x0005;  ///< 4.20
  std::uint64_t vendor1_pointer = 0x500;
  std::uint64_t vendor2_pointer = 0x180;
  std::uint64_t mbiu_reset = 0x1;     ///< MBIU_CTRL at reset: undefined-length INCR
  std::uint64_t emmc_ctrl_reset = 0;  ///< EMMC_CTRL at reset: 1 where the integration straps CARD_IS_EMMC
  // clocks and delays
  double base_clock_hz = 200e6;       ///< what the divider divides
  double core_clock_hz = 200e6;       ///< host core clock of the delays below
  std::uint64_t cmd_issue = 4;        ///< register write to command start, host core cycles
  std::uint64_t resp_latch = 2;       ///< response end to Command Complete
  std::uint64_t crc_check = 2;        ///< frame end to block available
  std::uint64_t tc_latch = 2;         ///< last B or busy end to Transfer Complete
  std::uint64_t register_cycles = 2;  ///< register access, bus clock cycles
  double clock_stable_us = 10;        ///< internal clock enable to stable
  std::uint64_t reset_cycles = 16;    ///< software reset, host core cycles
  // data path
  std::uint64_t fifo_bytes = 4096;   ///< between wire and DMA; whole 512-byte blocks
  std::uint64_t prefetch_depth = 1;  ///< descriptors fetched ahead, 0..16
  bool posted_drain = true;          ///< a block is drained when its last W beat left, else at its last B
  std::string boundary_128m = "ok";  ///< what a descriptor across 2^27 does: ok, wrap, adma_error, stall
  double dll_min_hz = 0;  ///< erratum: below it the DLL is bypassed and HS200/HS400 sample wrong; 0: none
  // tuning
  std::uint64_t tuning_taps = 40;          ///< phases walked, one per CMD21
  std::uint64_t tuning_window_first = 10;  ///< first phase that samples right
  std::uint64_t tuning_window_last = 30;   ///< last phase that samples right
  AxiMasterParams axi;

  void declare(ParamRegistry& r, const std::string& at);
};

}  // namespace vp
