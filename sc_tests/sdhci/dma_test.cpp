// How data move: every descriptor format, SDMA, PIO, scatter lists.
#include <random>

#include "sc_tests/sdhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

void check_read(Bench& b, std::uint64_t lba, std::uint64_t address, std::size_t bytes, std::size_t from = 0) {
  for (std::size_t i = 0; i < bytes; ++i) {
    const std::size_t at = from + i;
    REQUIRE(*b.ram(address + i) == MockCard::content(lba + at / 512, at % 512));
  }
}

/// Random cuts of `total` bytes into segments of multiples of 4 bytes at scattered addresses.
std::vector<Bench::Descriptor> scatter(std::mt19937& rng, std::uint32_t total, std::uint64_t base) {
  std::vector<Bench::Descriptor> list;
  for (std::uint32_t done = 0; done < total;) {
    const std::uint32_t most = std::min<std::uint32_t>(total - done, rng() % 3 == 0 ? 2048 : 64);
    const std::uint32_t n = 4 * (1 + rng() % std::max<std::uint32_t>(1, most / 4));
    const std::uint32_t bytes = std::min(n, total - done);
    list.push_back({base + list.size() * 0x2000 + 4 * (rng() % 256), bytes, kTran});
    done += bytes;
  }
  list.back().attr = kTranEnd;
  return list;
}

void random_scatter(TimingStyle style, Bench::Format format, unsigned seed) {
  Bench b(bench_params(), style);
  b.start_card();
  std::mt19937 rng(seed);
  for (int round = 0; round < 4; ++round) {
    const std::uint32_t blocks = 1 + rng() % 24;
    const auto list = scatter(rng, blocks * 512, 0x100000);
    b.table(0x1000, format, list);
    b.select(format, 0x1000);
    b.data_command(18, 40u + static_cast<unsigned>(round), blocks, kReadMulti);
    b.run_to_end();
    REQUIRE(b.status() == kIntTransferComplete);
    std::size_t done = 0;
    for (const auto& d : list) {
      check_read(b, 40u + static_cast<unsigned>(round), d.address, d.length, done);
      done += d.length;
    }
    b.clear_status();
    // And back: what lies in the segments arrives at the card in their order.
    std::vector<std::byte> expected;
    for (const auto& d : list) {
      for (std::uint32_t i = 0; i < d.length; ++i) *b.ram(d.address + i) = static_cast<std::byte>(rng());
      expected.insert(expected.end(), b.ram(d.address, d.length), b.ram(d.address, d.length) + d.length);
    }
    b.card.written.clear();
    b.select(format, 0x1000);
    b.data_command(25, 0, blocks, kWriteMulti);
    b.run_to_end();
    REQUIRE(b.status() == kIntTransferComplete);
    REQUIRE(b.card.written == expected);
    b.clear_status();
  }
  CHECK(b.ctx.findings.empty());
}

}  // namespace

TEST_CASE("random scatter lists, 32-bit descriptors") {
  random_scatter(TimingStyle::at, Bench::Format::adma32, 1);
}
TEST_CASE("random scatter lists, 96-bit descriptors") {
  random_scatter(TimingStyle::at, Bench::Format::adma96, 2);
}
TEST_CASE("random scatter lists, 128-bit descriptors") {
  random_scatter(TimingStyle::at, Bench::Format::adma128, 3);
}
TEST_CASE("random scatter lists by reservation, 32-bit") {
  random_scatter(TimingStyle::lt, Bench::Format::adma32, 4);
}
TEST_CASE("random scatter lists by reservation, 128-bit") {
  random_scatter(TimingStyle::lt, Bench::Format::adma128, 5);
}

TEST_CASE("descriptor fields are where SDHCI 4.20 puts them") {
  const auto decode = [](std::initializer_list<std::uint32_t> words, AdmaFormat f) {
    std::byte raw[16] = {};
    std::size_t at = 0;
    for (const std::uint32_t w : words) std::memcpy(raw + 4 * at++, &w, 4);
    return decode_adma(raw, f);
  };
  const AdmaDescriptor a = decode({0x02000023, 0x12345678}, {8, false});
  CHECK((a.valid() && a.end() && !a.interrupt() && a.act() == kAdmaActTran));
  CHECK(a.length == 0x200);
  CHECK(a.address == 0x12345678);
  CHECK(decode({0x00000021, 0}, {8, false}).length == 65536);
  CHECK(decode({0x00000021, 0x10, 0x2}, {12, false}).address == 0x200000010);
  CHECK(decode({0x00000021, 0x10, 0x2, 0xFFFFFFFF}, {16, false}).address == 0x200000010);
  // 26-bit lengths: bits 15:6 of the first half-word are bits 25:16; 0 is 64 MiB.
  CHECK(decode({0x00010000u | (3u << 6) | 0x21, 0}, {16, true}).length == (3u << 16 | 1));
  CHECK(decode({0x00000021, 0}, {16, true}).length == 64u << 20);
}

TEST_CASE("LINK goes on elsewhere, NOP is passed over, a terminator ends the table") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 512, kTran}, {0, 0, 0x01}, {0x3000, 0, kLink}});
  b.table(0x3000, Bench::Format::adma32, {{0x40000, 512, kTran}, {0, 0, kNopEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 7, 2, kReadMulti);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  check_read(b, 7, 0x20000, 512);
  check_read(b, 8, 0x40000, 512);
  CHECK(b.host.data().counters().descriptors == 5);
}

TEST_CASE("a length of 0 moves 65536 bytes") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 65536, kTranEnd}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 128, kReadMulti);
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  check_read(b, 0, 0x20000, 65536);
}

TEST_CASE("INT in a descriptor raises the DMA interrupt, but not in the one that ends the transfer") {
  Bench b;
  b.start_card();
  b.table(0x1000, Bench::Format::adma32, {{0x20000, 512, kTranInt}, {0x30000, 512, kTranInt | 0x02}});
  b.select(Bench::Format::adma32, 0x1000);
  b.data_command(18, 0, 2, kReadMulti);
  b.run_until(kIntDma);
  CHECK((b.status() & kIntTransferComplete) == 0);
  b.clear_status();
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
}

TEST_CASE("SDMA stops at its boundary, goes on at the address written, and is silent at the end") {
  Bench b;
  b.start_card();
  // Boundary 4 KiB, start 2 KiB below one: 4 blocks, stop, 8 blocks, stop, 4 blocks that end on a boundary.
  b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, 0x20800);
  b.write(reg_offset(kRegs, "BLOCK_SIZE"), 2, 0x0200);
  b.write(reg_offset(kRegs, "BLOCK_COUNT"), 2, 20);
  b.write(reg_offset(kRegs, "TRANSFER_MODE"), 2, kReadMulti);
  b.write(reg_offset(kRegs, "COMMAND"), 2, 18 << 8 | 0x3A);
  for (const std::uint64_t next : {0x21000u, 0x22000u}) {
    b.run_until(kIntDma);
    CHECK((b.status() & kIntTransferComplete) == 0);
    b.clear_status();
    b.write(reg_offset(kRegs, "SDMA_ADDRESS"), 4, next);
  }
  b.run_to_end();
  CHECK(b.status() == kIntTransferComplete);
  check_read(b, 0, 0x20800, 20 * 512);
}

TEST_CASE("in V4 mode SDMA takes and resumes at the ADMA address register") {
  Bench b;
  b.start_card();
  b.write(reg_offset(kRegs, "HOST_CONTROL2"), 2, 0x1000 | kUhsHs400);
  b.write(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), 4, 0x20000);
  b.write(reg_offset(kRegs, "BLOCK_SIZE"), 2, 0x0200);
  b.write(reg_offset(kRegs, "BLOCK_COUNT"), 2, 16);
  b.write(reg_offset(kRegs, "TRANSFER_MODE"), 2, kReadMulti);
  b.write(reg_offset(kRegs, "COMMAND"), 2, 18 << 8 | 0x3A);
  b.run_until(kIntDma);
  b.clear_status();
  b.write(reg_offset(kRegs, "ADMA_ADDRESS_LOW"), 4, 0x50000);
  b.run_to_end();
  // 8 KiB end at the second boundary: one stop only.
  CHECK(b.status() == kIntTransferComplete);
  check_read(b, 0, 0x20000, 4096);
  check_read(b, 8, 0x50000, 4096);
}

TEST_CASE("PIO reads: Buffer Read Ready for each block, then Transfer Complete") {
  Bench b;
  b.start_card();
  b.data_command(18, 3, 3, kReadMulti & ~1u);
  for (unsigned block = 0; block < 3; ++block) {
    b.run_until(kIntBufferReadReady);
    b.write(0x30, 2, kIntBufferReadReady);
    REQUIRE((b.read(0x24, 4) & 1u << 11) != 0);
    for (unsigned i = 0; i < 512; i += 4) {
      const auto word = static_cast<std::uint32_t>(b.read(0x20, 4));
      for (unsigned k = 0; k < 4; ++k)
        REQUIRE(static_cast<std::byte>(word >> (8 * k)) == MockCard::content(3 + block, i + k));
    }
  }
  b.run_to_end();
  CHECK((b.status() & kIntTransferComplete) != 0);
}

TEST_CASE("PIO writes: Buffer Write Ready for each block, then Transfer Complete") {
  SdhciParams p = bench_params();
  p.fifo_bytes = 512;
  Bench b(p);
  b.start_card();
  b.data_command(25, 0, 3, kWriteMulti & ~1u);
  for (unsigned block = 0; block < 3; ++block) {
    b.run_until(kIntBufferWriteReady);
    b.write(0x30, 2, kIntBufferWriteReady);
    REQUIRE((b.read(0x24, 4) & 1u << 10) != 0);
    for (unsigned i = 0; i < 512; i += 4) b.write(0x20, 4, block << 24 | i);
  }
  b.run_to_end();
  REQUIRE(b.card.written.size() == 3 * 512);
  CHECK(b.card.written[512 + 7] == std::byte{1});
  CHECK(b.card.written[2 * 512 + 256] == std::byte{0});
  CHECK(b.card.written[2 * 512 + 257] == std::byte{1});
}
