// A DW-MMC host between a mock card and SRAM, driven by plain register writes. All clocks run at 200 MHz (5 ns), so every
// expected instant is a whole number of cycles from the register write.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "models/axi/interconnect.hpp"
#include "models/dwmmc/dwmmc.hpp"
#include "sc_tests/bench_parts.hpp"
#include "sc_tests/mock_card.hpp"

namespace vp::test {

using namespace vp::dwmmc;

inline constexpr std::uint64_t kHcon64 = 0x08C43101;      // 64-bit data, 64-bit IDMAC
inline constexpr std::uint64_t kHcon32 = 0x00C43101;      // 64-bit data, 32-bit IDMAC
inline constexpr std::uint64_t kHconWord32 = 0x00C43081;  // 32-bit data, 32-bit IDMAC

inline DwmmcParams bench_params(bool wide = true) {
  DwmmcParams p;
  p.hcon = wide ? kHcon64 : kHcon32;
  p.fifo_depth = 256;  // 2 KiB
  return p;
}

// CMD words: response expected, CRC checked; data; data to the card.
inline constexpr std::uint32_t kStart = mask("CMD", "START"),
                               kResp = mask("CMD", "RESPONSE") | mask("CMD", "CHECK_CRC");
inline constexpr std::uint32_t kRead = kResp | mask("CMD", "DATA"), kWrite = kRead | mask("CMD", "WRITE");
inline constexpr std::uint32_t kStop = kResp | mask("CMD", "STOP_ABORT");
inline constexpr std::uint32_t kUpdate = mask("CMD", "UPDATE_CLOCK");

struct Bench {
  static constexpr std::uint64_t kRamBytes = 1ULL << 30;     // sparse
  static constexpr std::uint64_t kHighBase = 0x2'4000'0000;  // a second one of that size, above 4 GiB
  static constexpr std::uint64_t kUnmapped = 0x9000'0000;

  Context ctx;
  ClockDomain axi{"axi", 200e6};
  AxiInterconnect interconnect;
  Sram sram, high;
  MmcBus bus;
  MockCard card;
  Dwmmc host;
  RegisterDriver driver{"driver"};
  IrqProbe irq;
  const IdmacOffsets& id;
  bool wide;

  explicit Bench(const DwmmcParams& p = bench_params(), TimingStyle style = TimingStyle::at)
      : interconnect("interconnect", with_style(ctx, style), axi, InterconnectParams{}),
        sram("sram", axi, ram_of(kRamBytes)),
        high("high", axi, ram_of(kRamBytes)),
        bus("bus", ctx, MmcBusParams{}),
        host("host", ctx, axi, bus, card, p),
        id(idmac_offsets(static_cast<std::uint32_t>(p.hcon))),
        wide(has_address64(static_cast<std::uint32_t>(p.hcon))) {
    host.dma_port().socket.bind(interconnect.master_socket(interconnect.add_master("host")));
    interconnect.target_socket(interconnect.add_target("sram", 0, kRamBytes)).bind(sram.socket);
    interconnect.target_socket(interconnect.add_target("high", kHighBase, kRamBytes)).bind(high.socket);
    driver.socket.bind(host.socket);
    host.irq.connect(irq, 0);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  std::byte* ram(std::uint64_t address, std::uint64_t bytes = 1) {
    return address >= kHighBase ? high.ptr(address - kHighBase, bytes) : sram.ptr(address, bytes);
  }
  std::uint32_t read(std::uint64_t offset) {
    std::uint64_t v = 0;
    driver.access(false, offset, 4, v);
    return static_cast<std::uint32_t>(v);
  }
  /// Returns the instant the write takes effect.
  sc_time write(std::uint64_t offset, std::uint64_t v) { return driver.access(true, offset, 4, v); }
  void advance(sc_time d) { run_for(d); }

  void clock(std::uint32_t divider = 0, bool on = true) {
    write(reg("CLKDIV"), divider);
    write(reg("CLKENA"), on);
    write(reg("CMD"), kStart | kUpdate);
    advance(cycles(16));
    REQUIRE((read(reg("CMD")) & kStart) == 0);
  }

  /// HS400 x8 at 200 MHz unless told otherwise; interrupts on; bursts of 16 beats (128 B).
  void start_card(LineMode mode = {8, true}) {
    write(reg("PWREN"), 1);
    clock();
    write(reg("CTYPE"), mode.width == 8 ? 1u << 16 : mode.width == 4 ? 1 : 0);
    write(reg("UHS_REG"), mode.ddr ? 1u << 16 : 0);
    write(reg("TMOUT"), 0x0F424040);  // 1 000 000 clocks (5 ms), responses 64
    write(reg("FIFOTH"), 3u << 28 | 15u << 16 | 128);
    write(reg("INTMASK"), 0xFFFF & ~(kIntRxdr | kIntTxdr));
    write(reg("CTRL"), mask("CTRL", "INT_ENABLE"));
    write(id.enable, kIdTransmit | kIdReceive | kIdFatalBusError | kIdUnavailable | kIdCardError | kIdNormal |
                         kIdAbnormal);
    card.mode = mode;
    card.n_cr = 12;
    card.gap = 45;
  }
  /// The IDMAC on, its list at `list`.
  void idmac(std::uint64_t list, std::uint32_t bmod = 0) {
    write(reg("CTRL"), mask("CTRL", "INT_ENABLE") | mask("CTRL", "DMA_ENABLE") | mask("CTRL", "USE_IDMAC"));
    write(reg("BMOD"), mask("BMOD", "DE") | bmod);
    write(id.base_low, list & 0xFFFFFFFF);
    if (wide) write(id.base_high, list >> 32);
  }

  struct Des {
    std::uint32_t des0 = 0;
    std::uint64_t buffer1 = 0;
    std::uint32_t size1 = 0;
    std::uint64_t buffer2 = 0;  ///< or next
    std::uint32_t size2 = 0;
  };
  unsigned des_bytes() const { return wide ? kDes64Bytes : kDes32Bytes; }
  void put(std::uint64_t at, const Des& d) {
    std::uint32_t w[8] = {};
    const DesLayout& l = wide ? kDes64 : kDes32;
    w[0] = d.des0;
    w[l.sizes] = d.size1 | d.size2 << kDesSize2Shift;
    w[l.buffer1] = static_cast<std::uint32_t>(d.buffer1);
    w[l.buffer2] = static_cast<std::uint32_t>(d.buffer2);
    if (wide) {
      w[l.buffer1 + 1] = static_cast<std::uint32_t>(d.buffer1 >> 32);
      w[l.buffer2 + 1] = static_cast<std::uint32_t>(d.buffer2 >> 32);
    }
    std::memcpy(ram(at, des_bytes()), w, des_bytes());
  }
  std::uint32_t des0(std::uint64_t at) {
    std::uint32_t w = 0;
    std::memcpy(&w, ram(at, 4), 4);
    return w;
  }
  struct Part {
    std::uint64_t address;
    std::uint32_t bytes;
  };
  /// A chained list as Linux makes it: DIC in all but the last; `stride` 0: packed. Returns each descriptor's address.
  std::vector<std::uint64_t> chain(std::uint64_t at, const std::vector<Part>& parts,
                                   std::uint64_t stride = 0) {
    std::vector<std::uint64_t> where;
    if (stride == 0) stride = des_bytes();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const bool last = i + 1 == parts.size();
      const std::uint64_t here = at + i * stride;
      put(here, {kDesOwn | (i == 0 ? std::uint32_t{kDesFirst} : 0u) |
                     (last ? std::uint32_t{kDesLast} : kDesChained | kDesNoInterrupt),
                 parts[i].address, parts[i].bytes, last ? 0 : here + stride, 0});
      where.push_back(here);
    }
    return where;
  }

  /// Sends a command; returns the instant its register write takes effect.
  sc_time command(unsigned index, std::uint32_t argument, std::uint32_t flags = kResp) {
    write(reg("CMDARG"), argument);
    return write(reg("CMD"), kStart | mask("CMD", "USE_HOLD") | flags | index);
  }
  sc_time data_command(unsigned index, std::uint32_t argument, std::uint32_t blocks, std::uint32_t flags) {
    write(reg("BLKSIZ"), 512);
    write(reg("BYTCNT"), blocks * 512);
    return command(index, argument, flags);
  }

  std::uint32_t status() { return read(reg("RINTSTS")); }
  std::uint32_t idsts() { return read(id.status); }
  void clear_status() {
    write(reg("RINTSTS"), 0xFFFFFFFF);
    write(id.status, 0xFFFFFFFF);
  }
  /// Runs from event to event until all bits of `raw` and of `idmac` are set; returns that instant.
  sc_time run_until(std::uint32_t raw, std::uint32_t idmac_bits = 0,
                    sc_time limit = sc_time(1, sc_core::SC_SEC)) {
    const sc_time until = sc_time_stamp() + limit;
    while ((status() & raw) != raw || (idsts() & idmac_bits) != idmac_bits) {
      if (sc_time_stamp() > until || !sc_core::sc_pending_activity()) {
        FAIL("the status never came: RINTSTS 0x" << std::hex << status() << " IDSTS 0x" << idsts());
      }
      advance(sc_core::sc_time_to_pending_activity());
    }
    return sc_time_stamp();
  }
  /// Until nothing is pending any more.
  void run_out() {
    while (sc_core::sc_pending_activity()) advance(sc_core::sc_time_to_pending_activity());
  }
  std::uint64_t findings(const std::string& rule) const { return ctx.findings.count(rule); }
};

}  // namespace vp::test
