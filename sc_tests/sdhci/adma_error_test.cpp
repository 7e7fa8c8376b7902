// ADMA errors: state, address, length mismatch, and the DWC 128 MiB rule.
#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr std::uint64_t kFetch = 1, kTransfer = 3, kMismatch = 4;
constexpr std::uint64_t kUnmapped = 0x8000'0000;  // beyond the bench's RAM
constexpr auto k32 = Bench::Format::adma32;

void run(Bench& b, unsigned blocks, std::uint64_t table = 0x1000, unsigned index = 18) {
  b.select(k32, table);
  b.data_command(index, 0, blocks, index == 18 ? kReadMulti : kWriteMulti);
  b.run_to_end();
}

void expect_error(Bench& b, std::uint64_t error, std::uint64_t address) {
  CHECK((b.status() & kIntAdma) != 0);
  CHECK((b.status() & kIntTransferComplete) == 0);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ERROR"), 1) == error);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), 4) == address);
}

/// Reset CMD and DAT, then a transfer that must work.
void recover(Bench& b) {
  b.write(reg_offset(kRegs, "SOFTWARE_RESET"), 1, 6);
  b.advance(sc_time(1, sc_core::SC_US));
  b.clear_status();
  b.card.blocks_left = 0;
  CHECK(b.read(reg_offset(kRegs, "ADMA_ERROR"), 1) == 0);
  b.table(0x9000, k32, {{0x60000, 512, kTranEnd}});
  run(b, 1, 0x9000);
  CHECK(b.status() == kIntTransferComplete);
}

}  // namespace

TEST_CASE("VALID = 0 in the first descriptor stops in ST_FDS at its address") {
  Bench b;
  b.start_card();
  b.table(0x1000, k32, {{0x20000, 512, 0x22}});
  run(b, 1);
  expect_error(b, kFetch, 0x1000);
  recover(b);
}

TEST_CASE("VALID = 0 further on stops in ST_FDS at that descriptor, for reads and writes") {
  Bench b;
  b.start_card();
  b.table(0x1000, k32, {{0x20000, 512, kTran}, {0x30000, 512, kTran}, {0x40000, 512, 0x22}});
  run(b, 3);
  expect_error(b, kFetch, 0x1010);
  recover(b);
  b.clear_status();
  run(b, 3, 0x1000, 25);
  expect_error(b, kFetch, 0x1010);
}

TEST_CASE("a table that cannot be read stops in ST_FDS") {
  Bench b;
  b.start_card();
  run(b, 1, kUnmapped);
  expect_error(b, kFetch, kUnmapped);
  CHECK(b.ctx.findings.count("axi.unmapped") >= 1);
  recover(b);
}

TEST_CASE("data that cannot be written stop in ST_TFR with the next descriptor's address") {
  Bench b;
  b.start_card();
  b.table(0x1000, k32, {{kUnmapped, 512, kTranEnd}});
  run(b, 1);
  expect_error(b, kTransfer, 0x1008);
  recover(b);
}

TEST_CASE("a table shorter than the transfer is a length mismatch") {
  Bench b;
  b.start_card();
  b.table(0x1000, k32, {{0x20000, 512, kTranEnd}});
  run(b, 2);
  CHECK((b.status() & kIntAdma) != 0);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ERROR"), 1) == (kTransfer | kMismatch));
  recover(b);
}

TEST_CASE("a table longer than the transfer is a length mismatch") {
  Bench b;
  b.start_card();
  b.table(0x1000, k32, {{0x20000, 512, kTran}, {0x30000, 512, kTranEnd}});
  run(b, 1);
  CHECK((b.status() & kIntAdma) != 0);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ERROR"), 1) == (kTransfer | kMismatch));
  recover(b);
}

TEST_CASE("a segment with bytes left over is a length mismatch") {
  Bench b;
  b.start_card();
  b.table(0x1000, k32, {{0x20000, 1024, kTranEnd}});
  run(b, 1);
  CHECK((b.status() & kIntAdma) != 0);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ERROR"), 1) == (kTransfer | kMismatch));
}

// --- 128 MiB: a descriptor's data must not cross a multiple of 0x0800_0000 ---

namespace {

/// One read of `blocks` blocks through a single descriptor at `address`.
void read_across(Bench& b, std::uint64_t address, unsigned blocks, std::uint32_t until) {
  b.table(0x1000, k32, {{address, blocks * 512, kTranEnd}});
  b.select(k32, 0x1000);
  b.data_command(18, 0, blocks, kReadMulti);
  b.run_until(until);
}
SdhciParams behaviour(const char* what) {
  SdhciParams p = bench_params();
  p.boundary_128m = what;
  return p;
}
constexpr std::uint32_t kAnyEnd = kIntTransferComplete | 0xFFFF0000;

}  // namespace

TEST_CASE("a range across 128 MiB is found at the exact byte, split there it is not") {
  Bench b(behaviour("ok"));
  b.start_card();
  read_across(b, 0x07FFF000, 16, kAnyEnd);  // 0x2000 bytes
  REQUIRE(b.ctx.findings.kept().size() == 1);
  CHECK(b.ctx.findings.kept()[0].addresses == std::vector<std::uint64_t>{0x1000, 0x07FFF000, 0x08000000});
  b.clear_status();
  read_across(b, 0x0FFFFE00, 2, kAnyEnd);  // 0x400 bytes
  REQUIRE(b.ctx.findings.kept().size() == 2);
  CHECK(b.ctx.findings.kept()[1].addresses[2] == 0x10000000);
  b.clear_status();
  b.table(0x1000, k32, {{0x07FFF000, 0x1000, kTran}, {0x08000000, 0x1000, kTranEnd}});
  b.select(k32, 0x1000);
  b.data_command(18, 0, 16, kReadMulti);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  CHECK(b.ctx.findings.count("dma.crosses_128m") == 2);
  for (std::size_t i = 0; i < 0x2000; ++i)
    REQUIRE(*b.ram(0x07FFF000 + i) == MockCard::content(i / 512, i % 512));
}

TEST_CASE("hardware that wraps at 27 bits writes the rest to the window's start") {
  Bench b(behaviour("wrap"));
  b.start_card();
  read_across(b, 0x0FFFFE00, 2, kAnyEnd);
  CHECK(b.status() == kIntTransferComplete);
  for (std::size_t i = 0; i < 512; ++i) {
    REQUIRE(*b.ram(0x0FFFFE00 + i) == MockCard::content(0, i));
    REQUIRE(*b.ram(0x08000000 + i) == MockCard::content(1, i));
    REQUIRE(*b.ram(0x10000000 + i) == std::byte{0});
  }
}

TEST_CASE("hardware that raises an ADMA error has moved what lies before the boundary") {
  Bench b(behaviour("adma_error"));
  b.start_card();
  read_across(b, 0x0FFFFE00, 2, kAnyEnd);
  CHECK((b.status() & kIntAdma) != 0);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ERROR"), 1) == kTransfer);
  CHECK(*b.ram(0x0FFFFE00 + 511) == MockCard::content(0, 511));
  CHECK(*b.ram(0x10000000) == std::byte{0});
  recover(b);
}

TEST_CASE("hardware that stalls ends in the data timeout") {
  Bench b(behaviour("stall"));
  b.start_card();
  b.write(reg_offset(kRegs, "TIMEOUT_CONTROL"), 1, 0);  // 2^13 us at 1 MHz
  read_across(b, 0x0FFFFE00, 2, kAnyEnd);
  CHECK((b.status() & kIntDataTimeout) != 0);
  CHECK(*b.ram(0x10000000) == std::byte{0});
  recover(b);
}

TEST_CASE("by reservation the boundary behaves the same") {
  Bench b(behaviour("wrap"), TimingStyle::lt);
  b.start_card();
  read_across(b, 0x0FFFFE00, 2, kAnyEnd);
  CHECK(b.status() == kIntTransferComplete);
  CHECK(b.ctx.findings.count("dma.crosses_128m") == 1);
  CHECK(*b.ram(0x08000000 + 5) == MockCard::content(1, 5));
}

// --- errors further on, in both styles; the engine has read ahead, the address still names the failing descriptor ---

namespace {

/// Descriptor 2 of 6 has an address nobody answers; ST_TFR shows the one after it.
void bad_data_in_the_middle(TimingStyle style, std::uint64_t depth, unsigned index) {
  SdhciParams p = bench_params();
  p.prefetch_depth = depth;
  Bench b(p, style);
  b.start_card();
  std::vector<Bench::Descriptor> list(6, {0x20000, 512, kTran});
  list[2].address = kUnmapped;
  list[5].attr = kTranEnd;
  b.table(0x1000, k32, list);
  run(b, 6, 0x1000, index);
  expect_error(b, kTransfer, 0x1000 + 3 * 8);
  recover(b);
}
void unmapped_link(TimingStyle style) {
  Bench b(bench_params(), style);
  b.start_card();
  b.table(0x1000, k32, {{0x20000, 512, kTran}, {kUnmapped, 0, kLink}});
  run(b, 2);
  expect_error(b, kFetch, kUnmapped);
  recover(b);
}

}  // namespace

TEST_CASE("bad data address in the middle of a read, depth 0") {
  bad_data_in_the_middle(TimingStyle::at, 0, 18);
}
TEST_CASE("bad data address in the middle of a read, depth 8") {
  bad_data_in_the_middle(TimingStyle::at, 8, 18);
}
TEST_CASE("bad data address in the middle of a write, depth 8") {
  bad_data_in_the_middle(TimingStyle::at, 8, 25);
}
TEST_CASE("bad data address in the middle of a read by reservation") {
  bad_data_in_the_middle(TimingStyle::lt, 8, 18);
}
TEST_CASE("bad data address in the middle of a write by reservation") {
  bad_data_in_the_middle(TimingStyle::lt, 8, 25);
}
TEST_CASE("a LINK to where nobody answers stops in ST_FDS there") { unmapped_link(TimingStyle::at); }
TEST_CASE("a LINK to where nobody answers stops in ST_FDS there, by reservation") {
  unmapped_link(TimingStyle::lt);
}

TEST_CASE(
    "an address with more bits than 32-bit descriptors have reads a wrong table: ST_FDS and the address "
    "used") {
  Bench b;
  b.start_card();
  run(b, 1, 0x4'1AB5'5200);  // F035: bits above 31 are dropped; zeros there are no valid descriptor
  expect_error(b, kFetch, 0x1AB5'5200);
}

TEST_CASE("a 64-bit table address nobody answers is shown whole") {
  Bench b;
  b.start_card();
  b.select(Bench::Format::adma128, 0x4'1AB5'5200);
  b.data_command(8, 0, 0, kReadSingle);
  b.run_to_end();
  expect_error(b, kFetch, 0x1AB5'5200);
  CHECK(b.read(reg_offset(kRegs, "ADMA_ADDRESS_HIGH"), 4) == 4);
}

namespace {

/// A write of two blocks from 0x0FFF_FE00: bytes 1 below the boundary, 2 above it, 3 at the window's start.
void write_across(const char* what, TimingStyle style, std::uint32_t bit, std::vector<int> blocks) {
  Bench b(behaviour(what), style);
  b.start_card();
  b.write(reg_offset(kRegs, "TIMEOUT_CONTROL"), 1, 0);
  std::memset(b.ram(0x0FFFFE00, 512), 1, 512);
  std::memset(b.ram(0x10000000, 512), 2, 512);
  std::memset(b.ram(0x08000000, 512), 3, 512);
  b.table(0x1000, k32, {{0x0FFFFE00, 1024, kTranEnd}});
  run(b, 2, 0x1000, 25);
  CHECK((b.status() & ~kIntError & ~kIntCommandComplete) == bit);
  CHECK(b.ctx.findings.count("dma.crosses_128m") == 1);
  std::vector<std::byte> expected;
  for (const int v : blocks) expected.insert(expected.end(), 512, static_cast<std::byte>(v));
  CHECK(b.card.written == expected);
}

}  // namespace

TEST_CASE("a write across 128 MiB where it is harmless") {
  write_across("ok", TimingStyle::at, kIntTransferComplete, {1, 2});
}
TEST_CASE("a write across 128 MiB that wraps") {
  write_across("wrap", TimingStyle::at, kIntTransferComplete, {1, 3});
}
TEST_CASE("a write across 128 MiB that wraps, by reservation") {
  write_across("wrap", TimingStyle::lt, kIntTransferComplete, {1, 3});
}
// The engine runs ahead of the wire: the error stands before the first block may leave.
TEST_CASE("a write across 128 MiB that ends in an ADMA error") {
  write_across("adma_error", TimingStyle::at, kIntAdma, {});
}
TEST_CASE("a write across 128 MiB that stalls") {
  write_across("stall", TimingStyle::at, kIntDataTimeout, {1});
}
