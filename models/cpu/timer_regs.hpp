// Timer register map, as data (this project's own block, after the RISC-V machine timer). No SystemC in here:
// the firmware includes it.
#pragma once

#include "models/core/register_map.hpp"

namespace vp::timer {

inline constexpr RegDef kRegisters[] = {
    {"MTIME", 0x00, 8, 0, Access::RO, {}, "ticks since reset"},
    {"MTIMECMP", 0x08, 8, ~std::uint64_t{0}, Access::RW, {}, "the interrupt is high while MTIME >= MTIMECMP"},
};
inline constexpr std::uint32_t kWindowBytes = 0x1000;  ///< decoded area

inline constexpr std::uint16_t kMtime = reg_offset(kRegisters, "MTIME");
inline constexpr std::uint16_t kMtimecmp = reg_offset(kRegisters, "MTIMECMP");

}  // namespace vp::timer
