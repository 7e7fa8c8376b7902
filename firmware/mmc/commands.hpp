// eMMC command indices and the R1 card status (JESD84-B51 6.10, 6.13).
#pragma once

#include <cstdint>

namespace fw::cmd {

inline constexpr std::uint8_t kGoIdle = 0, kSendOpCond = 1, kAllSendCid = 2, kSetRelativeAddr = 3,
                              kSwitch = 6, kSelect = 7, kSendExtCsd = 8, kSendCsd = 9, kStop = 12,
                              kSendStatus = 13, kReadSingle = 17, kReadMultiple = 18, kSendTuningBlock = 21,
                              kWriteSingle = 24, kWriteMultiple = 25, kQueueParams = 44, kQueueAddress = 45,
                              kExecuteRead = 46, kExecuteWrite = 47, kTaskManagement = 48;

/// CMD48 argument: discard the whole queue (JESD84-B51 6.6.39).
inline constexpr std::uint32_t kDiscardQueue = 1;
/// CMD13 argument beside the RCA: answer with the queue status register, one bit per task that is ready.
inline constexpr std::uint32_t kQueueStatus = 1u << 15;
/// CMD44, CMD46, CMD47 arguments: task id; direction of CMD44 (JESD84-B51 6.6.39).
inline constexpr unsigned kTaskLsb = 16;
inline constexpr std::uint32_t kTaskRead = 1u << 30;

}  // namespace fw::cmd

namespace fw::r1 {

inline constexpr std::uint32_t kSwitchError = 1u << 7, kReadyForData = 1u << 8;
/// Address, misalignment, block length, write protection, ECC, controller, generic error.
inline constexpr std::uint32_t kDataErrors =
    1u << 31 | 1u << 30 | 1u << 29 | 1u << 26 | 1u << 21 | 1u << 20 | 1u << 19;
inline constexpr unsigned kStateTran = 4;
constexpr unsigned state(std::uint32_t status) { return status >> 9 & 15; }
constexpr bool ready_for_data(std::uint32_t status) {
  return (status & kReadyForData) && state(status) == kStateTran;
}

}  // namespace fw::r1
