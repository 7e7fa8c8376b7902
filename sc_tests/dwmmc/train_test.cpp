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
  TrainBench()
      : interconnect("interconnect", with_style(ctx, TimingStyle::lt), axi, InterconnectParams{}),
        dram("dram", axi, DramParams{}),
        port("port", ctx, axi, one_at_a_time()) {
    port.socket.bind(interconnect.master_socket(interconnect.add_master("port")));
    interconnect.target_socket(interconnect.add_target("dram", kDramBase, 1 << 30, AxiAddress::absolute))
        .bind(dram.socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
  AxiLtMemory memory() {
    const AxiLtMemory m = port.memory_lt(kDramBase);
    REQUIRE(m.holds(kDramBase, 4096));
    return m;
  }
};

}  // namespace

TEST_CASE("groups of write bursts with one outstanding end as burst after burst does") {
  TrainBench b;
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
  const AxiLtMemory m = b.memory();
  LtPiece first{2 * kBurstBytes, cycles(1000), {}, {}};
  CHECK_FALSE(b.port.time_pieces_lt(m, true, kDramBase, {2, (2 * kBurst - 1) * kCycle}, first));
  CHECK(b.port.counters().write_bursts == 0);
  CHECK(b.dram.counters().write_bytes == 0);
  b.port.time_lt(m, true, kDramBase, first);
  CHECK(first.done == cycles(1000 + 2 * kBurst));
}
