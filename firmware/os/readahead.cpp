#include "firmware/os/readahead.hpp"

#include <bit>

namespace fw {

namespace {
std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

std::uint64_t first_size(std::uint64_t want, std::uint64_t most) {
  const std::uint64_t size = std::bit_ceil(want);
  if (size <= most / 32) return size * 4;
  return size <= most / 4 ? size * 2 : most;
}
}  // namespace

void ReadAhead::init(std::uint64_t largest, std::uint64_t io_pages, Hint hint) {
  *this = ReadAhead{};
  largest_ = hint == Hint::sequential ? largest * 2 : largest;
  io_pages_ = io_pages;
  random_ = hint == Hint::random;
}

std::uint64_t ReadAhead::next_size(std::uint64_t most) const {
  if (size_ < most / 16) return 4 * size_;
  return size_ <= most / 2 ? 2 * size_ : most;
}

RaWindow ReadAhead::miss(std::uint64_t index, std::uint64_t want, const CachedPages& cache) {
  if (random_) return {index, want, RaWindow::kNoMark};
  if (largest_ == 0) return {index, 1, RaWindow::kNoMark};
  return on_demand(index, want, false, cache);
}

RaWindow ReadAhead::marked(std::uint64_t index, std::uint64_t want, const CachedPages& cache) {
  if (random_ || largest_ == 0) return {};
  return on_demand(index, want, true, cache);
}

RaWindow ReadAhead::on_demand(std::uint64_t index, std::uint64_t want, bool mark, const CachedPages& cache) {
  std::uint64_t most = largest_;
  if (want > most && io_pages_ > most) most = smaller(want, io_pages_);
  if (index == 0) return initial(index, want, most);

  if (index == start_ + size_ - async_ || index == start_ + size_) {  // where a sequential reader is expected
    start_ += size_;
    size_ = next_size(most);
    async_ = size_;
    return window(index, most);
  }
  if (mark) {  // a mark of another window: go on behind what is cached
    std::uint64_t start = index + 1;
    while (start - index <= most && cache.cached(start)) ++start;
    if (start - index > most) return {};
    start_ = start;
    size_ = start - index + want;
    size_ = next_size(most);
    async_ = size_;
    return window(index, most);
  }
  if (want > most || index - previous_ <= 1) return initial(index, want, most);
  if (context(index, want, most, cache)) return window(index, most);
  return {index, want, RaWindow::kNoMark};  // a small random read
}

/// A miss behind a run of cached pages as long as the read: the track of a sequential reader.
bool ReadAhead::context(std::uint64_t index, std::uint64_t want, std::uint64_t most,
                        const CachedPages& cache) {
  std::uint64_t behind = 0;
  while (behind < most && behind < index && cache.cached(index - 1 - behind)) ++behind;
  if (behind <= want) return false;
  if (behind >= index) behind *= 2;  // cached from the beginning of the file
  start_ = index;
  size_ = smaller(behind + want, most);
  async_ = 1;
  return true;
}

RaWindow ReadAhead::initial(std::uint64_t index, std::uint64_t want, std::uint64_t most) {
  start_ = index;
  size_ = first_size(want, most);
  async_ = size_ > want ? size_ - want : size_;
  return window(index, most);
}

/// A window whose mark the reader stands on at once takes the next one in.
RaWindow ReadAhead::window(std::uint64_t index, std::uint64_t most) {
  if (index == start_ && size_ == async_) {
    const std::uint64_t add = next_size(most);
    if (size_ + add <= most) {
      async_ = add;
      size_ += add;
    } else {
      size_ = most;
      async_ = most / 2;
    }
  }
  return {start_, size_, async_ ? start_ + size_ - async_ : RaWindow::kNoMark};
}

}  // namespace fw
