// The small searches of a DW-MMC driver: clock divider, FIFO thresholds, data timeout, card thresholds, limits.
// Pure arithmetic.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/drivers/dwmmc_hw.hpp"

namespace fw {

inline constexpr std::uint32_t kDwMaxDivider = 255;  ///< eight bits

/// n of f = ciu / 2n (0: bypass), smallest that does not exceed `wanted_hz`; above kDwMaxDivider when none does.
constexpr std::uint32_t dw_divider(std::uint32_t ciu_hz, std::uint32_t wanted_hz) {
  if (wanted_hz == 0) return kDwMaxDivider + 1;
  if (ciu_hz <= wanted_hz) return 0;
  const std::uint64_t step = std::uint64_t{2} * wanted_hz;
  return static_cast<std::uint32_t>((ciu_hz + step - 1) / step);
}
constexpr std::uint32_t dw_divided(std::uint32_t ciu_hz, std::uint32_t n) {
  return n == 0 ? ciu_hz : ciu_hz / (2 * n);
}

struct DwThresholds {
  std::uint32_t msize = 0, rx = 0, tx = 0;
  constexpr std::uint32_t value() const {
    return msize << dw::kFifothMsizeLsb | rx << dw::kFifothRxLsb | tx << dw::kFifothTxLsb;
  }
};

/// What holds until a transfer wants otherwise, and for PIO: bursts of 8, half the FIFO each way.
constexpr DwThresholds dw_default_thresholds(std::uint32_t depth) { return {2, depth / 2 - 1, depth / 2}; }

/// For IDMAC transfers: the longest burst that divides the block and the half of the FIFO that is free at the transmit
/// watermark; single words otherwise. RX_WMARK stays above 0 then: at 0 the IDMAC of some versions sees no request.
constexpr DwThresholds dw_thresholds(std::uint32_t depth, std::uint32_t width_bytes,
                                     std::uint32_t block_bytes) {
  DwThresholds t{0, 1, depth / 2};
  if (block_bytes % width_bytes) return t;
  const std::uint32_t words = block_bytes / width_bytes, free = depth - t.tx;
  for (std::uint32_t code = 7; code > 0; --code) {
    const std::uint32_t beats = vp::dwmmc::msize_beats(code);
    if (words % beats || free % beats) continue;
    t.msize = code;
    t.rx = beats - 1;
    break;
  }
  return t;
}

/// TMOUT for a data timeout of `ns` at `card_hz`; the longest when it does not fit. The response timeout is the longest.
/// `extended`: bits 10:8 multiply bits 31:11 by 1 to 8.
constexpr std::uint32_t dw_timeout(std::uint64_t ns, std::uint32_t card_hz, bool extended) {
  constexpr std::uint32_t kResponse = 0xFF, kLongest = 0xFF'FFFF, kLongestScaled = 0xFF'FFF8;
  constexpr std::uint64_t kNsPerUs = 1000, kUsPerSecond = 1'000'000;
  constexpr std::uint64_t kMostUs = 1000 * kUsPerSecond;  // beyond every field, and no product overflows
  std::uint64_t us = (ns + kNsPerUs - 1) / kNsPerUs;
  if (us > kMostUs) us = kMostUs;
  const std::uint64_t clocks = (us * card_hz + kUsPerSecond - 1) / kUsPerSecond;
  std::uint32_t field = kLongest;
  if (!extended) {
    if (clocks != 0 && clocks <= kLongest) field = static_cast<std::uint32_t>(clocks);
  } else {
    for (std::uint32_t times = 1; clocks != 0 && times <= 8; ++times) {
      const std::uint64_t scaled = ((clocks + times - 1) / times + 7) & ~std::uint64_t{7};
      if (scaled > kLongestScaled) continue;
      field = static_cast<std::uint32_t>(scaled) | (times - 1);
      break;
    }
  }
  return field << 8 | kResponse;
}

/// CARDTHRCTL for a data transfer: a block starts on the wire only when the FIFO can take (or holds) all of it. For
/// reads in the modes above 100 MHz, whose clock cannot be stopped inside a block; for writes in HS400 from 2.80a on.
constexpr std::uint32_t dw_card_threshold(std::uint32_t version, bool fast, bool hs400, bool read,
                                          std::uint32_t block_bytes, std::uint32_t fifo_bytes) {
  if (version < dw::kVersion240 || block_bytes > fifo_bytes) return 0;
  if (read ? !fast : !hs400 || version < dw::kVersion280) return 0;
  return block_bytes << dw::kThrLsb | (read ? dw::kThrRead : dw::kThrWrite);
}

/// What the block layer may ask for in one request.
struct DwLimits {
  std::uint32_t max_segs, max_seg_bytes, max_req_bytes, max_blk_count;
};

inline constexpr std::uint32_t kDwBlockBytes = 512;

/// The ring decides. `wanted_seg_bytes` 0: segments of 4 KiB, one descriptor each, so a request always fits. Above: up
/// to the whole request (Linux 6.9's scheme); segments that are no multiple of 4 KiB can then need more descriptors
/// than the ring has, which DwRing refuses.
constexpr DwLimits dw_ring_limits(std::uint32_t ring_bytes, std::uint32_t descriptor_bytes,
                                  std::uint32_t wanted_seg_bytes) {
  const std::uint32_t entries = ring_bytes / descriptor_bytes;
  const std::uint64_t all = std::uint64_t{entries} * dw::kDesRuleBytes;
  constexpr std::uint64_t kMost = 0xFFFF'FFFF / dw::kDesRuleBytes * dw::kDesRuleBytes;  // BYTCNT is 32 bits
  const auto request = static_cast<std::uint32_t>(all < kMost ? all : kMost);
  std::uint32_t segment = wanted_seg_bytes ? wanted_seg_bytes : dw::kDesRuleBytes;
  if (segment > request) segment = request;
  return {entries, segment / kDwBlockBytes * kDwBlockBytes, request, request / kDwBlockBytes};
}

/// Without DMA: what Linux allows, 64 segments and 512 blocks.
constexpr DwLimits dw_pio_limits() { return {64, 512 * kDwBlockBytes, 512 * kDwBlockBytes, 512}; }

}  // namespace fw
