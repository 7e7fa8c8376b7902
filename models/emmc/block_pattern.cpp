#include "models/emmc/block_pattern.hpp"

#include <cstring>

// Every byte that a run reads from untouched blocks is made and checked here, so the loops are compiled for wide vectors
// too and the machine picks. Not under the sanitizers: the picking runs before they are set up.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__SANITIZE_ADDRESS__)
#define VP_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define VP_WIDE
#endif

namespace vp {
namespace {

constexpr std::size_t kLanes = 8;

struct Lanes {
  std::uint64_t word[kLanes];
  explicit Lanes(std::uint64_t lba) {
    for (std::size_t j = 0; j < kLanes; ++j) word[j] = pattern_word(lba, j);
  }
};

}  // namespace

VP_WIDE void fill_block_pattern(std::uint64_t lba, std::span<std::byte> out) {
  Lanes lane(lba);
  std::byte* p = out.data();
  for (std::size_t n = out.size() / sizeof lane; n > 0; --n, p += sizeof lane) {
    std::memcpy(p, lane.word, sizeof lane);
    for (std::size_t j = 0; j < kLanes; ++j) lane.word[j] += kPatternStep * kLanes;
  }
}

VP_WIDE bool holds_block_pattern(std::uint64_t lba, std::span<const std::byte> data) {
  Lanes lane(lba);
  std::uint64_t seen[kLanes], difference[kLanes] = {};
  const std::byte* p = data.data();
  for (std::size_t n = data.size() / sizeof lane; n > 0; --n, p += sizeof lane) {
    std::memcpy(seen, p, sizeof seen);
    for (std::size_t j = 0; j < kLanes; ++j) {
      difference[j] |= seen[j] ^ lane.word[j];
      lane.word[j] += kPatternStep * kLanes;
    }
  }
  std::uint64_t any = 0;
  for (const std::uint64_t d : difference) any |= d;
  return any == 0;
}

}  // namespace vp
