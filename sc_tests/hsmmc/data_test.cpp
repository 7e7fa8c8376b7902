// Requests, ports, automatic commands, both ends of a transfer in both orders.
#include "sc_tests/hsmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {
constexpr std::uint32_t kReadMany = index(18) | kR1 | kDp | kRead | kMsbs | kBce,
                        kWriteMany = index(25) | kR1 | kDp | kMsbs | kBce;
}

TEST_CASE("a read asks once per block, and not again before the block has been taken") {
  Bench b(bench_params(), TimingStyle::at, false);
  b.start_card();
  b.card.blocks_counted = 5;
  b.blocks(5);
  b.send(kReadMany | kDe);
  for (unsigned k = 1; k <= 5; ++k) {
    b.advance(cycles(5000));
    CHECK(b.counter.seen[0] == k);
    for (unsigned w = 0; w < 128; ++w) {
      const std::uint32_t v = b.port_read();
      if (w == 0) CHECK((v & 0xFF) == std::to_integer<std::uint32_t>(MockCard::content(k - 1, 0)));
    }
  }
  b.advance(cycles(5000));
  CHECK(b.counter.seen[0] == 5);
  CHECK(b.counter.seen[1] == 0);
  CHECK((b.read("STAT") & kIntTc) != 0);
}

TEST_CASE("a write asks for two blocks ahead and then once per block that has left") {
  Bench b(bench_params(), TimingStyle::at, false);
  b.start_card();
  b.card.blocks_counted = 4;
  b.card.silent = false;
  b.blocks(4);
  b.send(kWriteMany | kDe);
  b.advance(cycles(10));
  CHECK(b.counter.seen[1] == 1);
  for (unsigned w = 0; w < 128; ++w) b.port_write(w);
  b.advance(cycles(4));
  CHECK(b.counter.seen[1] == 2);  // the other half is free
  for (unsigned w = 0; w < 128; ++w) b.port_write(w);
  b.advance(cycles(4));
  CHECK(b.counter.seen[1] == 2);  // both are full
  b.advance(cycles(4000));
  CHECK(b.counter.seen[1] == 3);
  for (unsigned k = 0; k < 2; ++k) {
    for (unsigned w = 0; w < 128; ++w) b.port_write(w);
    b.advance(cycles(4000));
  }
  CHECK(b.counter.seen[1] == 4);
  CHECK((b.read("STAT") & kIntTc) != 0);
  CHECK(b.card.written.size() == 4 * 512);
}

TEST_CASE("PIO: one BRR per block, one BWR per block, no DMA request") {
  Bench b(bench_params(), TimingStyle::at, false);
  b.start_card();
  b.card.blocks_counted = 3;
  b.blocks(3);
  b.send(kReadMany);
  for (unsigned k = 0; k < 3; ++k) {
    b.run_until(kIntBrr);
    b.write("STAT", kIntBrr);
    for (unsigned w = 0; w < 128; ++w) b.port_read();
  }
  b.run_until(kIntTc);
  b.write("STAT", 0xFFFFFFFF);
  b.card.blocks_counted = 3;
  b.blocks(3);
  b.send(kWriteMany);
  for (unsigned k = 0; k < 3; ++k) {
    b.run_until(kIntBwr);
    b.write("STAT", kIntBwr);
    for (unsigned w = 0; w < 128; ++w) b.port_write(0x01020304 * (k + 1) + w);
  }
  b.run_until(kIntTc);
  CHECK(b.counter.seen[0] + b.counter.seen[1] == 0);
  REQUIRE(b.card.written.size() == 3 * 512);
  for (unsigned k = 0; k < 3; ++k)
    for (unsigned w = 0; w < 128; ++w) {
      std::uint32_t v = 0;
      std::memcpy(&v, b.card.written.data() + 512 * k + 4 * w, 4);
      REQUIRE(v == 0x01020304 * (k + 1) + w);
    }
}

TEST_CASE("a 1024-byte block takes the whole buffer: a request comes only when it has left") {
  Bench b(bench_params(), TimingStyle::at, false);
  b.start_card();
  b.card.blocks_counted = 2;
  b.blocks(2, 1024);
  b.send(kWriteMany | kDe);
  b.advance(cycles(10));
  for (unsigned w = 0; w < 256; ++w) b.port_write(w);
  b.advance(cycles(100));
  CHECK(b.counter.seen[1] == 1);
  b.advance(cycles(4000));
  CHECK(b.counter.seen[1] == 2);
  for (unsigned w = 0; w < 256; ++w) b.port_write(w);
  b.run_until(kIntTc);
  CHECK(b.card.written.size() == 2048);
}

TEST_CASE("in a read TC comes before the DMA's end, in a write after it") {
  Bench b;
  b.start_card();
  b.card.blocks_counted = 2;
  b.arm(true, 0x4000, 2);
  b.blocks(2);
  b.send(kReadMany | kDe);
  const sc_time tc = b.run_until(kIntTc);
  CHECK(!b.dma_irq.level);
  b.advance(sc_time(5, sc_core::SC_US));
  REQUIRE(b.dma_irq.rises.size() == 1);
  CHECK(b.dma_irq.rises[0] > tc);
  b.write("STAT", 0xFFFFFFFF);
  b.dma_regs.write(edma_at("ICR"), 0xFFFFFFFF);
  b.card.blocks_counted = 2;
  b.arm(false, 0x4000, 2);
  b.blocks(2);
  b.send(kWriteMany | kDe);
  const sc_time end = b.run_until(kIntTc);
  REQUIRE(b.dma_irq.rises.size() == 2);
  CHECK(b.dma_irq.rises[1] < end);
}

TEST_CASE("Auto CMD23 sends the count first and Auto CMD12 the stop after, TC after its busy") {
  Bench b;
  b.start_card();
  b.write("SDMASA", 2);
  b.arm(true, 0x4000, 2);
  b.blocks(2);
  b.send(kReadMany | kDe | kAcen23, 77);
  b.run_until(kIntTc);
  REQUIRE(b.card.seen.size() == 2);
  CHECK(b.card.seen[0].index == 23);
  CHECK(b.card.seen[0].argument == 2);
  CHECK(b.card.seen[1].index == 18);
  b.advance(sc_time(5, sc_core::SC_US));
  b.write("STAT", 0xFFFFFFFF);
  b.dma_regs.write(edma_at("ICR"), 0xFFFFFFFF);
  b.card.r1b_busy = sc_time(1, sc_core::SC_MS);
  b.arm(false, 0x4000, 2);
  b.blocks(2);
  b.send(kWriteMany | kDe | kAcen12, 77);
  const sc_time tc = b.run_until(kIntTc);
  REQUIRE(b.card.seen.size() == 4);
  CHECK(b.card.seen[3].index == 12);
  CHECK(tc - b.card.last_command_end == sc_time(1, sc_core::SC_MS) + cycles(2));
  CHECK(b.read("RSP76") == 0x900);
}

TEST_CASE("CMD12 by software ends an open-ended write, TC after its busy, CMD13 passes meanwhile") {
  Bench b;
  b.start_card();
  b.arm(false, 0x4000, 3);
  b.blocks(3);
  b.send(kWriteMany | kDe);
  b.run_until(kIntTc);
  b.write("STAT", 0xFFFFFFFF);
  b.card.r1b_busy = cycles(2000);
  const sc_time t = b.send(index(12) | kR1b | kAbort);
  b.run_until(kIntCc);
  b.write("STAT", kIntCc);
  b.send(index(13) | kR1, 0x10000);
  b.run_until(kIntCc);
  b.write("STAT", kIntCc);
  CHECK(b.run_until(kIntTc) - t == cycles(4 + 48 + 2000 + 2));
  CHECK(b.card.written.size() == 3 * 512);
}

TEST_CASE("random transfers arrive byte for byte through both directions") {
  Bench b;
  b.start_card(8);
  std::uint64_t seed = 99;
  const auto random = [&](std::uint64_t n) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((seed >> 33) % n);
  };
  for (unsigned round = 0; round < 30; ++round) {
    const std::uint32_t n = 1 + random(20), lba = random(100000), to = 0x1000 * (1 + random(1000));
    const bool reading = random(2);
    b.card.blocks_counted = n;
    b.card.written.clear();
    b.card.write_busy = cycles(random(3000));
    b.card.data_delay = cycles(random(3000));
    for (std::uint32_t i = 0; i < n * 512; ++i) *b.ram(to + i) = static_cast<std::byte>(random(256));
    b.arm(reading, to, n);
    b.blocks(n);
    b.send((reading ? kReadMany : kWriteMany) | kDe, lba);
    b.run_until(kIntTc);
    b.advance(sc_time(5, sc_core::SC_US));
    b.write("STAT", 0xFFFFFFFF);
    b.dma_regs.write(edma_at("ICR"), 0xFFFFFFFF);
    if (reading)
      REQUIRE(b.holds(to, lba, n));
    else
      REQUIRE(std::memcmp(b.card.written.data(), b.ram(to), n * 512) == 0);
  }
  CHECK(b.dma.counters().missed == 0);
  CHECK(b.dma.counters().requests == b.dma.transfer_counters().transfers);
}
