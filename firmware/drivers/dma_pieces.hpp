// How a segment is cut into DMA descriptors: at most 65536 bytes each and, on a DWC MSHC, inside one 128 MiB
// window.
#pragma once

#include <cstdint>

#include "firmware/drivers/sdhci_hw.hpp"

namespace fw {

inline constexpr std::uint64_t kMaxPieceBytes = 65536;  ///< 16-bit length, 0 meaning this

/// Calls f(address, bytes) per descriptor until f returns false; returns false then.
template <class F>
bool for_each_piece(std::uint64_t address, std::uint64_t bytes, bool split_128m, F f) {
  constexpr std::uint64_t kWindow = hw::kDmaWindowBytes;
  while (bytes) {
    std::uint64_t n = bytes < kMaxPieceBytes ? bytes : kMaxPieceBytes;
    const std::uint64_t to_window = kWindow - (address & (kWindow - 1));
    if (split_128m && n > to_window) n = to_window;
    if (!f(address, static_cast<std::uint32_t>(n))) return false;
    address += n;
    bytes -= n;
  }
  return true;
}

}  // namespace fw
