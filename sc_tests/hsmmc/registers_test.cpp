// Registers, clock, resets.
#include "sc_tests/hsmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

TEST_CASE("every HSMMC register reads its reset value") {
  Bench b;
  for (const RegDef& r : hsmmc::kRegs) {
    INFO(r.name);
    // lines are high: DLEV and CLEV
    const std::uint64_t expected = r.name == "PSTATE" ? r.reset | 0xFu << 20 | 1u << 24 : r.reset;
    CHECK(b.regs.read(Bench::kHost + r.offset) == expected);
  }
}

TEST_CASE("an HSMMC register keeps what its access kind allows") {
  Bench b;
  for (const RegDef& r : hsmmc::kRegs) {
    if (r.name == "CMD" || r.name == "SYSCONFIG" || r.name == "SYSCTL") continue;  // they act
    INFO(r.name);
    std::uint32_t rw = r.fields.empty() && r.access == Access::RW ? 0xFFFFFFFF : 0;
    for (const FieldDef& f : r.fields)
      if (f.access == Access::RW) rw |= static_cast<std::uint32_t>(f.mask());
    const std::uint32_t before = b.regs.read(Bench::kHost + r.offset);
    b.regs.write(Bench::kHost + r.offset, 0xFFFFFFFF);
    CHECK(b.regs.read(Bench::kHost + r.offset) == ((before & ~rw) | rw));
  }
}

TEST_CASE("the card clock is the functional clock by CLKD, stable after ICE, off without bus power") {
  HsmmcParams p = bench_params();
  p.functional_clock_hz = 96e6;
  Bench b(p);
  b.write("HCTL", 1u << 8);
  b.write("SYSCTL", 1 | 240u << 6);
  CHECK((b.read("SYSCTL") & 2) == 0);
  b.advance(sc_time(11, sc_core::SC_US));
  CHECK((b.read("SYSCTL") & 2) != 0);
  CHECK(!b.bus.clock_running());
  b.write("SYSCTL", 1 | 1 << 2 | 240u << 6);
  CHECK(b.bus.clock_running());
  CHECK(b.bus.clock().frequency_hz() == Approx(400e3));
  b.write("SYSCTL", 1 | 1 << 2 | 2u << 6);
  CHECK(b.bus.clock().frequency_hz() == Approx(48e6));
  b.write("SYSCTL", 1 | 1 << 2);
  CHECK(b.bus.clock().frequency_hz() == Approx(96e6));
  b.write("HCTL", 0);
  CHECK(!b.bus.clock_running());
}

TEST_CASE("a command with the card clock off never leaves, and is a finding") {
  Bench b;
  b.send(index(13) | kR1);
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.ctx.findings.count("hsmmc.command_without_clock") == 1);
  CHECK(b.card.seen.empty());
}

TEST_CASE("SRC frees the command line, SRD the data lines, SRA everything, each bit reads 1 while it lasts") {
  Bench b;
  b.start_card();
  b.card.data_delay = sc_time(1, sc_core::SC_MS);
  b.card.blocks_counted = 4;
  b.blocks(4);
  b.send(index(18) | kR1 | kDp | kRead | kDe | kMsbs | kBce);
  b.advance(cycles(20));
  CHECK((b.read("PSTATE") & 3) == 3);
  const std::uint32_t control = b.read("SYSCTL") & ~2u;
  b.write("SYSCTL", control | 1u << 25);
  CHECK((b.read("SYSCTL") & 1u << 25) != 0);
  b.advance(cycles(16));
  CHECK((b.read("SYSCTL") & 1u << 25) == 0);
  CHECK((b.read("PSTATE") & 3) == 2);
  b.write("SYSCTL", control | 1u << 26);
  b.advance(cycles(16));
  CHECK((b.read("PSTATE") & 3) == 0);
  b.advance(sc_time(5, sc_core::SC_MS));
  CHECK((b.read("STAT") & ~std::uint32_t{kIntCc}) == 0);  // nothing is reported any more
  b.write("SYSCTL", control | 1u << 24);
  b.advance(cycles(16));
  CHECK(b.read("SYSCTL") == 0);
  CHECK(b.read("IE") == 0);
  CHECK(!b.bus.clock_running());
}

TEST_CASE("SYSCONFIG.SOFTRESET resets the block and SYSSTATUS tells when it is done") {
  Bench b;
  b.start_card();
  b.write("SYSCONFIG", 1 << 1);
  CHECK(b.read("SYSSTATUS") == 0);
  b.advance(cycles(16));
  CHECK(b.read("SYSSTATUS") == 1);
  CHECK(b.read("HCTL") == 0);
}

TEST_CASE("a status bit is latched only where IE allows and interrupts only where ISE does") {
  Bench b;
  b.start_card();
  b.write("ISE", 0);
  b.send(index(13) | kR1);
  b.run_until(kIntCc);
  CHECK(b.irq.rises.empty());
  b.write("ISE", kIntCc);
  CHECK(b.irq.level);
  b.write("STAT", kIntCc);
  CHECK(!b.irq.level);
  b.write("IE", 0);
  b.send(index(13) | kR1);
  b.advance(cycles(300));
  CHECK(b.read("STAT") == 0);
}

TEST_CASE("R2 fills all four response registers, card bits 127 to 0") {
  Bench b;
  b.start_card();
  b.send(index(9) | kR2, 0x10000);
  b.run_until(kIntCc);
  CHECK(b.read("RSP76") == 0x10111213);
  CHECK(b.read("RSP54") == 0x14151617);
  CHECK(b.read("RSP32") == 0x18191A1B);
  CHECK(b.read("RSP10") == 0x1C1D1E1F);
}
