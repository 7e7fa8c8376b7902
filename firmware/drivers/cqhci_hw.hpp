// Short names for the CQHCI registers, fields and descriptor bits the driver touches. Every value comes from
// the register table; offsets are relative to vendor area 2.
#pragma once

#include "models/cqhci/cqhci_regs.hpp"

namespace fw::cq {

consteval std::uint16_t reg(std::string_view name) { return vp::reg_offset(vp::cqhci::kRegs, name); }
consteval std::uint32_t mask(std::string_view r, std::string_view f) {
  return vp::field_mask(vp::cqhci::kRegs, r, f);
}
consteval unsigned lsb(std::string_view r, std::string_view f) {
  return vp::field_lsb(vp::cqhci::kRegs, r, f);
}

inline constexpr auto kVersion = reg("CQVER");
inline constexpr auto kConfig = reg("CQCFG");
inline constexpr auto kControl = reg("CQCTL");
inline constexpr auto kStatus = reg("CQIS");
inline constexpr auto kStatusEnable = reg("CQISTE");
inline constexpr auto kSignalEnable = reg("CQISGE");
inline constexpr auto kCoalescing = reg("CQIC");
inline constexpr auto kListLow = reg("CQTDLBA");
inline constexpr auto kListHigh = reg("CQTDLBAU");
inline constexpr auto kDoorbell = reg("CQTDBR");
inline constexpr auto kNotification = reg("CQTCN");
inline constexpr auto kDescriptorErrors = reg("CQTDPE");
inline constexpr auto kSendStatus1 = reg("CQSSC1");
inline constexpr auto kSendStatus2 = reg("CQSSC2");
inline constexpr auto kDirectResponse = reg("CQCRDCT");
inline constexpr auto kErrorInfo = reg("CQTERRI");

inline constexpr auto kConfigEnable = mask("CQCFG", "CQ_EN");
inline constexpr auto kConfigTask128 = mask("CQCFG", "TASK_DESC_128");
inline constexpr auto kConfigDcmd = mask("CQCFG", "DCMD_EN");
inline constexpr auto kControlHalt = mask("CQCTL", "HALT");
inline constexpr auto kControlClearAll = mask("CQCTL", "CLEAR_ALL_TASKS");

inline constexpr std::uint32_t kHalted = vp::cqhci::kIsHac, kTaskComplete = vp::cqhci::kIsTcc,
                               kResponseError = vp::cqhci::kIsRed, kInvalidCrypto = vp::cqhci::kIsIcce;
inline constexpr std::uint32_t kErrorEvents = kResponseError | vp::cqhci::kIsGce | kInvalidCrypto;
inline constexpr std::uint32_t kUsedEvents = kTaskComplete | kErrorEvents;

inline constexpr auto kCoalTimeoutWrite = mask("CQIC", "TIMEOUT_WE");
inline constexpr auto kCoalCountLsb = lsb("CQIC", "COUNTER");
inline constexpr auto kCoalCountWrite = mask("CQIC", "COUNTER_WE");
inline constexpr auto kCoalReset = mask("CQIC", "RESET");
inline constexpr auto kCoalEnable = mask("CQIC", "ENABLE");
inline constexpr auto kMaxCoalCount = mask("CQIC", "COUNTER") >> kCoalCountLsb;
inline constexpr auto kMaxCoalTimeout = mask("CQIC", "TIMEOUT");
inline constexpr auto kIdleTimerMask = mask("CQSSC1", "CIT");

/// CQTERRI: response error in the low half, data error in the high half, same layout.
inline constexpr auto kTaskLsb = lsb("CQTERRI", "RESPONSE_TASK");
inline constexpr auto kTaskMask = mask("CQTERRI", "RESPONSE_TASK") >> kTaskLsb;
inline constexpr auto kTaskValid = mask("CQTERRI", "RESPONSE_VALID");
inline constexpr auto kDataHalfLsb = lsb("CQTERRI", "DATA_INDEX");

// Descriptors, word 0 of each: task, then link and transfer. The attribute bits have the same places in all
// three.
inline constexpr std::uint32_t kValid = vp::cqhci::kTaskValid, kEnd = vp::cqhci::kTaskEnd,
                               kInterrupt = vp::cqhci::kTaskInt, kActTask = vp::cqhci::kTaskActTask,
                               kActTran = vp::cqhci::kTransferActTran, kActLink = vp::cqhci::kTransferActLink;
static_assert(kValid == vp::cqhci::kTransferValid && kEnd == vp::cqhci::kTransferEnd);
inline constexpr std::uint32_t kTaskRead = vp::cqhci::kTaskRead, kTaskBarrier = vp::cqhci::kTaskQbr;
inline constexpr unsigned kBlocksLsb = vp::cqhci::kTaskBlocksLsb, kLengthLsb = vp::cqhci::kTransferLengthLsb;
/// Direct command: index, response R1b with timing 0 (sent when DAT is idle).
inline constexpr unsigned kDirectIndexLsb = vp::cqhci::kDcmdIndexLsb;
inline constexpr std::uint32_t kDirectR1b = 3u << vp::cqhci::kDcmdResponseLsb;

inline constexpr unsigned kSlots = vp::cqhci::kSlots, kDirectSlot = vp::cqhci::kDcmdSlot;
inline constexpr std::uint64_t kListAlign = vp::cqhci::kListAlign;

}  // namespace fw::cq
