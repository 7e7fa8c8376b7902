#include "firmware/mmc/sd_card.hpp"

namespace fw {

bool parse_sd_csd(std::span<const std::uint32_t, 4> csd, CardInfo& info) {
  if (register_bits(csd, 126, 2) != 1) return false;
  info.sd = true;
  info.max_legacy_hz = sd_cmd::kDefaultHz;
  info.command_classes = register_bits(csd, 84, 12);
  info.read_block_bytes = 512;
  constexpr std::uint64_t kUnitSectors = 512 * 1024 / 512;
  info.sectors = info.csd_sectors = (std::uint64_t{register_bits(csd, 48, 22)} + 1) * kUnitSectors;
  constexpr std::uint32_t kClassSwitch = 1u << 10;
  info.sd_switch = info.command_classes & kClassSwitch;
  return true;
}

bool parse_scr(std::span<const std::uint8_t, 8> scr, CardInfo& info) {
  if (scr[0] >> 4 != 0) return false;
  info.sd_width4 = scr[1] & 4;
  info.cmd23 = scr[3] & 2;
  return true;
}

bool sd_function_supported(std::span<const std::uint8_t, 64> status, unsigned f) {
  return (status[12] << 8 | status[13]) >> f & 1;
}

unsigned sd_function_selected(std::span<const std::uint8_t, 64> status) { return status[16] & 0xF; }

}  // namespace fw
