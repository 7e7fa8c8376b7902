// Short names for the SDHCI registers and fields the driver touches. Every value comes from the register
// tables.
#pragma once

#include "models/sdhci/dwcmshc_regs.hpp"
#include "models/sdhci/sdhci_regs.hpp"

namespace fw::hw {

consteval std::uint16_t reg(std::string_view name) { return vp::reg_offset(vp::sdhci::kRegs, name); }
consteval std::uint32_t mask(std::string_view r, std::string_view f) {
  return vp::field_mask(vp::sdhci::kRegs, r, f);
}
consteval unsigned lsb(std::string_view r, std::string_view f) {
  return vp::field_lsb(vp::sdhci::kRegs, r, f);
}

inline constexpr auto kSdmaAddress = reg("SDMA_ADDRESS");  ///< also Argument 2 and the 32-bit block count
inline constexpr auto kBlockSize = reg("BLOCK_SIZE");
inline constexpr auto kBlockCount = reg("BLOCK_COUNT");
inline constexpr auto kArgument = reg("ARGUMENT");
inline constexpr auto kTransferMode = reg("TRANSFER_MODE");
inline constexpr auto kCommand = reg("COMMAND");
inline constexpr auto kResponse0 = reg("RESPONSE0");
inline constexpr auto kBufferPort = reg("BUFFER_DATA_PORT");
inline constexpr auto kPresentState = reg("PRESENT_STATE");
inline constexpr auto kHostControl1 = reg("HOST_CONTROL1");
inline constexpr auto kPowerControl = reg("POWER_CONTROL");
inline constexpr auto kClockControl = reg("CLOCK_CONTROL");
inline constexpr auto kTimeoutControl = reg("TIMEOUT_CONTROL");
inline constexpr auto kSoftwareReset = reg("SOFTWARE_RESET");
inline constexpr auto kIntStatus = reg("NORMAL_INT_STATUS");         ///< with the error half: 32 bits
inline constexpr auto kIntEnable = reg("NORMAL_INT_STATUS_ENABLE");  ///< likewise
inline constexpr auto kIntSignal = reg("NORMAL_INT_SIGNAL_ENABLE");  ///< likewise
inline constexpr auto kHostControl2 = reg("HOST_CONTROL2");
inline constexpr auto kAutoCmdError = reg("AUTO_CMD_ERROR");
inline constexpr auto kCapabilities1 = reg("CAPABILITIES1");
inline constexpr auto kCapabilities2 = reg("CAPABILITIES2");
inline constexpr auto kAdmaError = reg("ADMA_ERROR");
inline constexpr auto kAdmaLow = reg("ADMA_ADDRESS_LOW");
inline constexpr auto kAdmaHigh = reg("ADMA_ADDRESS_HIGH");
inline constexpr auto kVendor1Pointer = reg("VENDOR1_POINTER");
inline constexpr auto kVendor2Pointer = reg("VENDOR2_POINTER");
inline constexpr auto kVersion = reg("VERSION");

inline constexpr auto kBoundaryLsb = lsb("BLOCK_SIZE", "SDMA_BOUNDARY");

inline constexpr auto kModeDma = mask("TRANSFER_MODE", "DMA_ENABLE");
inline constexpr auto kModeCount = mask("TRANSFER_MODE", "BLOCK_COUNT_ENABLE");
inline constexpr auto kModeAutoLsb = lsb("TRANSFER_MODE", "AUTO_CMD");
inline constexpr auto kModeRead = mask("TRANSFER_MODE", "DIRECTION_READ");
inline constexpr auto kModeMulti = mask("TRANSFER_MODE", "MULTI_BLOCK");

inline constexpr auto kCmdCrc = mask("COMMAND", "CRC_CHECK");
inline constexpr auto kCmdIndexCheck = mask("COMMAND", "INDEX_CHECK");
inline constexpr auto kCmdData = mask("COMMAND", "DATA_PRESENT");
inline constexpr auto kCmdIndexLsb = lsb("COMMAND", "INDEX");

inline constexpr auto kStateCmdInhibit = mask("PRESENT_STATE", "CMD_INHIBIT");
inline constexpr auto kStateDatInhibit = mask("PRESENT_STATE", "DAT_INHIBIT");
inline constexpr auto kStateWriteReady = mask("PRESENT_STATE", "BUFFER_WRITE_ENABLE");
inline constexpr auto kStateReadReady = mask("PRESENT_STATE", "BUFFER_READ_ENABLE");

inline constexpr auto kHc1Width4 = mask("HOST_CONTROL1", "WIDTH_4");
inline constexpr auto kHc1HighSpeed = mask("HOST_CONTROL1", "HIGH_SPEED");
inline constexpr auto kHc1DmaMask = mask("HOST_CONTROL1", "DMA_SELECT");
inline constexpr auto kHc1DmaLsb = lsb("HOST_CONTROL1", "DMA_SELECT");
inline constexpr auto kHc1Width8 = mask("HOST_CONTROL1", "WIDTH_8");

inline constexpr auto kPowerOn = mask("POWER_CONTROL", "VDD1_ON");
inline constexpr auto kPowerVoltageLsb = lsb("POWER_CONTROL", "VDD1_VOLTAGE");

inline constexpr auto kClockInternal = mask("CLOCK_CONTROL", "INTERNAL_ENABLE");
inline constexpr auto kClockStable = mask("CLOCK_CONTROL", "INTERNAL_STABLE");
inline constexpr auto kClockCard = mask("CLOCK_CONTROL", "SD_CLOCK_ENABLE");
inline constexpr auto kClockPll = mask("CLOCK_CONTROL", "PLL_ENABLE");
inline constexpr auto kClockDivHighLsb = lsb("CLOCK_CONTROL", "DIVIDER_HIGH");
inline constexpr auto kClockDivLowLsb = lsb("CLOCK_CONTROL", "DIVIDER_LOW");

inline constexpr auto kResetAll = mask("SOFTWARE_RESET", "ALL");
inline constexpr auto kResetCmd = mask("SOFTWARE_RESET", "CMD");
inline constexpr auto kResetDat = mask("SOFTWARE_RESET", "DAT");

inline constexpr auto kHc2UhsMask = mask("HOST_CONTROL2", "UHS_MODE");
inline constexpr auto kHc2Signal1v8 = mask("HOST_CONTROL2", "SIGNAL_1V8");
inline constexpr auto kHc2Tune = mask("HOST_CONTROL2", "EXECUTE_TUNING");
inline constexpr auto kHc2Tuned = mask("HOST_CONTROL2", "SAMPLE_CLOCK_SELECT");
inline constexpr auto kHc2Cmd23 = mask("HOST_CONTROL2", "CMD23_ENABLE");
inline constexpr auto kHc2V4 = mask("HOST_CONTROL2", "VERSION_4_ENABLE");
inline constexpr auto kHc2Addr64 = mask("HOST_CONTROL2", "ADDRESSING_64");

inline constexpr auto kCap1TimeoutMask = mask("CAPABILITIES1", "TIMEOUT_CLOCK");
inline constexpr auto kCap1TimeoutMhz = mask("CAPABILITIES1", "TIMEOUT_CLOCK_MHZ");
inline constexpr auto kCap1BaseMask = mask("CAPABILITIES1", "BASE_CLOCK");
inline constexpr auto kCap1BaseLsb = lsb("CAPABILITIES1", "BASE_CLOCK");
inline constexpr auto kCap1Width8 = mask("CAPABILITIES1", "WIDTH_8");
inline constexpr auto kCap1Adma2 = mask("CAPABILITIES1", "ADMA2");
inline constexpr auto kCap1HighSpeed = mask("CAPABILITIES1", "HIGH_SPEED");
inline constexpr auto kCap1Sdma = mask("CAPABILITIES1", "SDMA");
inline constexpr auto kCap1V33 = mask("CAPABILITIES1", "V3_3");
inline constexpr auto kCap1V30 = mask("CAPABILITIES1", "V3_0");
inline constexpr auto kCap1V18 = mask("CAPABILITIES1", "V1_8");
inline constexpr auto kCap1Addr64V4 = mask("CAPABILITIES1", "ADDRESS_64_V4");
inline constexpr auto kCap1Addr64V3 = mask("CAPABILITIES1", "ADDRESS_64_V3");
inline constexpr auto kCap2Sdr104 = mask("CAPABILITIES2", "SDR104");
inline constexpr auto kCap2Ddr50 = mask("CAPABILITIES2", "DDR50");

inline constexpr auto kVersionSpecMask = mask("VERSION", "SPEC");
inline constexpr std::uint32_t kSpec300 = 2, kSpec410 = 4;  ///< SDHCI 4.20 2.2.44: version numbers

inline constexpr std::uint32_t kVendor1PointerMask = 0xFFF;  ///< 12 bits on a DWC MSHC
inline constexpr auto kEmmcCtrl = vp::reg_offset(vp::dwcmshc::kRegs, "EMMC_CTRL");
inline constexpr auto kEmmcCard = vp::field_mask(vp::dwcmshc::kRegs, "EMMC_CTRL", "CARD_IS_EMMC");
inline constexpr auto kEmmcStrobe = vp::field_mask(vp::dwcmshc::kRegs, "EMMC_CTRL", "ENH_STROBE_ENABLE");

using namespace vp::sdhci;  // NOLINT: Int bits, UhsMode, Adma attributes
inline constexpr std::uint32_t kIntCommandErrors =
    kIntCommandTimeout | kIntCommandCrc | kIntCommandEndBit | kIntCommandIndex;
inline constexpr std::uint32_t kIntDataErrors = kIntDataTimeout | kIntDataCrc | kIntDataEndBit;
inline constexpr std::uint32_t kIntAlways = kIntCommandComplete | kIntTransferComplete | kIntCommandErrors |
                                            kIntDataErrors | kIntCurrentLimit | kIntAutoCmd;
inline constexpr std::uint32_t kIntForDma = kIntAlways | kIntDma | kIntAdma;
inline constexpr std::uint32_t kIntForPio = kIntAlways | kIntBufferReadReady | kIntBufferWriteReady;

/// With the queue engine on: its event, and the errors of the lines and the DMA it uses.
inline constexpr std::uint32_t kIntForCqe =
    kIntCqe | kIntCommandErrors | kIntDataErrors | kIntCurrentLimit | kIntAdma;

}  // namespace fw::hw
