#include "firmware/mmc/modes.hpp"

#include <bit>
#include <iterator>

namespace fw {

std::uint32_t possible_modes(const HostCaps& host, const CardInfo& card, CardMode limit) {
  const std::uint32_t type = card.device_type;
  const bool wide = host.width4 || host.width8;
  const bool hs200 = host.hs200 && wide && (type & kTypeHs200_1v8);
  const bool allowed[] = {
      true,
      host.high_speed && (type & (kTypeHs26 | kTypeHs52)) != 0,
      host.high_speed && host.ddr52 && wide && (type & kTypeDdr52) != 0,
      hs200,
      hs200 && host.hs400 && host.width8 && (type & kTypeHs400_1v8) != 0,
      host.hs400es && host.width8 && (type & kTypeHs400_1v8) != 0 && card.strobe,
  };
  std::uint32_t set = 0;
  for (unsigned m = 0; m <= static_cast<unsigned>(limit) && m < std::size(allowed); ++m)
    if (allowed[m]) set |= 1u << m;
  return set;
}

CardMode best_mode(std::uint32_t modes) { return static_cast<CardMode>(31 - std::countl_zero(modes | 1u)); }

}  // namespace fw
