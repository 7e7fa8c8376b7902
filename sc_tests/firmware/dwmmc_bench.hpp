// A board with a fake DW-MMC and the driver alone, interrupts on, card clock running: for tests below the card layer.
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "firmware/drivers/dwmmc.hpp"
#include "sc_tests/firmware/dwmmc_fake.hpp"

namespace fake {

inline constexpr std::uint64_t kRing = kRamBase + 0x10'0000, kScratch = kRamBase + 0x20'0000,
                               kBuffer = kRamBase + 0x40'0000;
inline constexpr std::uint32_t kCiuHz = 200'000'000;

inline fw::DwMmcConfig dw_config() {
  fw::DwMmcConfig c;
  c.base = kHostBase;
  c.base_clock_hz = kCiuHz;
  c.request_timeout_ms = 1000;
  c.ring_address = kRing;
  c.ring_bytes = 4096;
  c.scratch_address = kScratch;
  return c;
}

struct DwBench {
  Board board{kFullCaps, 8u << 20};
  DwMmc device;
  fw::DwMmc host;

  explicit DwBench(DwShape shape = {}, fw::DwMmcConfig config = dw_config()) : device(board, shape) {
    hal::write32(kIntcBase + 4, 1u << kHostLine);
    hal::set_irq_handler([](void* h) { static_cast<fw::DwMmc*>(h)->irq(); }, &host);
    ready = host.init(config);
    if (!ready) return;
    hal::irq_enable(true);
    host.power_on();
    host.set_bus_width(8);
    host.set_timing(fw::CardMode::hs200);
    host.set_clock(kCiuHz);
    device.log.clear();
  }
  bool ready = false;

  struct Result {
    fw::MmcError error;
    std::uint64_t ns;
    std::array<std::uint32_t, 4> resp;
  };
  /// Sends one transfer over the given segments; 512-byte blocks.
  Result transfer(bool read, const std::vector<fw::Segment>& segments, std::uint32_t lba = 0,
                  bool sbc = false, bool stop = false) {
    std::uint32_t bytes = 0;
    for (const auto& s : segments) bytes += s.bytes;
    fw::MmcData data;
    data.segments = segments;
    data.blocks = bytes / 512;
    data.read = read;
    fw::MmcCommand c;
    c.index = static_cast<std::uint8_t>(read ? (data.blocks > 1 ? 18 : 17) : (data.blocks > 1 ? 25 : 24));
    c.arg = lba;
    c.data = &data;
    c.use_sbc = sbc;
    c.sbc_arg = data.blocks;
    c.stop = stop;
    return run(c);
  }
  Result plain(std::uint8_t index, fw::Response response = fw::Response::r1, std::uint32_t arg = 0) {
    fw::MmcCommand c;
    c.index = index;
    c.arg = arg;
    c.response = response;
    return run(c);
  }
  Result run(fw::MmcCommand& c) {
    const std::uint64_t from = board.now;
    host.send(c);
    return {c.error, board.now - from, c.resp};
  }

  std::uint8_t* memory(std::uint64_t address) { return static_cast<std::uint8_t*>(board.ram(address, 1)); }
  std::uint32_t word(std::uint64_t address) {
    std::uint32_t w = 0;
    std::memcpy(&w, board.ram(address, 4), 4);
    return w;
  }
  /// A medium whose every byte says where it is.
  void pattern(std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) board.medium[i] = static_cast<std::uint8_t>(i * 7 + (i >> 9));
  }
  /// True when the segments hold the medium's bytes from `lba` on.
  bool holds(const std::vector<fw::Segment>& segments, std::uint32_t lba = 0) {
    std::size_t at = std::size_t{lba} * 512;
    for (const auto& s : segments) {
      if (std::memcmp(board.ram(s.address, s.bytes), board.medium.data() + at, s.bytes) != 0) return false;
      at += s.bytes;
    }
    return true;
  }
  unsigned errors_reported() const {
    unsigned n = 0;
    for (const Mark& m : board.marks) n += m.what == hal::Event::driver_error;
    return n;
  }
};

}  // namespace fake
