// What an SD memory card's commands and registers say (SD Physical Layer 4.7, 4.3.10, 5.3.3, 5.6).
#pragma once

#include <cstdint>
#include <span>

#include "firmware/mmc/card_info.hpp"

namespace fw {

namespace sd_cmd {
inline constexpr std::uint8_t kSendIfCond = 8, kAppCmd = 55;
/// After CMD55.
inline constexpr std::uint8_t kSetBusWidth = 6, kSdStatus = 13, kOpCond = 41, kSendScr = 51;
inline constexpr std::uint32_t kAppCmdBit =
    1u << 5;  ///< card status: the next command is an application command
/// CMD6: groups 6 to 2 unchanged; group 1 is the access mode.
inline constexpr std::uint32_t kHighSpeed = 1, kCheckFunctions = 0x00FF'FFF0 | kHighSpeed,
                               kSwitchHighSpeed = 0x8000'0000 | kCheckFunctions;
inline constexpr std::uint32_t kDefaultHz = 25'000'000, kHighSpeedHz = 50'000'000;
}  // namespace sd_cmd

/// CSD version 2: capacity. False for any other version (standard capacity cards).
bool parse_sd_csd(std::span<const std::uint32_t, 4> csd, CardInfo& info);
/// Bus widths, CMD6 and CMD23 out of the SCR; false when its structure is unknown.
bool parse_scr(std::span<const std::uint8_t, 8> scr, CardInfo& info);

/// CMD6 status: is function `f` of group 1 there, and which one is selected (15: error).
bool sd_function_supported(std::span<const std::uint8_t, 64> status, unsigned f);
unsigned sd_function_selected(std::span<const std::uint8_t, 64> status);

}  // namespace fw
