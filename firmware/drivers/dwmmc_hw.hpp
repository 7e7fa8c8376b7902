// Short names for the DW-MMC registers and fields the driver touches. Every value comes from the register tables.
#pragma once

#include "models/dwmmc/dwmmc_regs.hpp"

namespace fw::dw {

using vp::dwmmc::lsb;
using vp::dwmmc::mask;
using vp::dwmmc::reg;

inline constexpr auto kCtrl = reg("CTRL");
inline constexpr auto kPwren = reg("PWREN");
inline constexpr auto kClkdiv = reg("CLKDIV");
inline constexpr auto kClksrc = reg("CLKSRC");
inline constexpr auto kClkena = reg("CLKENA");
inline constexpr auto kTmout = reg("TMOUT");
inline constexpr auto kCtype = reg("CTYPE");
inline constexpr auto kBlksiz = reg("BLKSIZ");
inline constexpr auto kBytcnt = reg("BYTCNT");
inline constexpr auto kIntmask = reg("INTMASK");
inline constexpr auto kCmdarg = reg("CMDARG");
inline constexpr auto kCmd = reg("CMD");
inline constexpr auto kResp0 = reg("RESP0");
inline constexpr auto kMintsts = reg("MINTSTS");
inline constexpr auto kRintsts = reg("RINTSTS");
inline constexpr auto kStatus = reg("STATUS");
inline constexpr auto kFifoth = reg("FIFOTH");
inline constexpr auto kVerid = reg("VERID");
inline constexpr auto kHcon = reg("HCON");
inline constexpr auto kUhsReg = reg("UHS_REG");
inline constexpr auto kBmod = reg("BMOD");
inline constexpr auto kPldmnd = reg("PLDMND");
// from version 2.40a on
inline constexpr auto kCardthrctl = reg("CARDTHRCTL");
inline constexpr auto kEmmcDdrReg = reg("EMMC_DDR_REG");
inline constexpr auto kUhsRegExt = reg("UHS_REG_EXT");

inline constexpr auto kCtrlReset = mask("CTRL", "CONTROLLER_RESET");
inline constexpr auto kCtrlFifoReset = mask("CTRL", "FIFO_RESET");
inline constexpr auto kCtrlDmaReset = mask("CTRL", "DMA_RESET");
inline constexpr auto kCtrlIntEnable = mask("CTRL", "INT_ENABLE");
inline constexpr auto kCtrlDmaEnable = mask("CTRL", "DMA_ENABLE");
inline constexpr auto kCtrlUseIdmac = mask("CTRL", "USE_IDMAC");

// One slot, number 0: the lowest bit of every per-slot field.
inline constexpr std::uint32_t kSlot = 1;
inline constexpr auto kCtypeWidth4 = kSlot << lsb("CTYPE", "WIDTH_4");
inline constexpr auto kCtypeWidth8 = kSlot << lsb("CTYPE", "WIDTH_8");
inline constexpr auto kUhs1V8 = kSlot << lsb("UHS_REG", "VOLTAGE_1V8");
inline constexpr auto kUhsDdr = kSlot << lsb("UHS_REG", "DDR");
inline constexpr auto kDdrHalfStart = kSlot << lsb("EMMC_DDR_REG", "HALF_START_BIT");
inline constexpr auto kDdrHs400 = mask("EMMC_DDR_REG", "HS400");
inline constexpr auto kSamplePhaseLsb = lsb("UHS_REG_EXT", "SAMPLE_PHASE");
inline constexpr auto kSamplePhases = (mask("UHS_REG_EXT", "SAMPLE_PHASE") >> kSamplePhaseLsb) + 1;

inline constexpr auto kCmdResponse = mask("CMD", "RESPONSE");
inline constexpr auto kCmdLong = mask("CMD", "LONG_RESPONSE");
inline constexpr auto kCmdCheckCrc = mask("CMD", "CHECK_CRC");
inline constexpr auto kCmdData = mask("CMD", "DATA");
inline constexpr auto kCmdWrite = mask("CMD", "WRITE");
inline constexpr auto kCmdAutoStop = mask("CMD", "AUTO_STOP");
inline constexpr auto kCmdWaitData = mask("CMD", "WAIT_DATA");
inline constexpr auto kCmdStopAbort = mask("CMD", "STOP_ABORT");
inline constexpr auto kCmdSendInit = mask("CMD", "SEND_INIT");
inline constexpr auto kCmdUpdateClock = mask("CMD", "UPDATE_CLOCK");
inline constexpr auto kCmdUseHold = mask("CMD", "USE_HOLD");
inline constexpr auto kCmdStart = mask("CMD", "START");

inline constexpr auto kStatusBusy = mask("STATUS", "DATA_BUSY");
inline constexpr auto kStatusDmaReq = mask("STATUS", "DMA_REQ");
inline constexpr auto kStatusCountMask = mask("STATUS", "FIFO_COUNT");
inline constexpr auto kStatusCountLsb = lsb("STATUS", "FIFO_COUNT");

inline constexpr auto kFifothTxLsb = lsb("FIFOTH", "TX_WMARK");
inline constexpr auto kFifothRxMask = mask("FIFOTH", "RX_WMARK");
inline constexpr auto kFifothRxLsb = lsb("FIFOTH", "RX_WMARK");
inline constexpr auto kFifothMsizeLsb = lsb("FIFOTH", "MSIZE");

inline constexpr auto kHconDmaMask = mask("HCON", "DMA_INTERFACE");  ///< 0: the internal DMA controller
inline constexpr auto kHconWidthMask = mask("HCON", "DATA_WIDTH");
inline constexpr auto kHconWidthLsb = lsb("HCON", "DATA_WIDTH");

inline constexpr auto kBmodReset = mask("BMOD", "SWR");
inline constexpr auto kBmodFixed = mask("BMOD", "FB");
inline constexpr auto kBmodEnable = mask("BMOD", "DE");

inline constexpr auto kThrRead = mask("CARDTHRCTL", "READ_ENABLE");
inline constexpr auto kThrWrite = mask("CARDTHRCTL", "WRITE_ENABLE");
inline constexpr auto kThrBusyClear = mask("CARDTHRCTL", "BUSY_CLEAR");
inline constexpr auto kThrLsb = lsb("CARDTHRCTL", "THRESHOLD");

using namespace vp::dwmmc;  // NOLINT: interrupt bits, descriptor bits, versions

inline constexpr std::uint32_t kAll = 0xFFFF'FFFF;
inline constexpr std::uint32_t kIntForDma = kIntCommandDone | kIntDataOver | kIntCommandErrors |
                                            kIntDataErrors | kIntHardwareLocked | kIntAutoCommandDone;
/// The normal summary, and unlike Linux the errors the IDMAC itself can have, so that they need no timeout.
inline constexpr std::uint32_t kIdmacForDriver =
    kIdTransmit | kIdReceive | kIdNormal | kIdFatalBusError | kIdUnavailable | kIdAbnormal;

}  // namespace fw::dw
