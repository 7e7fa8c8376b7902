#include "firmware/drivers/sdhci_adma.hpp"

#include <cstring>

#include "firmware/drivers/dma_pieces.hpp"

namespace fw {

namespace {
constexpr std::uint32_t kMaxLength = kMaxPieceBytes;
constexpr std::uint64_t kWindow = hw::kDmaWindowBytes;
}  // namespace

std::uint32_t adma_entry_bytes(AdmaFormat format) {
  switch (format) {
    case AdmaFormat::bits32:
      return hw::kAdma32Bytes;
    case AdmaFormat::bits64_v3:
      return hw::kAdma96Bytes;
    case AdmaFormat::bits64_v4:
      return hw::kAdma128Bytes;
  }
  return 0;
}

std::uint32_t adma_entries_needed(std::uint32_t max_segs, std::uint32_t max_seg_bytes) {
  const std::uint32_t per_segment = (max_seg_bytes + kMaxLength - 1) / kMaxLength;
  const auto windows = static_cast<std::uint32_t>(max_seg_bytes / kWindow) + 1;
  return max_segs * (per_segment + windows) + 1;
}

bool AdmaTable::put(std::uint64_t address, std::uint32_t bytes, std::uint32_t attributes) {
  if (used_ == entries_) return false;
  const std::uint32_t words[4] = {attributes | (bytes & 0xFFFF) << 16, static_cast<std::uint32_t>(address),
                                  static_cast<std::uint32_t>(address >> 32), 0};
  const std::uint32_t size = adma_entry_bytes(format_);
  std::memcpy(memory_ + std::size_t{used_} * size, words, size);
  ++used_;
  return true;
}

bool AdmaTable::add(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0 || ((address | bytes) & 3)) return false;
  if (format_ == AdmaFormat::bits32 && (address + bytes - 1) >> 32) return false;
  return for_each_piece(address, bytes, split_, [this](std::uint64_t at, std::uint32_t n) {
    return put(at, n, hw::kAdmaActTran | hw::kAdmaValid);
  });
}

std::uint32_t AdmaTable::build(std::span<const Segment> segments) {
  used_ = 0;
  for (const Segment& s : segments)
    if (!add(s.address, s.bytes)) return 0;
  return put(0, 0, hw::kAdmaActNop | hw::kAdmaEnd | hw::kAdmaValid) ? used_ : 0;
}

}  // namespace fw
