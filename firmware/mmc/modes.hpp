// Which speed modes a host and a card can use together, in order of preference (JESD84-B51 5.3, table of bus
// modes).
#pragma once

#include <cstdint>

#include "firmware/mmc/card_info.hpp"
#include "firmware/mmc/host.hpp"

namespace fw {

/// Highest card clock of a mode in Hz (JESD84-B51 10.6 to 10.10).
constexpr std::uint32_t mode_max_hz(CardMode mode) {
  switch (mode) {
    case CardMode::legacy:
      return 26'000'000;
    case CardMode::hs52:
    case CardMode::ddr52:
      return 52'000'000;
    default:
      return 200'000'000;
  }
}

/// Bit n set: CardMode n is possible. Legacy always is.
std::uint32_t possible_modes(const HostCaps& host, const CardInfo& card, CardMode limit);

/// Best mode of a set; the set is never empty.
CardMode best_mode(std::uint32_t modes);

}  // namespace fw
