// Closed-form timing of commands and transfers through the whole host, in cycles of 5 ns (card, host core and AXI clocks
// are all 200 MHz). Symbols: R register access 2, I cmd_issue 4, L resp_latch 2, X crc_check 2, C tc_latch 2,
// N_CR 12, N_AC 2, N_WR 2, N_CRC 2, token 5, G 45; hop h 1; SRAM first beat 4, accept 1; 512 B = 4 bursts of 16 beats.
#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr std::uint64_t I = 4, L = 2, X = 2, C = 2, N_CR = 12, N_AC = 2, N_WR = 2, N_CRC = 2, TOKEN = 5,
                        G = 45;
constexpr std::uint64_t H = 1, FIRST = 4, ACCEPT = 1;
constexpr std::uint64_t BURSTS = 4, BEATS = 16;
// Last B of a 512-byte block whose first burst is issued at 0: W beats back to back, then hops and accept.
constexpr std::uint64_t BLOCK_WRITE = BURSTS * BEATS + H + ACCEPT + H;

struct Case {
  const char* name;
  LineMode lines;
  std::uint64_t frame;
};
constexpr Case kCases[] = {{"x1 SDR", {1, false}, 4114},
                           {"x4 SDR", {4, false}, 1042},
                           {"x8 SDR", {8, false}, 530},
                           {"x8 DDR", {8, true}, 274}};

}  // namespace

TEST_CASE("CMD13: issue + 48 + N_CR + 48 + latch cycles to Command Complete") {
  Bench b;
  b.start_card();
  const sc_time t = b.command(13, 0x10000);
  CHECK(b.run_until(kIntCommandComplete) - t == cycles(I + 48 + N_CR + 48 + L));
  CHECK(b.read(reg_offset(kRegs, "RESPONSE0"), 4) == 0x900);
}

TEST_CASE("CMD17 of 512 bytes in every line mode, to the cycle") {
  Bench b;
  b.start_card();
  for (const Case& c : kCases) {
    INFO(c.name);
    b.start_card(c.lines);
    b.table(0x1000, Bench::Format::adma128, {{0x20000, 512, kTranEnd}});
    b.select(Bench::Format::adma128, 0x1000);
    const sc_time t = b.data_command(17, 9, 0, kReadSingle);
    const sc_time end = b.run_to_end();
    CHECK(end - t == cycles(I + 48 + N_AC + c.frame + X + BLOCK_WRITE + C));
    CHECK(*b.ram(0x20000 + 3) == MockCard::content(9, 3));
    b.clear_status();
  }
}

TEST_CASE("CMD17 by reservation takes the same cycles as by transactions") {
  Bench b(bench_params(), TimingStyle::lt);
  b.start_card();
  b.table(0x1000, Bench::Format::adma128, {{0x20000, 512, kTranEnd}});
  b.select(Bench::Format::adma128, 0x1000);
  const sc_time t = b.data_command(17, 9, 0, kReadSingle);
  CHECK(b.run_to_end() - t == cycles(I + 48 + N_AC + 274 + X + BLOCK_WRITE + C));
  CHECK(*b.ram(0x20000 + 511) == MockCard::content(9, 511));
}

TEST_CASE("CMD18 of n blocks: n frames and n - 1 gaps on the wire, one block behind it") {
  Bench b;
  b.start_card();
  for (const Case& c : kCases) {
    for (const std::uint64_t n : {2u, 3u, 8u, 32u}) {
      INFO(c.name << " n=" << n);
      b.start_card(c.lines);
      b.table(0x1000, Bench::Format::adma32, {{0x20000, static_cast<std::uint32_t>(n * 512), kTranEnd}});
      b.select(Bench::Format::adma32, 0x1000);
      const sc_time t = b.data_command(18, 0, static_cast<std::uint32_t>(n), kReadMulti);
      CHECK(b.run_to_end() - t == cycles(I + 48 + N_AC + n * c.frame + (n - 1) * G + X + BLOCK_WRITE + C));
      b.clear_status();
    }
  }
}

TEST_CASE("CMD24: data wait for the response, then frame, CRC status and Transfer Complete") {
  Bench b;
  b.start_card();
  for (const Case& c : kCases) {
    INFO(c.name);
    b.start_card(c.lines);
    b.table(0x1000, Bench::Format::adma128, {{0x20000, 512, kTranEnd}});
    b.select(Bench::Format::adma128, 0x1000);
    const sc_time t = b.data_command(24, 0, 0, kWriteSingle);
    CHECK(b.run_to_end() - t == cycles(I + 48 + N_CR + 48 + N_WR + c.frame + N_CRC + TOKEN + C));
    b.clear_status();
  }
}

TEST_CASE("CMD25 of n blocks: N_WR, frame, CRC status and busy per block") {
  Bench b;
  b.start_card();
  b.card.write_busy = cycles(100);
  for (const std::uint64_t n : {1u, 2u, 5u, 16u}) {
    b.table(0x1000, Bench::Format::adma32, {{0x20000, static_cast<std::uint32_t>(n * 512), kTranEnd}});
    b.select(Bench::Format::adma32, 0x1000);
    const sc_time t = b.data_command(25, 0, static_cast<std::uint32_t>(n), kWriteMulti);
    const std::uint64_t block = N_WR + 274 + N_CRC + TOKEN + 100;
    CHECK(b.run_to_end() - t == cycles(I + 48 + N_CR + 48 + n * block + C));
    b.clear_status();
  }
}

TEST_CASE("a write whose data are late on AXI starts when the block is complete") {
  SdhciParams p = bench_params();
  p.axi.outstanding_reads = 1;
  p.axi.max_burst_beats = 1;  // 64 single beats, one at a time: each takes 2 H + FIRST + 1
  Bench b(p);
  b.start_card();
  b.table(0x1000, Bench::Format::adma128, {{0x20000, 512, kTranEnd}});
  b.select(Bench::Format::adma128, 0x1000);
  const std::uint64_t descriptor = 2 * (2 * H + FIRST + 1);  // 16 bytes = 2 single beats
  const std::uint64_t data = 64 * (2 * H + FIRST + 1);
  const sc_time t = b.data_command(24, 0, 0, kWriteSingle);
  CHECK(b.run_to_end() - t == cycles(descriptor + data + 274 + N_CRC + TOKEN + C));
}

namespace {

/// One block, 16 segments of 32 bytes (4 beats), at a prefetch depth. A descriptor (16 B, 2 beats) is here 2 H + FIRST + 2
/// after its fetch starts. `last_issue`: cycles from the block's availability to the issue of the last segment.
void read_16_descriptors(std::uint64_t depth, TimingStyle style, std::uint64_t last_issue) {
  SdhciParams p = bench_params();
  p.prefetch_depth = depth;
  p.axi.outstanding_writes = 16;
  Bench b(p, style);
  b.start_card();
  std::vector<Bench::Descriptor> list;
  for (std::uint32_t i = 0; i < 16; ++i)
    list.push_back({0x20000 + i * 0x100u, 32, i == 15 ? kTranEnd : kTran});
  b.table(0x1000, Bench::Format::adma128, list);
  b.select(Bench::Format::adma128, 0x1000);
  const sc_time t = b.data_command(17, 0, 0, kReadSingle);
  const sc_time end = b.run_to_end();
  const std::uint64_t available = I + 48 + N_AC + 274 + X;
  const std::uint64_t tail = 4 + H + ACCEPT + H;
  CHECK(end - t == cycles(available + last_issue + tail + C));
  CHECK(b.host.data().counters().descriptors == 16);
  for (unsigned i = 0; i < 512; ++i)
    REQUIRE(*b.ram(0x20000 + i / 32 * 0x100 + i % 32) == MockCard::content(0, i));
}
constexpr std::uint64_t FETCH = 2 * H + FIRST + 2;

}  // namespace

// Depth 0: each segment waits for its fetch, which starts when the one before has been issued: 15 fetches in a row.
TEST_CASE("without prefetch every descriptor's fetch stands between two segments") {
  read_16_descriptors(0, TimingStyle::at, 15 * FETCH);
}
TEST_CASE("without prefetch every descriptor's fetch stands between two segments (lt)") {
  read_16_descriptors(0, TimingStyle::lt, 15 * FETCH);
}
// Depth d: the first 1 + d are here when the block is; each use starts one more fetch: 15 - d in a row.
TEST_CASE("prefetch of one descriptor hides one fetch when segments are short") {
  read_16_descriptors(1, TimingStyle::at, 14 * FETCH);
}
TEST_CASE("prefetch of two descriptors hides two fetches when segments are short") {
  read_16_descriptors(2, TimingStyle::at, 13 * FETCH);
}
TEST_CASE("prefetch of 16 descriptors leaves only the W beats") {
  read_16_descriptors(16, TimingStyle::at, 15 * 4);
}
TEST_CASE("prefetch of 16 descriptors leaves only the W beats (lt)") {
  read_16_descriptors(16, TimingStyle::lt, 15 * 4);
}

TEST_CASE("a full FIFO stops the card clock until a block has drained") {
  SdhciParams p = bench_params();
  p.fifo_bytes = 512;  // room for one block
  Bench b(p);
  b.start_card();
  b.card.gap = 8;
  const std::uint64_t n = 4;
  b.table(0x1000, Bench::Format::adma32, {{0x20000, static_cast<std::uint32_t>(n * 512), kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  const sc_time t = b.data_command(18, 0, n, kReadMulti);
  // The next frame starts when the last W beat of the block before has left: crc_check + 64 beats after its frame end.
  const std::uint64_t drained = X + BURSTS * BEATS;
  CHECK(b.run_to_end() - t == cycles(I + 48 + N_AC + n * 274 + (n - 1) * drained + X + BLOCK_WRITE + C));
  CHECK(b.host.data().counters().clock_stops == n - 1);
  CHECK(b.host.data().counters().clock_stopped == cycles((n - 1) * (drained - 8)));
}

TEST_CASE("without posted drain a block has drained when its last B is back") {
  SdhciParams p = bench_params();
  p.fifo_bytes = 512;
  p.posted_drain = false;
  Bench b(p);
  b.start_card();
  b.card.gap = 8;
  const std::uint64_t n = 3;
  b.table(0x1000, Bench::Format::adma32, {{0x20000, static_cast<std::uint32_t>(n * 512), kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  const sc_time t = b.data_command(18, 0, n, kReadMulti);
  CHECK(b.run_to_end() - t ==
        cycles(I + 48 + N_AC + n * 274 + (n - 1) * (X + BLOCK_WRITE) + X + BLOCK_WRITE + C));
}

TEST_CASE("Auto CMD23 goes first and the main command follows N_RC after its response") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 1024, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, 2);
  const sc_time t = b.data_command(18, 5, 2, kReadMulti | 0x08);
  const std::uint64_t auto_cmd = 48 + N_CR + 48 + 8;
  CHECK(b.run_to_end() - t == cycles(I + auto_cmd + 48 + N_AC + 2 * 274 + G + X + BLOCK_WRITE + C));
  REQUIRE(b.card.seen.size() == 2);
  CHECK(b.card.seen[0].index == 23);
  CHECK(b.card.seen[0].argument == 2);
  CHECK(b.card.seen[1].index == 18);
  CHECK(b.read(reg_offset(kRegs, "RESPONSE3"), 4) == 0x900);
}

TEST_CASE("Auto CMD12 follows the data, Transfer Complete waits for its response") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 1024, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  const sc_time t = b.data_command(18, 5, 2, kReadMulti | 0x04);
  const std::uint64_t data_in_memory = I + 48 + N_AC + 2 * 274 + G + X + BLOCK_WRITE;
  CHECK(b.run_to_end() - t == cycles(data_in_memory + 48 + N_CR + 48 + C));
  CHECK(b.card.seen.back().index == 12);
}

namespace {

struct ModeCase {
  const char* name;
  std::uint64_t divider;  // card clock = 200 MHz / (2 N), N = 0: 200 MHz
  LineMode lines;
  unsigned uhs;
  std::uint64_t frame, n_cr, gap;
};
// Clocks as this base divides them: identification 400 kHz, legacy 25 MHz, HS and DDR52 50 MHz, HS200 and HS400 200 MHz.
constexpr ModeCase kModes[] = {
    {"identification", 250, {1, false}, kUhsLegacy, 4114, 8, 8},
    {"legacy x1", 4, {1, false}, kUhsLegacy, 4114, 8, 8},
    {"legacy x4", 4, {4, false}, kUhsLegacy, 1042, 8, 8},
    {"legacy x8", 4, {8, false}, kUhsLegacy, 530, 8, 8},
    {"HS52 x4", 2, {4, false}, kUhsHighSpeed, 1042, 8, 8},
    {"HS52 x8", 2, {8, false}, kUhsHighSpeed, 530, 8, 8},
    {"DDR52 x4", 2, {4, true}, kUhsDdr52, 530, 8, 8},
    {"DDR52 x8", 2, {8, true}, kUhsDdr52, 274, 8, 8},
    {"HS400ES x8", 0, {8, true}, kUhsHs400, 274, 12, 45},
};

/// The first card clock edge at or after `t`: edges stand every `period` from the instant the clock was set.
sc_time edge(sc_time t, sc_time origin, sc_time period) {
  const std::uint64_t rest = (t - origin).value() % period.value();
  return rest == 0 ? t : from_ps(t.value() + period.value() - rest);
}

}  // namespace

TEST_CASE("CMD13, CMD17, CMD18, CMD24 and CMD25 in every mode, aligned to the card clock") {
  Bench b;
  b.start_card();
  for (const ModeCase& m : kModes) {
    INFO(m.name);
    b.start_card(m.lines, m.divider);
    const sc_time origin = sc_time_stamp();  // start_card sets the clock last thing before this instant
    b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, m.uhs);
    b.card.n_cr = static_cast<unsigned>(m.n_cr), b.card.gap = static_cast<unsigned>(m.gap);
    const sc_time T = cycles(m.divider == 0 ? 1 : 2 * m.divider);
    const auto start = [&](sc_time written) { return edge(written + cycles(I), origin, T); };
    const auto clk = [&](std::uint64_t n) { return from_ps(n * T.value()); };
    const auto prepare = [&](std::uint32_t blocks) {
      b.clear_status();
      b.table(0x1000, Bench::Format::adma32, {{0x20000, blocks * 512, kTranEnd}});
      const std::uint64_t hc1 = b.read(reg_offset(kRegs, "HOST_CONTROL1"), 1) & ~0x18ULL;
      b.write(reg_offset(kRegs, "HOST_CONTROL1"), 1, hc1 | 2 << 3);
      b.write(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), 4, 0x1000);
      b.advance(clk(16));  // N_RC of the command before is over
    };

    b.clear_status();
    const sc_time t13 = b.command(13, 0x10000);
    CHECK(b.run_until(kIntCommandComplete) == start(t13) + clk(48 + m.n_cr + 48) + cycles(L));

    prepare(1);
    const sc_time t17 = b.data_command(17, 0, 0, kReadSingle);
    // The response may end after the data are in memory; Transfer Complete comes no sooner than Command Complete.
    const sc_time data17 = start(t17) + clk(48 + N_AC + m.frame) + cycles(X + BLOCK_WRITE + C);
    const sc_time response17 = start(t17) + clk(48 + m.n_cr + 48) + cycles(L);
    CHECK(b.run_to_end() == std::max(data17, response17));

    prepare(3);
    const sc_time t18 = b.data_command(18, 0, 3, kReadMulti);
    CHECK(b.run_to_end() ==
          start(t18) + clk(48 + N_AC + 3 * m.frame + 2 * m.gap) + cycles(X + BLOCK_WRITE + C));

    prepare(1);
    const sc_time t24 = b.data_command(24, 0, 0, kWriteSingle);
    CHECK(b.run_to_end() == start(t24) + clk(48 + m.n_cr + 48 + N_WR + m.frame + N_CRC + TOKEN) + cycles(C));

    prepare(3);
    const sc_time t25 = b.data_command(25, 0, 3, kWriteMulti);
    CHECK(b.run_to_end() ==
          start(t25) + clk(48 + m.n_cr + 48 + 3 * (N_WR + m.frame + N_CRC + TOKEN)) + cycles(C));
    b.advance(clk(16));
  }
}
