#include "firmware/mmc/card_info.hpp"

#include <cstring>

namespace fw {

namespace {
std::uint32_t le32(std::span<const std::uint8_t, 512> b, unsigned i) {
  return b[i] | b[i + 1] << 8 | b[i + 2] << 16 | static_cast<std::uint32_t>(b[i + 3]) << 24;
}

// JESD84-B51 7.3.4 (TAAC) and 7.3.6 (TRAN_SPEED): mantissas x 10
constexpr std::uint8_t kTaacMantissa[] = {0, 10, 12, 13, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 70, 80};
constexpr std::uint8_t kSpeedMantissa[] = {0, 10, 12, 13, 15, 20, 26, 30, 35, 40, 45, 52, 55, 60, 70, 80};

std::uint32_t power_of_ten(unsigned n) {
  std::uint32_t v = 1;
  while (n--) v *= 10;
  return v;
}
}  // namespace

std::uint32_t register_bits(std::span<const std::uint32_t, 4> words, unsigned lsb, unsigned width) {
  const unsigned word = 3 - lsb / 32, shift = lsb % 32;
  std::uint64_t v = words[word];
  if (word > 0) v |= std::uint64_t{words[word - 1]} << 32;
  return static_cast<std::uint32_t>((v >> shift) & ((std::uint64_t{1} << width) - 1));
}

bool parse_csd(std::span<const std::uint32_t, 4> csd, CardInfo& info) {
  const auto bits = [&](unsigned msb, unsigned lsb) { return register_bits(csd, lsb, msb - lsb + 1); };
  if (bits(127, 126) == 0) return false;
  info.spec_version = bits(125, 122);
  const unsigned taac = bits(119, 112);
  info.access_ns = kTaacMantissa[taac >> 3 & 15] * power_of_ten(taac & 7) / 10;
  info.access_clocks = bits(111, 104) * 100;
  const unsigned speed = bits(103, 96);
  info.max_legacy_hz =
      (speed & 7) > 3 ? 0 : kSpeedMantissa[speed >> 3 & 15] * 10'000u * power_of_ten(speed & 7);
  info.command_classes = bits(95, 84);
  const unsigned block_len = bits(83, 80);
  info.read_block_bytes = 1u << block_len;
  const std::uint64_t blocks = std::uint64_t{bits(73, 62) + 1} << (bits(49, 47) + 2);
  info.csd_sectors = block_len >= 9 ? blocks << (block_len - 9) : 0;
  info.erase_group_sectors = (bits(46, 42) + 1) * (bits(41, 37) + 1);
  return true;
}

bool parse_ext_csd(std::span<const std::uint8_t, 512> b, CardInfo& info) {
  using namespace ext_csd;
  std::memcpy(info.raw.data(), b.data(), b.size());
  info.has_ext_csd = true;
  info.revision = b[kRevision];
  const std::uint32_t count = le32(b, kSectorCount);
  constexpr std::uint32_t kTwoGiB = 2u * 1024 * 1024 * 1024 / 512;
  info.sector_addressed = count > kTwoGiB;
  info.sectors = count ? count : info.csd_sectors;
  info.device_type = b[kDeviceType];
  info.strobe = b[kStrobeSupport] & 1;
  info.generic_cmd6_ms = b[kGenericCmd6Time] ? b[kGenericCmd6Time] * 10u : 500;
  info.partition_switch_ms = b[kPartitionSwitchTime] * 10u > 300 ? b[kPartitionSwitchTime] * 10u : 300;
  info.cache_bytes = std::uint64_t{le32(b, kCacheSize)} * (1024 / 8);  // CACHE_SIZE is in kibibits
  info.hpi = b[kHpiFeatures] & 1;
  info.queue_depth = (b[kCmdqSupport] & 1) ? (b[kCmdqDepth] & 31) + 1u : 0;
  info.partition_config = b[kPartitionConfig];
  return info.sectors != 0;
}

bool same_card(std::span<const std::uint8_t, 512> a, std::span<const std::uint8_t, 512> b) {
  using namespace ext_csd;
  static constexpr unsigned kFixed[] = {
      kRevision,        kDeviceType,      kHcEraseGroupSize, kSectorCount,   kSectorCount + 1,
      kSectorCount + 2, kSectorCount + 3, kCacheSize,        kCacheSize + 1, kCacheSize + 2,
      kCacheSize + 3,   kGenericCmd6Time, kHpiFeatures,      kCmdqSupport,   kCmdqDepth};
  for (unsigned i : kFixed)
    if (a[i] != b[i]) return false;
  return true;
}

}  // namespace fw
