// Reset values and access kinds of every register in every layout, START and its lock, clock, resets.
#include "sc_tests/dwmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

/// Registers whose writes do something at once or whose value is computed; their bits have tests of their own.
bool has_behaviour(const RegDef& r) {
  for (const char* n : {"CTRL", "CMD", "RINTSTS", "MINTSTS", "STATUS", "BMOD", "PLDMND", "IDSTS", "IDSTS64",
                        "TCBCNT", "TBBCNT"})
    if (r.name == n) return true;
  return false;
}

std::uint32_t writable(const RegDef& r) {
  const auto keeps = [](Access a) { return a == Access::RW || a == Access::RWAC; };
  if (r.fields.empty()) return keeps(r.access) ? 0xFFFFFFFFu : 0u;
  std::uint64_t m = 0;
  for (const FieldDef& f : r.fields)
    if (keeps(f.access)) m |= f.mask();
  return static_cast<std::uint32_t>(m);
}

void check_map(Bench& b, RegisterMap map, std::uint64_t hcon, std::uint64_t verid) {
  for (const RegDef& r : map) {
    INFO(r.name);
    const std::uint64_t reset = r.name == "HCON"     ? hcon
                                : r.name == "VERID"  ? verid
                                : r.name == "FIFOTH" ? 0x00FF0000u
                                                     : r.reset;
    CHECK(b.read(r.offset) == reset);
  }
  for (const RegDef& r : map) {
    if (has_behaviour(r)) continue;
    INFO(r.name);
    const auto reset = static_cast<std::uint32_t>(r.name == "HCON"     ? hcon
                                                  : r.name == "VERID"  ? verid
                                                  : r.name == "FIFOTH" ? 0x00FF0000u
                                                                       : r.reset);
    for (const std::uint32_t pattern : {0xFFFFFFFFu, 0x5A5A5A5Au, 0u}) {
      b.write(r.offset, pattern);
      const std::uint32_t expected = (reset & ~writable(r)) | (pattern & writable(r));
      CHECK(b.read(r.offset) == expected);
    }
  }
}

}  // namespace

TEST_CASE("64-bit IDMAC: every register reads its reset value and keeps its writable bits") {
  DwmmcParams p = bench_params();
  Bench b(p);
  check_map(b, kRegs64, p.hcon, p.verid);
}

TEST_CASE("32-bit IDMAC: every register reads its reset value and keeps its writable bits") {
  DwmmcParams p = bench_params(false);
  Bench b(p);
  check_map(b, kRegs32, p.hcon, p.verid);
}

TEST_CASE("before 2.40a there is no CARDTHRCTL and the FIFO window begins at 0x100") {
  DwmmcParams p = bench_params(false);
  p.verid = 0x5342230A;
  Bench b(p);
  check_map(b, kRegs32Old, p.hcon, p.verid);
  std::uint64_t word = 0x1122334455667788;
  b.driver.access(true, 0x100, 8, word);
  CHECK(b.read(reg("STATUS")) >> lsb("STATUS", "FIFO_COUNT") == 1);
  std::uint64_t back = 0;
  b.driver.access(false, 0x1F8, 8, back);  // anywhere in the window
  CHECK(back == word);
}

TEST_CASE("the IDMAC status moves with the address width") {
  CHECK(reg_offset(kRegs32, "IDSTS") == 0x8C);
  CHECK(reg_offset(kRegs64, "IDSTS64") == 0x90);
  CHECK(reg_offset(kRegs32, "IDINTEN") == 0x90);
  CHECK(reg_offset(kRegs64, "IDINTEN64") == 0x94);
  CHECK(reg_offset(kRegs64, "BUFADDRU") == 0xA4);
  CHECK(idmac_offsets(kHcon64).status == reg_offset(kRegs64, "IDSTS64"));
  CHECK(idmac_offsets(kHcon32).status == reg_offset(kRegs32, "IDSTS"));
}

TEST_CASE("an undefined offset reads 0, ignores writes and is logged once") {
  Bench b;
  std::vector<std::string> lines;
  b.ctx.log_sink = [&](const std::string& l) { lines.push_back(l); };
  CHECK(b.read(0x0C0) == 0);
  b.write(0x0C0, 0xFF);
  CHECK(b.read(0x0C0) == 0);
  CHECK(lines.size() == 4);  // four bytes, once each
}

TEST_CASE("FIFOTH shows the FIFO's depth and BMOD.PBL mirrors MSIZE") {
  DwmmcParams p = bench_params();
  p.fifo_depth = 1024;
  Bench b(p);
  CHECK(b.read(reg("FIFOTH")) == 0x03FF0000);
  b.write(reg("FIFOTH"), 5u << 28);
  CHECK((b.read(reg("BMOD")) & mask("BMOD", "PBL")) >> lsb("BMOD", "PBL") == 5);
}

TEST_CASE("a clock update loads the divider, sends nothing and raises no CMD_DONE") {
  Bench b;
  for (const std::uint32_t n : {0u, 1u, 4u, 250u}) {
    b.write(reg("CLKDIV"), n);
    b.write(reg("CLKENA"), 1);
    const double before = b.bus.clock().frequency_hz();
    const bool ran = b.bus.clock_running();
    CHECK((!ran || b.bus.clock().frequency_hz() == before));  // not yet
    b.write(reg("CMD"), kStart | kUpdate);
    CHECK((b.read(reg("CMD")) & kStart) != 0);
    b.advance(cycles(10));
    CHECK((b.read(reg("CMD")) & kStart) == 0);
    CHECK(b.bus.clock().frequency_hz() == Approx(n == 0 ? 200e6 : 200e6 / (2 * n)));
  }
  CHECK(b.status() == 0);
  CHECK(b.bus.counters().commands == 0);
  b.clock(0, false);
  CHECK_FALSE(b.bus.clock_running());
}

TEST_CASE("CLKSRC chooses among the dividers that HCON has") {
  DwmmcParams p = bench_params();
  p.hcon |= 1u << 24;  // two
  Bench b(p);
  b.write(reg("CLKSRC"), 1);
  b.clock(5u << 8 | 2);
  CHECK(b.bus.clock().frequency_hz() == Approx(20e6));
}

TEST_CASE("registers are locked while START stands: HLE, and the write is dropped") {
  Bench b;
  b.start_card();
  b.command(13, 0x1234);
  CHECK((b.status() & kIntHardwareLocked) == 0);
  b.write(reg("CMDARG"), 0x5678);
  CHECK((b.status() & kIntHardwareLocked) != 0);
  CHECK(b.read(reg("CMDARG")) == 0x1234);
  for (const std::uint16_t r : {reg("CMD"), reg("BLKSIZ"), reg("BYTCNT"), reg("TMOUT"), reg("CTYPE")}) {
    b.clear_status();
    const std::uint32_t before = b.read(r);
    b.write(r, ~before);
    CHECK(b.read(r) == before);
    CHECK((b.status() & kIntHardwareLocked) != 0);
  }
  b.clear_status();
  b.write(reg("FIFOTH"), 0x10001);  // not locked
  CHECK((b.status() & kIntHardwareLocked) == 0);
  b.run_until(kIntCommandDone);
  CHECK(b.card.seen.back().argument == 0x1234);
}

TEST_CASE(
    "a command written while one is on the line waits with START set and follows N_RC after its response") {
  Bench b;
  b.start_card();
  const sc_time t = b.command(13, 1);
  b.advance(cycles(20));  // taken, on the line
  CHECK((b.read(reg("CMD")) & kStart) == 0);
  b.command(13, 2);
  b.advance(cycles(20));
  CHECK((b.read(reg("CMD")) & kStart) != 0);
  b.run_until(kIntCommandDone);
  b.clear_status();
  CHECK(b.run_until(kIntCommandDone) - t == cycles(4 + 48 + 12 + 48 + 8 + 48 + 12 + 48 + 2));
  CHECK(b.card.seen.back().argument == 2);
}

TEST_CASE("shadow registers: what is written after START is taken belongs to the next command") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.data_command(17, 3, 1, kRead);
  b.advance(cycles(20));
  b.write(reg("CMDARG"), 77);
  b.write(reg("BYTCNT"), 4096);
  b.write(reg("CTYPE"), 0);
  b.run_until(kIntDataOver, kIdReceive);
  CHECK((b.status() & kIntDataErrors) == 0);
  CHECK(b.card.seen.back().argument == 3);
  CHECK(b.read(reg("TCBCNT")) == 512);
  CHECK(b.read(reg("TBBCNT")) == 512);
}

TEST_CASE("a command without a card clock keeps START and is found") {
  Bench b;
  b.command(0, 0, 0);
  b.run_out();
  CHECK((b.read(reg("CMD")) & kStart) != 0);
  CHECK(b.findings("dwmmc.command_without_clock") == 1);
  b.write(reg("CTRL"), mask("CTRL", "CONTROLLER_RESET"));
  CHECK((b.read(reg("CMD")) & kStart) == 0);
}

TEST_CASE("resets read as set for their time and clear themselves") {
  Bench b;
  b.write(reg("CTRL"), 0x7 | mask("CTRL", "INT_ENABLE"));
  CHECK(b.read(reg("CTRL")) == (0x7 | mask("CTRL", "INT_ENABLE")));
  b.advance(cycles(8));
  CHECK(b.read(reg("CTRL")) == mask("CTRL", "INT_ENABLE"));
  b.write(reg("BMOD"), mask("BMOD", "SWR") | mask("BMOD", "DE"));
  CHECK((b.read(reg("BMOD")) & mask("BMOD", "SWR")) != 0);
  b.advance(cycles(8));
  CHECK(b.read(reg("BMOD")) == mask("BMOD", "DE"));
}

TEST_CASE("the interrupt line follows mask, global enable and W1C, status stays raw") {
  Bench b;
  b.start_card();
  b.write(reg("INTMASK"), 0);
  b.command(13, 0);
  b.run_until(kIntCommandDone);
  CHECK_FALSE(b.irq.level);
  CHECK(b.read(reg("MINTSTS")) == 0);
  b.write(reg("INTMASK"), kIntCommandDone);
  CHECK(b.irq.level);
  CHECK(b.read(reg("MINTSTS")) == kIntCommandDone);
  b.write(reg("CTRL"), 0);
  CHECK_FALSE(b.irq.level);
  b.write(reg("CTRL"), mask("CTRL", "INT_ENABLE"));
  CHECK(b.irq.level);
  b.write(reg("RINTSTS"), kIntCommandDone);
  CHECK_FALSE(b.irq.level);
}

TEST_CASE("TMOUT counts plain clocks, and from its version on a multiplier in bits 10 to 8") {
  CHECK(data_timeout_clocks(0x00012340, false) == 0x123);
  CHECK(data_timeout_clocks(0x00012340, true) == 4 * 0x120);  // bits 10:8 = 3, bits 31:11 in place
}

TEST_CASE("RST_N low resets the card once") {
  Bench b;
  b.write(reg("RST_N"), 0);
  b.write(reg("RST_N"), 0);
  b.write(reg("RST_N"), 1);
  CHECK(b.card.resets == 1);
}

TEST_CASE("an HCON with an external DMA is refused") {
  DwmmcParams p = bench_params();
  p.hcon |= 1u << 16;
  CHECK_THROWS_AS(Bench(p), InputError);
}
