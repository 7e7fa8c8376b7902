#include "models/axi/bursts.hpp"

#include <algorithm>
#include <bit>

namespace vp {
namespace {

/// The longest permitted length that `needed` beats fill.
std::uint32_t choose_beats(std::uint32_t needed, std::uint32_t max_beats, const BurstSet& allowed) {
  const std::uint32_t limit = std::min(needed, max_beats);
  if (allowed.undefined) return limit;
  if (allowed.incr16 && limit >= 16) return 16;
  if (allowed.incr8 && limit >= 8) return 8;
  if (allowed.incr4 && limit >= 4) return 4;
  return 1;
}

}  // namespace

BurstPart next_burst(std::uint64_t address, std::uint32_t bytes, std::uint32_t beat_bytes,
                     std::uint32_t max_beats, const BurstSet& allowed) {
  const auto to_boundary =
      static_cast<std::uint32_t>(kAxiBoundaryBytes - (address & (kAxiBoundaryBytes - 1)));
  const std::uint32_t chunk = std::min(bytes, to_boundary);
  const auto skew = static_cast<std::uint32_t>(address & (beat_bytes - 1));
  const std::uint32_t needed = ((skew + chunk - 1) >> std::countr_zero(beat_bytes)) + 1;
  const std::uint32_t beats = choose_beats(needed, max_beats, allowed);
  return {address, std::min(chunk, beats * beat_bytes - skew), beats};
}

BurstPart next_fixed_burst(std::uint64_t address, std::uint32_t bytes, std::uint32_t beat_bytes,
                           std::uint32_t max_beats) {
  const std::uint32_t beats = std::min({bytes / beat_bytes, max_beats, kAxiMaxFixedBeats});
  return {address, beats * beat_bytes, beats};
}

std::vector<BurstPart> split_bursts(std::uint64_t address, std::uint32_t bytes, std::uint32_t beat_bytes,
                                    std::uint32_t max_beats, const BurstSet& allowed) {
  std::vector<BurstPart> parts;
  while (bytes > 0) {
    parts.push_back(next_burst(address, bytes, beat_bytes, max_beats, allowed));
    address += parts.back().bytes;
    bytes -= parts.back().bytes;
  }
  return parts;
}

}  // namespace vp
