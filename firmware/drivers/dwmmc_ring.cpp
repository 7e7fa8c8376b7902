#include "firmware/drivers/dwmmc_ring.hpp"

#include <cstring>

namespace fw {

namespace {
constexpr std::uint64_t kPiece = dw::kDesRuleBytes;
constexpr unsigned kWordBytes = 4;
}  // namespace

DwRing::DwRing(void* memory, std::uint64_t address, std::uint32_t bytes, bool wide)
    : memory_(static_cast<unsigned char*>(memory)),
      address_(address),
      stride_(wide ? dw::kDes64Bytes : dw::kDes32Bytes),
      entries_(bytes / stride_),
      layout_(wide ? dw::kDes64 : dw::kDes32) {}

std::uint32_t DwRing::get(std::uint32_t entry, unsigned word) const {
  std::uint32_t v = 0;
  std::memcpy(&v, memory_ + std::size_t{entry} * stride_ + word * kWordBytes, kWordBytes);
  return v;
}

void DwRing::put(std::uint32_t entry, unsigned word, std::uint32_t value) {
  std::memcpy(memory_ + std::size_t{entry} * stride_ + word * kWordBytes, &value, kWordBytes);
}

void DwRing::put_address(std::uint32_t entry, unsigned word, std::uint64_t address) {
  put(entry, word, static_cast<std::uint32_t>(address));
  if (layout_.words == dw::kDes64.words) put(entry, word + 1, static_cast<std::uint32_t>(address >> 32));
}

void DwRing::link() {
  for (std::uint32_t i = 0; i < entries_; ++i) {
    const bool last = i + 1 == entries_;
    for (unsigned w = 0; w < layout_.words; ++w) put(i, w, 0);
    put(i, 0, last ? std::uint32_t{dw::kDesEndOfRing} : 0);
    put_address(i, layout_.buffer2, address_ + (last ? 0 : std::uint64_t{i + 1} * stride_));
  }
}

std::uint64_t DwRing::needed(std::span<const Segment> segments) {
  std::uint64_t n = 0;
  for (const Segment& s : segments) n += (s.bytes + kPiece - 1) / kPiece;
  return n;
}

bool DwRing::is_free(std::uint32_t n) const {
  for (std::uint32_t i = 0; i < n; ++i)
    if (get(i, 0) & dw::kDesOwn) return false;
  return true;
}

std::uint32_t DwRing::build(std::span<const Segment> segments) {
  const std::uint64_t count = needed(segments);
  if (count > entries_) return 0;
  std::uint32_t i = 0;
  for (const Segment& s : segments)
    for (std::uint32_t done = 0; done < s.bytes; ++i) {
      const std::uint32_t left = s.bytes - done;
      const std::uint32_t n = left < kPiece ? left : static_cast<std::uint32_t>(kPiece);
      put(i, layout_.sizes, n);
      put_address(i, layout_.buffer1, s.address + done);
      const std::uint32_t ring_end = i + 1 == entries_ ? std::uint32_t{dw::kDesEndOfRing} : 0;
      const std::uint32_t first = i == 0 ? std::uint32_t{dw::kDesFirst} : 0;
      const std::uint32_t kind =
          i + 1 == count ? std::uint32_t{dw::kDesLast} : dw::kDesChained | dw::kDesNoInterrupt;
      put(i, 0, dw::kDesOwn | ring_end | first | kind);
      done += n;
    }
  return i;
}

}  // namespace fw
