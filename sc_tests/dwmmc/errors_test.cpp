// Each error bit of RINTSTS from a real cause, what stops, and that the next transfer is good.
#include "sc_tests/dwmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

using Kind = BusFault::Kind;
constexpr auto at = TimingStyle::at, lt = TimingStyle::lt;

BusFault fault(Kind kind, int command = -1, std::int64_t block = -1) {
  return {kind, command, block, 0, 1, sc_time()};
}

/// Stop, resets, and a read that must be good: the driver's recovery.
void recover(Bench& b) {
  b.write(reg("CTRL"), b.read(reg("CTRL")) | 7);
  b.write(reg("BMOD"), mask("BMOD", "SWR"));
  b.advance(cycles(16));
  b.clear_status();
  b.command(12, 0, kStop);
  b.run_until(kIntCommandDone);
  b.clear_status();
  b.chain(0x1000, {{0x70000, 1024}});
  b.idmac(0x1000);
  b.data_command(18, 21, 2, kRead);
  b.run_until(kIntCommandDone | kIntDataOver, kIdReceive);
  CHECK((b.status() & (kIntDataErrors | kIntCommandErrors)) == 0);
  for (unsigned i = 0; i < 1024; ++i)
    REQUIRE(*b.ram(0x70000 + i) == MockCard::content(21 + i / 512, i % 512));
}

/// A fault in block 3 of 8 of a read or a write: the bit, DATA_OVER, the descriptor in use closed with CES.
void data_fault(TimingStyle style, Kind kind, std::uint32_t bit, bool write) {
  Bench b(bench_params(), style);
  b.start_card();
  const auto d = b.chain(0x1000, {{0x20000, 1024}, {0x21000, 3072}});
  b.idmac(0x1000);
  b.bus.inject(fault(kind, -1, 3));
  b.data_command(write ? 25 : 18, 0, 8, write ? kWrite : kRead);
  b.run_until(kIntCommandDone | kIntDataOver);
  CHECK((b.status() & kIntDataErrors) == bit);
  if (!write) {
    b.run_until(0, kIdCardError | kIdAbnormal);
    CHECK((b.des0(d[1]) & (kDesOwn | kDesCardError)) == kDesCardError);
    CHECK((b.des0(d[0]) & (kDesOwn | kDesCardError)) == 0);
    CHECK(b.host.data().counters().blocks_read == 4);
  } else {
    CHECK(b.host.data().counters().blocks_written == 4);
  }
  recover(b);
}

}  // namespace

TEST_CASE("a read CRC error is DCRC with DATA_OVER, the descriptor is closed with CES") {
  data_fault(at, Kind::read_crc, kIntDataCrc, false);
}
TEST_CASE("a read CRC error is DCRC with DATA_OVER, the descriptor is closed with CES (lt)") {
  data_fault(lt, Kind::read_crc, kIntDataCrc, false);
}
TEST_CASE("a read end bit error is EBE") { data_fault(at, Kind::read_end_bit, kIntEndBit, false); }
TEST_CASE("a read end bit error is EBE (lt)") { data_fault(lt, Kind::read_end_bit, kIntEndBit, false); }
TEST_CASE("a negative CRC status in the middle of CMD25 is DCRC") {
  data_fault(at, Kind::write_crc, kIntDataCrc, true);
}
TEST_CASE("a negative CRC status in the middle of CMD25 is DCRC (lt)") {
  data_fault(lt, Kind::write_crc, kIntDataCrc, true);
}
TEST_CASE("a missing CRC status is EBE") { data_fault(at, Kind::write_no_status, kIntEndBit, true); }
TEST_CASE("a missing CRC status is EBE (lt)") { data_fault(lt, Kind::write_no_status, kIntEndBit, true); }

namespace {

void late_data(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  b.write(reg("TMOUT"), 1000u << 8 | 64);
  b.chain(0x1000, {{0x20000, 4096}});
  b.idmac(0x1000);
  BusFault f = fault(Kind::late_data, -1, 2);
  f.extra = sc_time(1, sc_core::SC_MS);
  b.bus.inject(f);
  const sc_time t = b.data_command(18, 0, 8, kRead);
  const sc_time end = b.run_until(kIntDataOver);
  CHECK((b.status() & kIntDataErrors) == kIntDataReadTimeout);
  // 1000 clocks after block 2 could have come, and dto_latch.
  CHECK(end - t == cycles(4 + 48 + 2 + 2 * (274 + 45) + 1000 + 2));
  recover(b);
}

void wrong_width(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  b.card.mode = {4, true};
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.data_command(17, 0, 1, kRead);
  b.run_until(kIntDataOver);
  CHECK((b.status() & kIntDataErrors) == kIntStartBit);
  b.card.mode = {8, true};
  recover(b);
}

}  // namespace

TEST_CASE("data later than TMOUT are DRTO, to the clock") { late_data(at); }
TEST_CASE("data later than TMOUT are DRTO, to the clock (lt)") { late_data(lt); }
TEST_CASE("lines that the card does not drive have no start bit: SBE") { wrong_width(at); }
TEST_CASE("lines that the card does not drive have no start bit: SBE (lt)") { wrong_width(lt); }

TEST_CASE("an edge mismatch is a data CRC error") {
  Bench b;
  b.start_card();
  b.card.mode = {8, false};
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.data_command(17, 0, 1, kRead);
  b.run_until(kIntDataOver);
  CHECK((b.status() & kIntDataErrors) == kIntDataCrc);
}

TEST_CASE("no response: RTO with CMD_DONE after the register's clocks, no data phase") {
  Bench b;
  b.start_card();
  b.write(reg("TMOUT"), 1000u << 8 | 200);
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.card.silent = true;
  const sc_time t = b.data_command(25, 0, 1, kWrite);
  CHECK(b.run_until(kIntCommandDone | kIntResponseTimeout) - t == cycles(4 + 48 + 200 + 2));
  b.run_out();
  CHECK((b.status() & kIntDataOver) == 0);
  CHECK((b.read(reg("STATUS")) & mask("STATUS", "MC_BUSY")) == 0);
  b.card.silent = false;
  recover(b);
}

TEST_CASE("a response CRC error on CMD25 is RCRC, and no data follow") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.bus.inject(fault(Kind::response_crc));
  b.data_command(25, 0, 1, kWrite);
  b.run_until(kIntCommandDone | kIntResponseCrc);
  b.run_out();
  CHECK(b.card.written.empty());
  CHECK((b.status() & kIntDataOver) == 0);
  recover(b);
}

TEST_CASE("after a bad response a read's data still come, and a command with data waits for their end") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.bus.inject(fault(Kind::response_crc, 17));
  b.data_command(17, 4, 1, kRead);
  b.run_until(kIntCommandDone | kIntResponseCrc);
  CHECK((b.status() & kIntDataOver) == 0);
  b.clear_status();
  b.chain(0x2000, {{0x30000, 512}});
  b.write(b.id.base_low, 0x2000);
  b.data_command(17, 5, 1, kRead);
  b.advance(cycles(16));
  CHECK((b.read(reg("CMD")) & kStart) != 0);
  b.write(reg("CMDARG"), 99);  // while it waits
  CHECK((b.status() & kIntHardwareLocked) != 0);
  b.clear_status();
  b.run_until(kIntDataOver);
  CHECK(b.card.seen.back().index == 17);
  CHECK(*b.ram(0x20000) == MockCard::content(4, 0));
}

TEST_CASE("a wrong index of a response is RE, and so is a wrong end bit") {
  Bench b;
  b.start_card();
  for (const Kind k : {Kind::response_index, Kind::response_end_bit}) {
    b.clear_status();
    b.bus.inject(fault(k));
    b.command(13, 0);
    b.run_until(kIntCommandDone | kIntResponseError);
  }
}

TEST_CASE("CRC is checked only when asked for") {
  Bench b;
  b.start_card();
  b.bus.inject(fault(Kind::response_crc));
  b.command(13, 0, mask("CMD", "RESPONSE"));
  b.run_until(kIntCommandDone);
  CHECK((b.status() & kIntCommandErrors) == 0);
}

TEST_CASE("a short response where a long one is expected is RE, a long one fills RESP3 to RESP0") {
  Bench b;
  b.start_card();
  b.command(13, 0, kResp | mask("CMD", "LONG_RESPONSE"));
  b.run_until(kIntCommandDone | kIntResponseError);
  b.clear_status();
  b.command(9, 0, kResp | mask("CMD", "LONG_RESPONSE"));
  b.run_until(kIntCommandDone);
  CHECK((b.status() & kIntCommandErrors) == 0);
  CHECK(b.read(reg("RESP3")) == 0x10111213);
  CHECK(b.read(reg("RESP0")) == 0x1C1D1E1F);
}

namespace {

void reset_mid_transfer(TimingStyle style, bool write) {
  Bench b(bench_params(), style);
  b.start_card();
  b.chain(0x1000, {{0x20000, 4096}, {0x30000, 4096}});
  b.idmac(0x1000);
  b.data_command(write ? 25 : 18, 0, 16, write ? kWrite : kRead);
  b.advance(cycles(1234));
  b.write(reg("CTRL"), b.read(reg("CTRL")) | 7);
  b.run_out();
  CHECK((b.status() & (kIntDataOver | kIntDataErrors)) == 0);
  CHECK((b.idsts() & (kIdReceive | kIdTransmit)) == 0);
  CHECK(b.idsts() >> kIdFsmShift == 0);
  CHECK(b.read(reg("STATUS")) >> lsb("STATUS", "FIFO_COUNT") == 0);
  recover(b);
}

}  // namespace

TEST_CASE("host reset in the middle of a read: nothing is reported and the next transfer is good") {
  reset_mid_transfer(at, false);
}
TEST_CASE("host reset in the middle of a read: nothing is reported and the next transfer is good (lt)") {
  reset_mid_transfer(lt, false);
}
TEST_CASE("host reset in the middle of a write: nothing is reported and the next transfer is good") {
  reset_mid_transfer(at, true);
}
TEST_CASE("host reset in the middle of a write: nothing is reported and the next transfer is good (lt)") {
  reset_mid_transfer(lt, true);
}

// Bursts of 128 B; a block is 1 + 256 clocks. At every twentieth cycle of one block: what the registers count is what has
// arrived by then, and what was under way hurts nobody.
TEST_CASE("an IDMAC reset at any instant within a block leaves the wire running and the next transfer good") {
  Bench b;
  b.start_card();
  for (unsigned at_cycle = 0; at_cycle < 320; at_cycle += 20) {
    INFO(at_cycle);
    b.chain(0x1000, {{0x20000, 4096}});
    b.idmac(0x1000);
    b.data_command(18, 0, 8, kRead);
    while (b.host.data().counters().blocks_read % 8 != 3) b.advance(cycles(1));
    b.advance(cycles(at_cycle));
    const std::uint32_t arrived = b.read(reg("TCBCNT")), moved = b.read(reg("TBBCNT"));
    CHECK(arrived % 128 == 0);
    CHECK(arrived >= 3 * 512);
    CHECK(moved <= arrived);
    b.write(reg("CTRL"), b.read(reg("CTRL")) | mask("CTRL", "DMA_RESET"));
    b.advance(cycles(400));
    CHECK(b.read(reg("TCBCNT")) > arrived);  // the FIFO has room: the wire goes on
    CHECK(b.read(reg("TBBCNT")) == moved);   // nobody empties it
    recover(b);
    b.advance(cycles(1000));
    b.clear_status();
  }
}

TEST_CASE("a stop command ends an open transfer: DATA_OVER, and what came in is in memory") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 4096}, {0x21000, 4096}, {0x22000, 4096}});
  b.idmac(0x1000);
  b.data_command(18, 0, 0, kRead);  // BYTCNT 0: until stopped
  b.advance(cycles(60 + 4 * (274 + 45)));
  b.clear_status();
  b.command(12, 0, kStop);
  b.run_until(kIntCommandDone | kIntDataOver);
  b.run_out();
  const std::uint32_t moved = b.read(reg("TBBCNT"));
  CHECK(moved >= 4 * 512);
  CHECK(moved == b.read(reg("TCBCNT")));
  for (unsigned i = 0; i < moved; ++i) REQUIRE(*b.ram(0x20000 + i) == MockCard::content(i / 512, i % 512));
  CHECK((b.des0(0x1000) & kDesOwn) == 0);
  recover(b);
}

TEST_CASE("a stop in the middle of a counted read ends it early, whatever the style") {
  Bench b(bench_params(), lt);
  b.start_card();
  b.chain(0x1000, {{0x20000, 4096}, {0x21000, 4096}});
  b.idmac(0x1000);
  BusFault f = fault(Kind::late_data, -1, 5);
  f.extra = sc_time(100, sc_core::SC_US);  // the transfer is under way when the stop comes
  b.bus.inject(f);
  b.data_command(18, 0, 16, kRead);
  b.run_until(kIntCommandDone);
  b.clear_status();
  b.command(12, 0, kStop);
  b.run_until(kIntCommandDone | kIntDataOver);
  b.run_out();
  CHECK((b.read(reg("STATUS")) & mask("STATUS", "MC_BUSY")) == 0);
  CHECK(b.idsts() >> kIdFsmShift == 0);
  recover(b);
}

TEST_CASE("WAIT_DATA holds a command back until the data are over, without it CMD13 runs beside") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 4096}});
  b.idmac(0x1000);
  b.data_command(18, 0, 8, kRead);
  b.run_until(kIntCommandDone);
  b.clear_status();
  b.command(13, 1);
  b.run_until(kIntCommandDone);
  CHECK((b.status() & kIntDataOver) == 0);
  b.clear_status();
  b.command(13, 2, kResp | mask("CMD", "WAIT_DATA"));
  b.run_until(kIntDataOver);
  CHECK(b.card.seen.back().argument == 1);
  b.run_until(kIntCommandDone);
  CHECK(b.card.seen.back().argument == 2);
}

TEST_CASE("auto stop sends CMD12 after the last block: ACD, its response in RESP1") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 1024}});
  b.idmac(0x1000);
  const sc_time t = b.data_command(18, 0, 2, kRead | mask("CMD", "AUTO_STOP"));
  const std::uint64_t over = 4 + 48 + 2 + 2 * 274 + 45 + 2 + 2;
  CHECK(b.run_until(kIntDataOver) - t == cycles(over));
  CHECK(b.run_until(kIntAutoCommandDone) - t == cycles(over + 48 + 12 + 48 + 2));
  CHECK(b.card.seen.back().index == 12);
  CHECK(b.read(reg("RESP1")) == 0x900);
  CHECK(b.read(reg("RESP0")) == 0x900);
}

TEST_CASE("the sampling phase must be in its window above 52 MHz, and HS400 strobes") {
  DwmmcParams p = bench_params();
  p.sample_window_first = 10;
  p.sample_window_last = 20;
  Bench b(p);
  b.start_card({8, false});
  const auto good = [&](std::uint32_t phase) {
    b.write(reg("UHS_REG_EXT"), phase << lsb("UHS_REG_EXT", "SAMPLE_PHASE"));
    b.clear_status();
    b.chain(0x1000, {{0x20000, 512}});
    b.idmac(0x1000);
    b.data_command(17, 0, 1, kRead);
    b.run_until(kIntDataOver);
    b.run_out();
    return (b.status() & kIntDataErrors) == 0;
  };
  CHECK_FALSE(good(0));
  CHECK(good(10));
  CHECK(good(20));
  CHECK_FALSE(good(21));
  b.write(reg("EMMC_DDR_REG"), mask("EMMC_DDR_REG", "HS400"));
  b.card.mode = {8, true};
  CHECK(good(0));
}

TEST_CASE("commands the model has not say so, a slot that is not there is found") {
  Bench b;
  b.start_card();
  std::vector<std::string> lines;
  b.ctx.log_sink = [&](const std::string& l) { lines.push_back(l); };
  b.command(13, 0, kResp | mask("CMD", "CCS_EXPECTED"));
  b.run_until(kIntCommandDone);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("not modelled") != std::string::npos);
  b.clear_status();
  b.command(13, 0, kResp | 1u << lsb("CMD", "CARD"));
  b.run_until(kIntCommandDone);
  CHECK(b.findings("dwmmc.no_such_slot") == 1);
}
