// The EXT_CSD register as data (JESD84-B51 7.4): name, place, and what CMD6 may change. No SystemC here; the
// firmware may use it too.
//
// Access classes: R read only; W reads back 0; no suffix: programmed once; _E any number of writes, kept over
// power loss; _E_P any number of writes, default after power cycle, RST_n and CMD0; _C_P can only be set
// until power cycle or RST_n. Bytes that mix classes have several masks. Bytes not listed are reserved and
// read only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vp {

struct ExtCsdField {
  std::uint16_t index;  ///< the lowest byte
  std::uint8_t size;
  std::string_view name;
  std::string_view access;
  std::uint8_t once = 0;             ///< bits written once (R/W)
  std::uint8_t any = 0;              ///< bits written at any time and kept (R/W/E)
  std::uint8_t until_reset = 0;      ///< bits of class _E_P
  std::uint8_t set_until_power = 0;  ///< bits of class _C_P
  bool write_only = false;           ///< reads back 0

  constexpr std::uint8_t writable() const {
    return static_cast<std::uint8_t>(once | any | until_reset | set_until_power);
  }
};

namespace ext_csd {
// Indices the models and the firmware use by name.
inline constexpr unsigned kCmdqModeEn = 15, kFlushCache = 32, kCacheCtrl = 33, kPowerOffNotification = 34,
                          kSanitizeStart = 165, kBkopsStart = 164, kHpiMgmt = 161, kRstNFunction = 162,
                          kEraseGroupDef = 175, kPartitionConfig = 179, kErasedMemCont = 181, kBusWidth = 183,
                          kStrobeSupport = 184, kHsTiming = 185, kRev = 192, kDeviceType = 196,
                          kSecCount = 212, kHcEraseGrpSize = 224, kBootSizeMult = 226,
                          kSecFeatureSupport = 231, kCacheSize = 249, kCmdqDepth = 307, kCmdqSupport = 308;
inline constexpr unsigned kModesEnd = 192;  ///< CMD6 reaches bytes below this
}  // namespace ext_csd

namespace detail {
constexpr ExtCsdField ro(std::uint16_t i, std::string_view n, std::uint8_t size = 1) {
  return {i, size, n, "R"};
}
constexpr ExtCsdField once(std::uint16_t i, std::string_view n, std::uint8_t size = 1,
                           std::uint8_t m = 0xFF) {
  return {i, size, n, "R/W", m};
}
constexpr ExtCsdField any(std::uint16_t i, std::string_view n, std::uint8_t m = 0xFF) {
  return {i, 1, n, "R/W/E", 0, m};
}
constexpr ExtCsdField ep(std::uint16_t i, std::string_view n, std::uint8_t size = 1, std::uint8_t m = 0xFF) {
  return {i, size, n, "R/W/E_P", 0, 0, m};
}
constexpr ExtCsdField wo(std::uint16_t i, std::string_view n, std::uint8_t m = 0xFF) {
  return {i, 1, n, "W/E_P", 0, 0, m, 0, true};
}
}  // namespace detail

inline constexpr auto kExtCsdFields = [] {
  using namespace detail;
  return std::array{
      ep(15, "CMDQ_MODE_EN", 1, 0x01),
      ExtCsdField{16, 1, "SECURE_REMOVAL_TYPE", "R/W & R", 0x30},
      ExtCsdField{17, 1, "PRODUCT_STATE_AWARENESS_ENABLEMENT", "R/W/E & R", 0, 0x30},
      ro(18, "MAX_PRE_LOADING_DATA_SIZE", 4),
      ep(22, "PRE_LOADING_DATA_SIZE", 4),
      ro(26, "FFU_STATUS"),
      wo(29, "MODE_OPERATION_CODES"),
      ep(30, "MODE_CONFIG"),
      once(31, "BARRIER_CTRL", 1, 0x01),
      wo(32, "FLUSH_CACHE", 0x03),
      ep(33, "CACHE_CTRL", 1, 0x01),
      ep(34, "POWER_OFF_NOTIFICATION"),
      ro(35, "PACKED_FAILURE_INDEX"),
      ro(36, "PACKED_COMMAND_STATUS"),
      ep(37, "CONTEXT_CONF", 15),
      once(52, "EXT_PARTITIONS_ATTRIBUTE", 2),
      ro(54, "EXCEPTION_EVENTS_STATUS", 2),
      ep(56, "EXCEPTION_EVENTS_CTRL", 2),
      ro(58, "DYNCAP_NEEDED"),
      ep(59, "CLASS_6_CTRL"),
      ro(60, "INI_TIMEOUT_EMU"),
      ro(61, "DATA_SECTOR_SIZE"),
      once(62, "USE_NATIVE_SECTOR"),
      ro(63, "NATIVE_SECTOR_SIZE"),
      ro(64, "VENDOR_SPECIFIC_FIELD", 64),
      ro(130, "PROGRAM_CID_CSD_DDR_SUPPORT"),
      any(131, "PERIODIC_WAKEUP"),
      wo(132, "TCASE_SUPPORT"),
      any(133, "PRODUCTION_STATE_AWARENESS"),
      once(134, "SEC_BAD_BLK_MGMNT"),
      once(136, "ENH_START_ADDR", 4),
      once(140, "ENH_SIZE_MULT", 3),
      once(143, "GP_SIZE_MULT", 12),
      once(155, "PARTITION_SETTING_COMPLETED"),
      once(156, "PARTITIONS_ATTRIBUTE"),
      ro(157, "MAX_ENH_SIZE_MULT", 3),
      ro(160, "PARTITIONING_SUPPORT"),
      ep(161, "HPI_MGMT", 1, 0x01),
      once(162, "RST_n_FUNCTION", 1, 0x03),
      ExtCsdField{163, 1, "BKOPS_EN", "b0 R/W, b1 R/W/E", 0x01, 0x02},
      wo(164, "BKOPS_START"),
      wo(165, "SANITIZE_START"),
      ro(166, "WR_REL_PARAM"),
      once(167, "WR_REL_SET", 1, 0x1F),
      ro(168, "RPMB_SIZE_MULT"),
      once(169, "FW_CONFIG"),
      ExtCsdField{171, 1, "USER_WP", "R/W, R/W/C_P, R/W/E_P", 0x90, 0, 0x05, 0x48},
      ExtCsdField{173, 1, "BOOT_WP", "R/W & R/W/C_P", 0x14, 0, 0, 0xC3},
      ro(174, "BOOT_WP_STATUS"),
      ep(175, "ERASE_GROUP_DEF", 1, 0x01),
      any(177, "BOOT_BUS_CONDITIONS"),
      ExtCsdField{178, 1, "BOOT_CONFIG_PROT", "R/W & R/W/C_P", 0x10, 0, 0, 0x01},
      ExtCsdField{179, 1, "PARTITION_CONFIG", "R/W/E, b2:0 R/W/E_P", 0, 0x78, 0x07},
      ro(181, "ERASED_MEM_CONT"),
      ExtCsdField{183, 1, "BUS_WIDTH", "W/E_P", 0, 0, 0xFF, 0, true},
      ro(184, "STROBE_SUPPORT"),
      ep(185, "HS_TIMING"),
      ep(187, "POWER_CLASS"),
      ro(189, "CMD_SET_REV"),
      ep(191, "CMD_SET"),
      ro(192, "EXT_CSD_REV"),
      ro(194, "CSD_STRUCTURE"),
      ro(196, "DEVICE_TYPE"),
      ro(197, "DRIVER_STRENGTH"),
      ro(198, "OUT_OF_INTERRUPT_TIME"),
      ro(199, "PARTITION_SWITCH_TIME"),
      ro(200, "PWR_CL_52_195"),
      ro(201, "PWR_CL_26_195"),
      ro(202, "PWR_CL_52_360"),
      ro(203, "PWR_CL_26_360"),
      ro(205, "MIN_PERF_R_4_26"),
      ro(206, "MIN_PERF_W_4_26"),
      ro(207, "MIN_PERF_R_8_26_4_52"),
      ro(208, "MIN_PERF_W_8_26_4_52"),
      ro(209, "MIN_PERF_R_8_52"),
      ro(210, "MIN_PERF_W_8_52"),
      ro(211, "SECURE_WP_INFO"),
      ro(212, "SEC_COUNT", 4),
      ro(216, "SLEEP_NOTIFICATION_TIME"),
      ro(217, "S_A_TIMEOUT"),
      ro(218, "PRODUCTION_STATE_AWARENESS_TIMEOUT"),
      ro(219, "S_C_VCCQ"),
      ro(220, "S_C_VCC"),
      ro(221, "HC_WP_GRP_SIZE"),
      ro(222, "REL_WR_SEC_C"),
      ro(223, "ERASE_TIMEOUT_MULT"),
      ro(224, "HC_ERASE_GRP_SIZE"),
      ro(225, "ACC_SIZE"),
      ro(226, "BOOT_SIZE_MULT"),
      ro(228, "BOOT_INFO"),
      ro(229, "SEC_TRIM_MULT"),
      ro(230, "SEC_ERASE_MULT"),
      ro(231, "SEC_FEATURE_SUPPORT"),
      ro(232, "TRIM_MULT"),
      ro(234, "MIN_PERF_DDR_R_8_52"),
      ro(235, "MIN_PERF_DDR_W_8_52"),
      ro(236, "PWR_CL_200_130"),
      ro(237, "PWR_CL_200_195"),
      ro(238, "PWR_CL_DDR_52_195"),
      ro(239, "PWR_CL_DDR_52_360"),
      ro(240, "CACHE_FLUSH_POLICY"),
      ro(241, "INI_TIMEOUT_AP"),
      ro(242, "CORRECTLY_PRG_SECTORS_NUM", 4),
      ro(246, "BKOPS_STATUS"),
      ro(247, "POWER_OFF_LONG_TIME"),
      ro(248, "GENERIC_CMD6_TIME"),
      ro(249, "CACHE_SIZE", 4),
      ro(253, "PWR_CL_DDR_200_360"),
      ro(254, "FIRMWARE_VERSION", 8),
      ro(262, "DEVICE_VERSION", 2),
      ro(264, "OPTIMAL_TRIM_UNIT_SIZE"),
      ro(265, "OPTIMAL_WRITE_SIZE"),
      ro(266, "OPTIMAL_READ_SIZE"),
      ro(267, "PRE_EOL_INFO"),
      ro(268, "DEVICE_LIFE_TIME_EST_TYP_A"),
      ro(269, "DEVICE_LIFE_TIME_EST_TYP_B"),
      ro(270, "VENDOR_PROPRIETARY_HEALTH_REPORT", 32),
      ro(302, "NUM_OF_FW_SEC_PROG", 4),
      ro(307, "CMDQ_DEPTH"),
      ro(308, "CMDQ_SUPPORT"),
      ro(486, "BARRIER_SUPPORT"),
      ro(487, "FFU_ARG", 4),
      ro(491, "OPERATION_CODES_TIMEOUT"),
      ro(492, "FFU_FEATURES"),
      ro(493, "SUPPORTED_MODES"),
      ro(494, "EXT_SUPPORT"),
      ro(495, "LARGE_UNIT_SIZE_M1"),
      ro(496, "CONTEXT_CAPABILITIES"),
      ro(497, "TAG_RES_SIZE"),
      ro(498, "TAG_UNIT_SIZE"),
      ro(499, "DATA_TAG_SUPPORT"),
      ro(500, "MAX_PACKED_WRITES"),
      ro(501, "MAX_PACKED_READS"),
      ro(502, "BKOPS_SUPPORT"),
      ro(503, "HPI_FEATURES"),
      ro(504, "S_CMD_SET"),
      ro(505, "EXT_SECURITY_ERR"),
  };
}();

/// The field a byte belongs to, or null for a reserved byte.
constexpr const ExtCsdField* ext_csd_field(unsigned byte) {
  for (const ExtCsdField& f : kExtCsdFields)
    if (byte >= f.index && byte < f.index + f.size) return &f;
  return nullptr;
}

}  // namespace vp
