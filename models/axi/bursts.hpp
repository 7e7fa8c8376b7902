// Burst splitting (ARM IHI 0022 A3.4.1): no burst crosses 4 KiB, none is longer than the master allows.
#pragma once

#include <cstdint>
#include <vector>

namespace vp {

inline constexpr std::uint64_t kAxiBoundaryBytes = 4096;  // ARM IHI 0022 A3.4.1
inline constexpr std::uint32_t kAxiMaxBeats = 256;        // AxLEN is 8 bits for INCR
inline constexpr std::uint32_t kAxiMaxFixedBeats = 16;    // ARM IHI 0022 A3.4.1

/// Which INCR lengths the master may issue (DWC MSHC MBIU_CTRL). Single beats are always allowed.
/// `undefined`: any length up to the maximum; the three lengths then add nothing.
struct BurstSet {
  bool undefined = true, incr4 = false, incr8 = false, incr16 = false;
};

struct BurstPart {
  std::uint64_t address;
  std::uint32_t bytes;  ///< payload bytes; the first and last beat may be partial
  std::uint32_t beats;
};

/// The first burst of what remains of a transfer. `beat_bytes` is a power of two; `bytes` > 0.
BurstPart next_burst(std::uint64_t address, std::uint32_t bytes, std::uint32_t beat_bytes,
                     std::uint32_t max_beats, const BurstSet& allowed);

/// As next_burst() for a FIXED burst of beats of `beat_bytes` at one address; `bytes` is a multiple of it.
BurstPart next_fixed_burst(std::uint64_t address, std::uint32_t bytes, std::uint32_t beat_bytes,
                           std::uint32_t max_beats);

/// The bursts of one transfer, in order. Never across 4 KiB, never longer than `max_beats`, lengths out of
/// `allowed`.
std::vector<BurstPart> split_bursts(std::uint64_t address, std::uint32_t bytes, std::uint32_t beat_bytes,
                                    std::uint32_t max_beats, const BurstSet& allowed);

}  // namespace vp
