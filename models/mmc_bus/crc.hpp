// The two checksums of the MMC bus (JESD84-B51 clause 8.2): CRC7 over commands, responses and the CID/CSD
// registers, CRC16 over each DAT line's bits of a block. Both start from zero and take the most significant
// bit first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace vp {

/// CRC7 (x^7 + x^3 + 1), in bits 6:0. A frame's last byte is (crc7 << 1) | 1.
constexpr std::uint8_t crc7(std::span<const std::uint8_t> bytes) {
  unsigned crc = 0;
  for (const std::uint8_t byte : bytes)
    for (int bit = 7; bit >= 0; --bit) {
      const unsigned feedback = ((crc >> 6) ^ (byte >> bit)) & 1U;
      crc = ((crc << 1) & 0x7F) ^ (feedback ? 0x09U : 0U);
    }
  return static_cast<std::uint8_t>(crc);
}

/// CRC16 (x^16 + x^12 + x^5 + 1) of one line's bits, packed eight to a byte in the order they travel.
std::uint16_t crc16(std::span<const std::byte> line_bits);

}  // namespace vp
