// Closed-form timing of bursts to SRAM: h = 1 hop, L = 4 (first beat), accept = 1, 64-bit beats, 16-beat
// bursts.
#include <algorithm>
#include <random>

#include "sc_tests/axi/bench.hpp"

using namespace axi_test;

TEST_CASE("at: a write burst of 16 beats leaves after 16 A and is done after h + 16 + accept + h") {
  System s;
  s.build();
  s.start(true, kSram, 128);
  s.run();
  REQUIRE(s.clients[0].left.size() == 1);
  CHECK(s.clients[0].issued[0].cycle == 0);
  CHECK(s.clients[0].left[0].cycle == 16);
  CHECK(s.clients[0].done[0].cycle == 1 + 16 + 1 + 1);
}

// One write at a time: h + 16 + accept + h = 19 A each.
namespace {
struct Ahead {
  System s;
  Transfer t[3];
  Ahead() {
    s.master_params[0].outstanding_writes = 1;
    s.build();
  }
  void start(unsigned i, std::uint64_t from_cycle, bool quiet) {
    t[i].is_write = true;
    t[i].address = kSram + 128 * i;
    t[i].data = s.buffer.data();
    t[i].bytes = 128;
    t[i].quiet_left = t[i].quiet_done = quiet;
    s.port().start(t[i], sc_time::from_value(from_cycle * kPeriodPs));
  }
};
}  // namespace

TEST_CASE("at: a transfer started ahead is issued at its instant, a quiet one is timed without a call") {
  Ahead a;
  a.start(0, 100, true);
  a.start(1, 110, true);  // has to wait for the first one's B
  a.start(2, 300, false);
  a.s.run();
  CHECK(a.t[0].left_ps == 116 * kPeriodPs);
  CHECK(a.t[0].done_ps == 119 * kPeriodPs);
  CHECK(a.t[1].left_ps == (119 + 16) * kPeriodPs);
  CHECK(a.t[1].done_ps == (119 + 19) * kPeriodPs);
  REQUIRE(a.s.clients[0].left.size() == 1);
  CHECK(a.s.clients[0].left[0].cycle == 316);
  REQUIRE(a.s.clients[0].done.size() == 1);
  CHECK(a.s.clients[0].done[0].cycle == 319);
  CHECK(a.s.port().counters().limited_outstanding == 119 - 110);
}

TEST_CASE("at: a quiet transfer tells after all when it is asked before its end") {
  Ahead a;
  a.start(0, 100, true);
  a.start(1, 110, true);
  sc_core::sc_start(sc_time::from_value(105 * kPeriodPs));
  a.s.port().tell_left(a.t[0]);
  a.s.port().tell_done(a.t[0]);
  a.s.port().tell_done(a.t[1]);  // not issued yet
  a.s.run();
  REQUIRE(a.s.clients[0].left.size() == 1);
  CHECK(a.s.clients[0].left[0].cycle == 116);
  REQUIRE(a.s.clients[0].done.size() == 2);
  CHECK(a.s.clients[0].done[0].cycle == 119);
  CHECK(a.s.clients[0].done[1].cycle == 119 + 19);
}

TEST_CASE("at: a transfer started ahead can be withdrawn until it is issued, those before it go on") {
  Ahead a;
  a.start(0, 100, false);
  a.start(1, 200, false);
  sc_core::sc_start(sc_time::from_value(105 * kPeriodPs));
  a.s.port().withdraw(a.t[1]);
  CHECK_THROWS_AS(a.s.port().withdraw(a.t[0]), std::logic_error);
  a.s.run();
  CHECK(a.s.port().counters().write_bursts == 1);
  REQUIRE(a.s.clients[0].done.size() == 1);
  CHECK(a.s.clients[0].done[0].transfer == &a.t[0]);
}

TEST_CASE("at: an error is told of a quiet transfer too") {
  Ahead a;
  a.t[0].is_write = true;
  a.t[0].address = 0x9000'0000;  // nobody there
  a.t[0].data = a.s.buffer.data();
  a.t[0].bytes = 128;
  a.t[0].quiet_left = a.t[0].quiet_done = true;
  a.s.port().start(a.t[0], sc_core::SC_ZERO_TIME);
  a.s.run();
  REQUIRE(a.s.clients[0].done.size() == 1);
  CHECK(a.t[0].error);
}

TEST_CASE("at: a read burst of 16 beats is done after 2 h + 16 + L") {
  System s;
  s.build();
  s.start(false, kSram, 128);
  s.run();
  CHECK(s.clients[0].left.empty());
  CHECK(s.clients[0].done[0].cycle == 2 * 1 + 16 + 4);
}

TEST_CASE("lt: write and read bursts take the same cycles as in at") {
  System s;
  s.build();
  LtPiece write{.bytes = 128, .ready = {}, .left = {}, .done = {}};
  CHECK(s.port().run_lt(true, kSram, s.buffer.data(), {&write, 1}));
  CHECK(to_cycles(write.left) == 16);
  CHECK(to_cycles(write.done) == 19);
  bool ok = false;
  const sc_time read = s.port().access_lt(false, kSram, s.buffer.data(), 128, sc_time(), &ok);
  CHECK(ok);
  CHECK(to_cycles(read) == 22);
}

TEST_CASE("a transfer asked for between two edges starts on the next edge") {
  System s;
  s.build();
  sc_core::sc_start(sc_time(7, sc_core::SC_NS));  // edges at 5 and 10 ns
  s.start(true, kSram, 8);
  s.run();
  CHECK(s.clients[0].issued[0].cycle == 2);
  CHECK(s.clients[0].done[0].cycle == 2 + 1 + 1 + 1 + 1);
}

TEST_CASE("register slices and hops add to both ways of the path") {
  System s;
  s.fabric_params.hop_cycles = 3;
  s.build();
  s.start(false, kSram, 64);
  s.start(true, kSram, 64);
  s.run();
  CHECK(s.clients[0].done[0].cycle == 3 + 8 + 1 + 3);  // write of 8 beats
  CHECK(s.clients[0].done[1].cycle == 3 + 4 + 8 + 3);  // read of 8 beats, on its own channels
}

TEST_CASE("a block of four write bursts streams on the W channel without gaps") {
  System s;
  s.build();
  s.start(true, kSram, 512);
  s.run();
  // Addresses go at 0, 1, 2, 3; the W channel carries 64 beats in a row.
  CHECK(s.clients[0].issued[0].cycle == 3);
  CHECK(s.clients[0].left[0].cycle == 64);
  CHECK(s.clients[0].done[0].cycle == 64 + 1 + 1 + 1);
}

TEST_CASE("counters of one read burst and four write bursts, by hand") {
  System s;
  s.master_params[0].outstanding_writes = 2;
  s.build();
  s.start(true, kSram, 512);
  s.run();
  // Bursts issue at 0, 1, then when done: done(k) = 16 (k + 1) + 3 = 19, 35, 51, 67. Burst 2 waits 2 -> 19,
  // burst 3 from 20 -> 35; W is never idle (left 16, 32, 48, 64), so B is waited for 3 cycles each.
  AxiCounters c = s.port().counters();
  CHECK(c.write_bursts == 4);
  CHECK(c.write_beats == 64);
  CHECK(c.write_bytes == 512);
  CHECK(c.limited_outstanding == 17 + 15);
  CHECK(c.wait_b == 4 * 3);
  CHECK(c.wait_grant == 0);
  CHECK(c.w_back_pressure == 0);
  CHECK(c.busy == 67);
  s.start(false, kSram, 24);  // 3 beats; AR path 1, L 4, path back 1: first beat 6 A after the address
  s.run();
  c = s.port().counters();
  CHECK(c.read_bursts == 1);
  CHECK(c.read_beats == 3);
  CHECK(c.wait_first_beat == 6);
  CHECK(c.busy == 67 + 9);
}

namespace {

/// Cycles for `count` read bursts of 16 beats with N outstanding, to SRAM with first-beat latency L.
void check_outstanding(std::uint64_t n, std::uint64_t latency, bool lt) {
  System s;
  s.master_params[0].outstanding_reads = n;
  s.sram_params.first_beat_cycles = latency;
  s.fabric_params.target_accepts = 0;
  s.build();
  constexpr std::uint32_t kBytes = 64 * 1024;
  std::uint64_t cycles = 0;
  if (lt) {
    cycles = to_cycles(s.port().access_lt(false, kSram, s.buffer.data(), kBytes, sc_time(), nullptr));
  } else {
    s.start(false, kSram, kBytes);
    s.run();
    cycles = s.clients[0].done[0].cycle;
  }
  // AMD PG313: bandwidth = outstanding x bytes / latency; the link carries 8 B per cycle.
  const double round_trip = 2.0 + 16.0 + static_cast<double>(latency);
  const double expected = std::min(8.0, static_cast<double>(n) * 128 / round_trip);
  CHECK(kBytes / static_cast<double>(cycles) == Approx(expected).epsilon(0.02));
}

}  // namespace

TEST_CASE("one outstanding read of 128 B moves 128 B per round trip") { check_outstanding(1, 60, false); }
TEST_CASE("three outstanding reads move three times 128 B per round trip") {
  check_outstanding(3, 60, false);
}
TEST_CASE("eight outstanding reads saturate the link") { check_outstanding(8, 60, false); }
TEST_CASE("lt: three outstanding reads move three times 128 B per round trip") {
  check_outstanding(3, 60, true);
}
TEST_CASE("lt: eight outstanding reads saturate the link") { check_outstanding(8, 60, true); }

TEST_CASE("at and lt count the same bursts, beats, bytes and stalls for the same blocks") {
  System s(2);  // master 0 in at style, master 1 in lt style, one after the other
  for (auto& p : s.master_params) p.outstanding_writes = 2;
  s.build();
  s.start(true, kSram + 0xF84, 1000);
  s.start(false, kSram + 0xF84, 1000);
  s.run();
  const std::uint64_t t0 = to_cycles(sc_core::sc_time_stamp()) + 100;
  LtPiece w{.bytes = 1000, .ready = s.clock.cycles(t0), .left = {}, .done = {}}, r = w;
  CHECK(s.ports[1]->run_lt(true, kSram + 0xF84, s.buffer.data(), {&w, 1}));
  CHECK(s.ports[1]->run_lt(false, kSram + 0xF84, s.buffer.data(), {&r, 1}));
  const AxiCounters a = s.ports[0]->counters(), b = s.ports[1]->counters();
  CHECK(a.write_bursts == b.write_bursts);
  CHECK(a.read_bursts == b.read_bursts);
  CHECK(a.write_beats == b.write_beats);
  CHECK(a.read_beats == b.read_beats);
  CHECK(a.write_bytes == b.write_bytes);
  CHECK(a.limited_outstanding == b.limited_outstanding);
  CHECK(a.wait_first_beat == b.wait_first_beat);
  CHECK(a.wait_b == b.wait_b);
  for (const auto& seen : s.clients[0].done) {
    const LtPiece& piece = seen.transfer->is_write ? w : r;
    CHECK(to_cycles(piece.done) - t0 == seen.cycle);
  }
}

TEST_CASE("lt: pieces become ready one by one and each is timed from its own instant") {
  System s;
  s.build();
  std::vector<LtPiece> pieces(3);
  for (std::size_t i = 0; i < 3; ++i) pieces[i] = {512, s.clock.cycles(1000 * (i + 1)), {}, {}};
  CHECK(s.port().run_lt(true, kSram, s.buffer.data(), pieces));
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(to_cycles(pieces[i].left) == 1000 * (i + 1) + 64);
    CHECK(to_cycles(pieces[i].done) == 1000 * (i + 1) + 67);
  }
}

TEST_CASE("lt: a descriptor fetched ahead of reserved reads does not queue behind them") {
  System s;
  s.build();
  LtPiece late{.bytes = 512, .ready = s.clock.cycles(5000), .left = {}, .done = {}};
  s.port().run_lt(false, kSram, s.buffer.data(), {&late, 1});
  const sc_time early =
      s.port().access_lt(false, kSram + 4096, s.buffer.data(), 16, s.clock.cycles(100), nullptr);
  CHECK(to_cycles(early) == 100 + 2 + 2 + 4);
  CHECK(s.port().counters().read_bursts == 5);
}

namespace {

void check_integrity(bool lt) {
  System s;
  s.build();
  std::mt19937 random(7);
  std::vector<std::byte> expected(1 << 16, std::byte{0});
  std::vector<std::byte> back(4096);
  for (int i = 0; i < 300; ++i) {
    const std::uint32_t bytes = 1 + random() % 4000, at = random() % ((1 << 16) - bytes);
    for (std::uint32_t k = 0; k < bytes; ++k) s.buffer[k] = static_cast<std::byte>(random());
    std::copy_n(s.buffer.begin(), bytes, expected.begin() + at);
    Transfer read{};
    read.address = kSram + at;
    read.data = back.data();
    read.bytes = bytes;
    if (lt) {
      s.port().access_lt(true, kSram + at, s.buffer.data(), bytes, sc_time(), nullptr);
      s.port().access_lt(false, kSram + at, back.data(), bytes, sc_time(), nullptr);
    } else {
      s.start(true, kSram + at, bytes);
      s.run();
      s.port().start(read);
      s.run();
    }
    REQUIRE(std::equal(back.begin(), back.begin() + bytes, s.buffer.begin()));
  }
  CHECK(std::memcmp(s.sram->ptr(0, 1 << 16), expected.data(), expected.size()) == 0);
}

}  // namespace

TEST_CASE("at: random writes read back byte for byte") { check_integrity(false); }
TEST_CASE("lt: random writes read back byte for byte") { check_integrity(true); }

TEST_CASE("an aborted port drops what is queued and stays silent about bursts under way") {
  System s;
  s.build();
  s.start(true, kSram, 4096);
  sc_core::sc_start(s.clock.cycles(10));
  s.port().abort();
  CHECK_FALSE(s.port().idle());
  s.run();
  CHECK(s.clients[0].done.empty());
  sc_core::sc_start(s.clock.cycles(100));
  CHECK(s.port().idle());
  s.start(false, kSram, 8);
  s.run();
  CHECK(s.clients[0].done.size() == 1);
}
