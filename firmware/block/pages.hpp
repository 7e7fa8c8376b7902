// I/O buffers as a page allocator hands them out: pages of one size, physically contiguous in runs of
// `contiguity_pages`, with one page left out after each run so that two runs never touch (0: all contiguous). A
// run stride puts the runs at equal distances instead, for example one at every 128 MiB multiple.
// Pages are numbered; runs and segments are computed, nothing is stored per page.
#pragma once

#include <cstdint>

#include "firmware/mmc/host.hpp"

namespace fw {

class PageAllocator {
 public:
  PageAllocator() = default;
  /// `base` is the first page's bus address; page_bytes a power of two. `run_stride`: bytes from one run to the next,
  /// more than a run has; 0: a run and a page.
  PageAllocator(std::uint64_t base, std::uint64_t bytes, std::uint32_t page_bytes,
                std::uint32_t contiguity_pages, std::uint64_t run_stride = 0);

  /// Takes the next `pages` page numbers; false when the memory does not hold them.
  bool allocate(std::uint64_t pages, std::uint64_t& first_page);
  std::uint64_t address(std::uint64_t page) const;
  /// Bytes from `byte` of `page` to the end of its contiguous run.
  std::uint64_t run_bytes(std::uint64_t page, std::uint32_t byte) const;
  std::uint32_t page_bytes() const { return page_bytes_; }

 private:
  std::uint64_t base_ = 0, bytes_ = 0, stride_ = 0, next_page_ = 0;
  std::uint32_t page_bytes_ = 4096, contiguity_ = 0;
};

/// One I/O's buffer: byte 0 is `first_byte` of `first_page`.
struct Buffer {
  const PageAllocator* pages = nullptr;
  std::uint64_t first_page = 0;
  std::uint32_t first_byte = 0;

  /// The longest physically contiguous piece at `offset`, at most `limit` bytes.
  Segment piece(std::uint64_t offset, std::uint64_t limit) const;
  /// Pages touched by [offset, offset + bytes).
  std::uint64_t pages_of(std::uint64_t offset, std::uint64_t bytes) const;
  void read(std::uint64_t offset, void* to, std::uint32_t bytes) const;
  void write(std::uint64_t offset, const void* from, std::uint32_t bytes) const;
};

}  // namespace fw
