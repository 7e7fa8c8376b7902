// Driver memory: handed out once at start, never given back.
#pragma once

#include <cstdint>

namespace fw {

class Pool {
 public:
  Pool(std::uint64_t base, std::uint64_t bytes) : next_(base), end_(base + bytes) {}
  /// Bus address of `bytes` aligned to `align` (power of two); 0 when there is no room.
  std::uint64_t take(std::uint64_t bytes, std::uint64_t align) {
    const std::uint64_t at = (next_ + align - 1) & ~(align - 1);
    if (at > end_ || bytes > end_ - at) return 0;
    next_ = at + bytes;
    return at;
  }

 private:
  std::uint64_t next_, end_;
};

}  // namespace fw
