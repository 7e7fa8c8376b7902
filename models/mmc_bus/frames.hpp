// Command tokens as bits (JESD84-B51 6.10.1): start 0, transmission bit, index, argument, CRC7, end 1.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "models/mmc_bus/card.hpp"
#include "models/mmc_bus/crc.hpp"

namespace vp {

using CommandFrame = std::array<std::uint8_t, 6>;

inline CommandFrame encode_command(const MmcCommand& c) {
  CommandFrame f{static_cast<std::uint8_t>(0x40 | (c.index & 0x3F)),
                 static_cast<std::uint8_t>(c.argument >> 24),
                 static_cast<std::uint8_t>(c.argument >> 16),
                 static_cast<std::uint8_t>(c.argument >> 8),
                 static_cast<std::uint8_t>(c.argument),
                 0};
  f[5] = static_cast<std::uint8_t>(crc7(std::span<const std::uint8_t>(f.data(), 5)) << 1 | 1);
  return f;
}

inline bool frame_crc_good(const CommandFrame& f) {
  return f[5] == static_cast<std::uint8_t>(crc7(std::span<const std::uint8_t>(f.data(), 5)) << 1 | 1);
}

inline MmcCommand decode_command(const CommandFrame& f) {
  return {static_cast<std::uint8_t>(f[0] & 0x3F), static_cast<std::uint32_t>(f[1]) << 24 |
                                                      static_cast<std::uint32_t>(f[2]) << 16 |
                                                      static_cast<std::uint32_t>(f[3]) << 8 | f[4]};
}

}  // namespace vp
