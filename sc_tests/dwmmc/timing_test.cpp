// Closed-form timing of commands and IDMAC transfers, in cycles of 5 ns (card, host core and AXI clocks are all 200 MHz).
// Symbols: I cmd_issue 4, L resp_latch 2, F fifo_latency 2, X crc_check 2, D dto_latch 2, N_CR 12, N_AC 2, N_WR 2, N_CRC 2,
// token 5, G 45, hop h 1, SRAM first beat 4, accept 1. Bursts of 16 beats = 128 B; a quantum of 128 B takes 64 clocks at
// x8 DDR, 128 at x8 SDR; a frame adds a start clock and 17 clocks of CRC16 and end bit.
#include "sc_tests/dwmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr std::uint64_t I = 4, L = 2, F = 2, X = 2, D = 2, N_CR = 12, N_AC = 2, N_WR = 2, N_CRC = 2,
                        TOKEN = 5, G = 45;
constexpr std::uint64_t H = 1, FIRST = 4, ACCEPT = 1, BEATS = 16;
constexpr std::uint64_t DES_READ = 2 * H + FIRST + 4;  // 32 bytes, 4 beats
constexpr std::uint64_t BURST_READ = 2 * H + FIRST + BEATS, BURST_WRITE = BEATS + 2 * H + ACCEPT;
constexpr std::uint64_t CLOSE = 1 + 2 * H + ACCEPT;

}  // namespace

TEST_CASE("CMD13: issue + 48 + N_CR + 48 + latch cycles to CMD_DONE") {
  Bench b;
  b.start_card();
  const sc_time t = b.command(13, 0x10000);
  CHECK(b.run_until(kIntCommandDone) - t == cycles(I + 48 + N_CR + 48 + L));
  CHECK(b.read(reg("RESP0")) == 0x900);
}

namespace {

void one_read(TimingStyle style, LineMode mode, std::uint64_t data_clocks) {
  Bench b(bench_params(), style);
  b.start_card(mode);
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  const sc_time t = b.data_command(17, 9, 1, kRead);
  const std::uint64_t start = I + 48 + N_AC;
  // The last burst's data are in the FIFO F after the last data clock; the frame's tail runs beside it.
  const std::uint64_t over = start + 1 + data_clocks + 17 + X + D;
  const std::uint64_t closed = start + 1 + data_clocks + F + BURST_WRITE + CLOSE;
  CHECK(b.run_until(kIntDataOver) - t == cycles(over));
  CHECK(b.run_until(0, kIdReceive) - t == cycles(closed));
  CHECK(b.des0(0x1000) == (kDesFirst | kDesLast));
  for (unsigned i = 0; i < 512; ++i) REQUIRE(*b.ram(0x20000 + i) == MockCard::content(9, i));
}

void one_write(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  b.chain(0x1000, {{0x20000, 512}});
  for (unsigned i = 0; i < 512; ++i) *b.ram(0x20000 + i) = static_cast<std::byte>(3 * i);
  b.idmac(0x1000);
  const sc_time t = b.data_command(24, 0, 1, kWrite);
  // The IDMAC starts when START is taken: descriptor, four bursts one after the other, close.
  CHECK(b.run_until(0, kIdTransmit) - t >= cycles(I + DES_READ + 4 * BURST_READ + CLOSE));
  if (style == TimingStyle::at) CHECK(sc_time_stamp() - t == cycles(I + DES_READ + 4 * BURST_READ + CLOSE));
  CHECK(b.run_until(kIntDataOver) - t == cycles(I + 48 + N_CR + 48 + N_WR + 274 + N_CRC + TOKEN + D));
  REQUIRE(b.card.written.size() == 512);
  for (unsigned i = 0; i < 512; ++i) REQUIRE(b.card.written[i] == static_cast<std::byte>(3 * i));
}

}  // namespace

TEST_CASE("an IDMAC read of one block at x8 DDR, to the cycle") { one_read(TimingStyle::at, {8, true}, 256); }
TEST_CASE("an IDMAC read of one block at x8 DDR, to the cycle (lt)") {
  one_read(TimingStyle::lt, {8, true}, 256);
}
TEST_CASE("an IDMAC read of one block at x8 SDR, to the cycle") {
  one_read(TimingStyle::at, {8, false}, 512);
}
TEST_CASE("an IDMAC read of one block at x4 SDR, to the cycle (lt)") {
  one_read(TimingStyle::lt, {4, false}, 1024);
}
TEST_CASE("an IDMAC write of one block, to the cycle") { one_write(TimingStyle::at); }
TEST_CASE("an IDMAC write of one block, to the cycle (lt)") { one_write(TimingStyle::lt); }

namespace {

/// n blocks in one descriptor each of 512 bytes: the descriptors pass while the next block is on the wire.
void read_blocks(TimingStyle style, std::uint64_t n) {
  Bench b(bench_params(), style);
  b.start_card();
  std::vector<Bench::Part> parts;
  for (std::uint64_t i = 0; i < n; ++i) parts.push_back({0x20000 + i * 0x1000, 512});
  b.chain(0x1000, parts);
  b.idmac(0x1000);
  const sc_time t = b.data_command(18, 5, static_cast<std::uint32_t>(n), kRead);
  const std::uint64_t last = I + 48 + N_AC + n * 274 + (n - 1) * G;
  CHECK(b.run_until(kIntDataOver) - t == cycles(last + X + D));
  CHECK(b.run_until(0, kIdReceive) - t == cycles(last - 17 + F + BURST_WRITE + CLOSE));
  CHECK(b.host.data().counters().descriptors == n);
  CHECK(b.host.data().counters().closes == n);
  CHECK(b.host.data().counters().bursts == 4 * n);
  CHECK(b.host.data().counters().clock_stops == 0);
}

}  // namespace

TEST_CASE("CMD18 of n blocks: n frames and n - 1 gaps, the IDMAC one burst and one close behind") {
  read_blocks(TimingStyle::at, 8);
}
TEST_CASE("CMD18 of n blocks: n frames and n - 1 gaps, the IDMAC one burst and one close behind (lt)") {
  read_blocks(TimingStyle::lt, 8);
}

namespace {

/// Words one by one: a single beat takes 2 h + FIRST + 1 = 7 cycles, a word on the wire 4 clocks at x8 DDR.
void slow_memory(TimingStyle style, bool threshold) {
  Bench b(bench_params(), style);
  b.start_card();
  b.write(reg("FIFOTH"), 1u << 16 | 128);  // MSIZE 1 beat
  if (threshold) b.write(reg("CARDTHRCTL"), 512u << 16 | mask("CARDTHRCTL", "WRITE_ENABLE"));
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  const sc_time t = b.data_command(24, 0, 1, kWrite);
  const std::uint64_t last_word = I + DES_READ + 64 * (2 * H + FIRST + 1);
  // With a threshold of a block the frame starts when all is there; without, the clock stops between words, and the last
  // word goes when it comes.
  const std::uint64_t rest = threshold ? 274 : 4 + 17;
  CHECK(b.run_until(kIntDataOver) - t == cycles(last_word + rest + N_CRC + TOKEN + D));
}

}  // namespace

TEST_CASE("a write faster than its memory stops the card clock between words") {
  slow_memory(TimingStyle::at, false);
}
TEST_CASE("a write faster than its memory stops the card clock between words (lt)") {
  slow_memory(TimingStyle::lt, false);
}
TEST_CASE("the write threshold lets a block start only when it is whole") {
  slow_memory(TimingStyle::at, true);
}
TEST_CASE("the write threshold lets a block start only when it is whole (lt)") {
  slow_memory(TimingStyle::lt, true);
}

namespace {

/// FIFO of 32 words (256 B), bursts of 16 beats; single-beat AXI makes a 128-byte burst last 16 x 4 cycles.
void full_fifo(TimingStyle style, bool threshold) {
  DwmmcParams p = bench_params();
  p.fifo_depth = 32;
  p.posted_drain = false;
  p.axi.max_burst_beats = 1;  // each beat its own burst: W + h + accept + h = 4 cycles, one outstanding
  Bench b(p, style);
  b.start_card();
  b.write(reg("FIFOTH"), 3u << 28 | 15u << 16 | 16);
  if (threshold) b.write(reg("CARDTHRCTL"), 256u << 16 | mask("CARDTHRCTL", "READ_ENABLE"));
  b.chain(0x1000, {{0x20000, 1024}});
  b.idmac(0x1000);
  const sc_time t = b.data_command(18, 0, 2, kRead);
  // A burst of 128 B takes 16 x 4 = 64 cycles, its data 64 clocks: quantum k is in the FIFO at s + 1 + 64 k + F, drained
  // 64 later. Quantum 3 (of 0..3) needs quantum 1 drained: at s + 1 + 128 + F + 64, F later than its turn s + 1 + 192.
  // So it waits F cycles.
  const std::uint64_t s = I + 48 + N_AC;
  const std::uint64_t end0 = s + 1 + 4 * 64 + F + 17;
  // With the threshold block 1 needs the whole FIFO empty: burst 3 done 64 after its data, at end0 - 17 + F + 64 = end0 + 49,
  // which is past the gap. Without it, quantum 0 of block 1 needs burst 2 drained.
  const std::uint64_t s1 = threshold ? end0 - 17 + F + 64 : end0 + G;
  const std::uint64_t end1 = s1 + 1 + 4 * 64 + F + 17;
  CHECK(b.run_until(kIntDataOver) - t == cycles(end1 + X + D));
  CHECK(b.host.data().counters().clock_stops == (threshold ? 3 : 2));
  CHECK(b.host.data().counters().clock_stopped == cycles(2 * F + (threshold ? s1 - end0 - G : 0)));
  b.run_until(0, kIdReceive);
  for (unsigned i = 0; i < 1024; ++i) REQUIRE(*b.ram(0x20000 + i) == MockCard::content(i / 512, i % 512));
}

}  // namespace

TEST_CASE("a full FIFO stops the card clock within a block until a burst has drained") {
  full_fifo(TimingStyle::at, false);
}
TEST_CASE("a full FIFO stops the card clock within a block until a burst has drained (lt)") {
  full_fifo(TimingStyle::lt, false);
}
TEST_CASE("the read threshold holds a block back until its room is there") {
  full_fifo(TimingStyle::at, true);
}
TEST_CASE("the read threshold holds a block back until its room is there (lt)") {
  full_fifo(TimingStyle::lt, true);
}

namespace {

/// A 512-byte write out of 16 descriptors of 32 bytes (4 beats). Depth 0: read, move, close, each after the other. Deeper: one
/// descriptor is read at a time, data and closes go beside.
std::uint64_t sixteen_descriptors(std::uint64_t depth, TimingStyle style) {
  DwmmcParams p = bench_params();
  p.prefetch_depth = depth;
  p.axi.outstanding_reads = p.axi.outstanding_writes = 8;
  Bench b(p, style);
  b.start_card();
  std::vector<Bench::Part> parts;
  for (std::uint64_t i = 0; i < 16; ++i) parts.push_back({0x20000 + i * 0x100, 32});
  b.chain(0x1000, parts);
  b.idmac(0x1000);
  const sc_time t = b.data_command(24, 0, 1, kWrite);
  const sc_time end = b.run_until(0, kIdTransmit);
  CHECK(b.host.data().counters().descriptors == 16);
  b.run_until(kIntDataOver);
  return (end - t).value() / kCycle;
}

}  // namespace

TEST_CASE("without prefetch a descriptor costs its read, its data and its close, one after the other") {
  const std::uint64_t data = 2 * H + FIRST + 4;
  CHECK(sixteen_descriptors(0, TimingStyle::at) == I + 16 * (DES_READ + data + CLOSE));
}
TEST_CASE("with prefetch only the descriptor reads stand in a row, data and closes go beside them") {
  const std::uint64_t data = 2 * H + FIRST + 4;
  CHECK(sixteen_descriptors(8, TimingStyle::at) == I + 16 * DES_READ + data + CLOSE);
}

TEST_CASE("SEND_INIT puts 80 clocks before the command") {
  Bench b;
  b.start_card();
  const sc_time t = b.command(0, 0, mask("CMD", "SEND_INIT"));
  CHECK(b.run_until(kIntCommandDone) - t == cycles(I + 80 + 48 + L));
}

TEST_CASE("busy clear comes when DAT0 is released after a write, DATA_OVER at its CRC status") {
  Bench b;
  b.start_card();
  b.card.write_busy = cycles(1000);
  b.write(reg("CARDTHRCTL"), mask("CARDTHRCTL", "BUSY_CLEAR"));
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  const sc_time t = b.data_command(24, 0, 1, kWrite);
  const std::uint64_t token = I + 48 + N_CR + 48 + N_WR + 274 + N_CRC + TOKEN;
  CHECK(b.run_until(kIntDataOver) - t == cycles(token + D));
  CHECK((b.read(reg("STATUS")) & mask("STATUS", "DATA_BUSY")) != 0);
  CHECK(b.run_until(kIntBusyClear) - t == cycles(token + 1000 + D));
  CHECK((b.read(reg("STATUS")) & mask("STATUS", "DATA_BUSY")) == 0);
}
