// The CPU moves the data: watermarks, FIFO window, access width, over- and underrun, starvation.
#include "sc_tests/dwmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

std::uint64_t fifo_read(Bench& b, unsigned bytes = 8, std::uint64_t offset = 0x200) {
  std::uint64_t v = 0;
  b.driver.access(false, offset, bytes, v);
  return v;
}
void fifo_write(Bench& b, std::uint64_t v, unsigned bytes = 8, std::uint64_t offset = 0x200) {
  b.driver.access(true, offset, bytes, v);
}
unsigned count(Bench& b) {
  return (b.read(reg("STATUS")) & mask("STATUS", "FIFO_COUNT")) >> lsb("STATUS", "FIFO_COUNT");
}

void step(Bench& b) {
  REQUIRE(sc_core::sc_pending_activity());
  b.advance(sc_core::sc_time_to_pending_activity());
}

/// Reads `blocks` by watermark interrupts, as drivers do: on RXDR whatever the FIFO holds, at DATA_OVER the rest.
std::vector<std::byte> read_by_pio(Bench& b, unsigned blocks) {
  std::vector<std::byte> got;
  const auto drain = [&] {
    for (unsigned n = count(b); n > 0; --n) {
      const std::uint64_t w = fifo_read(b);
      for (unsigned i = 0; i < 8; ++i) got.push_back(static_cast<std::byte>(w >> 8 * i));
    }
  };
  while (got.size() < blocks * 512) {
    if (b.status() & kIntRxdr) {
      drain();
      b.write(reg("RINTSTS"), kIntRxdr);
    }
    if (b.status() & kIntDataOver) drain();
    if (got.size() < blocks * 512) step(b);
  }
  return got;
}

}  // namespace

TEST_CASE("a PIO read by watermark: RXDR above RX_WMARK, the rest at DATA_OVER") {
  DwmmcParams p = bench_params();
  p.fifo_depth = 32;
  Bench b(p);
  b.start_card();
  b.write(reg("FIFOTH"), 7u << 16 | 16);
  b.data_command(18, 40, 3, kRead);
  const auto got = read_by_pio(b, 3);
  REQUIRE(got.size() == 1536);
  for (unsigned i = 0; i < 1536; ++i) REQUIRE(got[i] == MockCard::content(40 + i / 512, i % 512));
  b.run_until(kIntDataOver);
  CHECK((b.status() & kIntDataErrors) == 0);
  CHECK(b.read(reg("TBBCNT")) == 1536);
}

TEST_CASE("RXDR comes back while the FIFO stays above its watermark") {
  Bench b;
  b.start_card();
  b.write(reg("FIFOTH"), 31u << 16);
  b.data_command(17, 0, 1, kRead);
  b.run_until(kIntRxdr);
  CHECK(count(b) > 31);
  b.write(reg("RINTSTS"), kIntRxdr);
  CHECK((b.status() & kIntRxdr) != 0);
  while (count(b) > 31) fifo_read(b);
  b.write(reg("RINTSTS"), kIntRxdr);
  CHECK((b.status() & kIntRxdr) == 0);
}

TEST_CASE("a PIO read with the watermark at the FIFO's end still moves") {
  DwmmcParams p = bench_params();
  p.fifo_depth = 16;
  Bench b(p);
  b.start_card();
  b.write(reg("FIFOTH"), 15u << 16);
  b.data_command(18, 1, 2, kRead);
  const auto got = read_by_pio(b, 2);
  for (unsigned i = 0; i < 1024; ++i) REQUIRE(got[i] == MockCard::content(1 + i / 512, i % 512));
}

TEST_CASE("a PIO write: TXDR at or below TX_WMARK until all bytes are in") {
  DwmmcParams p = bench_params();
  p.fifo_depth = 32;
  Bench b(p);
  b.start_card();
  b.write(reg("FIFOTH"), 15u << 16 | 16);
  b.data_command(25, 0, 3, kWrite);
  unsigned sent = 0;
  while (!(b.status() & kIntDataOver)) {
    if ((b.status() & kIntTxdr) && sent < 192) {
      while (count(b) < 32 && sent < 192) fifo_write(b, 0x0101010101010101ULL * (sent & 0xFF)), ++sent;
      b.write(reg("RINTSTS"), kIntTxdr);
    }
    step(b);
  }
  CHECK((b.status() & kIntDataErrors) == 0);
  CHECK((b.status() & kIntTxdr) == 0);
  REQUIRE(b.card.written.size() == 1536);
  for (unsigned i = 0; i < 1536; ++i) REQUIRE(b.card.written[i] == static_cast<std::byte>(i / 8));
}

TEST_CASE("the FIFO may be filled before the command") {
  Bench b;
  b.start_card();
  for (unsigned i = 0; i < 64; ++i) fifo_write(b, i);
  CHECK(count(b) == 64);
  b.data_command(24, 0, 1, kWrite);
  b.run_until(kIntDataOver);
  REQUIRE(b.card.written.size() == 512);
  for (unsigned i = 0; i < 64; ++i) REQUIRE(b.card.written[8 * i] == static_cast<std::byte>(i));
}

TEST_CASE("more than the FIFO holds is an overrun, more than it has an underrun: FRUN") {
  DwmmcParams p = bench_params();
  p.fifo_depth = 16;
  Bench b(p);
  b.start_card();
  for (unsigned i = 0; i < 16; ++i) fifo_write(b, i);
  CHECK((b.status() & kIntFifoRun) == 0);
  CHECK((b.read(reg("STATUS")) & mask("STATUS", "FIFO_FULL")) != 0);
  fifo_write(b, 99);
  CHECK((b.status() & kIntFifoRun) != 0);
  CHECK(count(b) == 16);
  b.clear_status();
  for (unsigned i = 0; i < 16; ++i) CHECK(fifo_read(b) == i);
  CHECK((b.status() & kIntFifoRun) == 0);
  CHECK(fifo_read(b) == 0);
  CHECK((b.status() & kIntFifoRun) != 0);
}

TEST_CASE("a read nobody empties stops the clock: HTO after TMOUT, and it goes on when the FIFO is read") {
  DwmmcParams p = bench_params();
  p.fifo_depth = 16;
  Bench b(p);
  b.start_card();
  b.write(reg("FIFOTH"), 7u << 16);
  b.write(reg("TMOUT"), 5000u << 8 | 64);
  const sc_time t = b.data_command(17, 2, 1, kRead);
  // Two quanta of 8 words fill the FIFO: 1 + 128 data bytes / 2 per clock.
  CHECK(b.run_until(kIntHostTimeout) - t == cycles(4 + 48 + 2 + 1 + 64 + 5000));
  CHECK((b.status() & kIntDataOver) == 0);
  const auto got = read_by_pio(b, 1);
  for (unsigned i = 0; i < 512; ++i) REQUIRE(got[i] == MockCard::content(2, i));
  b.run_until(kIntDataOver);
}

TEST_CASE("a write nobody feeds starves: HTO") {
  Bench b;
  b.start_card();
  b.write(reg("TMOUT"), 5000u << 8 | 64);
  const sc_time t = b.data_command(24, 0, 1, kWrite);
  CHECK(b.run_until(kIntHostTimeout) - t == cycles(4 + 48 + 12 + 48 + 2 + 5000));
}

TEST_CASE("a 64-bit read of a 32-bit FIFO pops one word and is found") {
  DwmmcParams p = bench_params(false);
  p.hcon = kHconWord32;
  Bench b(p);
  b.start_card();
  for (std::uint32_t i = 1; i <= 4; ++i) fifo_write(b, i, 4);
  CHECK(fifo_read(b, 8) == 1);
  CHECK(b.findings("dwmmc.fifo_access_width") == 1);
  CHECK(count(b) == 3);
  CHECK(fifo_read(b, 4) == 2);
  CHECK(b.findings("dwmmc.fifo_access_width") == 1);
}

TEST_CASE("a 64-bit FIFO built for halves moves a word in two 32-bit accesses") {
  DwmmcParams p = bench_params();
  p.fifo64_32 = true;
  Bench b(p);
  b.start_card();
  fifo_write(b, 0x11111111, 4, 0x200);
  CHECK(count(b) == 0);
  fifo_write(b, 0x22222222, 4, 0x204);
  CHECK(count(b) == 1);
  CHECK(fifo_read(b, 4, 0x200) == 0x11111111);
  CHECK(fifo_read(b, 4, 0x204) == 0x22222222);
  CHECK(b.ctx.findings.empty());
}

TEST_CASE("bytes left over in the FIFO are found when an IDMAC transfer starts") {
  Bench b;
  b.start_card();
  fifo_write(b, 1);
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.data_command(17, 1, 1, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  CHECK(b.findings("dwmmc.fifo_not_empty") == 1);
  CHECK(*b.ram(0x20000) == MockCard::content(1, 0));
}

TEST_CASE("CTRL's FIFO reset empties it") {
  Bench b;
  b.start_card();
  fifo_write(b, 1);
  b.write(reg("CTRL"), mask("CTRL", "FIFO_RESET"));
  CHECK(count(b) == 0);
  CHECK((b.read(reg("STATUS")) & mask("STATUS", "FIFO_EMPTY")) != 0);
}
