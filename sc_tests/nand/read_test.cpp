#include "sc_tests/nand/bench.hpp"

using namespace bench;

TEST_CASE("a 4 KiB read that misses the map reads one map page first") {
  Bench b(params());
  b.read(0, 8, 1000);
  const double firmware = 50, map = 25 + kUnitUs, array = 50, channel = kUnitUs, buffer = 1;
  CHECK(b.ready(0) == us(1000 + firmware + map + array + channel + buffer));
  CHECK(b.ready(7) == b.ready(0));  // one mapping unit
  CHECK(b.ftl.counters().map_misses == 1);
}

TEST_CASE("a 4 KiB read that hits the map takes firmware, t_R, one transfer and the buffer") {
  Bench b(params());
  b.read_all(0, 8, 1000);
  b.read(8, 8, 5000);
  CHECK(b.ready(0) == us(5000 + 50 + 50 + kUnitUs + 1));
  CHECK(b.ftl.counters().map_hits == 1);
}

TEST_CASE("the spans of a read are its parts") {
  Bench b(params());
  b.read(0, 8, 1000);
  const BlockReady r = b.plan.ready(0, b.graph);
  SpanTimes t;
  b.graph.settle(r.why, t);
  CHECK(t[Span::device_firmware] == us(50));
  CHECK(t[Span::device_map] == us(25 + kUnitUs));
  CHECK(t[Span::nand_array] == us(50));
  CHECK(t[Span::nand_channel] == us(kUnitUs));
  CHECK(t[Span::device_buffer] == us(1));
  CHECK(t.total() == r.at.value() - us(1000));
}

TEST_CASE("an MSB page takes the longer t_R") {
  Bench b(params());
  b.read_all(0, 8, 1000);
  b.read(32, 8, 5000);  // page 1 of the block
  CHECK(b.ready(0) == us(5000 + 50 + 80 + kUnitUs + 1));
}

TEST_CASE("512 KiB from one die come at the pace of the array") {
  // Cache read: t_R of page p + 1 runs while page p is on the channel (40.96 us, shorter than 50 and 80 us),
  // so page p is in the register when the t_R of pages 0..p have passed. The window of 8 pages does not bind.
  Bench b(params());
  b.read_all(0, 8, 0);
  b.read(0, 1024, 10000);
  const double base = 10000 + 50;
  for (std::uint32_t page = 0; page < 32; ++page) {
    const double sensed = base + 50.0 * ((page + 2) / 2) + 80.0 * ((page + 1) / 2);
    for (std::uint32_t k = 0; k < 32; ++k) {
      REQUIRE(b.ready(page * 32 + k) == us(sensed + kUnitUs * (k / 8 + 1) + 1));
      b.plan.delivered(sc_time::from_value(b.ready(page * 32 + k)));
    }
  }
  CHECK(b.ftl.counters().rows_read == 32 + 1);
}

TEST_CASE("without cache read the array waits for the channel") {
  NandParams p = params();
  p.cache_ops = false;
  Bench b(p);
  b.read_all(0, 8, 0);
  b.read(0, 64, 10000);
  CHECK(b.ready(31) == us(10000 + 50 + 50 + 4 * kUnitUs + 1));
  CHECK(b.ready(32) == us(10000 + 50 + 50 + 4 * kUnitUs + 80 + kUnitUs + 1));
}

TEST_CASE("pages of two planes share one t_R and follow each other on the channel") {
  Bench b(params(1, 1, 2));
  b.read_all(0, 8, 0);
  b.read(0, 64, 10000);
  CHECK(b.ready(0) == us(10000 + 50 + 50 + kUnitUs + 1));
  CHECK(b.ready(63) == us(10000 + 50 + 50 + 8 * kUnitUs + 1));
}

TEST_CASE("two dies sense at the same time and take turns on their channel") {
  Bench b(params(1, 2, 1));
  b.read_all(0, 8, 0);
  b.read(0, 64, 10000);
  const double base = 10000 + 50;
  CHECK(b.ready(31) == us(base + 50 + 4 * kUnitUs + 1));
  CHECK(b.ready(32) == us(base + 50 + 5 * kUnitUs + 1));
}

TEST_CASE("dies on two channels deliver at the same time") {
  Bench b(params(2, 1, 1));
  b.read_all(0, 8, 0);
  b.read(0, 64, 10000);
  CHECK(b.ready(0) == us(10000 + 50 + 50 + kUnitUs + 1));
  CHECK(b.ready(32) == us(10000 + 50 + 50 + kUnitUs + 1));
}

TEST_CASE("a page beyond the device's buffer is not read before its predecessor has been delivered") {
  NandParams p = params();
  p.read_window_pages = 1;
  Bench b(p);
  b.read_all(0, 8, 0);
  b.read(0, 64, 10000);
  b.ready(31);
  b.plan.delivered(at_us(12000));  // the wire is slow
  CHECK(b.ready(32) == us(12000 + 80 + kUnitUs + 1));
  SpanTimes t;
  b.graph.settle(b.plan.ready(32, b.graph).why, t);
  CHECK(t.total() == us(2000 + 80 + kUnitUs + 1));
  CHECK(t[Span::device_buffer] == us(1 + 1) + us(12000) - us(10000 + 50 + 50 + 4 * kUnitUs + 1));
}

TEST_CASE("an open-ended read fetches one page, then one more for each that has gone") {
  Bench b(params());
  b.read(0, 0, 1000);
  CHECK(b.ftl.counters().rows_read == 1);
  b.ready(32);
  CHECK(b.ftl.counters().rows_read == 3);
}

TEST_CASE("firmware serves one command at a time") {
  Bench b(params(1, 2, 1));
  b.read_all(0, 64, 0);
  ReadPlan second;
  b.read(0, 8, 10000);
  b.ftl.start_read(second, 32, 8, b.blocks, at_us(10000), b.graph, kRootNode);
  CHECK(second.ready(0, b.graph).at.value() == us(10000 + 2 * 50 + 50 + kUnitUs + 1));
  CHECK(b.ftl.counters().firmware_busy == us(3 * 50));
}

TEST_CASE("read-ahead serves the next sequential command from the buffer") {
  NandParams p = params();
  p.readahead_bytes = 65536;
  p.readahead_after = 2;
  Bench b(p);
  b.read_all(0, 32, 0);
  b.read_all(32, 32, 10000);  // continues once
  CHECK(b.ftl.counters().readahead_rows == 0);
  b.read_all(64, 32, 20000);  // continues twice: the 64 KiB behind it are fetched
  CHECK(b.ftl.counters().readahead_rows == 4);
  b.read(96, 32, 30000);
  CHECK(b.ready(0) == us(30000 + 50 + 1));
  CHECK(b.ready(31) == us(30000 + 50 + 1));
  b.read(100000, 8, 40000);  // elsewhere: what was fetched is dropped
  b.read(128, 8, 50000);
  CHECK(b.ready(0) > us(50000 + 50 + 1));
}

TEST_CASE("a page that needs all its retries takes t_R that many times more") {
  NandParams p = params();
  p.ecc_retries = 5;
  Bench b(p);
  b.read_all(0, 8, 0);
  b.ftl.add_ecc_error(3);
  b.read(0, 8, 10000);
  CHECK(b.ready(0) == us(10000 + 50 + 6 * 50 + kUnitUs + 1));
  b.read(8, 8, 20000);
  CHECK(b.ready(0) == us(20000 + 50 + 50 + kUnitUs + 1));
}

TEST_CASE("the map cache forgets the page used longest ago") {
  NandParams p = params();
  p.l2p_cache_bytes = 2 * 4096;  // two map pages of 4 MiB
  Bench b(p);
  const std::uint64_t mib4 = 8192;
  b.read_all(0, 8, 0);
  b.read_all(mib4, 8, 10000);
  b.read_all(0, 8, 20000);         // hit; page 1 is now the oldest
  b.read_all(2 * mib4, 8, 30000);  // throws page 1 out
  CHECK(b.ftl.counters().map_misses == 3);
  b.read_all(0, 8, 40000);
  CHECK(b.ftl.counters().map_misses == 3);
  b.read_all(mib4, 8, 50000);
  CHECK(b.ftl.counters().map_misses == 4);
}

TEST_CASE("a channel's later bookings leave the gap before them to others") {
  Calendar c;
  CHECK(c.reserve(100, 50) == 100);
  CHECK(c.reserve(0, 60) == 0);
  CHECK(c.reserve(0, 40) == 60);  // 60..100 fits exactly
  CHECK(c.booked() == 1);         // 0..150 in one piece
  CHECK(c.reserve(0, 10) == 150);
  c.forget(160);
  CHECK(c.booked() == 0);
}

TEST_CASE("geometry that the layout cannot use is refused") {
  NandParams p = params(1, 1, 3);
  CHECK_THROWS_AS(p.check(), InputError);
}

TEST_CASE("a read paced by the channel is charged to the channel, one t_R apart") {
  NandParams p = params(1, 2, 2);
  p.channel_mb_per_s = 200;  // 4 KiB take 20.48 us, a row of two planes 163.84 us: twice the longest t_R
  p.firmware_read_us = 50, p.buffer_latency_us = 1;
  bench::Bench b(p);
  b.read_all(0, 8, 0);  // brings the map page in
  const double from = 10000;
  const Ps end =
      b.read_all(0, 1024, from);  // 512 KiB = 16 rows of 32 KiB, one after the other on the channel
  SpanTimes times;
  b.graph.settle(b.plan.ready(1023, b.graph).why, times);
  const Ps channel = us(128 * 20.48);  // 128 units of 4 KiB
  CHECK(times[Span::device_firmware] == us(50));
  CHECK(times[Span::nand_array] == us(50));  // the first row: an LSB page
  CHECK(times[Span::nand_channel] == channel);
  CHECK(times[Span::device_buffer] == us(1));
  CHECK(times.total() == end - us(from));
}
