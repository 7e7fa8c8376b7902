// An HSMMC host with its system DMA between a mock card and SRAM, driven by plain register writes. All clocks run at
// 200 MHz (5 ns), so every expected instant is a whole number of cycles from the register write.
#pragma once

#include <cstring>
#include <vector>

#include "models/axi/interconnect.hpp"
#include "models/dma/system_dma.hpp"
#include "models/hsmmc/hsmmc.hpp"
#include "sc_tests/bench_parts.hpp"
#include "sc_tests/mock_card.hpp"

namespace vp::test {

using namespace vp::hsmmc;

inline std::uint16_t at(const char* name) { return find_register(hsmmc::kRegs, name)->offset; }
inline std::uint16_t edma_at(const char* name) { return find_register(edma::kRegs, name)->offset; }

inline HsmmcParams bench_params() {
  HsmmcParams p;
  p.functional_clock_hz = p.core_clock_hz = 200e6;
  return p;
}

// CMD words: index and flags as the TRM names them.
inline constexpr std::uint32_t kDe = 1, kBce = 2, kAcen12 = 1 << 2, kAcen23 = 2 << 2, kRead = 1 << 4,
                               kMsbs = 1 << 5, kR1 = 2 << 16 | 3 << 19, kR1b = 3 << 16 | 3 << 19,
                               kR2 = 1 << 16 | 1 << 19, kDp = 1 << 21, kAbort = 3 << 22;
constexpr std::uint32_t index(unsigned n) { return n << 24; }

struct Bench {
  static constexpr std::uint64_t kRam = 1 << 24, kHost = 0x8000'0000;
  static constexpr unsigned kRx = 25, kTx = 24;
  Context ctx;
  ClockDomain axi{"axi", 200e6};
  AxiInterconnect interconnect;
  Sram sram;
  MmcBus bus;
  MockCard card;
  Hsmmc host;
  SystemDma dma;
  RegisterDriver regs{"regs"}, dma_regs{"dma_regs"};
  IrqProbe irq, dma_irq, dma_error;
  /// What counts the requests instead of a DMA.
  struct Counter : DmaRequestSink {
    unsigned seen[2] = {0, 0};
    void dma_request(unsigned line) override { ++seen[line]; }
  } counter;

  explicit Bench(const HsmmcParams& p = bench_params(), TimingStyle style = TimingStyle::at,
                 bool with_dma = true)
      : interconnect("interconnect", with_style(ctx, style), axi, InterconnectParams{}),
        sram("sram", axi, ram_of(kRam)),
        bus("bus", ctx, MmcBusParams{}),
        host("host", ctx, axi, bus, card, p),
        dma("dma", ctx, axi, SystemDmaParams{}) {
    dma.dma_port().socket.bind(interconnect.master_socket(interconnect.add_master("dma")));
    interconnect.target_socket(interconnect.add_target("sram", 0, kRam)).bind(sram.socket);
    interconnect.target_socket(interconnect.add_target("host", kHost, 0x1000)).bind(host.socket);
    const unsigned cpu = interconnect.add_master("cpu", 0, true);
    regs.socket.bind(interconnect.master_socket(cpu));
    dma_regs.socket.bind(dma.socket);
    host.irq.connect(irq, 0);
    dma.irq.connect(dma_irq, 0);
    dma.error_irq.connect(dma_error, 0);
    if (with_dma) {
      host.dma_rx.connect(dma, kRx);
      host.dma_tx.connect(dma, kTx);
    } else {
      host.dma_rx.connect(counter, 0);
      host.dma_tx.connect(counter, 1);
    }
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  std::byte* ram(std::uint64_t a) { return sram.ptr(a, 1); }
  std::uint32_t read(const char* name) { return regs.read(kHost + at(name)); }
  /// Returns the instant the write takes effect at the host: the way back is one hop more.
  sc_time write(const char* name, std::uint32_t v) { return regs.write(kHost + at(name), v) - cycles(1); }
  std::uint32_t port_read() { return regs.read(kHost + kData); }
  void port_write(std::uint32_t v) { regs.write(kHost + kData, v); }
  void advance(sc_time d) { run_for(d); }

  /// Power, clock, lines, interrupts: x4 SDR at 200 MHz unless told otherwise; DTO at its longest.
  void start_card(unsigned width = 4, std::uint32_t divider = 1) {
    card.mode = {width, false};
    write("HCTL", 1u << 8 | 6u << 9 | (width == 4 ? 2u : 0u));
    write("CON", width == 8 ? 1u << 5 : 0);
    write("SYSCTL", 1 | divider << 6 | 14u << 16);
    advance(sc_time(20, sc_core::SC_US));
    REQUIRE((read("SYSCTL") & 2) != 0);
    write("SYSCTL", 1 | 1 << 2 | divider << 6 | 14u << 16);
    write("IE", 0x317F'8000 | 0x7FFF);
    write("ISE", 0x317F'8000 | 0x7FFF);
    card.n_cr = 12;
  }
  void blocks(std::uint32_t n, std::uint32_t bytes = 512) { write("BLK", n << 16 | bytes); }
  sc_time send(std::uint32_t word, std::uint32_t argument = 0) {
    write("ARG", argument);
    return write("CMD", word);
  }
  /// A channel that moves `n` blocks to or from `address`.
  void arm(bool reading, std::uint64_t address, std::uint32_t n, std::uint32_t block_bytes = 512) {
    const unsigned channel = reading ? kRx : kTx;
    const std::uint64_t port = kHost + kData;
    const std::uint32_t words = block_bytes / 4;
    const edma::ParamSet s =
        reading ? edma::ParamSet{edma::kOptAbSync | edma::kOptTcInt | channel << edma::kOptTccLsb,
                                 static_cast<std::uint32_t>(port),
                                 words << 16 | 4,
                                 static_cast<std::uint32_t>(address),
                                 4u << 16,
                                 edma::kNoLink,
                                 block_bytes << 16,
                                 n}
                : edma::ParamSet{edma::kOptAbSync | edma::kOptTcInt | channel << edma::kOptTccLsb,
                                 static_cast<std::uint32_t>(address),
                                 words << 16 | 4,
                                 static_cast<std::uint32_t>(port),
                                 4,
                                 edma::kNoLink,
                                 block_bytes,
                                 n};
    for (unsigned w = 0; w < edma::kWords; ++w)
      dma_regs.write(edma::kParamBase + channel * edma::kSetBytes + 4 * w, s[w]);
    dma_regs.write(edma_at("EESR"), 1u << channel);
    dma_regs.write(edma_at("IESR"), 1u << channel);
  }
  /// Runs from event to event until a bit of `mask` stands in STAT; CC is acknowledged on the way.
  sc_time run_until(std::uint32_t mask, sc_time limit = sc_time(5, sc_core::SC_SEC)) {
    const sc_time until = sc_time_stamp() + limit;
    for (;;) {
      const std::uint32_t s = read("STAT");
      if (s & mask) return sc_time_stamp();
      if (s & kIntCc) write("STAT", kIntCc);
      if (sc_time_stamp() > until || !sc_core::sc_pending_activity()) break;
      advance(sc_core::sc_time_to_pending_activity());
    }
    FAIL("the status never came");
    return {};
  }
  bool holds(std::uint64_t address, std::uint64_t lba, std::uint32_t n) {
    for (std::uint32_t k = 0; k < n; ++k)
      for (std::size_t i = 0; i < 512; ++i)
        if (*ram(address + 512 * k + i) != MockCard::content(lba + k, i)) return false;
    return true;
  }
};

}  // namespace vp::test
