// Interrupt controller register map, as data (this project's own block, after the RISC-V PLIC). No SystemC in
// here: the firmware includes it.
#pragma once

#include "models/core/register_map.hpp"

namespace vp::intc {

inline constexpr RegDef kRegisters[] = {
    {"PENDING", 0x00, 4, 0, Access::RO, {}, "level of each of the 32 input lines"},
    {"ENABLE", 0x04, 4, 0, Access::RW, {}, "1: the line may interrupt the CPU"},
    {"CLAIM",
     0x08,
     4,
     0,
     Access::RO,
     {},
     "reading takes the lowest line that is pending, enabled and not claimed: its number + 1; 0 none"},
    {"COMPLETE", 0x0C, 4, 0, Access::WO, {}, "the number claimed: the line may interrupt again"},
};
inline constexpr std::uint32_t kWindowBytes = 0x1000;  ///< decoded area
inline constexpr unsigned kLines = 32;

inline constexpr std::uint16_t kPending = reg_offset(kRegisters, "PENDING");
inline constexpr std::uint16_t kEnable = reg_offset(kRegisters, "ENABLE");
inline constexpr std::uint16_t kClaim = reg_offset(kRegisters, "CLAIM");
inline constexpr std::uint16_t kComplete = reg_offset(kRegisters, "COMPLETE");

}  // namespace vp::intc
