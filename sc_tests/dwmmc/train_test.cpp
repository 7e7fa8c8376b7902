// Bursts of a master that keeps one unfinished, timed together (`lt` style): against arithmetic burst by burst.
#include "models/axi/interconnect.hpp"
#include "models/axi/master_port.hpp"
#include "models/memory/dram.hpp"
#include "sc_tests/dwmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

// A write burst of 16 beats: hop A, 16 A of data, accepted after 2 A, hop A.
constexpr std::uint64_t kBeats = 16, kBurst = 1 + kBeats + 2 + 1, kBurstBytes = kBeats * 8;

struct TrainBench {
  Context ctx;
  ClockDomain axi{"axi", 200e6};
  AxiInterconnect interconnect;
  Dram dram;
  AxiMasterPort port;

  static AxiMasterParams one_at_a_time() {
    AxiMasterParams p;
    p.outstanding_reads = p.outstanding_writes = 1;
    return p;
  }
  explicit TrainBench(const std::string& name = "one", const DramParams& memory = {})
      : interconnect((name + "_interconnect").c_str(), with_style(ctx, TimingStyle::lt), axi,
                     InterconnectParams{}),
        dram((name + "_dram").c_str(), axi, memory),
        port((name + "_port").c_str(), ctx, axi, one_at_a_time()) {
    port.socket.bind(interconnect.master_socket(interconnect.add_master("port")));
    interconnect.target_socket(interconnect.add_target("dram", kDramBase, 1 << 30, AxiAddress::absolute))
        .bind(dram.socket);
  }
  static void begin() { sc_core::sc_start(sc_core::SC_ZERO_TIME); }
  AxiLtMemory memory() {
    const AxiLtMemory m = port.memory_lt(kDramBase);
    REQUIRE(m.holds(kDramBase, 4096));
    return m;
  }
};

}  // namespace

TEST_CASE("groups of write bursts with one outstanding end as burst after burst does") {
  TrainBench b;
  TrainBench::begin();
  const AxiLtMemory m = b.memory();
  constexpr unsigned kGroups = 3, kPerGroup = 2;
  constexpr std::uint64_t kApart = 51;  // cycles; two bursts take 40
  LtPiece first{kPerGroup * kBurstBytes, cycles(1000), {}, {}};
  REQUIRE(b.port.time_pieces_lt(m, true, kDramBase, {kGroups, kApart * kCycle}, first));
  CHECK(first.done == cycles(1000 + 2 * kBurst));
  CHECK(first.left == cycles(1000 + kBurst + kBeats));
  const AxiCounters& c = b.port.counters();
  CHECK(c.write_bursts == kGroups * kPerGroup);
  CHECK(c.write_bytes == kGroups * kPerGroup * kBurstBytes);
  CHECK(c.busy == kGroups * 2 * kBurst);
  CHECK(c.wait_b == kGroups * kPerGroup * (kBurst - kBeats));
  CHECK(c.limited_outstanding ==
        kGroups * (kBurst - 1));  // the second of each waits from the next address on
  CHECK(b.dram.counters().row_misses == 1);
  CHECK(b.dram.counters().row_hits == kGroups * kPerGroup - 1);
  CHECK(b.dram.counters().write_bytes == kGroups * kPerGroup * kBurstBytes);
  CHECK(b.interconnect.target_counters(0).write_busy == kGroups * kPerGroup * kBeats);
  // What follows finds the port as the last group left it.
  LtPiece next{kBurstBytes, cycles(1000), {}, {}};
  b.port.time_lt(m, true, kDramBase + 4096, next);
  CHECK(next.done == cycles(1000 + 2 * kApart + 2 * kBurst + kBurst));
}

TEST_CASE("groups closer together than their bursts take are refused and leave the port untouched") {
  TrainBench b;
  TrainBench::begin();
  const AxiLtMemory m = b.memory();
  LtPiece first{2 * kBurstBytes, cycles(1000), {}, {}};
  CHECK_FALSE(b.port.time_pieces_lt(m, true, kDramBase, {2, (2 * kBurst - 1) * kCycle}, first));
  CHECK(b.port.counters().write_bursts == 0);
  CHECK(b.dram.counters().write_bytes == 0);
  b.port.time_lt(m, true, kDramBase, first);
  CHECK(first.done == cycles(1000 + 2 * kBurst));
}

// Blocks of two groups of two bursts, as they come from the card: trains of them against the same bursts one by one, over
// many refreshes (t_REFI), rows, and with a write buffer smaller than a train.
TEST_CASE("groups block after block are timed and booked as the same bursts one by one") {
  struct Row {
    unsigned groups, rounds;
    std::uint64_t group, round;  // cycles
  };
  const DramParams memory = [] {
    DramParams p;
    p.row_bytes = 2048;
    return p;
  }();
  TrainBench train("train", memory), single("single", memory);
  TrainBench::begin();
  const AxiLtMemory mt = train.memory(), ms = single.memory();
  std::uint64_t at = 1000, address = kDramBase;
  for (int repeat = 0; repeat < 40; ++repeat)
    for (const Row& r : {Row{2, 8, 129, 290}, Row{2, 4, 129, 275}, Row{4, 4, 60, 300}, Row{1, 8, 0, 64},
                         Row{2, 1, 45, 0}, Row{1, 2, 0, 41}}) {
      const std::uint32_t bytes = 2 * kBurstBytes, total = r.groups * r.rounds * bytes;
      if (address % 4096 + total > 4096) address = (address + 4095) / 4096 * 4096;
      LtPiece first{bytes, cycles(at), {}, {}};
      const AxiRhythm rhythm{r.groups, r.group * kCycle, r.rounds, r.round * kCycle};
      const bool together = train.port.time_pieces_lt(mt, true, address, rhythm, first);
      // More bursts than the write buffer holds are taken together within one row.
      const bool buffered = total / kBurstBytes <= memory.write_buffer;
      CHECK(together == (buffered || address / memory.row_bytes == (address + total - 1) / memory.row_bytes));
      std::uint64_t place = address;
      rhythm.each([&](std::uint64_t shift) {
        LtPiece a{bytes, cycles(at) + from_ps(shift), {}, {}}, b = a;
        single.port.time_lt(ms, true, place, b);
        if (together) {
          CHECK(first.left + from_ps(shift) == b.left);
          CHECK(first.done + from_ps(shift) == b.done);
        } else {
          train.port.time_lt(mt, true, place, a);
          CHECK(a.done == b.done);
        }
        place += bytes;
      });
      address += total;
      at += (r.groups - 1) * r.group + r.rounds * (r.round > 0 ? r.round : 100) + 57;
    }
  const AxiCounters &t = train.port.counters(), &s = single.port.counters();
  CHECK(t.write_bursts == s.write_bursts);
  CHECK(t.busy == s.busy);
  CHECK(t.wait_b == s.wait_b);
  CHECK(t.limited_outstanding == s.limited_outstanding);
  const DramCounters &td = train.dram.counters(), &sd = single.dram.counters();
  CHECK(td.row_hits == sd.row_hits);
  CHECK(td.row_misses == sd.row_misses);
  CHECK(td.row_conflicts == sd.row_conflicts);
  CHECK(td.refresh_waits == sd.refresh_waits);
  CHECK(td.busy_ps == sd.busy_ps);
  CHECK(td.write_bytes == sd.write_bytes);
  CHECK(td.row_misses > 40);  // refreshes fell within trains
  CHECK(train.interconnect.target_counters(0).write_busy ==
        single.interconnect.target_counters(0).write_busy);
}

TEST_CASE("a piece that has to be over earlier than it can be is refused") {
  TrainBench b;
  TrainBench::begin();
  const AxiLtMemory m = b.memory();
  LtPiece first{2 * kBurstBytes, cycles(1000), {}, {}};
  AxiRhythm rhythm{2, 60 * kCycle, 2, 200 * kCycle, 2 * kBurst * kCycle - 1};
  CHECK_FALSE(b.port.time_pieces_lt(m, true, kDramBase, rhythm, first));
  CHECK(b.port.counters().write_bursts == 0);
  rhythm.over_ps = 2 * kBurst * kCycle;
  CHECK(b.port.time_pieces_lt(m, true, kDramBase, rhythm, first));
  CHECK(first.done == cycles(1000 + 2 * kBurst));
}
