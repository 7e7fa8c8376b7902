// The queue engine's descriptors in memory, byte for byte (CQHCI, JESD84-B51 annex B).
#include <cstring>

#include "firmware/drivers/cqhci_tables.hpp"
#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/fake_board.hpp"

using namespace fw;
using fake::Board;

namespace {
using Words = std::vector<std::uint32_t>;
constexpr std::uint64_t kList = fake::kRamBase + 0x400, kTables = fake::kRamBase + 0x10000;
constexpr std::uint64_t kWindow = 0x0800'0000;

struct Tables {
  Board board;
  CqTables tables;
  CqShape shape;
  std::uint32_t entries;
  Tables(CqShape s, std::uint32_t tags, std::uint32_t n, bool split = true) : shape(s), entries(n) {
    std::memset(board.ram(fake::kRamBase, 0x40000), 0xA5, 0x40000);  // a pool holds anything
    REQUIRE(tables.init(s, {kList, kTables, tags, n}, split));
  }
  Words words(std::uint64_t at, std::size_t bytes) {
    Words w(bytes / 4);
    std::memcpy(w.data(), board.ram(at, bytes), bytes);
    return w;
  }
  Words slot(unsigned tag) { return words(kList + tag * shape.slot_bytes(), shape.slot_bytes()); }
  std::uint64_t table_at(unsigned tag) {
    return kTables + std::uint64_t{tag} * entries * shape.trans_bytes();
  }
  Words table(unsigned tag, unsigned n) { return words(table_at(tag), n * shape.trans_bytes()); }
};
/// The request that breaks a table of exactly max_segs entries: 512 KiB in 128 segments, the first of them
/// two pages that meet at a 128 MiB multiple.
std::vector<Segment> worst_case() {
  std::vector<Segment> s{{0x4800'0000 - 512, 512 + 4096}};
  for (std::uint64_t i = 0; i < 126; ++i) s.push_back({0x5000'0000 + i * 8192, 4096});
  s.push_back({0x6000'0000, 3584});
  return s;
}
}  // namespace

TEST_CASE("a 32-bit slot is an 8-byte task and an 8-byte link, transfer descriptors have 8 bytes") {
  Tables t({false, false, false}, 3, 4);
  const Segment segments[] = {{0x4100'0000, 65536}, {0x4300'1000, 4096}};
  REQUIRE(t.tables.put_data(2, {true, true, 136, 0x0012'3456}, segments) == 2);
  // VALID END INT ACT=101, read, 136 blocks; sector
  CHECK(t.slot(2) == Words{0x0088'102F, 0x0012'3456, 0x31, 0x4001'0000 + 2 * 4 * 8});
  // 65536 is written as 0; END on the last
  CHECK(t.table(2, 2) == Words{0x0000'0021, 0x4100'0000, 0x1000'0023, 0x4300'1000});
}

TEST_CASE("with 64-bit DMA and 64-bit tasks a slot has 24 bytes: task 8, link 16") {
  Tables t({true, false, false}, 2, 4);
  const Segment segment[] = {{0x1'2300'0000, 512}};
  REQUIRE(t.tables.put_data(1, {false, false, 1, 7}, segment) == 1);
  // no INT when completions are coalesced; write: direction 0
  CHECK(t.slot(1) == Words{0x0001'002B, 7, 0x31, 0x4001'0000 + 4 * 16, 0, 0});
  CHECK(t.table(1, 1) == Words{0x0200'0023, 0x2300'0000, 1, 0});
}

TEST_CASE("128-bit task descriptors have their upper half written with zeros") {
  Tables t({true, true, false}, 1, 4);
  const Segment segment[] = {{0x1'2300'0000, 1024}};
  REQUIRE(t.tables.put_data(0, {true, true, 2, 9}, segment) == 1);
  CHECK(t.slot(0) == Words{0x0002'102F, 9, 0, 0, 0x31, 0x4001'0000, 0, 0});
  CHECK(t.table(0, 1) == Words{0x0400'0023, 0x2300'0000, 1, 0});
}

TEST_CASE("short 64-bit transfer descriptors lie 12 bytes apart") {
  Tables t({true, true, true}, 2, 4);
  const Segment segments[] = {{0x1'0000'0000, 512}, {0x1'0000'1000, 512}};
  REQUIRE(t.tables.put_data(1, {true, true, 2, 9}, segments) == 2);
  CHECK(t.slot(1)[5] == 0x4001'0000 + 4 * 12);
  CHECK(t.table(1, 2) == Words{0x0200'0021, 0, 1, 0x0200'0023, 0x1000, 1});
}

TEST_CASE("a direct command has the barrier bit, R1b with timing 0 and no valid link") {
  Tables t({true, true, false}, 31, 1);
  t.tables.put_direct(31, 6, 0x0320'0101);
  // VALID END INT ACT=101 | QBR | CMD6 << 16 | 3 << 23
  CHECK(t.slot(31) == Words{0x0186'402F, 0x0320'0101, 0, 0, 0x2, 0, 0, 0});
}

TEST_CASE("129 descriptors of a 128-segment request never reach the next tag's table") {
  const CqShape shape = GENERATE(CqShape{false, false, false}, CqShape{true, true, false});
  const auto segments = worst_case();
  const CqTask task{true, true, 1024, 0};
  const bool spare = GENERATE(true, false);
  const std::uint32_t entries =
      cq_entries_needed(128, 65536, spare ? dma_boundaries(0x4000'0000, kWindow * 2) : 0);
  CHECK(entries == (spare ? 129 : 128));
  Tables t(shape, 2, entries);
  const Words next = t.table(1, entries), slot = t.slot(0);
  CHECK(t.tables.put_data(0, task, segments) == (spare ? 129u : 0u));
  CHECK(t.table(1, entries) == next);
  if (spare) {
    const Words w = t.table(0, 129);
    const std::size_t n = shape.trans_bytes() / 4;
    CHECK(w[0] == 0x0200'0021);  // 512 bytes below the boundary
    CHECK(w[1] == 0x47FF'FE00);
    CHECK(w[n] == 0x1000'0021);  // 4096 above
    CHECK(w[n + 1] == 0x4800'0000);
    CHECK(w[128 * n] == 0x0E00'0023);  // 3584, END
  } else {
    CHECK(t.slot(0) == slot);  // no task to run
  }
}

TEST_CASE("the last tag's table does not run past the allocation") {
  Tables t({false, false, false}, 2, 128);
  const std::uint64_t end = t.table_at(2);
  CHECK(t.tables.put_data(1, {true, true, 1024, 0}, worst_case()) == 0);
  CHECK(t.words(end, 8) == Words{0xA5A5'A5A5, 0xA5A5'A5A5});
}

TEST_CASE(
    "a transfer descriptor is split where its data would cross a 128 MiB multiple, byte-odd halves "
    "included") {
  struct Case {
    std::uint64_t address;
    std::uint32_t bytes, first, second;
  };
  const auto c =
      GENERATE(Case{0x17FF'FE00, 0x400, 0x200, 0x200}, Case{0x1800'0000 - 0xFC, 0x400, 0xFC, 0x304},
               Case{0x1800'0000, 0x400, 0x400, 0}, Case{0x17FF'FC00, 0x400, 0x400, 0});
  const bool split = GENERATE(true, false);
  Tables t({false, false, false}, 1, 4, split);
  const Segment segment[] = {{c.address, c.bytes}};
  const bool two = split && c.second;
  REQUIRE(t.tables.put_data(0, {true, true, 2, 0}, segment) == (two ? 2u : 1u));
  const Words w = t.table(0, 2);
  CHECK(w[0] == ((two ? c.first : c.bytes) << 16 | (two ? 0x21u : 0x23u)));
  CHECK(w[1] == c.address);
  if (two) CHECK(w[2] == (c.second << 16 | 0x23u));
  if (two) CHECK(w[3] == 0x1800'0000);
}

TEST_CASE("what descriptors cannot express is refused") {
  Tables t({false, false, false}, 2, 4);
  const CqTask task{true, true, 1, 0};
  const Segment odd[] = {{0x4000'0002, 512}}, high[] = {{0xFFFF'FF00, 512}}, good[] = {{0x4000'0000, 512}};
  CHECK(t.tables.put_data(0, task, odd) == 0);
  CHECK(t.tables.put_data(0, task, high) == 0);
  CHECK(t.tables.put_data(2, task, good) == 0);  // no such tag
  CHECK(t.tables.put_data(0, {true, true, 0, 0}, good) == 0);
  CHECK(t.tables.put_data(0, {true, true, 65536, 0}, good) == 0);
  CHECK(t.tables.put_data(0, task, {}) == 0);
  CHECK(t.tables.put_data(0, task, good) == 1);
  CqTables bad;
  CHECK_FALSE(bad.init({false, false, false}, {kList + 512, kTables, 2, 4}, true));  // list not at 1 KiB
}

TEST_CASE("128 MiB multiples inside a region are counted") {
  CHECK(dma_boundaries(0x4000'0000, 0x0800'0000) == 0);
  CHECK(dma_boundaries(0x4000'0000, 0x0800'0001) == 1);
  CHECK(dma_boundaries(0x47FF'FFFF, 2) == 1);
  CHECK(dma_boundaries(0x4800'0000, 0x3800'0000) == 6);
  CHECK(dma_boundaries(0x4800'0000, 0) == 0);
  CHECK(cq_entries_needed(128, 65536, 6) == 134);
  CHECK(cq_entries_needed(4, 512 * 1024, 0) == 32);
}
