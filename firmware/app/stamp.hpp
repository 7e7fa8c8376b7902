// Verify stamps: every 512-byte block says where it belongs (LBA), who wrote it (seed) and when (generation);
// the rest is pseudo-random and follows from these three, so that every wrong bit is seen, stale and
// misplaced blocks too.
#pragma once

#include <cstdint>

#include "firmware/block/pages.hpp"

namespace fw {

/// Generation 0 in check_stamps: any generation is good.
inline constexpr std::uint64_t kAnyGeneration = 0;

struct Stamp {
  std::uint64_t lba, seed, generation;
};

void make_block(const Stamp& stamp, std::uint64_t (&words)[64]);
/// True when the block is exactly what `stamp` says.
bool check_block(const Stamp& stamp, const std::uint64_t (&words)[64]);

/// Stamps the buffer's first `bytes` bytes as the blocks from `lba` on.
void fill_stamps(const Buffer& buffer, std::uint64_t bytes, Stamp first);
/// Returns the number of bad blocks; `first_bad` is the index of the first one.
std::uint32_t check_stamps(const Buffer& buffer, std::uint64_t bytes, Stamp first, std::uint64_t& first_bad);

/// Fills a buffer with pseudo-random bytes.
void fill_random(const Buffer& buffer, std::uint64_t bytes, std::uint64_t seed);

}  // namespace fw
