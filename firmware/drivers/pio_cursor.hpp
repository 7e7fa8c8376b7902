// Where PIO stands in a request's segments, for hosts whose port is a 32-bit word and whose ready bit means a whole block.
#pragma once

#include <cstdint>
#include <cstring>

#include "firmware/hal/hal.hpp"
#include "firmware/mmc/host.hpp"

namespace fw {

class PioCursor {
 public:
  void start(const MmcData& data) {
    segment_ = 0;
    offset_ = 0;
    blocks_ = data.blocks;
  }
  /// Blocks that have not gone through the port.
  std::uint32_t blocks_left() const { return blocks_; }

  /// One block through the port. Segments are multiples of four bytes.
  /// @param get  std::uint32_t(): a word from the port  @param put  void(std::uint32_t): a word to it
  template <class Get, class Put>
  void block(const MmcData& data, Get&& get, Put&& put) {
    for (std::uint32_t left = data.block_bytes; left;) {
      const Segment& s = data.segments[segment_];
      const std::uint32_t n = s.bytes - offset_ < left ? s.bytes - offset_ : left;
      auto* bytes = static_cast<unsigned char*>(hal::ram(s.address + offset_, n));
      for (std::uint32_t i = 0; i < n; i += 4) {
        std::uint32_t word = 0;
        if (data.read) {
          word = get();
          std::memcpy(bytes + i, &word, 4);
        } else {
          std::memcpy(&word, bytes + i, 4);
          put(word);
        }
      }
      left -= n;
      offset_ += n;
      if (offset_ == s.bytes) {
        ++segment_;
        offset_ = 0;
      }
    }
    --blocks_;
  }

 private:
  std::size_t segment_ = 0;
  std::uint32_t offset_ = 0, blocks_ = 0;
};

}  // namespace fw
