// Descriptor rules and what the IDMAC does when a list cannot go on.
#include "sc_tests/dwmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

void check_read(Bench& b, std::uint64_t address, std::uint64_t lba, std::uint32_t from, std::uint32_t bytes) {
  for (std::uint32_t i = 0; i < bytes; ++i)
    REQUIRE(*b.ram(address + i) == MockCard::content(lba + (from + i) / 512, (from + i) % 512));
}

void suspend_and_resume(TimingStyle style, std::uint64_t depth, bool wide) {
  DwmmcParams p = bench_params(wide);
  p.prefetch_depth = depth;
  Bench b(p, style);
  b.start_card();
  const auto d = b.chain(0x1000, {{0x20000, 4096}, {0x30000, 4096}, {0x40000, 4096}});
  b.put(d[1], {b.des0(d[1]) & ~std::uint32_t{kDesOwn}, 0x30000, 4096, d[2], 0});
  b.idmac(0x1000);
  b.data_command(18, 0, 24, kRead);
  b.run_until(0, kIdUnavailable | kIdAbnormal);
  CHECK((b.idsts() >> kIdFsmShift & 15) == 1);  // SUSPEND
  CHECK(b.irq.level);
  CHECK(b.findings("dwmmc.descriptor_unavailable") == 1);
  CHECK(b.ctx.findings.kept()[0].text.find("descriptor 1 ") != std::string::npos);
  CHECK((b.status() & kIntDataOver) == 0);
  b.clear_status();
  // The FIFO fills and the card clock stops; after TMOUT the host says so.
  b.run_until(kIntHostTimeout);
  b.write(reg("PLDMND"), 1);  // still not owned
  b.run_until(0, kIdUnavailable);
  b.clear_status();
  b.put(d[1], {kDesOwn | kDesChained | kDesNoInterrupt, 0x30000, 4096, d[2], 0});
  b.write(reg("PLDMND"), 1);
  b.run_until(kIntDataOver, kIdReceive);
  CHECK((b.status() & kIntDataErrors) == 0);
  check_read(b, 0x20000, 0, 0, 4096);
  check_read(b, 0x30000, 0, 4096, 4096);
  check_read(b, 0x40000, 0, 8192, 4096);
  CHECK(b.host.data().counters().unavailable == 2);
}

}  // namespace

TEST_CASE("OWN = 0 suspends the IDMAC, poll demand reads the same descriptor again") {
  suspend_and_resume(TimingStyle::at, 0, true);
}
TEST_CASE("OWN = 0 suspends the IDMAC, poll demand reads the same descriptor again (lt)") {
  suspend_and_resume(TimingStyle::lt, 0, true);
}
TEST_CASE("OWN = 0 met by prefetch suspends only when it is needed") {
  suspend_and_resume(TimingStyle::at, 4, false);
}
TEST_CASE("OWN = 0 met by prefetch suspends only when it is needed (lt)") {
  suspend_and_resume(TimingStyle::lt, 4, false);
}

namespace {

void write_suspends(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  const auto d = b.chain(0x1000, {{0x20000, 1024}, {0x30000, 1024}});
  for (unsigned i = 0; i < 1024; ++i)
    *b.ram(0x20000 + i) = static_cast<std::byte>(i), *b.ram(0x30000 + i) = static_cast<std::byte>(i / 3);
  const std::uint32_t word = b.des0(d[1]);
  b.put(d[1], {word & ~std::uint32_t{kDesOwn}, 0x30000, 1024, 0, 0});
  b.idmac(0x1000);
  b.data_command(25, 0, 4, kWrite);
  b.run_until(kIntHostTimeout, kIdUnavailable);
  CHECK(b.card.written.size() == 1024);  // what there was has gone
  b.put(d[1], {word, 0x30000, 1024, 0, 0});
  b.write(reg("PLDMND"), 1);
  b.run_until(kIntDataOver, kIdTransmit);
  REQUIRE(b.card.written.size() == 2048);
  for (unsigned i = 0; i < 1024; ++i) REQUIRE(b.card.written[1024 + i] == static_cast<std::byte>(i / 3));
}

}  // namespace

// A driver that steps through 32-byte descriptors as if they had 16 bytes gives only the first one away.
TEST_CASE(
    "of three segments only the first is the IDMAC's: the transfer stalls after 4 KiB, the second is named") {
  Bench b;
  b.start_card();
  const auto d = b.chain(0x1000, {{0x20000, 4096}, {0x30000, 4096}, {0x40000, 4096}});
  for (const std::uint64_t at : {d[1], d[2]}) b.put(at, {kDesChained, 0x30000, 4096, at + 32, 0});
  b.idmac(0x1000);
  b.data_command(18, 0, 24, kRead);
  b.run_until(0, kIdUnavailable);
  CHECK(b.read(reg("TBBCNT")) == 4096);
  REQUIRE(b.ctx.findings.kept().size() == 1);
  CHECK(b.ctx.findings.kept()[0].text.find("descriptor 1 at 0x1020 has OWN = 0") != std::string::npos);
  CHECK(b.read(b.id.descriptor_low) == d[1]);
}

TEST_CASE("a write whose list is suspended stops the clock with the FIFO empty and goes on") {
  write_suspends(TimingStyle::at);
}
TEST_CASE("a write whose list is suspended stops the clock with the FIFO empty and goes on (lt)") {
  write_suspends(TimingStyle::lt);
}

TEST_CASE("the list is followed by its pointers, backwards and far apart") {
  Bench b;
  b.start_card();
  b.put(0x9000, {kDesOwn | kDesFirst | kDesChained | kDesNoInterrupt, 0x20000, 512, 0x1040, 0});
  b.put(0x1040, {kDesOwn | kDesChained | kDesNoInterrupt, 0x30000, 512, Bench::kHighBase + 0x500, 0});
  b.put(Bench::kHighBase + 0x500, {kDesOwn | kDesLast, 0x40000, 512, 0, 0});
  b.idmac(0x9000);
  b.data_command(18, 7, 3, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  check_read(b, 0x20000, 7, 0, 512);
  check_read(b, 0x30000, 7, 512, 512);
  check_read(b, 0x40000, 7, 1024, 512);
  CHECK(b.read(b.id.descriptor_low) == (Bench::kHighBase + 0x500 & 0xFFFFFFFF));
  CHECK(b.read(b.id.descriptor_high) == Bench::kHighBase >> 32);
}

TEST_CASE("LD ends the list even with CH set") {
  Bench b;
  b.start_card();
  b.put(0x1000, {kDesOwn | kDesFirst | kDesLast | kDesChained, 0x20000, 512, 0x2000, 0});
  b.put(0x2000, {0, 0, 0, 0, 0});  // OWN = 0: must not be looked at
  b.idmac(0x1000);
  b.data_command(17, 1, 1, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  b.run_out();
  CHECK((b.idsts() & kIdUnavailable) == 0);
  CHECK(b.host.data().counters().descriptors == 1);
}

TEST_CASE("ER takes the ring back to its base") {
  Bench b(bench_params(false));
  b.start_card();
  // Two descriptors of 512 bytes in a ring, eight blocks: the driver hands each back when its turn is over.
  const auto own = [&](unsigned i) {
    b.put(0x1000 + i * 16,
          {kDesOwn | (i == 1 ? std::uint32_t{kDesEndOfRing} : 0u), 0x20000 + i * 0x1000u, 512, 0, 0});
  };
  own(0), own(1);
  b.idmac(0x1000);
  b.data_command(18, 0, 8, kRead);
  for (unsigned block = 0; block < 8; ++block) {
    b.run_until(0, kIdReceive);
    check_read(b, 0x20000 + block % 2 * 0x1000, block, 0, 512);
    b.clear_status();
    own(block % 2);
    b.write(reg("PLDMND"), 1);
  }
  CHECK(b.host.data().counters().closes == 8);
}

TEST_CASE("a ring without ER runs into what lies behind it") {
  Bench b(bench_params(false));
  b.start_card();
  b.put(0x1000, {kDesOwn | kDesFirst, 0x20000, 512, 0, 0});
  b.put(0x1010, {kDesOwn, 0x21000, 512, 0, 0});  // no ER, no LD, and zeros behind
  b.idmac(0x1000);
  b.data_command(18, 0, 8, kRead);
  b.run_until(0, kIdUnavailable);
  CHECK(b.findings("dwmmc.descriptor_unavailable") == 1);
  CHECK(b.ctx.findings.kept()[0].addresses[0] == 0x1020);
  b.run_until(kIntHostTimeout);  // nothing hangs silently
}

TEST_CASE("DBADDR's low bits are ignored") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1003);
  b.data_command(17, 1, 1, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  check_read(b, 0x20000, 1, 0, 512);
}

TEST_CASE("every data command starts from DBADDR again, without poll demand") {
  Bench b;
  b.start_card();
  for (unsigned i = 0; i < 3; ++i) {
    b.chain(0x1000 + i * 0x100, {{0x20000 + i * 0x1000, 512}});
    b.idmac(0x1000 + i * 0x100);
    b.data_command(17, i, 1, kRead);
    b.run_until(kIntDataOver, kIdReceive);
    check_read(b, 0x20000 + i * 0x1000, i, 0, 512);
    b.clear_status();
  }
}

TEST_CASE("a misaligned buffer is found and its low bits are ignored") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20002, 512}});
  b.idmac(0x1000);
  b.data_command(17, 3, 1, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  CHECK(b.findings("dwmmc.buffer_misaligned") == 1);
  check_read(b, 0x20000, 3, 0, 512);
}

namespace {

/// 8192 in a chained descriptor: 13 bits hold 0, the rest runs into size 2.
void over_8191(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  b.put(0x1000, {kDesOwn | kDesFirst | kDesChained | kDesNoInterrupt, 0x20000, 8192, 0x1020, 0});
  b.put(0x1020, {kDesOwn | kDesLast, 0x30000, 512, 0, 0});
  b.idmac(0x1000);
  b.data_command(18, 0, 17, kRead);
  b.run_until(kIntHostTimeout);
  CHECK(b.findings("dwmmc.size2_with_chain") == 1);
  CHECK(b.findings("dwmmc.descriptor_empty") == 1);
  CHECK(b.findings("dwmmc.list_too_short") == 1);
  check_read(b, 0x30000, 0, 0, 512);  // the data went where the next descriptor said
  CHECK((b.des0(0x1000) & kDesOwn) == 0);
}

}  // namespace

TEST_CASE("a length over 8191 is cut to 13 bits and found, and the list starves") {
  over_8191(TimingStyle::at);
}
TEST_CASE("a length over 8191 is cut to 13 bits and found, and the list starves (lt)") {
  over_8191(TimingStyle::lt);
}

TEST_CASE("a chained descriptor over 4 KiB is found and moved") {
  Bench b;
  b.start_card();
  b.chain(0x1000, {{0x20000, 8188}, {0x30000, 4}});
  b.idmac(0x1000);
  b.data_command(18, 0, 16, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  CHECK(b.findings("dwmmc.descriptor_over_4k") == 1);
  check_read(b, 0x20000, 0, 0, 8188);
  check_read(b, 0x30000, 0, 8188, 4);
}

namespace {

void unmapped_descriptor(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  b.chain(0x1000, {{0x20000, 512}});
  b.put(0x1000, {kDesOwn | kDesFirst | kDesChained, 0x20000, 512, Bench::kUnmapped, 0});
  b.idmac(0x1000);
  b.data_command(18, 0, 8, kRead);
  b.run_until(0, kIdFatalBusError | kIdAbnormal);
  CHECK((b.idsts() >> kIdEbShift & 7) == kIdEbReceive);
  b.run_until(kIntHostTimeout);
  // The driver's way out: resets, and the next transfer is good.
  b.write(reg("CTRL"), b.read(reg("CTRL")) | 7);
  b.write(reg("BMOD"), mask("BMOD", "SWR"));
  b.advance(cycles(16));
  b.clear_status();
  b.command(12, 0, kStop);
  b.run_until(kIntCommandDone);
  b.clear_status();
  CHECK((b.idsts() >> kIdEbShift & 7) == 0);
  b.chain(0x1000, {{0x50000, 512}});
  b.idmac(0x1000);
  b.data_command(17, 5, 1, kRead);
  b.run_until(kIntDataOver, kIdReceive);
  check_read(b, 0x50000, 5, 0, 512);
}

void unmapped_buffer(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  b.chain(0x1000, {{Bench::kUnmapped, 512}});
  b.idmac(0x1000);
  b.data_command(24, 0, 1, kWrite);
  b.run_until(0, kIdFatalBusError | kIdAbnormal);
  CHECK((b.idsts() >> kIdEbShift & 7) == kIdEbTransmit);
  b.run_until(kIntHostTimeout);
  CHECK(b.card.written.empty());
}

}  // namespace

TEST_CASE("an unmapped descriptor is a fatal bus error, and a reset mends it") {
  unmapped_descriptor(TimingStyle::at);
}
TEST_CASE("an unmapped descriptor is a fatal bus error, and a reset mends it (lt)") {
  unmapped_descriptor(TimingStyle::lt);
}
TEST_CASE("an unmapped buffer of a write is a transmit bus error") { unmapped_buffer(TimingStyle::at); }
TEST_CASE("an unmapped buffer of a write is a transmit bus error (lt)") { unmapped_buffer(TimingStyle::lt); }

TEST_CASE("without a receive watermark there is no DMA request, and the model says why") {
  Bench b;
  b.start_card();
  b.write(reg("FIFOTH"), 0);
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.data_command(18, 0, 8, kRead);
  b.run_until(kIntHostTimeout);
  CHECK(b.findings("dwmmc.no_dma_request") == 1);
  CHECK(b.host.data().counters().bursts == 0);
  CHECK((b.read(reg("STATUS")) & mask("STATUS", "FIFO_FULL")) != 0);
}

TEST_CASE("a burst longer than the FIFO never starts and is found") {
  DwmmcParams p = bench_params();
  p.fifo_depth = 32;
  Bench b(p);
  b.start_card();
  b.write(reg("FIFOTH"), 5u << 28 | 15u << 16 | 16);  // 64 beats
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.data_command(17, 0, 1, kRead);
  b.run_until(kIntHostTimeout);
  CHECK(b.findings("dwmmc.burst_over_fifo") == 1);
}

TEST_CASE("IDINTEN masks interrupts and summaries, not the status") {
  Bench b;
  b.start_card();
  b.write(b.id.enable, kIdNormal);  // RI itself not enabled
  b.write(reg("INTMASK"), 0);
  b.chain(0x1000, {{0x20000, 512}});
  b.idmac(0x1000);
  b.data_command(17, 0, 1, kRead);
  b.run_until(0, kIdReceive);
  CHECK((b.idsts() & kIdNormal) == 0);
  CHECK_FALSE(b.irq.level);
  b.write(b.id.enable, kIdNormal | kIdReceive);
  CHECK((b.idsts() & kIdNormal) != 0);
  CHECK(b.irq.level);
}
