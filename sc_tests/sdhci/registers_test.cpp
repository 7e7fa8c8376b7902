// Reset values and access kinds of every register, lanes, clock and reset behaviour.
#include "models/sdhci/dwcmshc_regs.hpp"
#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

/// Registers whose writes do something at once or whose value is computed; their bits have tests of their own.
bool has_behaviour(const RegDef& r) {
  for (const char* n : {"COMMAND", "PRESENT_STATE", "CLOCK_CONTROL", "SOFTWARE_RESET", "BUFFER_DATA_PORT",
                        "HOST_CONTROL2", "NORMAL_INT_STATUS", "ERROR_INT_STATUS", "FORCE_AUTO_CMD_ERROR",
                        "FORCE_ERROR_INT", "BLOCK_GAP_CONTROL", "POWER_CONTROL"})
    if (r.name == n) return true;
  return false;
}

std::uint64_t width_mask(const RegDef& r) { return (std::uint64_t{1} << (8 * r.bytes)) - 1; }

/// Bits that keep what is written.
std::uint64_t writable(const RegDef& r) {
  const auto keeps = [](Access a) { return a == Access::RW || a == Access::RWAC; };
  if (r.fields.empty()) return keeps(r.access) ? width_mask(r) : 0;
  std::uint64_t m = 0;
  for (const FieldDef& f : r.fields)
    if (keeps(f.access)) m |= f.mask();
  return m;
}

}  // namespace

TEST_CASE("every standard register reads its reset value") {
  Bench b;
  for (const RegDef& r : kRegs) {
    INFO(r.name);
    if (r.name == "PRESENT_STATE") continue;  // shows the lines
    CHECK(b.read(r.offset, r.bytes) == r.reset);
  }
  // Lines high, card in and stable, writable, regulator stable: bits 25, 24, 23:20, 19:16 and 7:4.
  CHECK(b.read(0x24, 4) == 0x03FF00F0);
}

TEST_CASE("every register keeps exactly its writable bits") {
  Bench b;
  for (const RegDef& r : kRegs) {
    if (has_behaviour(r)) continue;
    INFO(r.name);
    for (const std::uint64_t pattern : {~std::uint64_t{0}, std::uint64_t{0x5A5A5A5A}, std::uint64_t{0}}) {
      b.write(r.offset, r.bytes, pattern & width_mask(r));
      CHECK(b.read(r.offset, r.bytes) ==
            ((r.reset & ~writable(r)) | (pattern & writable(r) & width_mask(r))));
    }
  }
}

TEST_CASE("every vendor register reads its reset value and keeps its writable bits") {
  Bench b;
  for (const RegDef& r : dwcmshc::kRegs) {
    INFO(r.name);
    CHECK(b.read(0x500 + r.offset, r.bytes) == r.reset);
    b.write(0x500 + r.offset, r.bytes, 0xFFFFFFFF & width_mask(r));
    CHECK(b.read(0x500 + r.offset, r.bytes) == ((r.reset & ~writable(r)) | (width_mask(r) & writable(r))));
  }
}

TEST_CASE("bytes, halves, words and double words reach the same registers") {
  Bench b;
  b.write(0x08, 4, 0x11223344);
  CHECK(b.read(0x08, 1) == 0x44);
  CHECK(b.read(0x09, 1) == 0x33);
  CHECK(b.read(0x0A, 2) == 0x1122);
  b.write(0x09, 1, 0xAA);
  CHECK(b.read(0x08, 4) == 0x1122AA44);
  b.write(0x04, 4, 0x00087200);  // block size and block count in one access
  CHECK(b.read(0x04, 2) == 0x7200);
  CHECK(b.read(0x06, 2) == 8);
  b.write(0x58, 8, 0x0000000123456780);
  CHECK(b.read(0x58, 4) == 0x23456780);
  CHECK(b.read(0x5C, 4) == 1);
}

TEST_CASE("an undefined offset reads 0, ignores writes and is logged once") {
  Bench b;
  std::vector<std::string> lines;
  b.ctx.log_sink = [&](const std::string& l) { lines.push_back(l); };
  CHECK(b.read(0xF0, 1) == 0);
  b.write(0xF0, 1, 0xFF);
  CHECK(b.read(0xF0, 1) == 0);
  CHECK(lines.size() == 1);
  CHECK(b.read(0xF1, 1) == 0);
  CHECK(lines.size() == 2);
}

TEST_CASE("the internal clock becomes stable after its time and the divider sets the card clock") {
  Bench b;
  b.write(reg_offset(kRegs, "POWER_CONTROL"), 1, 0x0F);
  b.write(reg_offset(kRegs, "CLOCK_CONTROL"), 2, 1);
  CHECK((b.read(reg_offset(kRegs, "CLOCK_CONTROL"), 2) & 2) == 0);
  b.advance(sc_time(10, sc_core::SC_US));
  CHECK((b.read(reg_offset(kRegs, "CLOCK_CONTROL"), 2) & 2) == 2);
  CHECK_FALSE(b.bus.clock_running());
  struct Divider {
    unsigned n;
    double hz;
  };
  for (const Divider d : {Divider{0, 200e6}, Divider{1, 100e6}, Divider{2, 50e6}, Divider{250, 400e3},
                          Divider{1023, 200e6 / 2046}}) {
    b.write(reg_offset(kRegs, "CLOCK_CONTROL"), 2, 5 | (d.n & 0xFF) << 8 | (d.n >> 8) << 6);
    CHECK(b.bus.clock().frequency_hz() == Approx(d.hz));
  }
  b.write(reg_offset(kRegs, "POWER_CONTROL"), 1, 0x0E);  // VDD1 off takes the card clock with it
  CHECK_FALSE(b.bus.clock_running());
  CHECK((b.read(reg_offset(kRegs, "CLOCK_CONTROL"), 2) & 4) == 0);
}

TEST_CASE("reset of everything takes its cycles, clears registers and keeps the capabilities") {
  Bench b;
  b.start_card();
  b.write(reg_offset(kRegs, "ARGUMENT"), 4, 0x1234);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 1);
  CHECK(b.read(reg_offset(kRegs, "SOFTWARE_RESET"), 1) == 1);
  b.advance(cycles(32));
  CHECK(b.read(reg_offset(kRegs, "SOFTWARE_RESET"), 1) == 0);
  CHECK(b.read(reg_offset(kRegs, "ARGUMENT"), 4) == 0);
  CHECK(b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) == 0);
  CHECK(b.read(reg_offset(kRegs, "POWER_CONTROL"), 1) == 0);
  CHECK(b.read(reg_offset(kRegs, "CAPABILITIES1"), 4) == 0x3E6DC881);
  CHECK_FALSE(b.bus.clock_running());
}

TEST_CASE("reset of CMD keeps Command Complete, as a DWC MSHC does") {
  Bench b;
  b.start_card();
  b.command(13, 0x10000);
  b.run_until(kIntCommandComplete);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 2);
  CHECK((b.status() & kIntCommandComplete) != 0);
}

TEST_CASE("reset of DAT drops a running transfer and no data interrupt comes afterwards") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 64 * 512, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 64, kReadMulti);
  b.advance(sc_time(20, sc_core::SC_US));
  CHECK((b.read(0x24, 4) & 0x206) == 0x206);  // DAT inhibit, DAT active, read active
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 4);
  b.clear_status();
  CHECK((b.read(0x24, 4) & 0x206) == 0);
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.status() == 0);
}

TEST_CASE("block size, count and transfer mode are held while data move, and the count runs down") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 8 * 512, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  const sc_time t = b.data_command(18, 0, 8, kReadMulti);
  // After three frames: command, N_AC, 3 frames, 2 gaps and the check of the third.
  b.advance(t + cycles(4 + 48 + 2 + 3 * 274 + 2 * 45 + 2 + 1) - sc_time_stamp());
  CHECK(b.read(0x06, 2) == 5);
  b.write(0x06, 2, 77);
  b.write(0x0C, 2, 0);
  CHECK(b.read(0x06, 2) == 5);
  CHECK(b.read(0x0C, 2) == kReadMulti);
  b.run_to_end();
  CHECK(b.read(0x06, 2) == 0);
}

TEST_CASE("in V4 mode a 16-bit count of 0 hands over to the 32-bit count") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma128, {{0x20000, 3 * 512, kTranEnd}});
  b.select(Bench::Format::adma128, 0x1000);
  b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, 3);
  b.data_command(18, 0, 0, kReadMulti);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  CHECK(b.host.data().counters().blocks_read == 3);
}

TEST_CASE("a reset of everything wipes what an earlier stage left, whatever it was") {
  Bench b;
  for (const RegDef& r : kRegs)
    if (r.name != "SOFTWARE_RESET" && r.name != "COMMAND") b.write(r.offset, r.bytes, width_mask(r));
  for (const RegDef& r : dwcmshc::kRegs) b.write(0x500 + r.offset, r.bytes, width_mask(r));
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 1);
  b.advance(cycles(32));
  for (const RegDef& r : kRegs) {
    INFO(r.name);
    if (r.name != "PRESENT_STATE") CHECK(b.read(r.offset, r.bytes) == r.reset);
  }
  for (const RegDef& r : dwcmshc::kRegs) {
    INFO(r.name);
    CHECK(b.read(0x500 + r.offset, r.bytes) == r.reset);
  }
}

TEST_CASE("each status bit is cleared by writing 1 to it and by nothing else") {
  Bench b;
  b.start_card();
  for (unsigned bit = 0; bit < 13; ++bit) {
    b.write(reg_offset(kRegs, "FORCE_ERROR_INT"), 2, 0x1FFF);
    b.write(reg_offset(kRegs, "ERROR_INT_STATUS"), 2, 0);
    CHECK(b.read(reg_offset(kRegs, "ERROR_INT_STATUS"), 2) == 0x1FFF);
    b.write(reg_offset(kRegs, "ERROR_INT_STATUS"), 2, 1u << bit);
    CHECK(b.read(reg_offset(kRegs, "ERROR_INT_STATUS"), 2) == (0x1FFFu & ~(1u << bit)));
    b.write(reg_offset(kRegs, "NORMAL_INT_STATUS"), 2, 0xFFFF);  // bit 15 follows the error bits
    CHECK((b.read(reg_offset(kRegs, "NORMAL_INT_STATUS"), 2) & 0x8000) != 0);
  }
  b.write(reg_offset(kRegs, "ERROR_INT_STATUS"), 2, 0x1FFF);
  CHECK(b.status() == 0);
  CHECK_FALSE(b.irq.level);
}

TEST_CASE("the data port takes bytes on every lane, and a double word reaches Present State behind it") {
  Bench b;
  b.start_card();
  b.data_command(18, 3, 2, kReadMulti & ~1u);
  b.run_until(kIntBufferReadReady);
  const auto content = [](unsigned i) { return std::to_integer<std::uint64_t>(MockCard::content(3, i)); };
  for (unsigned i = 0; i < 4; ++i) CHECK(b.read(0x20 + i, 1) == content(i));
  CHECK(b.read(0x20, 2) == (content(4) | content(5) << 8));
  CHECK(b.read(0x22, 2) == (content(6) | content(7) << 8));
  const std::uint64_t both = b.read(0x20, 8);
  CHECK((both & 0xFFFFFFFF) == (content(8) | content(9) << 8 | content(10) << 16 | content(11) << 24));
  CHECK((both >> 32 & 1u << 11) != 0);
  CHECK(b.read(0x20, 4) == (content(12) | content(13) << 8 | content(14) << 16 | content(15) << 24));
}

TEST_CASE("in V4 mode the stable bit starts anew with the PLL") {
  Bench b;
  const auto stable = [&] { return (b.read(reg_offset(kRegs, "CLOCK_CONTROL"), 2) & 2) != 0; };
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, 0x1000);
  b.write(reg_offset(kRegs, "CLOCK_CONTROL"), 2, 1);
  b.advance(sc_time(11, sc_core::SC_US));
  CHECK(stable());
  b.write(reg_offset(kRegs, "CLOCK_CONTROL"), 2, 9);
  CHECK_FALSE(stable());
  b.advance(sc_time(11, sc_core::SC_US));
  CHECK(stable());
  b.write(reg_offset(kRegs, "CLOCK_CONTROL"), 2, 0);
  CHECK_FALSE(stable());
}

TEST_CASE("with preset values the divider comes from the preset register of the mode") {
  Bench b;
  b.start_card({8, true}, 4);
  CHECK(b.bus.clock().frequency_hz() == Approx(25e6));
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs400 | 0x8000u);  // PRESET_HS400 is 0: the base clock
  CHECK(b.bus.clock().frequency_hz() == Approx(200e6));
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs400);
  CHECK(b.bus.clock().frequency_hz() == Approx(25e6));
}

TEST_CASE("a write cannot select the tuned clock") {
  Bench b;
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, 0x0080);
  CHECK(b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) == 0);
}

TEST_CASE("reset of CMD clears the command's error bits and leaves the data's") {
  Bench b;
  b.start_card();
  b.write(reg_offset(kRegs, "FORCE_ERROR_INT"), 2, 0x1FFF);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 2);
  CHECK(b.read(reg_offset(kRegs, "ERROR_INT_STATUS"), 2) ==
        (0x1FFF & ~0x080F));  // timeout, CRC, end bit, index, response
}

TEST_CASE("Present State tells of a sub-command") {
  Bench b;
  b.start_card();
  b.write(reg_offset(kRegs, "COMMAND"), 2, 13 << 8 | 0x1E);
  b.run_until(kIntCommandComplete);
  CHECK((b.read(0x24, 4) & 1u << 28) != 0);
  b.command(13, 0);
  CHECK((b.read(0x24, 4) & 1u << 28) == 0);
}

// Which register counts: V3 the 16-bit one even at 0, V4 the 16-bit one unless it is 0, then the 32-bit one.
TEST_CASE("the block count comes from the 16-bit register, in V4 mode from the 32-bit one when that is 0") {
  struct Case {
    bool v4;
    std::uint32_t count16, count32, blocks;
  };
  Bench b;
  b.start_card();
  for (const Case c :
       {Case{false, 3, 7, 3}, Case{false, 0, 7, 0}, Case{true, 3, 7, 3}, Case{true, 0, 5, 5}}) {
    INFO(c.v4 << " " << c.count16 << " " << c.count32);
    const auto format = c.v4 ? Bench::Format::adma128 : Bench::Format::adma32;
    const std::uint64_t before = b.host.data().counters().blocks_read;
    b.table(0x1000, format, {{0x20000, c.blocks * 512, kTranEnd}});
    b.select(format, 0x1000);
    b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, c.count32);
    const sc_time t = b.data_command(18, 0, c.count16, kReadMulti);
    b.advance(t + cycles(4 + 48 + 2 + 274 + 10) - sc_time_stamp());
    b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, c.v4 ? 99 : c.count32);  // V4: held while data move
    b.advance(sc_time(1, sc_core::SC_MS));
    CHECK(b.host.data().counters().blocks_read - before == c.blocks);
    CHECK((b.status() & kIntTransferComplete) == (c.blocks != 0 ? kIntTransferComplete : 0u));
    CHECK(b.read(0x06, 2) == 0);
    CHECK(b.read(0x00, 4) == (c.v4 && c.count16 == 0 ? 0 : c.count32));
    b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
    b.advance(sc_time(10, sc_core::SC_US));
    b.clear_status();
    b.card.blocks_left = 0;
  }
}

// F085: TMCLK 1 MHz, counter 0xE: 2^27 us = 134.217728 s.
TEST_CASE("a busy of 100 s ends within the longest data timeout, one of 140 s does not") {
  Bench b;
  b.start_card();
  b.card.r1b_busy = sc_time(100, sc_core::SC_SEC);
  b.command(38, 0x80000000, 3);
  b.run_until(kIntTransferComplete | 0xFFFF0000, sc_time(200, sc_core::SC_SEC));
  CHECK(b.status() == kIntTransferComplete);
  b.clear_status();
  b.card.r1b_busy = sc_time(140, sc_core::SC_SEC);
  const sc_time t = b.command(38, 0x80000000, 3);
  const sc_time end = b.run_until(kIntTransferComplete | 0xFFFF0000, sc_time(200, sc_core::SC_SEC));
  CHECK(end - t == cycles(4 + 48 + 12 + 48) + sc_time::from_value(134'217'728ull * 1'000'000));
  CHECK(b.status() == (kIntDataTimeout | kIntError));
  CHECK((b.read(0x24, 4) & 6) == 6);  // DAT inhibit and DAT active stay until the DAT reset
}

// TLM-2.0 4.2 (debug transport): no time, no effect. Every register but the data port reads as over the bus; a second
// look and the bus agree, so nothing was taken or cleared.
TEST_CASE("debug transport reads the registers without time and without effect") {
  Bench b;
  b.start_card();
  b.command(18, 0, 0x3A);  // leaves status bits set
  b.advance(sc_time(50, sc_core::SC_US));
  const auto look = [&](std::uint64_t offset) {
    std::uint32_t value = 0xA5A5'A5A5;
    tlm::tlm_generic_payload p;
    p.set_read();
    p.set_address(offset);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    p.set_data_length(4);
    p.set_streaming_width(4);
    REQUIRE(b.driver.socket->transport_dbg(p) == 4);
    return value;
  };
  const sc_time before = sc_time_stamp();
  for (std::uint64_t at = 0; at < 0x60; at += 4) {
    INFO("offset " << at);
    const std::uint32_t first = look(at), second = look(at);
    CHECK(first == second);
    if (at == reg_offset(kRegs, "BUFFER_DATA_PORT"))
      CHECK(first == 0);
    else
      CHECK(first == b.read(at, 4));
  }
  CHECK(sc_time_stamp() == before);
}
