#include <map>
#include <random>
#include <set>

#include "sc_tests/nand/bench.hpp"

using namespace bench;

namespace {

constexpr double kProgram = 1300;

/// The map page is in RAM before the times are looked at.
struct WarmBench : Bench {
  explicit WarmBench(const NandParams& p, std::uint64_t mib = 1024, std::uint64_t cache = 524288)
      : Bench(p, mib, cache) {
    ftl.set_cache(true);
    read_all(0, 8, 0);
  }
};

/// 16 pages of 16 KiB per block: 64 units; 4 MiB of data: 1024 units.
NandParams small(unsigned dies = 1) {
  NandParams p = params(1, dies, 1);
  p.pages_per_block = 16;
  return p;
}

void check_places(const Ftl& ftl, Lpn units) {
  std::set<std::tuple<unsigned, unsigned, unsigned, unsigned>> seen;
  for (Lpn l = 0; l < units; ++l) {
    if (!ftl.ever_written(l)) continue;
    const Place p = *ftl.locate(l);
    REQUIRE(seen.insert({p.die, p.block, p.row, p.unit}).second);
  }
}

}  // namespace

TEST_CASE("a cached write is accepted when it has arrived and the firmware has seen it") {
  WarmBench b(params());
  CHECK(b.write(0, 8, 10000, 10020) == us(10000 + 50));
  CHECK(b.write(8, 8, 20000, 20080) == us(20080));
  CHECK(b.ftl.dirty_bytes(at_us(20080)) == 8192);
}

TEST_CASE("a full cache takes the next unit when the program that ends first has ended") {
  // Rows of 32 KiB on two dies, a cache of 64 KiB: two rows fit. 96 KiB arrive at once; row 0 leaves over the
  // channel when the firmware is done, then row 1; units 16 to 23 wait for row 0's program.
  NandParams p = params(1, 2, 2);
  WarmBench b(p, 1024, 65536);
  const double row0 = 10000 + 50 + 8 * kUnitUs + kProgram;
  CHECK(b.write(0, 192, 10000, 10010) == us(row0));
  CHECK(b.ftl.counters().cache_stalls == 1);
  CHECK(b.ftl.cache_high_water() == 65536);
  CHECK(b.ftl.counters().programs == 3);
}

TEST_CASE("a forced write is accepted when it has been programmed") {
  WarmBench b(params());
  CHECK(b.write(0, 8, 10000, 10020, true) == us(10000 + 50 + kUnitUs + kProgram));
  SpanTimes t;
  b.graph.settle(b.why, t);
  CHECK(t[Span::device_firmware] == us(50));
  CHECK(t[Span::nand_channel] == us(kUnitUs));
  CHECK(t[Span::nand_array] == us(kProgram));
}

TEST_CASE("with the cache off every write waits for its program") {
  WarmBench b(params());
  b.ftl.set_cache(false);
  CHECK(b.write(0, 8, 10000, 10070) == us(10070 + kUnitUs + kProgram));
}

TEST_CASE("a flush waits for what is in the cache") {
  WarmBench b(params());
  b.write(0, 8, 10000, 10020);
  CHECK(b.flush(20000) == us(20000 + 50 + kUnitUs + kProgram));
  CHECK(b.ftl.dirty_bytes(at_us(30000)) == 0);
  CHECK(b.flush(30000) == us(30000 + 50));  // nothing left
}

TEST_CASE("a flush waits for programs that are under way") {
  WarmBench b(params());
  b.write(0, 32, 10000, 10060);  // a whole row: its program starts at once
  CHECK(b.flush(10100) == us(10060 + 4 * kUnitUs + kProgram));
}

TEST_CASE("less than 4 KiB is written after the rest of the unit has been read") {
  WarmBench b(params());
  CHECK(b.write(1, 2, 10000, 10020) == us(10000 + 50 + 50 + kUnitUs));
  CHECK(b.ftl.counters().read_modify_writes == 1);
  CHECK(b.write(3, 2, 20000, 20020) == us(20000 + 50));  // the unit is in RAM by now
  CHECK(b.ftl.counters().read_modify_writes == 1);
}

TEST_CASE("data in the write cache is read without the array") {
  WarmBench b(params());
  b.write(0, 8, 10000, 10020);
  b.read(0, 8, 20000);
  CHECK(b.ready(0) == us(20000 + 50 + 1));
  CHECK(b.ftl.counters().cache_hits == 1);
  b.flush(30000);
  b.read(0, 8, 40000);
  CHECK(b.ready(0) == us(40000 + 50 + 50 + kUnitUs + 1));
}

TEST_CASE("a unit written twice in RAM is programmed once") {
  WarmBench b(params());
  b.write(0, 8, 10000, 10020);
  b.write(0, 8, 20000, 20020);
  CHECK(b.ftl.dirty_bytes(at_us(20100)) == 4096);
}

TEST_CASE("written rows go to the dies in turn") {
  WarmBench b(params(1, 2, 1));
  b.write(0, 96, 10000, 10010);
  CHECK(b.ftl.locate(0)->die != b.ftl.locate(4)->die);
  CHECK(b.ftl.locate(0)->die == b.ftl.locate(8)->die);
}

TEST_CASE("a read after a program waits for the die") {
  WarmBench b(params());
  b.write(0, 32, 10000, 10010);  // row 0: 10050 + 40.96 on the channel, then 1300 in the array
  b.read(4096, 8, 10100);
  CHECK(b.ready(0) == us(10050 + 4 * kUnitUs + kProgram + 50 + kUnitUs + 1));
}

TEST_CASE("a trimmed unit is read from no page") {
  WarmBench b(params());
  b.write(0, 16, 10000, 10020);
  b.graph.restart(at_us(20000));
  CHECK(b.ftl.trim(0, 8, at_us(20000), b.graph, kRootNode).at.value() == us(20000 + 50 + 500));
  CHECK_FALSE(b.ftl.locate(0).has_value());
  CHECK(b.ftl.locate(1).has_value());
  b.flush(30000);
  b.read(0, 8, 40000);
  CHECK(b.ready(0) == us(40000 + 50 + 1));
  CHECK(b.ftl.inconsistencies() == 0);
}

TEST_CASE("trimming all of a large device costs no table") {
  WarmBench b(params(), 30000);
  b.graph.restart(at_us(1000));
  b.write(0, 8, 10000, 10020);
  b.ftl.trim(0, b.blocks, at_us(20000), b.graph, kRootNode);
  CHECK_FALSE(b.ftl.locate(0).has_value());
  CHECK_FALSE(b.ftl.locate(b.blocks / 8 - 1).has_value());
  CHECK(b.ftl.inconsistencies() == 0);
}

TEST_CASE("garbage collection keeps every unit, at one place each") {
  WarmBench b(small(), 4);
  std::mt19937_64 random(1);
  double t = 10000;
  for (int i = 0; i < 6000; ++i, t += 20000) b.write(random() % 1024 * 8, 8, t, t + 100);
  CHECK(b.ftl.counters().gc_blocks > 0);
  CHECK(b.ftl.counters().erases == b.ftl.counters().gc_blocks);
  CHECK(b.ftl.inconsistencies() == 0);
  check_places(b.ftl, 1024);
  CHECK(b.ftl.space().free_native(0) >= 1);
}

TEST_CASE("a write that has to collect garbage first waits for copy and erase") {
  WarmBench b(small(), 4, 16384);  // a cache of one row: every row waits for the one before
  std::mt19937_64 random(2);
  double t = 10000;
  Ps longest_plain = 0, longest_gc = 0;
  for (int i = 0; i < 3000; ++i, t += 100000) {
    const auto blocks = b.ftl.counters().gc_blocks;
    const Ps took = b.write(random() % 255 * 32, 64, t, t + 100) - us(t);  // two rows
    Ps& longest = b.ftl.counters().gc_blocks == blocks ? longest_plain : longest_gc;
    longest = std::max(longest, took);
  }
  // Row 1 starts when row 0 has been programmed; a collection adds at least one erase before it or row 0.
  CHECK(longest_plain == us(100 + 4 * kUnitUs + kProgram));
  CHECK(longest_gc >= us(100 + 4 * kUnitUs + kProgram + 4000));
}

TEST_CASE("data that ages on one die only does not overfill the others") {
  WarmBench b(small(2), 8);
  double t = 10000;
  for (Lpn l = 0; l < 2048; ++l, t += 5000) b.write(l * 8, 8, t, t + 100);
  for (int round = 0; round < 6; ++round)
    for (Lpn l = 0; l < 2048; ++l)
      if (b.ftl.locate(l)->die == 0) {
        t += 5000;
        b.write(l * 8, 8, t, t + 100);
      }
  CHECK(b.ftl.inconsistencies() == 0);
  check_places(b.ftl, 2048);
}

TEST_CASE("new data goes to the SLC buffer until it is full, and leaves it when the device is idle") {
  NandParams p = small();
  p.slc_buffer_bytes = 262144;  // 8 rows per SLC block (MLC): two blocks of 128 KiB
  p.fold_idle_us = 1000;
  WarmBench b(p, 4);
  b.write(0, 8, 10000, 10020, true);
  CHECK(b.ftl.counters().slc_programs == 1);
  CHECK(b.ftl.array().die_use(0).program == us(250));
  for (int row = 1; row < 20; ++row) b.write(row * 32, 32, 10000.0 + row * 1200, 10060.0 + row * 1200);
  CHECK(b.ftl.counters().slc_programs == 16);
  CHECK(b.ftl.counters().programs == 20);
  b.read_all(0, 8, 1e6);
  CHECK(b.ftl.counters().fold_units ==
        1 + 7 * 4);  // the first block's data; the second is still the open one
  CHECK(b.ftl.inconsistencies() == 0);
  check_places(b.ftl, 1024);
}

TEST_CASE("random writes, trims and flushes leave map and reverse map in agreement") {
  NandParams p = small(2);
  p.slc_buffer_bytes = 524288;
  p.fold_idle_us = 500;
  p.l2p_cache_bytes = 4096;
  WarmBench b(p, 8, 65536);
  std::mt19937_64 random(3);
  double t = 10000;
  for (int i = 0; i < 8000; ++i) {
    t += static_cast<double>(random() % 40000);
    const std::uint64_t lba = random() % (b.blocks - 64);
    const auto n = static_cast<std::uint32_t>(1 + random() % 64);
    switch (random() % 16) {
      case 0:
        b.ftl.trim(lba, n * 8, at_us(t), b.graph, kRootNode);
        break;
      case 1:
        b.flush(t);
        break;
      case 2:
        b.read_all(lba, n, t);
        break;
      default:
        b.write(lba, n, t, t + 100, random() % 8 == 0);
    }
  }
  CHECK(b.ftl.counters().gc_blocks > 0);
  CHECK(b.ftl.counters().fold_units > 0);
  CHECK(b.ftl.inconsistencies() == 0);
  check_places(b.ftl, 2048);
}
