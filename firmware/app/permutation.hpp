// Pseudo-random numbers without state, and a random order of [0, n) that holds each number once: a Feistel
// network on the next even power of two with cycle walking (format-preserving permutation). No table: any
// size costs nothing.
#pragma once

#include <bit>
#include <cstdint>

namespace fw {

/// splitmix64's finaliser: every input bit reaches every output bit.
constexpr std::uint64_t mix64(std::uint64_t x) {
  x += 0x9E37'79B9'7F4A'7C15;
  x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
  x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
  return x ^ (x >> 31);
}

class Permutation {
 public:
  constexpr Permutation(std::uint64_t n, std::uint64_t key) : n_(n), key_(key) {
    const unsigned bits = n > 1 ? static_cast<unsigned>(std::bit_width(n - 1)) : 1;
    half_ = (bits + 1) / 2;
    mask_ = (std::uint64_t{1} << half_) - 1;
  }
  /// The i-th number of the order; i < n.
  constexpr std::uint64_t operator()(std::uint64_t i) const {
    do i = once(i);
    while (i >= n_);  // at most about four turns: the domain is below 4 n
    return i;
  }

 private:
  static constexpr unsigned kRounds = 6;
  constexpr std::uint64_t once(std::uint64_t v) const {
    std::uint64_t left = v >> half_, right = v & mask_;
    for (unsigned r = 0; r < kRounds; ++r) {
      const std::uint64_t next = left ^ (mix64(right ^ mix64(key_ + r)) & mask_);
      left = right;
      right = next;
    }
    return left << half_ | right;
  }

  std::uint64_t n_, key_, mask_ = 0;
  unsigned half_ = 1;
};

}  // namespace fw
