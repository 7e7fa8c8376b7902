// Command, data and auto command errors; interrupts; block gap; tuning.
#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

using K = BusFault::Kind;
constexpr std::uint32_t kErrors = 0xFFFF0000;

BusFault fault(K kind, int command, std::int64_t block = -1) {
  BusFault f{.kind = kind, .extra = {}};
  f.command = command;
  f.block = block;
  return f;
}
void read_8(Bench& b) {
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 8 * 512, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 8, kReadMulti);
}
void write_8(Bench& b) {
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 8 * 512, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(25, 0, 8, kWriteMulti);
}

}  // namespace

TEST_CASE("no response: command timeout 64 clocks after the end bit, no Command Complete") {
  Bench b;
  b.start_card();
  b.card.silent = true;
  const sc_time t = b.command(13, 0x10000);
  CHECK(b.run_until(kErrors) - t == cycles(4 + 48 + 64 + 2));
  CHECK(b.status() == (kIntCommandTimeout | kIntError));
}

TEST_CASE("bad CRC, end bit and index of a response each set their bit") {
  struct Case {
    K kind;
    std::uint32_t bit;
  };
  Bench b;
  b.start_card();
  for (const Case c : {Case{K::response_crc, kIntCommandCrc}, Case{K::response_end_bit, kIntCommandEndBit},
                       Case{K::response_index, kIntCommandIndex}}) {
    b.bus.inject(fault(c.kind, 13));
    b.command(13, 0x10000);
    b.run_until(kErrors);
    CHECK(b.status() == (c.bit | kIntError));
    b.clear_status();
  }
}

TEST_CASE("a data block with a bad CRC or end bit stops the transfer") {
  Bench b;
  b.start_card();
  b.bus.inject(fault(K::read_crc, 18, 3));
  read_8(b);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntDataCrc);
  CHECK(b.host.data().counters().blocks_read == 4);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
  b.advance(sc_time(1, sc_core::SC_US));
  b.clear_status();
  b.bus.inject(fault(K::read_end_bit, 18, 0));
  read_8(b);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntDataEndBit);
}

TEST_CASE("CRC status 101 is a data CRC error, no CRC status a data timeout") {
  Bench b;
  b.start_card();
  b.bus.inject(fault(K::write_crc, 25, 2));
  write_8(b);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntDataCrc);
  CHECK(b.card.written.size() == 2 * 512);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
  b.advance(sc_time(1, sc_core::SC_US));
  b.clear_status();
  b.write(reg_offset(kRegs, "TIMEOUT_CONTROL"), 1, 0);
  b.bus.inject(fault(K::write_no_status, 25, 0));
  write_8(b);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntDataTimeout);
}

// TMCLK is 1 MHz (capabilities 0x81): timeout = 2^(13 + n) us.
TEST_CASE("the data timeout is TMCLK x 2^(13 + n): read start, write busy, R1b busy") {
  Bench b;
  b.start_card();
  for (const unsigned n : {0u, 3u}) {
    INFO(n);
    const sc_time limit(static_cast<double>(1u << (13 + n)), sc_core::SC_US);
    b.write(reg_offset(kRegs, "TIMEOUT_CONTROL"), 1, n);
    b.card.data_delay = limit + sc_time(100, sc_core::SC_MS);
    b.table(0x1000, Bench::Format::adma32, {{0x20000, 512, kTranEnd}});
    b.select(Bench::Format::adma32, 0x1000);
    const sc_time t = b.data_command(17, 0, 0, kReadSingle);
    CHECK(b.run_until(kErrors) - t == cycles(4 + 48 + 2) + limit);
    CHECK((b.status() & kErrors) == kIntDataTimeout);
    b.card.data_delay = sc_core::SC_ZERO_TIME;
    b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
    b.advance(sc_time(1, sc_core::SC_US));
    b.clear_status();

    b.card.r1b_busy = limit + sc_time(100, sc_core::SC_MS);
    const sc_time r = b.command(6, 0x03B90100, 3);
    CHECK(b.run_until(kErrors) - r == cycles(4 + 48 + 12 + 48) + limit);
    CHECK((b.status() & kErrors) == kIntDataTimeout);
    b.card.r1b_busy = sc_core::SC_ZERO_TIME;
    b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
    b.advance(limit + sc_time(200, sc_core::SC_MS));
    b.clear_status();
  }
}

TEST_CASE("R1b: Command Complete, then Transfer Complete at the end of busy") {
  Bench b;
  b.start_card();
  b.card.r1b_busy = sc_time(30, sc_core::SC_US);
  const sc_time t = b.command(6, 0x03B90100, 3);
  CHECK(b.run_until(kIntCommandComplete) - t == cycles(4 + 48 + 12 + 48 + 2));
  CHECK((b.read(0x24, 4) & 1u << 20) == 0);  // DAT0 low
  b.clear_status();
  CHECK(b.run_to_end() - t == cycles(4 + 48) + b.card.r1b_busy + cycles(2));
  CHECK(b.status() == kIntTransferComplete);
  CHECK((b.read(0x24, 4) & 1u << 20) != 0);
}

TEST_CASE("Auto CMD23 without a response: error bit and Auto CMD error status, the main command stays home") {
  Bench b;
  b.start_card();
  b.bus.inject(fault(K::no_response, 23));
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 1024, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 2, kReadMulti | 0x08);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntAutoCmd);
  CHECK(b.read(reg_offset(kRegs, "AUTO_CMD_ERROR"), 2) == 0x02);
  CHECK(b.card.seen.back().index == 23);
}

TEST_CASE("Auto CMD12 with a bad response CRC") {
  Bench b;
  b.start_card();
  b.bus.inject(fault(K::response_crc, 12));
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 1024, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 2, kReadMulti | 0x04);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntAutoCmd);
  CHECK(b.read(reg_offset(kRegs, "AUTO_CMD_ERROR"), 2) == 0x04);
}

TEST_CASE("Auto CMD Auto Select follows HOST_CONTROL2.11") {
  Bench b;
  b.start_card();
  for (const bool cmd23 : {false, true}) {
    b.table(0x1000, Bench::Format::adma32, {{0x20000, 1024, kTranEnd}});
    b.select(Bench::Format::adma32, 0x1000);
    b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs400 | (cmd23 ? 0x0800u : 0u));
    b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, 2);
    b.card.seen.clear();
    b.data_command(18, 0, 2, kReadMulti | 0x0C);
    b.run_to_end();
    REQUIRE(b.card.seen.size() == 2);
    CHECK(b.card.seen[cmd23 ? 0 : 1].index == (cmd23 ? 23 : 12));
    b.clear_status();
  }
}

TEST_CASE("CMD13 runs while data move, a second data command is refused") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 32 * 512, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 32, kReadMulti);
  b.run_until(kIntCommandComplete);
  b.clear_status();
  b.command(13, 0x10000);
  b.run_until(kIntCommandComplete);
  CHECK(b.host.data().active());
  CHECK(b.card.seen.back().index == 13);
  b.clear_status();
  const std::size_t seen = b.card.seen.size();
  b.write(reg_offset(kRegs, "COMMAND"), 2, 17 << 8 | 0x3A);
  b.run_to_end();
  CHECK(b.card.seen.size() == seen);
  CHECK(b.status() == kIntTransferComplete);
}

TEST_CASE("CMD12 ends an open-ended read, what has come in reaches memory") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 60000, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 0, kReadMulti & ~2u);  // no block count
  b.run_until(kIntCommandComplete);
  b.advance(sc_time(10, sc_core::SC_US));
  b.clear_status();
  b.command(12, 0x10000, 3);
  b.run_to_end();
  CHECK((b.status() & kErrors) == 0);
  const std::uint64_t blocks = b.host.data().counters().blocks_read;
  CHECK(blocks >= 4);
  CHECK(*b.ram(0x20000 + (blocks - 1) * 512) == MockCard::content(blocks - 1, 0));
}

TEST_CASE("no CMD12 is sent that nobody asked for") {
  Bench b;
  b.start_card();
  read_8(b);
  b.run_to_end();
  for (const MmcCommand& c : b.card.seen) CHECK(c.index != 12);
  b.clear_status();
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.status() == 0);
}

TEST_CASE(
    "a status that is not enabled never latches, a signal that is not enabled does not reach the line") {
  Bench b;
  b.start_card();
  b.write(reg_offset(kRegs, "NORMAL_INT_STATUS_ENABLE"), 2, kIntTransferComplete);
  read_8(b);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  b.clear_status();
  b.write(reg_offset(kRegs, "NORMAL_INT_STATUS_ENABLE"), 2, 0x7FFF);
  CHECK(b.status() == 0);
  b.write(reg_offset(kRegs, "NORMAL_INT_SIGNAL_ENABLE"), 2, 0);
  const std::size_t rises = b.irq.rises.size();
  b.command(13, 0x10000);
  b.run_until(kIntTransferComplete | kIntCommandComplete);
  CHECK(b.irq.rises.size() == rises);
  b.write(reg_offset(kRegs, "NORMAL_INT_SIGNAL_ENABLE"), 2, kIntCommandComplete);
  CHECK(b.irq.level);
  b.clear_status();
  CHECK_FALSE(b.irq.level);
}

TEST_CASE("force event registers set what they name") {
  Bench b;
  b.start_card();
  for (unsigned bit = 0; bit < 13; ++bit) {
    b.write(reg_offset(kRegs, "FORCE_ERROR_INT"), 2, 1u << bit);
    CHECK(b.status() == (1u << (16 + bit) | kIntError));
    b.clear_status();
  }
  b.write(reg_offset(kRegs, "FORCE_AUTO_CMD_ERROR"), 2, 0x02);
  CHECK(b.status() == (kIntAutoCmd | kIntError));
  CHECK(b.read(reg_offset(kRegs, "AUTO_CMD_ERROR"), 2) == 0x02);
}

TEST_CASE("an R2 response leaves out its CRC byte") {
  Bench b;
  b.start_card();
  b.command(9, 0x10000, 1);
  b.run_until(kIntCommandComplete);
  // The register's bytes 0..15 are 0x10..0x1F; byte 15 holds CRC7 and end bit.
  CHECK(b.read(0x10, 4) == 0x1B1C1D1E);
  CHECK(b.read(0x14, 4) == 0x1718191A);
  CHECK(b.read(0x18, 4) == 0x13141516);
  CHECK(b.read(0x1C, 4) == 0x00101112);
}

TEST_CASE("the host checks R1 error bits when asked, and can keep Command Complete to itself") {
  Bench b;
  b.start_card();
  b.card.status = 0x900 | 1u << 31;  // ADDRESS_OUT_OF_RANGE
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 512, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(17, 0, 0, kReadSingle | 0x80);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntResponse);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
  b.advance(sc_time(1, sc_core::SC_US));
  b.clear_status();
  b.card.status = 0x900;
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(17, 0, 0, kReadSingle | 0x180);
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.status() == kIntTransferComplete);
}

TEST_CASE("a stop at block gap pauses between blocks and continues") {
  Bench b;
  b.start_card();
  read_8(b);
  b.run_until(kIntCommandComplete);
  b.clear_status();
  b.write(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), 1, 1);
  b.run_until(kIntBlockGap);
  const std::uint64_t blocks = b.host.data().counters().blocks_read;
  CHECK(blocks < 8);
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.status() == (kIntBlockGap | kIntTransferComplete));  // the stop itself is complete
  b.clear_status();
  CHECK(b.host.data().counters().blocks_read == blocks);
  b.write(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), 1, 2);
  b.run_to_end();
  CHECK(b.host.data().counters().blocks_read == 8);
}

TEST_CASE("a command with the card clock off is a finding and never leaves") {
  Bench b;
  b.command(13, 0x10000);
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.card.seen.empty());
  CHECK(b.ctx.findings.count("sdhci.command_without_clock") == 1);
}

namespace {

/// Sends CMD21 until EXECUTE_TUNING is clear; returns the number of blocks, or 0 after `most`.
unsigned tune(Bench& b, unsigned most) {
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs200);
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs200 | 0x40);
  for (unsigned i = 1; i <= most; ++i) {
    b.write(reg_offset(kRegs, "BLOCK_SIZE"), 2, 128);
    b.write(reg_offset(kRegs, "TRANSFER_MODE"), 2, 0x10);
    b.write(reg_offset(kRegs, "COMMAND"), 2, 21 << 8 | 0x3A);
    b.run_until(kIntBufferReadReady);
    CHECK((b.status() & kIntCommandComplete) == 0);
    b.clear_status();
    if ((b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) & 0x40) == 0) return i;
  }
  return 0;
}

}  // namespace

TEST_CASE("HS200 reads fail before tuning and succeed after it") {
  Bench b;
  b.start_card({8, false});
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs200);
  read_8(b);
  b.run_until(kErrors | kIntTransferComplete);
  CHECK((b.status() & kErrors) == kIntDataCrc);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
  b.advance(sc_time(1, sc_core::SC_US));
  b.clear_status();
  CHECK(tune(b, 40) == 40);
  CHECK((b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) & 0x80) != 0);
  CHECK((b.read(0x500 + 0x44, 4) & 0xFF) == 20);  // centre of taps 10 to 30
  read_8(b);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
}

TEST_CASE("a window at taps 100 to 120 of 128 needs all 128 blocks, 40 are not enough") {
  SdhciParams p = bench_params();
  p.tuning_taps = 128, p.tuning_window_first = 100, p.tuning_window_last = 120;
  Bench b(p);
  b.start_card({8, false});
  CHECK(tune(b, 40) == 0);
  CHECK(tune(b, 128) == 128);
  CHECK((b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) & 0x80) != 0);
}

TEST_CASE("a window below the threshold leaves the sampling clock untuned") {
  SdhciParams p = bench_params();
  p.tuning_window_first = 5, p.tuning_window_last = 9;
  Bench b(p);
  b.start_card({8, false});
  b.write(0x500 + 0x40, 4, 9u << 24 | 1u << 2 | 1);  // SWIN_TH_VAL 9: ten taps
  CHECK(tune(b, 40) == 40);
  CHECK((b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) & 0x80) == 0);
}
