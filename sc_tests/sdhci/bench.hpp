// An SDHCI host between a mock card and SRAM, driven by plain register writes. All clocks run at 200 MHz (5 ns), so every
// expected instant is a whole number of cycles from the register write.
#pragma once

#include <cstring>
#include <vector>

#include "models/axi/interconnect.hpp"
#include "models/sdhci/sdhci.hpp"
#include "sc_tests/bench_parts.hpp"
#include "sc_tests/mock_card.hpp"

namespace vp::test {

using namespace vp::sdhci;

inline SdhciParams bench_params() {
  SdhciParams p;
  p.capabilities1 = 0x3E6DC881;
  p.fifo_bytes = 4096;
  p.prefetch_depth = 1;
  p.axi.data_width_bits = 64;
  p.axi.max_burst_beats = 16;
  p.axi.outstanding_writes = 8;
  p.axi.outstanding_reads = 8;
  return p;
}

struct Bench {
  static constexpr std::uint64_t kRamBytes = 1ULL << 30;     // sparse
  static constexpr std::uint64_t kHighBase = 0x2'4000'0000;  // a second one of that size, above 4 GiB

  Context ctx;
  ClockDomain axi{"axi", 200e6};
  AxiInterconnect interconnect;
  Sram sram, high;
  MmcBus bus;
  MockCard card;
  Sdhci host;
  RegisterDriver driver{"driver"};
  IrqProbe irq;

  explicit Bench(const SdhciParams& p = bench_params(), TimingStyle style = TimingStyle::at)
      : interconnect("interconnect", with_style(ctx, style), axi, InterconnectParams{}),
        sram("sram", axi, ram_of(kRamBytes)),
        high("high", axi, ram_of(kRamBytes)),
        bus("bus", ctx, MmcBusParams{}),
        host("host", ctx, axi, bus, card, p) {
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
  std::uint64_t read(std::uint64_t offset, unsigned bytes) {
    std::uint64_t v = 0;
    driver.access(false, offset, bytes, v);
    return v;
  }
  /// Returns the instant the write takes effect.
  sc_time write(std::uint64_t offset, unsigned bytes, std::uint64_t v) {
    return driver.access(true, offset, bytes, v);
  }
  void advance(sc_time d) { run_for(d); }

  /// Power, clock, lines and interrupts: HS400ES x8 at 200 MHz unless told otherwise.
  void start_card(LineMode mode = {8, true}, std::uint64_t divider = 0) {
    write(reg_offset(kRegs, "POWER_CONTROL"), 1, 0x0F);
    write(reg_offset(kRegs, "CLOCK_CONTROL"), 2, 0x0001);
    advance(sc_time(20, sc_core::SC_US));
    REQUIRE((read(reg_offset(kRegs, "CLOCK_CONTROL"), 2) & 0x0002) != 0);
    write(reg_offset(kRegs, "CLOCK_CONTROL"), 2, 0x0005 | (divider & 0xFF) << 8 | (divider >> 8 & 3) << 6);
    write(reg_offset(kRegs, "HOST_CONTROL1"), 1, mode.width == 8 ? 0x20 : mode.width == 4 ? 0x02 : 0);
    write(reg_offset(kRegs, "HOST_CONTROL2"), 2, mode.ddr ? std::uint32_t{kUhsHs400} : 0);
    write(0x500 + 0x2C, 2, 0x0101);  // EMMC_CTRL: CARD_IS_EMMC, ENH_STROBE_ENABLE
    write(reg_offset(kRegs, "NORMAL_INT_STATUS_ENABLE"), 2, 0x7FFF);
    write(reg_offset(kRegs, "ERROR_INT_STATUS_ENABLE"), 2, 0xFFFF);
    write(reg_offset(kRegs, "NORMAL_INT_SIGNAL_ENABLE"), 2, 0x7FFF);
    write(reg_offset(kRegs, "ERROR_INT_SIGNAL_ENABLE"), 2, 0xFFFF);
    write(reg_offset(kRegs, "TIMEOUT_CONTROL"), 1, 0xE);
    card.mode = mode;
    card.n_cr = 12;
    card.gap = 45;
  }

  enum class Format { adma32, adma96, adma128 };
  struct Descriptor {
    std::uint64_t address;
    std::uint32_t length;
    std::uint32_t attr;
  };
  static unsigned size_of(Format f) { return f == Format::adma32 ? 8 : f == Format::adma96 ? 12 : 16; }

  void table(std::uint64_t at, Format f, const std::vector<Descriptor>& list) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::uint32_t w[4] = {list[i].attr | (list[i].length & 0xFFFF) << 16,
                                  static_cast<std::uint32_t>(list[i].address),
                                  static_cast<std::uint32_t>(list[i].address >> 32), 0};
      std::memcpy(ram(at + i * size_of(f), size_of(f)), w, size_of(f));
    }
  }

  /// ADMA2 in format `f` with its table at `address`.
  void select(Format f, std::uint64_t address) {
    const std::uint64_t hc1 = read(reg_offset(kRegs, "HOST_CONTROL1"), 1) & ~0x18ULL;
    write(reg_offset(kRegs, "HOST_CONTROL1"), 1, hc1 | (f == Format::adma96 ? 3 : 2) << 3);
    const std::uint64_t hc2 = read(reg_offset(kRegs, "HOST_CONTROL2"), 2) & ~0x3000ULL;
    write(reg_offset(kRegs, "HOST_CONTROL2"), 2, hc2 | (f == Format::adma128 ? 0x3000 : 0));
    write(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), 4, address & 0xFFFFFFFF);
    write(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"), 4, address >> 32);
  }

  /// Sends a data command; returns the instant its register write takes effect.
  sc_time data_command(unsigned index, std::uint32_t argument, std::uint32_t blocks, std::uint16_t mode) {
    write(reg_offset(kRegs, "BLOCK_SIZE"), 2, 0x7200);
    write(reg_offset(kRegs, "BLOCK_COUNT"), 2, blocks);
    write(reg_offset(kRegs, "ARGUMENT"), 4, argument);
    write(reg_offset(kRegs, "TRANSFER_MODE"), 2, mode);
    return write(reg_offset(kRegs, "COMMAND"), 2, index << 8 | 0x3A);
  }
  sc_time command(unsigned index, std::uint32_t argument, unsigned response = 2) {
    write(reg_offset(kRegs, "ARGUMENT"), 4, argument);
    return write(reg_offset(kRegs, "COMMAND"), 2, index << 8 | (response >= 2 ? 0x18 : 0) | response);
  }
  std::uint32_t status() {
    return static_cast<std::uint32_t>(read(reg_offset(kRegs, "NORMAL_INT_STATUS"), 4));
  }
  void clear_status() { write(reg_offset(kRegs, "NORMAL_INT_STATUS"), 4, 0xFFFFFFFF); }

  /// Runs from event to event until any status bit of `mask` is set; returns that instant. Command Complete is
  /// acknowledged on the way, so that nothing else holds the line.
  sc_time run_until(std::uint32_t mask, sc_time limit = sc_time(1, sc_core::SC_SEC)) {
    const sc_time until = sc_time_stamp() + limit;
    while (true) {
      const std::uint32_t s = status();
      if (s & mask) return sc_time_stamp();
      if (s & kIntCommandComplete) write(reg_offset(kRegs, "NORMAL_INT_STATUS"), 2, kIntCommandComplete);
      if (sc_time_stamp() > until || !sc_core::sc_pending_activity()) break;
      advance(sc_core::sc_time_to_pending_activity());
    }
    FAIL("the status never came");
    return {};
  }
  sc_time run_to_end() { return run_until(kIntTransferComplete | 0xFFFF0000); }
};

// Transfer Mode words: DMA 1, block count 2, read 0x10, multi 0x20.
inline constexpr std::uint16_t kReadSingle = 0x11, kReadMulti = 0x33, kWriteSingle = 0x01, kWriteMulti = 0x23;
// Descriptor attributes.
inline constexpr std::uint32_t kTran = 0x21, kTranEnd = 0x23, kTranInt = 0x25, kNopEnd = 0x03, kLink = 0x31;

}  // namespace vp::test
