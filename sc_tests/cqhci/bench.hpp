// An SDHCI host with its queue engine between a mock queue device and SRAM. Card, host core, AXI and (unless told
// otherwise) timer clock run at 200 MHz, so expected instants are whole cycles of 5 ns.
#pragma once

#include "models/cqhci/cqhci.hpp"
#include "sc_tests/cqhci/queue_card.hpp"
#include "sc_tests/sdhci/bench.hpp"

namespace vp::test {

inline CqhciParams queue_params() {
  CqhciParams p;
  p.cqetmclk_hz = 200e6;
  return p;
}

/// Bytes of task, link and transfer descriptors.
struct Shape {
  unsigned task = 8, link = 8, transfer = 8;
};
inline constexpr Shape k8_8{8, 8, 8}, k8_16{8, 16, 16}, k16_16{16, 16, 16}, k16_12{16, 16, 12};

inline constexpr std::uint64_t kInt = 4, kForced = 0x40, kTagRequest = 0x800, kHigh = 0x2000, kQbr = 0x4000,
                               kReliable = 0x8000;

struct QueueBench {
  static constexpr std::uint64_t kRam = 1ULL << 30, kList = 0x10000, kTables = 0x20000, kTableStep = 0x1000,
                                 kData = 0x100000, kDataStep = 0x10000;
  static constexpr std::uint32_t kCq = 0x180;

  Context ctx;
  ClockDomain axi{"axi", 200e6};
  AxiInterconnect interconnect;
  Sram sram;
  MmcBus bus;
  QueueCard card;
  Sdhci host;
  Cqhci cqe;
  RegisterDriver driver{"driver"};
  IrqProbe irq;
  Shape shape;

  explicit QueueBench(const CqhciParams& q = queue_params(), TimingStyle style = TimingStyle::at,
                      const SdhciParams& p = bench_params(), bool elaborate = true)
      : interconnect("interconnect", with_style(ctx, style), axi, InterconnectParams{}),
        sram("sram", axi, ram_of(Bench::kRamBytes)),
        bus("bus", ctx, MmcBusParams{}),
        host("host", ctx, axi, bus, card, p),
        cqe("cqe", ctx, host, q) {
    host.dma_port().socket.bind(interconnect.master_socket(interconnect.add_master("host")));
    interconnect.target_socket(interconnect.add_target("sram", 0, kRam)).bind(sram.socket);
    driver.socket.bind(host.socket);
    host.irq.connect(irq, 0);
    if (elaborate) sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  std::byte* ram(std::uint64_t address, std::uint64_t bytes = 1) { return sram.ptr(address, bytes); }
  std::uint32_t read(std::uint32_t offset, unsigned bytes = 4) {
    std::uint64_t v = 0;
    driver.access(false, offset, bytes, v);
    return static_cast<std::uint32_t>(v);
  }
  sc_time write(std::uint32_t offset, unsigned bytes, std::uint64_t v) {
    return driver.access(true, offset, bytes, v);
  }
  std::uint32_t cq(std::string_view name) { return read(kCq + find_register(cqhci::kRegs, name)->offset); }
  sc_time set_cq(std::string_view name, std::uint64_t v) {
    return write(kCq + find_register(cqhci::kRegs, name)->offset, 4, v);
  }
  void advance(sc_time d) {
    sc_core::sc_start(d);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }

  /// Power and clock, HS400ES x8 at 200 MHz.
  void start_card(LineMode mode = {8, true}, std::uint64_t divider = 0) {
    write(0x29, 1, 0x0F);
    write(0x2C, 2, 1);
    advance(sc_time(20, sc_core::SC_US));
    write(0x2C, 2, 0x0005 | (divider & 0xFF) << 8);
    write(0x28, 1, (mode.width == 8 ? 0x20 : 0) | 0x10);  // ADMA2
    write(0x3E, 2, mode.ddr ? std::uint32_t{kUhsHs400} : 0);
    write(0x500 + 0x2C, 2, 0x0101);
    write(0x04, 2, 0x7200);
    write(0x0C, 2, 0x23);
    write(0x2E, 1, 0xE);
    card.mode = mode;
    card.n_cr = 12;
    card.gap = 45;
  }
  void start(Shape s = k8_8, LineMode mode = {8, true}, std::uint64_t divider = 0) {
    start_card(mode, divider);
    for (const unsigned at : {0x34u, 0x38u}) write(at, 4, 0x02FF4000);  // CQE, command and data errors, ADMA
    enable(s);
  }
  void enable(Shape s) {
    shape = s;
    if (s.link == 16) write(0x3E, 2, read(0x3E, 2) | 0x3000);
    set_cq("CQISTE", 0x3F);
    set_cq("CQISGE", 0x3F);
    set_cq("CQTDLBA", kList);
    set_cq("CQSSC2", 1);
    set_cq("CQCFG", 0x1001 | (s.task == 16 ? 0x100 : 0));
  }

  std::uint64_t slot(unsigned tag) const { return kList + tag * (shape.task + shape.link); }
  static std::uint64_t table(unsigned tag) { return kTables + tag * kTableStep; }
  static std::uint64_t data(unsigned tag) { return kData + tag * kDataStep; }

  void put_descriptor(std::uint64_t at, unsigned bytes, std::uint32_t attr, std::uint32_t length,
                      std::uint64_t address) {
    const std::uint32_t w[4] = {attr | length << 16, static_cast<std::uint32_t>(address),
                                static_cast<std::uint32_t>(address >> 32), 0};
    std::memcpy(ram(at, bytes), w, bytes);
  }
  void put_task(unsigned tag, std::uint64_t word0, std::uint64_t word1 = 0) {
    std::memcpy(ram(slot(tag), shape.task), &word0, 8);
    if (shape.task == 16) std::memcpy(ram(slot(tag) + 8, 8), &word1, 8);
  }
  /// A data task with one transfer descriptor per `segment` bytes, its link and its task descriptor.
  void task(unsigned tag, bool is_read, std::uint32_t lba, std::uint32_t blocks, std::uint64_t flags = kInt,
            std::uint32_t segment = 32768) {
    put_task(tag,
             0x2B | flags | (is_read ? 0x1000 : 0) | std::uint64_t{blocks} << 16 | std::uint64_t{lba} << 32);
    put_descriptor(slot(tag) + shape.task, shape.link, kLink, 0, table(tag));
    std::uint32_t left = blocks * 512, i = 0;
    for (std::uint64_t at = data(tag); left > 0; ++i) {
      const std::uint32_t n = std::min(left, segment);
      left -= n;
      put_descriptor(table(tag) + i * shape.transfer, shape.transfer, left ? kTran : kTranEnd, n & 0xFFFF,
                     at);
      at += n;
    }
  }
  /// A direct command in slot 31; response 0 none, 2 R1, 3 R1b.
  void direct(std::uint8_t index, std::uint32_t argument, unsigned response, bool beside_data,
              std::uint64_t flags = kInt) {
    put_task(31, 0x2B | flags | std::uint64_t{index} << 16 | std::uint64_t{beside_data} << 22 |
                     std::uint64_t{response} << 23 | std::uint64_t{argument} << 32);
    put_descriptor(slot(31) + shape.task, shape.link, 2, 0, 0);
  }
  sc_time ring(std::uint32_t tags) { return set_cq("CQTDBR", tags); }

  template <typename Condition>
  sc_time run_until(Condition condition, sc_time limit = sc_time(1, sc_core::SC_SEC)) {
    const sc_time until = sc_time_stamp() + limit;
    while (!condition()) {
      if (sc_time_stamp() > until || !sc_core::sc_pending_activity()) FAIL("it never came");
      advance(sc_core::sc_time_to_pending_activity());
    }
    return sc_time_stamp();
  }
  sc_time run_until_complete(std::uint32_t tags) {
    return run_until([&] { return (cq("CQTCN") & tags) == tags; });
  }
  std::uint32_t errors() { return read(0x32, 2); }
  sc_time run_until_error() {
    return run_until([&] { return errors() != 0 || (cq("CQIS") & ~0x2u) != 0; });
  }
  void halt() {
    set_cq("CQCTL", 1);
    run_until([&] { return cq("CQCTL") == 1; });
  }
  /// The driver's way out: halt, reset CMD and DAT, CMD12, CMD48, clear, off, on.
  void recover() {
    halt();
    write(0x2F, 1, 6);
    advance(sc_time(1, sc_core::SC_US));
    for (const unsigned index : {12u, 48u}) {
      write(0x08, 4, index == 48 ? 1 : 0);
      write(0x0E, 2, index << 8 | 0x03);
      advance(sc_time(5, sc_core::SC_US));
    }
    set_cq("CQCTL", 0x101);
    run_until([&] { return (cq("CQIS") & 8) != 0; });
    set_cq("CQCFG", 0);
    acknowledge();
    enable(shape);
    set_cq("CQCTL", 0);
  }
  /// The interrupt handler: everything acknowledged.
  void acknowledge() {
    set_cq("CQIS", 0x3F);
    set_cq("CQTCN", cq("CQTCN"));
    write(0x30, 4, 0xFFFFFFFF);
  }
  void check_data(unsigned tag, std::uint32_t lba, std::uint32_t blocks) {
    for (std::uint32_t i = 0; i < blocks * 512; ++i)
      REQUIRE(*ram(data(tag) + i) == MockCard::content(lba + i / 512, i % 512));
  }
  std::uint64_t findings(const std::string& rule) const { return ctx.findings.count(rule); }
};

// Cycles of 5 ns: cmd_issue and engine issue 4, latches 2, N_CR 12, N_RC 8, N_AC 2, gap 45, frame 274 (x8 DDR).
inline constexpr std::uint64_t cI = 4, cL = 2, cX = 2, cC = 2, cNcr = 12, cNrc = 8, cNac = 2, cG = 45,
                               cF = 274;
inline constexpr std::uint64_t kCmd = 48 + cNcr + 48;         ///< a command and its response
inline constexpr std::uint64_t kBlockWrite = 64 + 1 + 1 + 1;  ///< 4 bursts of 16 beats, hop, accept, hop
/// AXI read of `beats` 8-byte beats from SRAM: hop, first beat 4, beats, hop.
constexpr std::uint64_t fetch_cycles(std::uint64_t beats) { return 1 + 4 + beats + 1; }
/// From CMD46's start to the interrupt: n blocks on the wire, the last one into memory.
constexpr std::uint64_t read_cycles(std::uint64_t n) {
  return 48 + cNac + n * cF + (n - 1) * cG + cX + kBlockWrite + cC;
}

}  // namespace vp::test
