// How transfers end early: CMD12, Auto CMD12 and its errors, resets of the DAT line, stop at block gap.
#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr auto k32 = Bench::Format::adma32;
constexpr std::uint32_t kErrors = 0xFFFF0000;
constexpr std::uint64_t I = 4, L = 2, C = 2, N_CR = 12, N_ST = 2, N_WR = 2, N_CRC = 2, TOKEN = 5, G = 45,
                        F = 274;
constexpr std::uint64_t kReadStart = I + 48 + 2;  // first read frame, cycles after the register write

void start(Bench& b, unsigned index, unsigned blocks, std::uint16_t mode, std::uint32_t bytes = 60 * 1024) {
  b.table(0x1000, k32, {{0x20000, bytes, kTranEnd}});
  b.select(k32, 0x1000);
  b.data_command(index, 0, blocks, mode);
}
/// Counts how often Transfer Complete rises within `time`, acknowledging everything.
unsigned transfer_completes(Bench& b, sc_time time) {
  unsigned n = 0;
  for (const sc_time until = sc_time_stamp() + time; sc_time_stamp() < until;) {
    n += (b.status() & kIntTransferComplete) != 0;
    b.clear_status();
    if (!sc_core::sc_pending_activity()) break;
    b.advance(sc_core::sc_time_to_pending_activity());
  }
  return n;
}
constexpr std::uint32_t kInhibit = 0x3;
std::uint32_t inhibit(Bench& b) { return static_cast<std::uint32_t>(b.read(0x24, 4)) & kInhibit; }

/// CMD12 so that its end bit falls `into` cycles after the start of frame 5 (0 the first). Expects `blocks` in memory.
void stop_read(TimingStyle style, std::uint64_t into, std::uint64_t blocks) {
  Bench b(bench_params(), style);
  b.start_card();
  const sc_time t0 =
      sc_time_stamp() + cycles(2 * 8);  // select() and data_command() read and write registers in no time
  start(b, 18, 0, kReadMulti & ~2u);
  b.run_until(kIntCommandComplete);
  b.clear_status();
  const sc_time begin = b.card.last_command_end + cycles(2);
  const sc_time end_bit = begin + cycles(5 * (F + G) + into);
  REQUIRE(end_bit > t0);
  b.advance(end_bit - cycles(48 + I + 2) - sc_time_stamp());  // register access 2, issue I, command 48
  b.command(12, 0, 3);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK(b.card.last_command_end == end_bit);
  CHECK(b.host.data().counters().blocks_read == blocks);
  for (std::uint64_t i = 0; i < blocks * 512; ++i)
    REQUIRE(*b.ram(0x20000 + i) == MockCard::content(i / 512, i % 512));
  CHECK(*b.ram(0x20000 + blocks * 512 + 1) == std::byte{0});
  CHECK_FALSE(b.host.data().active());
  CHECK(inhibit(b) == 0);
}

}  // namespace

// A frame whose last bit comes later than N_ST after CMD12's end bit is cut off; one that ends in time counts.
TEST_CASE("CMD12 cuts off the read frame that ends later than N_ST after its end bit") {
  stop_read(TimingStyle::at, F - N_ST - 1, 5);
}
TEST_CASE("a read frame that ends N_ST after the end bit of CMD12 is whole") {
  stop_read(TimingStyle::at, F - N_ST, 6);
}
TEST_CASE("CMD12 between two read frames") { stop_read(TimingStyle::at, F + 10, 6); }
TEST_CASE("by reservation CMD12 cuts off the same frame") { stop_read(TimingStyle::lt, F - N_ST - 1, 5); }
TEST_CASE("by reservation a frame that ends in time is whole") { stop_read(TimingStyle::lt, F - N_ST, 6); }

namespace {

/// An open-ended write stopped by CMD12 at `into` cycles after the start of frame 3; `blocks` reach the card.
void stop_write(TimingStyle style, std::uint64_t into, std::uint64_t blocks) {
  Bench b(bench_params(), style);
  b.start_card();
  for (unsigned i = 0; i < 60 * 1024; ++i) *b.ram(0x20000 + i) = static_cast<std::byte>(i * 3 + i / 512);
  start(b, 25, 0, kWriteMulti & ~2u);
  b.run_until(kIntCommandComplete);
  b.clear_status();
  const sc_time begin = b.card.last_command_end + cycles(N_CR + 48 + N_WR);
  const sc_time end_bit = begin + cycles(3 * (F + N_CRC + TOKEN + N_WR) + into);
  b.advance(end_bit - cycles(48 + I + 2) - sc_time_stamp());
  b.command(12, 0, 3);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK(b.card.last_command_end == end_bit);
  REQUIRE(b.card.written.size() == blocks * 512);
  for (unsigned i = 0; i < blocks * 512; ++i)
    REQUIRE(b.card.written[i] == static_cast<std::byte>(i * 3 + i / 512));
  CHECK_FALSE(b.host.data().active());
  CHECK(inhibit(b) == 0);
}

}  // namespace

TEST_CASE("CMD12 in the middle of a write frame: that block is lost") { stop_write(TimingStyle::at, 100, 3); }
TEST_CASE("CMD12 while the CRC status comes: that block counts") { stop_write(TimingStyle::at, F + 3, 4); }
TEST_CASE("by reservation CMD12 in the middle of a write frame loses that block") {
  stop_write(TimingStyle::lt, 100, 3);
}

TEST_CASE("after CMD12 Transfer Complete waits for the later of busy and data in memory") {
  SdhciParams p = bench_params();
  p.axi.outstanding_writes = 1;
  p.axi.max_burst_beats = 1;  // 64 single beats of 1 W + 2 H + 1 accept = 4 cycles: 256 a block
  p.fifo_bytes = 32 * 512;
  Bench b(p);
  b.start_card();
  b.card.gap = 8;
  start(b, 18, 0, kReadMulti & ~2u);
  b.run_until(kIntCommandComplete);
  b.advance(sc_time(100, sc_core::SC_US));
  b.clear_status();
  b.command(12, 0, 3);  // no busy: its response is back long before the FIFO is empty
  b.run_until(kIntTransferComplete);
  const std::uint64_t blocks = b.host.data().counters().blocks_read;
  REQUIRE(*b.ram(0x20000 + blocks * 512 - 1) == MockCard::content(blocks - 1, 511));
  b.clear_status();
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 0);

  b.card.r1b_busy = sc_time(300, sc_core::SC_US);  // now the busy is longer
  start(b, 18, 0, kReadMulti & ~2u);
  b.run_until(kIntCommandComplete);
  b.advance(sc_time(20, sc_core::SC_US));
  b.clear_status();
  b.command(12, 0, 3);
  const sc_time done = b.run_until(kIntTransferComplete);
  CHECK(done == b.card.last_command_end + b.card.r1b_busy + cycles(C));
  b.clear_status();
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 0);
}

TEST_CASE("CMD12 stops a PIO read: what is in the buffer is dropped") {
  Bench b;
  b.start_card();
  b.data_command(18, 0, 0, kReadMulti & ~3u);
  b.run_until(kIntBufferReadReady);
  for (unsigned i = 0; i < 128; ++i) b.read(0x20, 4);
  b.advance(sc_time(20, sc_core::SC_US));
  b.clear_status();
  b.command(12, 0, 3);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK((b.read(0x24, 4) & 0xE06) == 0);
}

TEST_CASE("without a block count the descriptor table says how long the transfer is") {
  Bench b;
  b.start_card();
  start(b, 18, 0, kReadMulti & ~2u, 3 * 512);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ERROR"), 1) == 0);
  for (unsigned i = 0; i < 3 * 512; ++i) REQUIRE(*b.ram(0x20000 + i) == MockCard::content(i / 512, i % 512));
  CHECK(*b.ram(0x20000 + 3 * 512 + 1) == std::byte{0});
  b.command(12, 0, 3);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  start(b, 25, 0, kWriteMulti & ~2u, 3 * 512);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK(b.card.written.size() == 3 * 512);
  b.command(12, 0, 3);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK(inhibit(b) == 0);
}

TEST_CASE("Auto CMD12 belongs to finite transfers only") {
  Bench b;
  b.start_card();
  start(b, 18, 0, (kReadMulti & ~2u) | 0x04);
  b.run_until(kIntCommandComplete);
  b.advance(sc_time(20, sc_core::SC_US));
  b.clear_status();
  b.command(12, 0, 3);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK(b.card.seen.size() == 2);  // CMD18 and the driver's CMD12
}

TEST_CASE("a command written while Auto CMD12 has the line goes after it, and CMD inhibit says so") {
  Bench b;
  b.start_card();
  start(b, 18, 2, kReadMulti | 0x04, 1024);
  b.advance(b.write(0x2A, 1, 0) + cycles(kReadStart + 2 * F + G + 2 + 66 + 20) - sc_time_stamp());
  CHECK(b.card.seen.size() == 1);
  CHECK(inhibit(b) == 2);  // Auto CMD12 is on the line: no CMD inhibit
  b.clear_status();
  b.command(13, 0x10000);
  CHECK(inhibit(b) == 3);
  b.run_until(kIntTransferComplete);
  b.run_until(kIntCommandComplete | kErrors);
  REQUIRE(b.card.seen.size() == 3);
  CHECK(b.card.seen[1].index == 12);
  CHECK(b.card.seen[2].index == 13);
}

TEST_CASE("a failed Auto CMD12 keeps the command written meanwhile from being sent") {
  Bench b;
  b.start_card();
  BusFault f{.kind = BusFault::Kind::response_index, .extra = {}};
  f.command = 12;
  b.bus.inject(f);
  start(b, 18, 2, kReadMulti | 0x04, 1024);
  b.advance(b.write(0x2A, 1, 0) + cycles(kReadStart + 2 * F + G + 2 + 66 + 20) - sc_time_stamp());
  b.clear_status();
  b.command(13, 0x10000);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntAutoCmd);
  CHECK(b.read(reg_offset(kRegs, "AUTO_CMD_ERROR"), 2) == 0x90);  // index, command not issued
  CHECK((b.read(0x24, 4) & 1u << 27) != 0);                       // the same in Present State
  b.advance(sc_time(100, sc_core::SC_US));
  CHECK(b.card.seen.size() == 2);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
  CHECK((b.read(0x24, 4) & (1u << 27 | kInhibit)) == 0);
}

TEST_CASE("every Auto CMD error has its bit") {
  using K = BusFault::Kind;
  struct Case {
    K kind;
    std::uint32_t bit;
  };
  Bench b;
  b.start_card();
  for (const int command : {12, 23})
    for (const Case c : {Case{K::no_response, 2}, Case{K::response_crc, 4}, Case{K::response_end_bit, 8},
                         Case{K::response_index, 16}}) {
      INFO(command << " " << c.bit);
      BusFault f{.kind = c.kind, .extra = {}};
      f.command = command;
      b.bus.inject(f);
      b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, 2);
      start(b, 18, 2, static_cast<std::uint16_t>(kReadMulti | (command == 12 ? 0x04 : 0x08)), 1024);
      b.run_until(kErrors);
      CHECK((b.status() & kErrors) == kIntAutoCmd);
      CHECK(b.read(reg_offset(kRegs, "AUTO_CMD_ERROR"), 2) == c.bit);
      b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
      b.advance(sc_time(10, sc_core::SC_US));
      b.clear_status();
    }
  b.card.status = 0x900 | 1u << 19;  // ERROR in the response of Auto CMD23, with the check on
  start(b, 18, 2, kReadMulti | 0x88, 1024);
  b.run_until(kErrors);
  CHECK(b.read(reg_offset(kRegs, "AUTO_CMD_ERROR"), 2) == 0x20);
}

// --- after a reset of the DAT line nothing is reported any more ---

TEST_CASE("a DAT reset during Auto CMD12 or a busy leaves no Transfer Complete behind") {
  Bench b;
  b.start_card();
  b.card.r1b_busy = sc_time(100, sc_core::SC_US);
  start(b, 18, 2, kReadMulti | 0x04, 1024);
  b.advance(b.write(0x2A, 1, 0) + cycles(kReadStart + 2 * F + G + 2 + 66 + 20) - sc_time_stamp());
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 4);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 0);
  for (const std::uint64_t wait :
       {3u, 20u, 100u, 200u}) {  // before it starts, on the line, waiting, in its busy
    INFO(wait);
    const sc_time t = b.command(6, 0, 3);
    b.advance(t + cycles(wait) - sc_time_stamp());
    b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 4);
    CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 0);
    CHECK(inhibit(b) == 0);
  }
  CHECK(b.card.seen.size() == 2 + 4);
}

TEST_CASE("a DAT reset between the command and its data drops the data") {
  Bench b;
  b.start_card();
  start(b, 18, 8, kReadMulti, 8 * 512);
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 4);  // within cmd_issue
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 0);
  CHECK(b.host.data().counters().blocks_read == 0);
}

TEST_CASE("a read whose response is bad goes on writing memory until the DAT reset") {
  Bench b;
  b.start_card();
  BusFault f{.kind = BusFault::Kind::response_crc, .extra = {}};
  f.command = 18;
  b.bus.inject(f);
  start(b, 18, 64, kReadMulti, 64 * 512);
  b.run_until(kErrors);
  CHECK((b.status() & kErrors) == kIntCommandCrc);
  b.advance(sc_time(10, sc_core::SC_US));
  CHECK(*b.ram(0x20000 + 1) == MockCard::content(0, 1));  // AXI writes after the error
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
  b.clear_status();
  const std::uint64_t written = b.host.dma_port().counters().write_bytes;
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 0);
  CHECK(b.host.dma_port().counters().write_bytes == written);
}

namespace {

void gap(TimingStyle style, bool write) {
  Bench b(bench_params(), style);
  b.start_card();
  for (unsigned i = 0; i < 8 * 512; ++i) *b.ram(0x20000 + i) = static_cast<std::byte>(i * 5);
  b.write(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), 1, 1);
  start(b, write ? 25 : 18, 8, write ? kWriteMulti : kReadMulti, 8 * 512);
  b.run_until(kIntBlockGap);
  const auto moved = [&] {
    return b.host.data().counters().blocks_read + b.host.data().counters().blocks_written;
  };
  CHECK(moved() == 1);
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK((b.status() & kIntTransferComplete) != 0);
  b.clear_status();
  b.write(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), 1, 3);  // continue is ignored while stop is set
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(moved() == 1);
  b.write(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), 1, 2);
  CHECK(b.read(reg_offset(kRegs, "BLOCK_GAP_CONTROL"), 1) == 0);
  CHECK(transfer_completes(b, sc_time(1, sc_core::SC_MS)) == 1);
  CHECK(moved() == 8);
  if (write)
    CHECK(b.card.written == std::vector<std::byte>(b.ram(0x20000, 4096), b.ram(0x20000, 4096) + 4096));
  else
    CHECK(*b.ram(0x20000 + 7 * 512 + 9) == MockCard::content(7, 9));
}

}  // namespace

TEST_CASE("stop at block gap: a read waits after its first block and goes on") {
  gap(TimingStyle::at, false);
}
TEST_CASE("stop at block gap: a write waits after its first block and goes on") {
  gap(TimingStyle::at, true);
}
TEST_CASE("stop at block gap by reservation, read") { gap(TimingStyle::lt, false); }
TEST_CASE("stop at block gap by reservation, write") { gap(TimingStyle::lt, true); }
