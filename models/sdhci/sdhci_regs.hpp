// SDHCI 4.20 register map of a DWC MSHC (standard area), as data. No SystemC in here: the firmware includes it.
// Vendor area 1 and the embedded pointers have their own tables in dwcmshc_regs.hpp.
#pragma once

#include "models/core/register_map.hpp"

namespace vp::sdhci {

using A = Access;

inline constexpr FieldDef kBlockSizeFields[] = {
    {"TRANSFER_BLOCK_SIZE", 0, 12, A::RW, "bytes per block"},
    {"SDMA_BOUNDARY", 12, 3, A::RW, "SDMA buffer boundary, 4 KiB << n"},
};
inline constexpr FieldDef kTransferModeFields[] = {
    {"DMA_ENABLE", 0, 1, A::RW, "DMA moves the data"},
    {"BLOCK_COUNT_ENABLE", 1, 1, A::RW, "finite multi-block transfer"},
    {"AUTO_CMD", 2, 2, A::RW, "0 off, 1 CMD12, 2 CMD23, 3 auto select"},
    {"DIRECTION_READ", 4, 1, A::RW, "1 card to host"},
    {"MULTI_BLOCK", 5, 1, A::RW, "0: one block, count ignored"},
    {"RESPONSE_TYPE_R5", 6, 1, A::RW, "response checker: 0 R1, 1 R5"},
    {"RESPONSE_ERROR_CHECK", 7, 1, A::RW, "host checks R1/R5 error bits"},
    {"RESPONSE_INT_DISABLE", 8, 1, A::RW, "suppress Command Complete"},
};
inline constexpr FieldDef kCommandFields[] = {
    {"RESPONSE", 0, 2, A::RW, "0 none, 1 136 bit, 2 48 bit, 3 48 bit with busy"},
    {"SUB_COMMAND", 2, 1, A::RW, "sub-command flag"},
    {"CRC_CHECK", 3, 1, A::RW, "check the response CRC7"},
    {"INDEX_CHECK", 4, 1, A::RW, "check the response index"},
    {"DATA_PRESENT", 5, 1, A::RW, "a data transfer follows"},
    {"TYPE", 6, 2, A::RW, "0 normal, 1 suspend, 2 resume, 3 abort"},
    {"INDEX", 8, 6, A::RW, "command index"},
};
inline constexpr FieldDef kPresentStateFields[] = {
    {"CMD_INHIBIT", 0, 1, A::RO, "command line in use"},
    {"DAT_INHIBIT", 1, 1, A::RO, "data line active or read active"},
    {"DAT_LINE_ACTIVE", 2, 1, A::RO, "DAT in use"},
    {"RETUNE_REQUEST", 3, 1, A::RO, "never set on DWC"},
    {"DAT7_4_LEVEL", 4, 4, A::RO, "DAT[7:4] levels"},
    {"WRITE_ACTIVE", 8, 1, A::RO, "write transfer runs"},
    {"READ_ACTIVE", 9, 1, A::RO, "read transfer runs"},
    {"BUFFER_WRITE_ENABLE", 10, 1, A::RO, "a block may be written to the data port"},
    {"BUFFER_READ_ENABLE", 11, 1, A::RO, "a block may be read from the data port"},
    {"CARD_INSERTED", 16, 1, A::RO, "card present"},
    {"CARD_STABLE", 17, 1, A::RO, "card detect is stable"},
    {"CARD_DETECT_LEVEL", 18, 1, A::RO, "inverted card_detect_n"},
    {"WRITE_PROTECT_LEVEL", 19, 1, A::RO, "1 writable"},
    {"DAT3_0_LEVEL", 20, 4, A::RO, "DAT[3:0] levels"},
    {"CMD_LEVEL", 24, 1, A::RO, "CMD level"},
    {"REGULATOR_STABLE", 25, 1, A::RO, "host regulator stable"},
    {"COMMAND_NOT_ISSUED", 27, 1, A::RO, "command not issued because of an error"},
    {"SUB_COMMAND_STATUS", 28, 1, A::RO, "last command was a sub-command"},
};
inline constexpr FieldDef kHostControl1Fields[] = {
    {"LED", 0, 1, A::RW, "LED"},
    {"WIDTH_4", 1, 1, A::RW, "4-bit bus"},
    {"HIGH_SPEED", 2, 1, A::RW, "high speed timing"},
    {"DMA_SELECT", 3, 2, A::RW, "0 SDMA, 2 ADMA2, 3 ADMA2 64 bit (V3) or ADMA2/3 (V4)"},
    {"WIDTH_8", 5, 1, A::RW, "8-bit bus"},
    {"CARD_DETECT_TEST_LEVEL", 6, 1, A::RW, "card detect test level"},
    {"CARD_DETECT_TEST", 7, 1, A::RW, "card detect signal selection"},
};
inline constexpr FieldDef kPowerControlFields[] = {
    {"VDD1_ON", 0, 1, A::RW, "bus power"},
    {"VDD1_VOLTAGE", 1, 3, A::RW, "eMMC: 7 = 3.3 V, 6 = 1.8 V, 5 = 1.2 V"},
    {"VDD2_ON", 4, 1, A::RW, "VDD2 power"},
    {"VDD2_VOLTAGE", 5, 3, A::RW, "5 = 1.8 V, 4 = 1.2 V"},
};
inline constexpr FieldDef kBlockGapFields[] = {
    {"STOP_AT_GAP", 0, 1, A::RW, "stop at block gap request"},
    {"CONTINUE", 1, 1, A::RWAC, "continue request"},
    {"READ_WAIT", 2, 1, A::RW, "read wait control"},
    {"INT_AT_GAP", 3, 1, A::RW, "interrupt at block gap"},
};
inline constexpr FieldDef kWakeupFields[] = {
    {"CARD_INT", 0, 1, A::RW, "wake on card interrupt"},
    {"INSERT", 1, 1, A::RW, "wake on insertion"},
    {"REMOVE", 2, 1, A::RW, "wake on removal"},
};
inline constexpr FieldDef kClockControlFields[] = {
    {"INTERNAL_ENABLE", 0, 1, A::RW, "internal clock enable"},
    {"INTERNAL_STABLE", 1, 1, A::ROC, "internal clock stable"},
    {"SD_CLOCK_ENABLE", 2, 1, A::RW, "card clock enable"},
    {"PLL_ENABLE", 3, 1, A::RW, "PLL enable (V4 mode)"},
    {"PROGRAMMABLE", 5, 1, A::RW, "programmable clock generator"},
    {"DIVIDER_HIGH", 6, 2, A::RW, "divider bits 9:8"},
    {"DIVIDER_LOW", 8, 8, A::RW, "divider bits 7:0; f = base / 2N, N = 0: base"},
};
inline constexpr FieldDef kTimeoutFields[] = {
    {"COUNTER", 0, 4, A::RW, "data timeout = TMCLK x 2^(13+n), 15 reserved"},
};
inline constexpr FieldDef kSoftwareResetFields[] = {
    {"ALL", 0, 1, A::RWAC, "whole host"},
    {"CMD", 1, 1, A::RWAC, "command line"},
    {"DAT", 2, 1, A::RWAC, "data line"},
};
inline constexpr FieldDef kNormalStatusFields[] = {
    {"COMMAND_COMPLETE", 0, 1, A::W1C, "command complete"},
    {"TRANSFER_COMPLETE", 1, 1, A::W1C, "transfer complete"},
    {"BLOCK_GAP", 2, 1, A::W1C, "block gap event"},
    {"DMA", 3, 1, A::W1C, "DMA interrupt"},
    {"BUFFER_WRITE_READY", 4, 1, A::W1C, "buffer write ready"},
    {"BUFFER_READ_READY", 5, 1, A::W1C, "buffer read ready"},
    {"CARD_INSERTION", 6, 1, A::W1C, "card inserted"},
    {"CARD_REMOVAL", 7, 1, A::W1C, "card removed"},
    {"CARD_INTERRUPT", 8, 1, A::RO, "card interrupt (level)"},
    {"RETUNE", 12, 1, A::RO, "re-tuning event"},
    {"FX", 13, 1, A::RO, "FX event"},
    {"CQE", 14, 1, A::W1C, "command queueing event"},
    {"ERROR", 15, 1, A::RO, "any error status bit"},
};
inline constexpr FieldDef kErrorStatusFields[] = {
    {"COMMAND_TIMEOUT", 0, 1, A::W1C, "no response in 64 clocks"},
    {"COMMAND_CRC", 1, 1, A::W1C, "response CRC7"},
    {"COMMAND_END_BIT", 2, 1, A::W1C, "response end bit"},
    {"COMMAND_INDEX", 3, 1, A::W1C, "response index"},
    {"DATA_TIMEOUT", 4, 1, A::W1C, "data timeout"},
    {"DATA_CRC", 5, 1, A::W1C, "data CRC16 or CRC status"},
    {"DATA_END_BIT", 6, 1, A::W1C, "data end bit"},
    {"CURRENT_LIMIT", 7, 1, A::W1C, "never set on DWC"},
    {"AUTO_CMD", 8, 1, A::W1C, "auto command error"},
    {"ADMA", 9, 1, A::W1C, "ADMA error"},
    {"TUNING", 10, 1, A::W1C, "tuning error"},
    {"RESPONSE", 11, 1, A::W1C, "error bit in a checked response"},
    {"BOOT_ACK", 12, 1, A::W1C, "boot acknowledge error"},
};
inline constexpr FieldDef kNormalEnableFields[] = {
    {"BITS", 0, 15, A::RW, "same positions as the status; bit 15 is fixed 0"},
};
inline constexpr FieldDef kErrorEnableFields[] = {
    {"BITS", 0, 13, A::RW, "same positions as the status"},
};
inline constexpr FieldDef kAutoCmdErrorFields[] = {
    {"CMD12_NOT_EXECUTED", 0, 1, A::ROC, "auto CMD12 not executed"},
    {"TIMEOUT", 1, 1, A::ROC, "auto command timeout"},
    {"CRC", 2, 1, A::ROC, "auto command CRC"},
    {"END_BIT", 3, 1, A::ROC, "auto command end bit"},
    {"INDEX", 4, 1, A::ROC, "auto command index"},
    {"RESPONSE", 5, 1, A::ROC, "auto command response error"},
    {"NOT_ISSUED", 7, 1, A::ROC, "command not issued because of an auto CMD12 error"},
};
inline constexpr FieldDef kHostControl2Fields[] = {
    {"UHS_MODE", 0, 3, A::RW, "DWC eMMC: 0 legacy, 1 HS, 3 HS200, 4 DDR52, 7 HS400"},
    {"SIGNAL_1V8", 3, 1, A::RW, "1.8 V signalling"},
    {"DRIVE_STRENGTH", 4, 2, A::RW, "driver type B, A, C, D"},
    {"EXECUTE_TUNING", 6, 1, A::RWAC, "start tuning; hardware clears"},
    {"SAMPLE_CLOCK_SELECT", 7, 1, A::RW, "tuned clock in use"},
    {"UHS2_ENABLE", 8, 1, A::RW, "UHS-II"},
    {"ADMA2_LENGTH_26", 10, 1, A::RW, "26-bit ADMA2 lengths"},
    {"CMD23_ENABLE", 11, 1, A::RW, "card supports CMD23 (auto select)"},
    {"VERSION_4_ENABLE", 12, 1, A::RW, "host version 4 mode"},
    {"ADDRESSING_64", 13, 1, A::RW, "64-bit addressing (V4 only)"},
    {"ASYNC_INT_ENABLE", 14, 1, A::RW, "asynchronous interrupt"},
    {"PRESET_VALUE_ENABLE", 15, 1, A::RW, "clock and driver from the preset registers"},
};
inline constexpr FieldDef kCapabilities1Fields[] = {
    {"TIMEOUT_CLOCK", 0, 6, A::HWInit, "timeout clock frequency"},
    {"TIMEOUT_CLOCK_MHZ", 7, 1, A::HWInit, "unit: 0 kHz, 1 MHz"},
    {"BASE_CLOCK", 8, 8, A::HWInit, "base clock in MHz; 0: elsewhere"},
    {"MAX_BLOCK", 16, 2, A::HWInit, "512 << n bytes"},
    {"WIDTH_8", 18, 1, A::HWInit, "8-bit embedded bus"},
    {"ADMA2", 19, 1, A::HWInit, "ADMA2"},
    {"HIGH_SPEED", 21, 1, A::HWInit, "high speed"},
    {"SDMA", 22, 1, A::HWInit, "SDMA"},
    {"SUSPEND_RESUME", 23, 1, A::HWInit, "suspend and resume"},
    {"V3_3", 24, 1, A::HWInit, "3.3 V"},
    {"V3_0", 25, 1, A::HWInit, "3.0 V"},
    {"V1_8", 26, 1, A::HWInit, "1.8 V"},
    {"ADDRESS_64_V4", 27, 1, A::HWInit, "64-bit addressing in V4 mode"},
    {"ADDRESS_64_V3", 28, 1, A::HWInit, "64-bit addressing in V3 mode (96-bit descriptors)"},
    {"ASYNC_INT", 29, 1, A::HWInit, "asynchronous interrupt"},
    {"SLOT_TYPE", 30, 2, A::HWInit, "0 removable, 1 embedded, 2 shared"},
};
inline constexpr FieldDef kCapabilities2Fields[] = {
    {"SDR50", 0, 1, A::HWInit, "SDR50"},
    {"SDR104", 1, 1, A::HWInit, "SDR104 (HS200)"},
    {"DDR50", 2, 1, A::HWInit, "DDR50"},
    {"UHS2", 3, 1, A::HWInit, "UHS-II"},
    {"DRIVER_TYPES", 4, 3, A::HWInit, "driver types A, C, D"},
    {"RETUNE_TIMER", 8, 4, A::HWInit, "re-tuning timer"},
    {"SDR50_TUNING", 13, 1, A::HWInit, "SDR50 needs tuning"},
    {"RETUNE_MODE", 14, 2, A::HWInit, "re-tuning mode"},
    {"CLOCK_MULTIPLIER", 16, 8, A::HWInit, "M - 1; 0: no programmable clock"},
    {"ADMA3", 27, 1, A::HWInit, "ADMA3"},
    {"VDD2_1V8", 28, 1, A::HWInit, "VDD2 1.8 V"},
};
inline constexpr FieldDef kAdmaErrorFields[] = {
    {"STATE", 0, 2, A::ROC, "0 ST_STOP, 1 ST_FDS, 3 ST_TFR"},
    {"LENGTH_MISMATCH", 2, 1, A::ROC, "descriptor total differs from count x size"},
};
inline constexpr FieldDef kPresetFields[] = {
    {"FREQUENCY", 0, 10, A::HWInit, "card clock divider"},
    {"GENERATOR", 10, 1, A::HWInit, "programmable generator"},
    {"DRIVE_STRENGTH", 14, 2, A::HWInit, "driver type"},
};
inline constexpr FieldDef kVersionFields[] = {
    {"SPEC", 0, 8, A::HWInit, "5 = 4.20"},
    {"VENDOR", 8, 8, A::HWInit, "vendor version"},
};

inline constexpr RegDef kRegs[] = {
    {"SDMA_ADDRESS", 0x00, 4, 0, A::RW, {}, "SDMA address (V3), 32-bit block count (V4), CMD23 argument"},
    {"BLOCK_SIZE", 0x04, 2, 0, A::RW, kBlockSizeFields, "block size and SDMA boundary"},
    {"BLOCK_COUNT", 0x06, 2, 0, A::RW, {}, "16-bit block count"},
    {"ARGUMENT", 0x08, 4, 0, A::RW, {}, "command argument"},
    {"TRANSFER_MODE", 0x0C, 2, 0, A::RW, kTransferModeFields, "transfer mode"},
    {"COMMAND", 0x0E, 2, 0, A::RW, kCommandFields, "command; a write to the upper byte starts it"},
    {"RESPONSE0", 0x10, 4, 0, A::ROC, {}, "response word 0"},
    {"RESPONSE1", 0x14, 4, 0, A::ROC, {}, "response word 1"},
    {"RESPONSE2", 0x18, 4, 0, A::ROC, {}, "response word 2"},
    {"RESPONSE3", 0x1C, 4, 0, A::ROC, {}, "response word 3; auto command response"},
    {"BUFFER_DATA_PORT", 0x20, 4, 0, A::RW, {}, "PIO data"},
    {"PRESENT_STATE", 0x24, 4, 0x02040000, A::RO, kPresentStateFields, "present state"},
    {"HOST_CONTROL1", 0x28, 1, 0, A::RW, kHostControl1Fields, "host control 1"},
    {"POWER_CONTROL", 0x29, 1, 0, A::RW, kPowerControlFields, "power control"},
    {"BLOCK_GAP_CONTROL", 0x2A, 1, 0, A::RW, kBlockGapFields, "block gap control"},
    {"WAKEUP_CONTROL", 0x2B, 1, 0, A::RW, kWakeupFields, "wakeup control"},
    {"CLOCK_CONTROL", 0x2C, 2, 0, A::RW, kClockControlFields, "clock control"},
    {"TIMEOUT_CONTROL", 0x2E, 1, 0, A::RW, kTimeoutFields, "data timeout counter"},
    {"SOFTWARE_RESET", 0x2F, 1, 0, A::RWAC, kSoftwareResetFields, "software reset"},
    {"NORMAL_INT_STATUS", 0x30, 2, 0, A::W1C, kNormalStatusFields, "normal interrupt status"},
    {"ERROR_INT_STATUS", 0x32, 2, 0, A::W1C, kErrorStatusFields, "error interrupt status"},
    {"NORMAL_INT_STATUS_ENABLE", 0x34, 2, 0, A::RW, kNormalEnableFields, "normal status enable"},
    {"ERROR_INT_STATUS_ENABLE", 0x36, 2, 0, A::RW, kErrorEnableFields, "error status enable"},
    {"NORMAL_INT_SIGNAL_ENABLE", 0x38, 2, 0, A::RW, kNormalEnableFields, "normal signal enable"},
    {"ERROR_INT_SIGNAL_ENABLE", 0x3A, 2, 0, A::RW, kErrorEnableFields, "error signal enable"},
    {"AUTO_CMD_ERROR", 0x3C, 2, 0, A::ROC, kAutoCmdErrorFields, "auto command error status"},
    {"HOST_CONTROL2", 0x3E, 2, 0, A::RW, kHostControl2Fields, "host control 2"},
    {"CAPABILITIES1", 0x40, 4, 0x3E6DC881, A::HWInit, kCapabilities1Fields, "capabilities 1"},
    {"CAPABILITIES2", 0x44, 4, 0x08000007, A::HWInit, kCapabilities2Fields, "capabilities 2"},
    {"MAX_CURRENT1", 0x48, 4, 0x2, A::HWInit, {}, "maximum current, 4 mA units"},
    {"MAX_CURRENT2", 0x4C, 4, 0, A::HWInit, {}, "maximum current VDD2"},
    {"FORCE_AUTO_CMD_ERROR", 0x50, 2, 0, A::WO, {}, "force event for auto command errors"},
    {"FORCE_ERROR_INT", 0x52, 2, 0, A::WO, {}, "force event for error interrupts"},
    {"ADMA_ERROR", 0x54, 1, 0, A::ROC, kAdmaErrorFields, "ADMA error status"},
    {"ADMA_ADDRESS_LOW", 0x58, 4, 0, A::RW, {}, "ADMA address 31:0; SDMA address in V4 mode"},
    {"ADMA_ADDRESS_HIGH", 0x5C, 4, 0, A::RW, {}, "ADMA address 63:32"},
    {"PRESET_INIT", 0x60, 2, 0x007F, A::HWInit, kPresetFields, "preset: initialisation"},
    {"PRESET_DEFAULT", 0x62, 2, 0x0001, A::HWInit, kPresetFields, "preset: default speed"},
    {"PRESET_HIGH_SPEED", 0x64, 2, 0, A::HWInit, kPresetFields, "preset: high speed"},
    {"PRESET_SDR12", 0x66, 2, 0, A::HWInit, kPresetFields, "preset: SDR12 (eMMC legacy)"},
    {"PRESET_SDR25", 0x68, 2, 0, A::HWInit, kPresetFields, "preset: SDR25 (eMMC HS)"},
    {"PRESET_SDR50", 0x6A, 2, 0, A::HWInit, kPresetFields, "preset: SDR50"},
    {"PRESET_SDR104", 0x6C, 2, 0, A::HWInit, kPresetFields, "preset: SDR104 (eMMC HS200)"},
    {"PRESET_DDR50", 0x6E, 2, 0, A::HWInit, kPresetFields, "preset: DDR50 (eMMC DDR52)"},
    {"PRESET_HS400", 0x74, 2, 0, A::HWInit, kPresetFields, "preset: UHS-II, used for HS400"},
    {"ADMA3_ADDRESS_LOW", 0x78, 4, 0, A::RW, {}, "ADMA3 integrated descriptor address 31:0"},
    {"ADMA3_ADDRESS_HIGH", 0x7C, 4, 0, A::RW, {}, "ADMA3 integrated descriptor address 63:32"},
    {"EMBEDDED_POINTER", 0xE6, 2, 0, A::HWInit, {}, "pointer to embedded control"},
    {"VENDOR1_POINTER", 0xE8, 2, 0x500, A::HWInit, {}, "pointer to vendor area 1"},
    {"VENDOR2_POINTER", 0xEA, 2, 0x180, A::HWInit, {}, "pointer to vendor area 2 (CQHCI)"},
    {"SLOT_INT_STATUS", 0xFC, 2, 0, A::ROC, {}, "slot interrupt status; 0 on a single-slot DWC MSHC"},
    {"VERSION", 0xFE, 2, 0x0005, A::HWInit, kVersionFields, "host controller version"},
};

/// Interrupt bits as one 32-bit word: normal status below, error status from bit 16 (how drivers use them).
enum Int : std::uint32_t {
  kIntCommandComplete = 1u << 0,
  kIntTransferComplete = 1u << 1,
  kIntBlockGap = 1u << 2,
  kIntDma = 1u << 3,
  kIntBufferWriteReady = 1u << 4,
  kIntBufferReadReady = 1u << 5,
  kIntCqe = 1u << 14,
  kIntError = 1u << 15,
  kIntCommandTimeout = 1u << 16,
  kIntCommandCrc = 1u << 17,
  kIntCommandEndBit = 1u << 18,
  kIntCommandIndex = 1u << 19,
  kIntDataTimeout = 1u << 20,
  kIntDataCrc = 1u << 21,
  kIntDataEndBit = 1u << 22,
  kIntCurrentLimit = 1u << 23,
  kIntAutoCmd = 1u << 24,
  kIntAdma = 1u << 25,
  kIntTuning = 1u << 26,
  kIntResponse = 1u << 27,
};

/// HOST_CONTROL2.UHS_MODE on a DWC MSHC with an eMMC.
enum UhsMode : std::uint32_t {
  kUhsLegacy = 0,
  kUhsHighSpeed = 1,
  kUhsHs200 = 3,
  kUhsDdr52 = 4,
  kUhsHs400 = 7
};

/// ADMA2 descriptor attributes (low half-word of word 0) and formats.
enum AdmaAttr : std::uint32_t {
  kAdmaValid = 1u << 0,
  kAdmaEnd = 1u << 1,
  kAdmaInt = 1u << 2,
  kAdmaActMask = 7u << 3,
  kAdmaActNop = 0u << 3,
  kAdmaActTran = 4u << 3,
  kAdmaActLink = 6u << 3,
};
inline constexpr std::uint32_t kAdma32Bytes = 8;    ///< 32-bit addressing
inline constexpr std::uint32_t kAdma96Bytes = 12;   ///< 64-bit addressing in V3 mode
inline constexpr std::uint32_t kAdma128Bytes = 16;  ///< 64-bit addressing in V4 mode
/// A descriptor's data must not cross a multiple of this on a DWC MSHC.
inline constexpr std::uint64_t kDmaWindowBytes = std::uint64_t{1} << 27;

}  // namespace vp::sdhci
