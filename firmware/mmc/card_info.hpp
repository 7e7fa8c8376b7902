// What the CSD and EXT_CSD registers say (JESD84-B51 7.3, 7.4), decoded once at set-up.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace fw {

/// EXT_CSD byte indices the driver uses (JESD84-B51 7.4).
namespace ext_csd {
inline constexpr unsigned kCmdqModeEn = 15, kFlushCache = 32, kCacheCtrl = 33, kPowerOffNotification = 34,
                          kHpiMgmt = 161, kEraseGroupDef = 175, kPartitionConfig = 179, kBusWidth = 183,
                          kStrobeSupport = 184, kHsTiming = 185, kPowerClass = 187, kRevision = 192,
                          kDeviceType = 196, kPartitionSwitchTime = 199, kPowerClass52_195 = 200,
                          kPowerClass52_360 = 202, kSectorCount = 212, kHcEraseGroupSize = 224,
                          kPowerClass200_195 = 237, kPowerClassDdr52_360 = 239, kGenericCmd6Time = 248,
                          kCacheSize = 249, kPowerClassDdr200_360 = 253, kCmdqDepth = 307, kCmdqSupport = 308,
                          kHpiFeatures = 503;
}  // namespace ext_csd

/// DEVICE_TYPE bits.
inline constexpr std::uint32_t kTypeHs26 = 1u << 0, kTypeHs52 = 1u << 1, kTypeDdr52 = 1u << 2,
                               kTypeHs200_1v8 = 1u << 4, kTypeHs400_1v8 = 1u << 6;

struct CardInfo {
  // CSD
  std::uint32_t spec_version = 0;
  std::uint32_t max_legacy_hz = 0;  ///< TRAN_SPEED
  std::uint32_t command_classes = 0;
  std::uint32_t read_block_bytes = 0;
  std::uint64_t csd_sectors = 0;  ///< capacity by C_SIZE; not meaningful above 2 GiB
  std::uint32_t erase_group_sectors = 0;
  std::uint32_t access_ns = 0;      ///< TAAC
  std::uint32_t access_clocks = 0;  ///< NSAC x 100
  // EXT_CSD
  bool has_ext_csd = false;
  std::uint32_t revision = 0;
  std::uint64_t sectors = 0;      ///< 512-byte sectors of the user area
  bool sector_addressed = false;  ///< command arguments in sectors, not bytes
  std::uint32_t device_type = 0;
  bool strobe = false;
  std::uint32_t generic_cmd6_ms = 500;
  std::uint32_t partition_switch_ms = 300;
  std::uint64_t cache_bytes = 0;
  bool hpi = false;
  std::uint32_t queue_depth = 0;  ///< 0: no command queue
  std::uint32_t partition_config = 0;
  // SD memory cards
  bool sd = false;
  bool cmd23 = true;       ///< SET_BLOCK_COUNT; every eMMC has it
  bool sd_switch = false;  ///< CMD6 exists
  bool sd_width4 = false;
  std::array<std::uint8_t, 512> raw{};
};

/// Field of a 128-bit register as four words, [0] = bits 127:96. `width` <= 32.
std::uint32_t register_bits(std::span<const std::uint32_t, 4> words, unsigned lsb, unsigned width);

/// False when the CSD is not one of an MMC.
bool parse_csd(std::span<const std::uint32_t, 4> csd, CardInfo& info);
/// False when the register contradicts itself (no sectors).
bool parse_ext_csd(std::span<const std::uint8_t, 512> bytes, CardInfo& info);

/// True when the fields that cannot change are equal in two reads: the check of a bus width change.
bool same_card(std::span<const std::uint8_t, 512> a, std::span<const std::uint8_t, 512> b);

}  // namespace fw
