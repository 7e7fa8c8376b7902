// How an I/O is cut into requests: as much as the host takes at once, whole 512-byte blocks, the rule of
// Linux's block layer (max_hw_sectors, max_segments, max_segment_size). Adjacent pages merge up to
// max_seg_bytes.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/block/pages.hpp"

namespace fw {

inline constexpr std::uint32_t kSectorBytes = 512;
/// Most segments of one request the driver keeps a list for.
inline constexpr std::uint32_t kMaxSegments = 4096;
/// Longest segment accepted: what ADMA2's 26-bit length could say.
inline constexpr std::uint32_t kMaxSegmentBytes = 64 * 1024 * 1024;

struct QueueLimits {
  std::uint32_t max_segs = 128;
  std::uint32_t max_seg_bytes = 65536;
  std::uint32_t max_req_bytes = 512 * 1024;
  std::uint32_t max_blk_count = 65535;

  /// Segments that may be cut: all nonzero and in range, segment length a multiple of 512.
  bool valid() const;
};

struct Extent {
  std::uint32_t bytes = 0;  ///< multiple of 512; 0: the limits do not hold one block
  std::uint32_t segments = 0;
};

/// The longest request that starts at `offset` of the buffer, of at most `bytes`.
Extent cut_request(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes,
                   const QueueLimits& limits);

/// Lists the segments of [offset, offset + bytes). Returns how many; 0 when `out` is too short.
std::uint32_t gather(const Buffer& buffer, std::uint64_t offset, std::uint32_t bytes,
                     std::uint32_t max_seg_bytes, std::span<Segment> out);

}  // namespace fw
