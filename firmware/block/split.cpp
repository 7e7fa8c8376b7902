#include "firmware/block/split.hpp"

namespace fw {

namespace {
std::uint32_t smaller(std::uint64_t a, std::uint64_t b) { return static_cast<std::uint32_t>(a < b ? a : b); }

/// Segments of [offset, offset + bytes), and in `covered` how far the first `max_segs` of them reach.
std::uint32_t count_segments(const Buffer& buffer, std::uint64_t offset, std::uint32_t bytes,
                             const QueueLimits& limits, std::uint32_t& covered) {
  std::uint32_t n = 0;
  covered = 0;
  while (covered < bytes && n < limits.max_segs) {
    covered += buffer.piece(offset + covered, smaller(limits.max_seg_bytes, bytes - covered)).bytes;
    ++n;
  }
  return n;
}
}  // namespace

bool QueueLimits::valid() const {
  const auto whole = [](std::uint32_t v) { return v != 0 && v % kSectorBytes == 0; };
  return max_segs != 0 && max_segs <= kMaxSegments && max_blk_count != 0 && whole(max_seg_bytes) &&
         max_seg_bytes <= kMaxSegmentBytes && max_req_bytes >= kSectorBytes;
}

Extent cut_request(const Buffer& buffer, std::uint64_t offset, std::uint64_t bytes,
                   const QueueLimits& limits) {
  std::uint64_t most = bytes < limits.max_req_bytes ? bytes : limits.max_req_bytes;
  const std::uint64_t by_blocks = std::uint64_t{limits.max_blk_count} * kSectorBytes;
  if (most > by_blocks) most = by_blocks;
  Extent e;
  const auto wanted = static_cast<std::uint32_t>(most / kSectorBytes * kSectorBytes);
  count_segments(buffer, offset, wanted, limits, e.bytes);
  e.bytes = e.bytes / kSectorBytes * kSectorBytes;
  std::uint32_t covered = 0;
  e.segments = count_segments(buffer, offset, e.bytes, limits, covered);
  return e;
}

std::uint32_t gather(const Buffer& buffer, std::uint64_t offset, std::uint32_t bytes,
                     std::uint32_t max_seg_bytes, std::span<Segment> out) {
  std::uint32_t n = 0;
  for (std::uint32_t done = 0; done < bytes; ++n) {
    if (n == out.size()) return 0;
    out[n] = buffer.piece(offset + done, smaller(max_seg_bytes, bytes - done));
    done += out[n].bytes;
  }
  return n;
}

}  // namespace fw
