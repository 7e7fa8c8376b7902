// The data FIFO between wire and DMA, as positions in the transfer's byte stream, and marks that tell when a position
// was passed. Words of the FIFO are not events: who fills and who empties works in quanta of whole words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "models/core/clock.hpp"

namespace vp {

/// Bytes on their way: `in` is the filling side, `out` the emptying one; "reserved" is under way, "done" is over.
class StreamFifo {
 public:
  std::uint64_t in_reserved = 0, in_done = 0, out_reserved = 0, out_done = 0;

  void set_capacity(std::uint64_t bytes) { ring_.resize(bytes); }
  std::uint64_t capacity() const { return ring_.size(); }
  std::uint64_t room() const { return capacity() - (in_reserved - out_done); }
  std::uint64_t available() const { return in_done - out_reserved; }  ///< here and not yet claimed
  std::uint64_t count() const { return in_done - out_done; }          ///< filled
  void clear() { in_reserved = in_done = out_reserved = out_done = 0; }

  /// Copies in at `in_done` and moves it; the bytes have been reserved.
  void push(const std::byte* from, std::uint32_t bytes) {
    copy(in_done, bytes, [&](std::byte* at, std::uint32_t n) { std::memcpy(at, from, n), from += n; });
    in_done += bytes;
  }
  /// Copies out at `out_reserved` and moves it.
  void pull(std::byte* to, std::uint32_t bytes) {
    copy(out_reserved, bytes, [&](std::byte* at, std::uint32_t n) { std::memcpy(to, at, n), to += n; });
    out_reserved += bytes;
  }

 private:
  template <typename Move>
  void copy(std::uint64_t position, std::uint32_t bytes, Move move) {
    while (bytes > 0) {
      const std::uint64_t offset = position % ring_.size();
      const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, ring_.size() - offset));
      move(ring_.data() + offset, n);
      position += n;
      bytes -= n;
    }
  }
  std::vector<std::byte> ring_;
};

/// When stream positions were passed. Positions and questions only grow.
class StreamMarks {
 public:
  void clear() { head_ = tail_ = 0; }
  void add(std::uint64_t position, sc_time at) {
    if (tail_ - head_ == marks_.size()) grow();
    marks_[tail_++ & mask_] = {position, at};
  }
  /// When the latest position was passed.
  sc_time last() const { return tail_ == 0 ? sc_core::SC_ZERO_TIME : marks_[(tail_ - 1) & mask_].at; }
  /// The instant `position` was passed; zero for what was there from the start. It must have been passed.
  sc_time when(std::uint64_t position) {
    if (position == 0) return sc_core::SC_ZERO_TIME;
    while (head_ != tail_ && marks_[head_ & mask_].position < position) ++head_;
    return head_ == tail_ ? sc_core::SC_ZERO_TIME : marks_[head_ & mask_].at;
  }

 private:
  struct Mark {
    std::uint64_t position;
    sc_time at;
  };
  void grow() {
    std::vector<Mark> more(std::max<std::size_t>(16, marks_.size() * 2));
    std::size_t n = 0;
    for (std::uint64_t i = head_; i != tail_; ++i) more[n++] = marks_[i & mask_];
    marks_ = std::move(more);
    mask_ = marks_.size() - 1;
    head_ = 0;
    tail_ = n;
  }
  std::vector<Mark> marks_;  // a power of two of them
  std::uint64_t mask_ = 0;
  std::uint64_t head_ = 0, tail_ = 0;
};

}  // namespace vp
