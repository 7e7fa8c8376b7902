#include "firmware/app/stamp.hpp"

#include <cstring>

#include "firmware/app/permutation.hpp"
#include "firmware/block/split.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMagic = 0x656D'6D63'2D76'7031;  // "emmc-vp1"
constexpr unsigned kHeaderWords = 4;

std::uint64_t next_word(std::uint64_t x) {  // xorshift64
  x ^= x << 13;
  x ^= x >> 7;
  return x ^ x << 17;
}
}  // namespace

void make_block(const Stamp& stamp, std::uint64_t (&words)[64]) {
  words[0] = kMagic;
  words[1] = stamp.lba;
  words[2] = stamp.seed;
  words[3] = stamp.generation;
  std::uint64_t x = mix64(stamp.lba ^ mix64(stamp.seed ^ mix64(stamp.generation))) | 1;
  for (unsigned i = kHeaderWords; i < 64; ++i) words[i] = x = next_word(x);
}

bool check_block(const Stamp& stamp, const std::uint64_t (&words)[64]) {
  Stamp want = stamp;
  if (want.generation == kAnyGeneration) want.generation = words[3];
  std::uint64_t expected[64];
  make_block(want, expected);
  return std::memcmp(expected, words, sizeof expected) == 0;
}

void fill_stamps(const Buffer& buffer, std::uint64_t bytes, Stamp first) {
  std::uint64_t words[64];
  for (std::uint64_t at = 0; at < bytes; at += kSectorBytes, ++first.lba) {
    make_block(first, words);
    buffer.write(at, words, kSectorBytes);
  }
}

std::uint32_t check_stamps(const Buffer& buffer, std::uint64_t bytes, Stamp first, std::uint64_t& first_bad) {
  std::uint64_t words[64];
  std::uint32_t bad = 0;
  for (std::uint64_t at = 0; at < bytes; at += kSectorBytes, ++first.lba) {
    buffer.read(at, words, kSectorBytes);
    if (check_block(first, words)) continue;
    if (bad++ == 0) first_bad = at / kSectorBytes;
  }
  return bad;
}

void fill_random(const Buffer& buffer, std::uint64_t bytes, std::uint64_t seed) {
  std::uint64_t x = mix64(seed) | 1;
  for (std::uint64_t at = 0; at < bytes;) {
    const Segment s = buffer.piece(at, bytes - at < 65536 ? bytes - at : 65536);
    auto* to = static_cast<unsigned char*>(hal::ram(s.address, s.bytes));
    for (std::uint32_t i = 0; i < s.bytes; i += 4) {
      x = next_word(x);
      std::memcpy(to + i, &x, 4);
    }
    at += s.bytes;
  }
}

}  // namespace fw
