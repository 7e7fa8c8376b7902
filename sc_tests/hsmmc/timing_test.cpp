// Closed-form timing through the host and the system DMA, in cycles of 5 ns (card, host, AXI clocks are all 200 MHz).
// I cmd_issue 4, L resp_latch 2, X crc_check 2, C tc_latch 2, N_CR 12, N_AC 2, N_WR 2, N_CRC 2, token 5, gap 8, E
// event_cycles 8, hop 1; DATA: first beat 2, accept 1; SRAM first beat 4, accept 1. Frame of 512 bytes at x4: 1042.
#include "sc_tests/hsmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr std::uint64_t I = 4, L = 2, X = 2, C = 2, N_CR = 12, N_AC = 2, N_WR = 2, N_CRC = 2, TOKEN = 5,
                        G = 8, E = 8;
constexpr std::uint64_t F = 1 + 8 * 512 / 4 + 16 + 1;
constexpr std::uint64_t H = 1, DATA_READ = 2 * H + 2 + 8 * 16, DATA_LAST_BEAT = 2 * H + 2 + 8 * 16 - H;
constexpr std::uint64_t RAM_READ = 2 * H + 4 + 4 * 16, RAM_WRITE = 4 * 16 + 1 + 2 * H;

}  // namespace

TEST_CASE("CMD13: issue, 48, N_CR, 48 and latch cycles to CC") {
  Bench b;
  b.start_card();
  const sc_time t = b.send(index(13) | kR1, 0x10000);
  CHECK(b.run_until(kIntCc) - t == cycles(I + 48 + N_CR + 48 + L));
  CHECK(b.read("RSP10") == 0x900);
  CHECK((b.read("STAT") & kIntTc) == 0);
}

TEST_CASE("an R1b's TC comes when its busy has ended, after CC") {
  Bench b;
  b.start_card();
  b.card.r1b_busy = cycles(5000);
  const sc_time t = b.send(index(6) | kR1b);
  CHECK(b.run_until(kIntCc) - t == cycles(I + 48 + N_CR + 48 + L));
  b.write("STAT", kIntCc);
  CHECK((b.read("PSTATE") & 2) != 0);  // DATI
  CHECK(b.run_until(kIntTc) - t == cycles(I + 48 + 5000 + C));
  CHECK((b.read("PSTATE") & 3) == 0);
}

TEST_CASE("the initialisation stream takes 80 clocks and sends no command") {
  Bench b;
  b.start_card();
  b.write("CON", 1 << 1);
  const sc_time t = b.write("CMD", 0);
  CHECK(b.run_until(kIntCc) - t == cycles(I + 80 + L));
  CHECK(b.card.seen.empty());
}

TEST_CASE("CMD17: TC when the block has left the buffer, the DMA's end when it is in memory") {
  Bench b;
  b.start_card();
  b.arm(true, 0x4000, 1);
  b.blocks(1);
  const sc_time t = b.send(index(17) | kR1 | kDp | kRead | kDe, 9);
  const std::uint64_t here = I + 48 + N_AC + F + X;
  CHECK(b.run_until(kIntTc) - t == cycles(here + E + DATA_LAST_BEAT + C));
  b.advance(sc_time(5, sc_core::SC_US));
  REQUIRE(b.dma_irq.rises.size() == 1);
  CHECK(b.dma_irq.rises[0] - t == cycles(here + E + DATA_READ + RAM_WRITE));
  CHECK(b.holds(0x4000, 9, 1));
}

TEST_CASE("CMD18 of n blocks: n frames and gaps on the wire, one block's way out behind it") {
  Bench b;
  b.start_card();
  for (const std::uint32_t n : {2u, 7u, 64u}) {
    INFO(n);
    b.card.blocks_counted = n;
    b.arm(true, 0x4000, n);
    b.blocks(n);
    const sc_time t = b.send(index(18) | kR1 | kDp | kRead | kDe | kMsbs | kBce);
    CHECK(b.run_until(kIntTc) - t ==
          cycles(I + 48 + N_AC + n * F + (n - 1) * G + X + E + DATA_LAST_BEAT + C));
    b.advance(sc_time(5, sc_core::SC_US));
    b.write("STAT", 0xFFFFFFFF);
    b.dma_regs.write(edma_at("ICR"), 0xFFFFFFFF);
    CHECK(b.holds(0x4000, 0, n));
    CHECK(b.read("BLK") >> 16 == 0);  // counted down
  }
  CHECK(b.host.data().counters().clock_stops == 0);
}

TEST_CASE("CMD24: the block is fetched while the command runs, then frame, CRC status and TC") {
  Bench b;
  b.start_card();
  b.arm(false, 0x4000, 1);
  b.blocks(1);
  const sc_time t = b.send(index(24) | kR1 | kDp | kDe);
  // the block is in the buffer E + RAM_READ + 8 bursts after the start, before 48 + N_CR + 48 are over? It is not:
  const std::uint64_t have = E + RAM_READ + 8 * 16 + H, response = I + 48 + N_CR + 48 + N_WR;
  REQUIRE(have > response);
  CHECK(b.run_until(kIntTc) - t == cycles(have + F + N_CRC + TOKEN + C));
  CHECK(b.host.data().counters().wire_wait_for_data == cycles(have - response));
}

TEST_CASE("CMD25 of n blocks: N_WR, frame, CRC status and busy per block, the next block fetched meanwhile") {
  Bench b;
  b.start_card();
  const std::uint64_t busy = 300;
  b.card.write_busy = cycles(busy);
  for (const std::uint32_t n : {2u, 9u}) {
    for (std::size_t i = 0; i < n * 512; ++i) *b.ram(0x4000 + i) = static_cast<std::byte>(i * 11 + (i >> 8));
    b.card.written.clear();
    b.card.blocks_counted = n;
    b.arm(false, 0x4000, n);
    b.blocks(n);
    const sc_time t = b.send(index(25) | kR1 | kDp | kDe | kMsbs | kBce);
    const std::uint64_t have = E + RAM_READ + 8 * 16 + H;
    CHECK(b.run_until(kIntTc) - t == cycles(have + n * (F + N_CRC + TOKEN + busy) + (n - 1) * N_WR + C));
    b.write("STAT", 0xFFFFFFFF);
    b.dma_regs.write(edma_at("ICR"), 0xFFFFFFFF);
    REQUIRE(b.card.written.size() == n * 512);
    CHECK(std::memcmp(b.card.written.data(), b.ram(0x4000), n * 512) == 0);
  }
}

TEST_CASE("by reservation CMD18 and CMD25 take the same cycles as by transactions") {
  Bench b(bench_params(), TimingStyle::lt);
  b.start_card();
  const std::uint32_t n = 7;
  b.card.blocks_counted = n;
  b.arm(true, 0x4000, n);
  b.blocks(n);
  sc_time t = b.send(index(18) | kR1 | kDp | kRead | kDe | kMsbs | kBce);
  const std::uint64_t wire = I + 48 + N_AC + n * F + (n - 1) * G + X;
  b.run_until(kIntTc);
  b.advance(sc_time(5, sc_core::SC_US));
  REQUIRE(b.dma_irq.rises.size() == 1);
  CHECK(b.dma_irq.rises[0] - t == cycles(wire + E + DATA_READ + RAM_WRITE));
  CHECK(b.holds(0x4000, 0, n));
  b.write("STAT", 0xFFFFFFFF);
  b.dma_regs.write(edma_at("ICR"), 0xFFFFFFFF);
  b.card.blocks_counted = n;
  b.arm(false, 0x4000, n);
  b.blocks(n);
  t = b.send(index(25) | kR1 | kDp | kDe | kMsbs | kBce);
  const double took = (b.run_until(kIntTc) - t) / cycles(1);
  const double expected = E + RAM_READ + 8 * 16 + H + n * (F + N_CRC + TOKEN) + (n - 1) * N_WR + C;
  CHECK(took == Approx(expected).epsilon(0.02));
  CHECK(std::memcmp(b.card.written.data(), b.ram(0x4000), n * 512) == 0);
}

TEST_CASE(
    "a DMA that does not come stops the card clock after two blocks, and reading goes on when it does") {
  Bench b;
  b.start_card();
  b.card.blocks_counted = 6;
  b.blocks(6);
  const sc_time t = b.send(index(18) | kR1 | kDp | kRead | kDe | kMsbs | kBce);
  b.advance(cycles(20000));
  CHECK(b.host.data().counters().blocks_read == 2);
  CHECK((b.read("PSTATE") & 1 << 9) != 0);  // RTA
  const sc_time armed = sc_time_stamp();
  b.arm(true, 0x4000, 6);  // the event is latched: enabling the channel starts it
  b.run_until(kIntTc);
  b.advance(sc_time(5, sc_core::SC_US));
  CHECK(b.holds(0x4000, 0, 6));
  // Stopped from block 2's earliest start to the drain of block 0; both ends are bound by the instants seen here.
  const sc_time stopped = b.host.data().counters().clock_stopped;
  CHECK(stopped >= armed - t - cycles(I + 48 + N_AC + 2 * (F + G)));
  CHECK(stopped <= armed - t + cycles(E + DATA_READ + 10) - cycles(I + 48 + N_AC + 2 * (F + G)) + cycles(F));
  CHECK(b.dma.counters().missed == 0);
}
