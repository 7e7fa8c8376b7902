// ADMA2 at its edges: addresses above 4 GiB, 26-bit lengths, SDMA boundaries of every size, and the same counts of
// descriptors, bursts, bytes and interrupts in both timing styles.
#include <random>

#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

using Format = Bench::Format;

void expect_read(Bench& b, std::uint64_t address, std::size_t bytes, std::size_t from = 0) {
  for (std::size_t i = 0; i < bytes; ++i)
    REQUIRE(*b.ram(address + i) == MockCard::content((from + i) / 512, (from + i) % 512));
}

/// A table above 4 GiB (when `high_table`) whose data lie above 4 GiB, read and written back.
void above_4_gib(Format format, TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  const std::uint64_t table = Bench::kHighBase + 0x1000, data = Bench::kHighBase + 0x0123'4000;
  b.table(table, format, {{data, 1024, kTran}, {0x20000, 512, kTran}, {data + 0x10000, 512, kTranEnd}});
  b.select(format, table);
  b.data_command(18, 0, 4, kReadMulti);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  expect_read(b, data, 1024);
  expect_read(b, 0x20000, 512, 1024);
  expect_read(b, data + 0x10000, 512, 1536);
  CHECK(*b.ram(data & 0x3FFFFFFF) == std::byte{0});  // not where 32 address bits would end
  b.clear_status();
  b.select(format, table);
  b.data_command(25, 0, 4, kWriteMulti);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  REQUIRE(b.card.written.size() == 2048);
  for (std::size_t i = 0; i < 2048; ++i) REQUIRE(b.card.written[i] == MockCard::content(i / 512, i % 512));
}

}  // namespace

TEST_CASE("96-bit descriptors and their data may lie above 4 GiB") {
  above_4_gib(Format::adma96, TimingStyle::at);
}
TEST_CASE("128-bit descriptors and their data may lie above 4 GiB") {
  above_4_gib(Format::adma128, TimingStyle::at);
}
TEST_CASE("96-bit descriptors above 4 GiB by reservation") { above_4_gib(Format::adma96, TimingStyle::lt); }
TEST_CASE("128-bit descriptors above 4 GiB by reservation") { above_4_gib(Format::adma128, TimingStyle::lt); }

TEST_CASE("32-bit addressing ignores the upper address register") {
  Bench b;
  b.start_card();
  b.table(0x1000, Format::adma32, {{0x20000, 512, kTranEnd}});
  b.select(Format::adma32, 0x4'0000'1000);
  b.data_command(17, 0, 0, kReadSingle);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  expect_read(b, 0x20000, 512);
}

TEST_CASE(
    "with 26-bit lengths one descriptor moves more than 64 KiB, without them the upper bits do not count") {
  Bench b;
  b.start_card();
  const std::uint32_t bytes = 257 * 512;  // 0x20200: length bits 25:16 = 2, 15:0 = 0x200
  b.table(0x1000, Format::adma128, {{0x100000, bytes & 0xFFFF, kTranEnd | (bytes >> 16) << 6}});
  b.select(Format::adma128, 0x1000);
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) | 0x0400);
  b.data_command(18, 0, 257, kReadMulti);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  expect_read(b, 0x100000, bytes);
  CHECK(b.host.data().counters().descriptors == 1);
  b.clear_status();
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, b.read(reg_offset(kRegs, "HOST_CONTROL2"), 2) & ~0x0400ULL);
  b.select(Format::adma128, 0x1000);
  b.data_command(18, 0, 1, kReadMulti);  // 0x200 bytes: one block
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
}

TEST_CASE("the ADMA address registers show the descriptor in use while data move") {
  Bench b;
  b.start_card();
  std::vector<Bench::Descriptor> list(16, {Bench::kHighBase + 0x20000, 1024, kTran});
  list.back().attr = kTranEnd;
  b.table(Bench::kHighBase + 0x1000, Format::adma128, list);
  b.select(Format::adma128, Bench::kHighBase + 0x1000);
  const sc_time t = b.data_command(18, 0, 32, kReadMulti);
  // Block 9 (from 0) belongs to descriptor 4; it is in memory before block 10 has come.
  b.advance(t + cycles(4 + 48 + 2 + 10 * 274 + 9 * 45 + 2 + 10) - sc_time_stamp());
  CHECK(b.read(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), 4) ==
        ((Bench::kHighBase + 0x1000 + 5 * 16 - 16) & 0xFFFFFFFF));
  CHECK(b.read(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"), 4) == 2);
  b.run_to_end();
}

// --- SDMA ---

namespace {

/// 2 KiB up to a boundary, one whole buffer, then the end exactly at the next boundary: one interrupt.
void sdma(Bench& b, unsigned n, bool v4, bool write) {
  INFO("boundary 4 KiB << " << n << (v4 ? ", V4" : ", V3") << (write ? ", write" : ", read"));
  const std::uint64_t boundary = 4096ull << n;
  const std::uint64_t start = (v4 ? Bench::kHighBase : 0) + 0x100'0000 + boundary - 2048;
  const std::uint32_t bytes = static_cast<std::uint32_t>(2048 + boundary);
  if (write)
    for (std::uint32_t i = 0; i < bytes; ++i) *b.ram(start + i) = static_cast<std::byte>(i * 7 + i / 512);
  b.card.written.clear();
  const auto address = [&](std::uint64_t a) {
    if (!v4) return (void)b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, a);
    b.write(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), 4, a & 0xFFFFFFFF);
    b.write(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"), 4, a >> 32);  // 64 bit: the upper word goes on
  };
  b.write(reg_offset(kRegs, "HOST_CONTROL1"), 1, 0x20);
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, kUhsHs400 | (v4 ? 0x3000u : 0u));
  b.clear_status();
  address(start);
  b.write(reg_offset(kRegs, "BLOCK_SIZE"), 2, n << 12 | 512);
  b.write(reg_offset(kRegs, "BLOCK_COUNT"), 2, bytes / 512);
  b.write(reg_offset(kRegs, "ARGUMENT"), 4, 0);
  b.write(reg_offset(kRegs, "TRANSFER_MODE"), 2, write ? kWriteMulti : kReadMulti);
  b.write(reg_offset(kRegs, "COMMAND"), 2, (write ? 25 : 18) << 8 | 0x3A);
  b.run_until(kIntDma);
  b.advance(sc_time(1, sc_core::SC_MS));  // nothing moves until the address is written
  CHECK((b.status() & kIntTransferComplete) == 0);
  b.clear_status();
  address(start + 2048);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  if (!write) return expect_read(b, start, bytes);
  REQUIRE(b.card.written.size() == bytes);
  for (std::uint32_t i = 0; i < bytes; ++i)
    REQUIRE(b.card.written[i] == static_cast<std::byte>(i * 7 + i / 512));
}

}  // namespace

TEST_CASE("SDMA stops at boundaries of 4 KiB to 512 KiB, V3 reads and writes") {
  Bench b;
  b.start_card();
  for (unsigned n = 0; n < 8; ++n) sdma(b, n, false, false), sdma(b, n, false, true);
}
TEST_CASE("SDMA stops at boundaries of 4 KiB to 512 KiB, V4 with 64-bit addresses above 4 GiB") {
  Bench b;
  b.start_card();
  for (unsigned n = 0; n < 8; ++n) sdma(b, n, true, false), sdma(b, n, true, true);
}
TEST_CASE("SDMA in lt style stops at its boundaries too") {
  Bench b(bench_params(), TimingStyle::lt);
  b.start_card();
  for (unsigned n = 0; n < 8; ++n) sdma(b, n, false, n % 2), sdma(b, n, true, n % 2);
}

// --- counts, in both styles ---

namespace {

constexpr std::uint64_t kBeat = 8, kMaxBeats = 16;

/// Bursts of [a, a + n): at most 16 beats of 8 bytes, never across 4 KiB.
std::uint64_t bursts(std::uint64_t a, std::uint64_t n) {
  std::uint64_t count = 0;
  for (const std::uint64_t end = a + n; a < end; ++count)
    a = std::min({end, (a / kBeat + kMaxBeats) * kBeat, (a / 4096 + 1) * 4096});
  return count;
}

/// The engine moves per block and segment: a piece ends where either ends.
std::uint64_t piece_bursts(const std::vector<Bench::Descriptor>& list) {
  std::uint64_t count = 0, at = 0;
  for (const auto& d : list)
    for (std::uint64_t done = 0; done < d.length;) {
      const std::uint64_t n = std::min<std::uint64_t>(d.length - done, 512 - at % 512);
      count += bursts(d.address + done, n);
      done += n, at += n;
    }
  return count;
}

void counts(TimingStyle style, std::uint64_t depth, Format format) {
  SdhciParams p = bench_params();
  p.prefetch_depth = depth;
  Bench b(p, style);
  b.start_card();
  std::mt19937 rng(7);
  std::uint64_t descriptors = 0, descriptor_bursts = 0, data_bursts[2] = {}, bytes = 0, descriptor_bytes = 0,
                irqs = 0;
  for (unsigned round = 0; round < 6; ++round) {
    const std::uint32_t blocks = 1 + rng() % 40;
    std::vector<Bench::Descriptor> list;
    for (std::uint32_t done = 0; done < blocks * 512;) {
      const std::uint32_t n =
          std::min<std::uint32_t>(4 * (1 + rng() % (round % 2 ? 16 : 1024)), blocks * 512 - done);
      list.push_back({0x100000 + list.size() * 0x2000 + 4 * (rng() % 1024), n, kTran});
      done += n;
    }
    const std::uint64_t data = piece_bursts(list);
    list.push_back({0, 0, kNopEnd});  // as Linux ends its tables
    b.table(0x1000, format, list);
    for (const bool write : {false, true}) {
      b.select(format, 0x1000);
      b.data_command(write ? 25 : 18, 0, blocks, write ? kWriteMulti : kReadMulti);
      b.run_to_end();
      REQUIRE(b.status() == kIntTransferComplete);
      b.clear_status();
      data_bursts[write] += data;
      descriptors += list.size();
      bytes += blocks * 512;
      irqs += 2;  // Command Complete, Transfer Complete
      for (std::size_t i = 0; i < list.size(); ++i)
        descriptor_bursts += bursts(0x1000 + i * Bench::size_of(format), Bench::size_of(format));
      descriptor_bytes += list.size() * Bench::size_of(format);
    }
  }
  const AxiCounters c = b.host.dma_port().counters();
  CHECK(b.host.data().counters().descriptors == descriptors);
  CHECK(c.write_bytes == bytes / 2);
  CHECK(c.read_bytes == bytes / 2 + descriptor_bytes);
  CHECK(c.write_bursts == data_bursts[0]);
  CHECK(c.read_bursts == data_bursts[1] + descriptor_bursts);
  CHECK(b.host.counters().interrupts_raised == irqs);
}

}  // namespace

TEST_CASE("counts of a scatter list, depth 0, 32-bit") { counts(TimingStyle::at, 0, Format::adma32); }
TEST_CASE("counts of a scatter list, depth 1, 96-bit") { counts(TimingStyle::at, 1, Format::adma96); }
TEST_CASE("counts of a scatter list, depth 8, 128-bit") { counts(TimingStyle::at, 8, Format::adma128); }
TEST_CASE("counts of a scatter list by reservation, depth 0, 32-bit") {
  counts(TimingStyle::lt, 0, Format::adma32);
}
TEST_CASE("counts of a scatter list by reservation, depth 1, 96-bit") {
  counts(TimingStyle::lt, 1, Format::adma96);
}
TEST_CASE("counts of a scatter list by reservation, depth 8, 128-bit") {
  counts(TimingStyle::lt, 8, Format::adma128);
}
