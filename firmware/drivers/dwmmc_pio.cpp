// PIO: the FIFO's port has one access width, HCON.DATA_WIDTH. On a 32-bit bus a 64-bit word is two accesses, low half
// first at the port, high half behind it: the FIFO moves on when both are done.
#include <cstring>

#include "firmware/drivers/dwmmc.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

std::uint64_t DwMmc::fifo_read() {
  if (width_ == 2) return hal::read16(fifo_port_);
  if (width_ == 4) return hal::read32(fifo_port_);
  if (!config_.fifo64_32) return hal::read64(fifo_port_);
  const std::uint64_t low = hal::read32(fifo_port_);
  return std::uint64_t{hal::read32(fifo_port_ + 4)} << 32 | low;
}

void DwMmc::fifo_write(std::uint64_t word) {
  if (width_ == 2) return hal::write16(fifo_port_, static_cast<std::uint16_t>(word));
  if (width_ == 4) return hal::write32(fifo_port_, static_cast<std::uint32_t>(word));
  if (!config_.fifo64_32) return hal::write64(fifo_port_, word);
  hal::write32(fifo_port_, static_cast<std::uint32_t>(word));
  hal::write32(fifo_port_ + 4, static_cast<std::uint32_t>(word >> 32));
}

std::uint32_t DwMmc::fifo_count() const {
  return (read(dw::kStatus) & dw::kStatusCountMask) >> dw::kStatusCountLsb;
}

/// Moves `bytes` between a FIFO word and the segments.
void DwMmc::pio_bytes(unsigned char* word, std::uint32_t bytes) {
  while (bytes) {
    if (!pio_run_) {
      const Segment& s = pio_data_->segments[pio_segment_++];
      pio_at_ = static_cast<unsigned char*>(hal::ram(s.address, s.bytes));
      pio_run_ = s.bytes;
    }
    const std::uint32_t n = bytes < pio_run_ ? bytes : pio_run_;
    if (pio_data_->read)
      std::memcpy(pio_at_, word, n);
    else
      std::memcpy(word, pio_at_, n);
    pio_at_ += n;
    pio_run_ -= n;
    word += n;
    bytes -= n;
  }
}

void DwMmc::pio_words(std::uint32_t words) {
  for (; words && pio_left_; --words) {
    const std::uint32_t n = pio_left_ < width_ ? static_cast<std::uint32_t>(pio_left_) : width_;
    unsigned char bytes[8] = {};
    std::uint64_t word = 0;
    if (pio_data_->read) {
      word = fifo_read();
      std::memcpy(bytes, &word, sizeof word);
      pio_bytes(bytes, n);
    } else {
      pio_bytes(bytes, n);
      std::memcpy(&word, bytes, sizeof word);
      fifo_write(word);
    }
    pio_left_ -= n;
  }
}

// As much as the FIFO holds, or has room for; again when the request bit, cleared last, would have come back. Ends:
// every turn moves a word.
void DwMmc::pio_service() {
  const bool in = pio_data_->read;
  const std::uint32_t bit = in ? dw::kIntRxdr : dw::kIntTxdr;
  while (pio_left_) {
    const std::uint32_t count = fifo_count(), words = in ? count : depth_ - count;
    if (!words) break;
    pio_words(words);
    write(dw::kRintsts, bit);
  }
  if (!pio_left_) update(dw::kIntmask, dw::kIntForDma, shadow_.intmask);
}

}  // namespace fw
