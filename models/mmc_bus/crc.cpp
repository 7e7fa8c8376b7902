#include "models/mmc_bus/crc.hpp"

#include <array>

namespace vp {
namespace {

constexpr std::array<std::uint16_t, 256> make_table() {
  std::array<std::uint16_t, 256> table{};
  for (unsigned i = 0; i < table.size(); ++i) {
    unsigned crc = i << 8;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 0x8000U) != 0 ? (crc << 1) ^ 0x1021U : crc << 1;
    table[i] = static_cast<std::uint16_t>(crc);
  }
  return table;
}
constexpr auto kTable = make_table();

}  // namespace

std::uint16_t crc16(std::span<const std::byte> line_bits) {
  std::uint16_t crc = 0;
  for (const std::byte b : line_bits)
    crc = static_cast<std::uint16_t>((crc << 8) ^ kTable[(crc >> 8) ^ std::to_integer<unsigned>(b)]);
  return crc;
}

}  // namespace vp
