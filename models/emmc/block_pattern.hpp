// What a block that has never been written reads as: 64-bit word i (0..63) of block b, little-endian, is
// 0x9E3779B97F4A7C15 * (b * 64 + i + 1) modulo 2^64. Every word of a device differs, so a block in the wrong
// place is seen; the words are an arithmetic sequence, so that filling and checking are additions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace vp {

inline constexpr std::uint64_t kPatternStep = 0x9E3779B97F4A7C15ULL;
inline constexpr std::size_t kBlockBytes = 512;
inline constexpr std::size_t kBlockWords = kBlockBytes / 8;
static_assert(std::endian::native == std::endian::little, "the pattern is written as host words");

/// Word `i` of block `lba`.
constexpr std::uint64_t pattern_word(std::uint64_t lba, std::size_t i) {
  return kPatternStep * (lba * kBlockWords + i + 1);
}

/// Fills `out` (a multiple of 64 bytes) with the pattern from the start of block `lba` on, over as many
/// blocks as it takes: the sequence goes on from block to block.
void fill_block_pattern(std::uint64_t lba, std::span<std::byte> out);

/// Does `data` (a multiple of 64 bytes) hold the pattern from block `lba` on?
bool holds_block_pattern(std::uint64_t lba, std::span<const std::byte> data);

}  // namespace vp
