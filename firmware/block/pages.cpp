#include "firmware/block/pages.hpp"

#include <cstring>

#include "firmware/hal/hal.hpp"

namespace fw {

PageAllocator::PageAllocator(std::uint64_t base, std::uint64_t bytes, std::uint32_t page_bytes,
                             std::uint32_t contiguity_pages, std::uint64_t run_stride)
    : base_(base),
      bytes_(bytes),
      stride_(run_stride ? run_stride : (std::uint64_t{contiguity_pages} + 1) * page_bytes),
      page_bytes_(page_bytes),
      contiguity_(contiguity_pages) {}

bool PageAllocator::allocate(std::uint64_t pages, std::uint64_t& first_page) {
  if (pages == 0) return false;
  const std::uint64_t last = next_page_ + pages - 1;
  if (address(last) + page_bytes_ > base_ + bytes_) return false;
  first_page = next_page_;
  next_page_ += pages;
  return true;
}

std::uint64_t PageAllocator::address(std::uint64_t page) const {
  if (!contiguity_) return base_ + page * page_bytes_;
  return base_ + page / contiguity_ * stride_ + page % contiguity_ * page_bytes_;
}

std::uint64_t PageAllocator::run_bytes(std::uint64_t page, std::uint32_t byte) const {
  if (!contiguity_) return ~std::uint64_t{0};
  return (contiguity_ - page % contiguity_) * page_bytes_ - byte;
}

Segment Buffer::piece(std::uint64_t offset, std::uint64_t limit) const {
  const std::uint64_t at = first_byte + offset;
  const std::uint64_t page = first_page + at / pages->page_bytes();
  const auto byte = static_cast<std::uint32_t>(at % pages->page_bytes());
  const std::uint64_t run = pages->run_bytes(page, byte);
  return {pages->address(page) + byte, static_cast<std::uint32_t>(run < limit ? run : limit)};
}

std::uint64_t Buffer::pages_of(std::uint64_t offset, std::uint64_t bytes) const {
  if (bytes == 0) return 0;
  const std::uint64_t size = pages->page_bytes();
  return (first_byte + offset + bytes - 1) / size - (first_byte + offset) / size + 1;
}

void Buffer::read(std::uint64_t offset, void* to, std::uint32_t bytes) const {
  for (auto* out = static_cast<unsigned char*>(to); bytes;) {
    const Segment s = piece(offset, bytes);
    std::memcpy(out, hal::ram(s.address, s.bytes), s.bytes);
    out += s.bytes;
    offset += s.bytes;
    bytes -= s.bytes;
  }
}

void Buffer::write(std::uint64_t offset, const void* from, std::uint32_t bytes) const {
  for (const auto* in = static_cast<const unsigned char*>(from); bytes;) {
    const Segment s = piece(offset, bytes);
    std::memcpy(hal::ram(s.address, s.bytes), in, s.bytes);
    in += s.bytes;
    offset += s.bytes;
    bytes -= s.bytes;
  }
}

}  // namespace fw
