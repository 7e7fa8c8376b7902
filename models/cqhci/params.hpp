// Parameters of the CQHCI engine. Sources: JESD84-B51 annex B; "choice" where the IP's data book is not public.
#pragma once

#include <cstdint>
#include <string>

#include "models/core/params.hpp"

namespace vp {

struct CqhciParams {
  // identity
  std::uint64_t version = 0x510;        ///< CQVER
  std::uint64_t reported_timer_hz = 0;  ///< what ITCFVAL and ITCFMUL say; 0: the truth
  std::uint64_t reset_cit = 0x1000;     ///< CQSSC1.CIT at reset
  std::uint64_t reset_cbc = 1;          ///< CQSSC1.CBC at reset
  std::uint64_t crypto_slots = 0;       ///< key slots; 0: no inline encryption
  // clocks and delays
  double cqetmclk_hz = 24e6;  ///< timer clock of CIT and coalescing (choice)
  std::uint64_t issue_cycles =
      4;  ///< decision to command start, host core cycles (choice, as SDHCI cmd_issue)
  std::uint64_t clear_cycles = 16;  ///< clear request to TCL, host core cycles (choice)
  // descriptors
  bool short_transfer_descriptors = false;  ///< 12-byte instead of 16-byte stride with 64-bit addressing
  std::uint64_t task_fetch_ahead = 1;  ///< slots fetched ahead of the one on its way to the device (choice)
  std::string transfer_prefetch =
      "execute";  ///< execute, ready, doorbell: when the first ones are fetched (choice)
  std::uint64_t transfer_prefetch_depth = 1;  ///< transfer descriptors of that first fetch, 1..16 (choice)
  bool check_descriptors = true;  ///< compare descriptors in memory with those fetched, at completion
  // errata
  bool latch_sdhci_status = false;  ///< engine commands and data also latch Command and Transfer Complete

  void declare(ParamRegistry& r, const std::string& at);
};

}  // namespace vp
