// Card status, R1 (JESD84-B51 6.13): bits with their clear conditions. A: follows the state. B: belongs to
// the command before, cleared by the next valid command. C: cleared by being read.
#pragma once

#include <cstdint>

namespace vp::status {

inline constexpr std::uint32_t kAddressOutOfRange = 1U << 31, kAddressMisalign = 1U << 30,
                               kBlockLenError = 1U << 29, kEraseSeqError = 1U << 28, kEraseParam = 1U << 27,
                               kWpViolation = 1U << 26, kComCrcError = 1U << 23, kIllegalCommand = 1U << 22,
                               kDeviceEccFailed = 1U << 21, kCcError = 1U << 20, kError = 1U << 19,
                               kEraseReset = 1U << 13, kReadyForData = 1U << 8, kSwitchError = 1U << 7;
inline constexpr unsigned kStateShift = 9;
inline constexpr std::uint32_t kTypeB = kComCrcError | kIllegalCommand | kSwitchError;
inline constexpr std::uint32_t kTypeC = kAddressOutOfRange | kAddressMisalign | kBlockLenError |
                                        kEraseSeqError | kEraseParam | kWpViolation | kDeviceEccFailed |
                                        kCcError | kError | kEraseReset;

}  // namespace vp::status
