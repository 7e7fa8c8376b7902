// Halt, clear, task clear and disable.
#include "sc_tests/cqhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr std::uint32_t kHac = 1, kTcl = 8;

}  // namespace

// --- halt ---

TEST_CASE("HALT of an idle engine is immediate") {
  QueueBench b;
  b.start();
  b.set_cq("CQCTL", 1);
  b.advance(cycles(3));
  CHECK(b.cq("CQCTL") == 1);
  CHECK(b.cq("CQIS") == kHac);
  CHECK(b.irq.level);
}

TEST_CASE("HALT during a 512 KiB transfer at 26 MHz x1 reads 1 when the data are in memory, then HAC") {
  SdhciParams p = bench_params();
  p.base_clock_hz = 52e6;
  QueueBench b(queue_params(), TimingStyle::at, p);
  b.start(k8_8, {1, false}, 1);  // 52 MHz / 2
  b.task(0, true, 0, 1024);
  b.task(1, true, 1024, 8);
  b.ring(3);
  b.run_until([&] { return b.card.count(46) == 1; });
  const sc_time asked = b.set_cq("CQCTL", 1);
  b.advance(sc_time(5, sc_core::SC_MS));
  CHECK(b.cq("CQCTL") == 0);  // 5 ms are not enough
  const sc_time halted = b.run_until([&] { return b.cq("CQCTL") == 1; });
  // 1024 frames of 4114 clocks and 45 between them, at 38462 ps (rounded): 163.8 ms.
  const std::uint64_t wire = (cNac + 1024 * std::uint64_t{4114} + 1023 * cG) * 38462;
  const std::uint64_t rest = (cX + kBlockWrite + cC) * kCycle;
  CHECK(halted.value() - b.card.nth(46, 0).end.value() == Approx(double(wire + rest)).margin(2 * kCycle));
  CHECK((b.cq("CQIS") & kHac) != 0);
  CHECK((b.cq("CQTCN") & 1) == 1);
  CHECK(b.cqe.counters().halt_wait == halted - asked);
  const std::size_t commands = b.card.log.size();
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.card.log.size() == commands);  // nothing is issued while halted
  b.set_cq("CQCTL", 0);
  b.run_until_complete(3);
  b.check_data(1, 1024, 8);
}

TEST_CASE("HALT between CMD44 and CMD45 lets the pair end") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 8);
  b.ring(1);
  b.run_until([&] { return b.card.count(44) == 1; });
  b.halt();
  CHECK(b.card.count(45) == 1);
  CHECK(b.card.count(46) == 0);
  CHECK(b.cq("CQDPT") == 1);
  b.set_cq("CQCTL", 0);
  b.run_until_complete(1);
}

TEST_CASE("doorbells rung while halted start when the halt ends") {
  QueueBench b;
  b.start();
  b.halt();
  b.task(0, true, 0, 1);
  b.ring(1);
  b.advance(sc_time(100, sc_core::SC_US));
  CHECK(b.card.log.empty());
  b.set_cq("CQCTL", 0);
  b.run_until_complete(1);
}

// --- clear ---

TEST_CASE("CLEAR_ALL_TASKS drops every task, raises TCL and leaves the device's queue alone") {
  QueueBench b;
  b.start();
  for (unsigned tag = 0; tag < 4; ++tag) {
    b.task(tag, true, tag, 1);
    b.card.prepare[tag] = sc_time(1, sc_core::SC_MS);
  }
  b.ring(0xF);
  b.run_until([&] { return b.card.count(45) == 3; });
  b.halt();
  const sc_time t = b.set_cq("CQCTL", 0x101);
  b.advance(t - sc_time_stamp());
  CHECK(b.cq("CQCTL") == 0x101);
  CHECK(b.run_until([&] { return (b.cq("CQIS") & kTcl) != 0; }) - t == cycles(16));
  CHECK(b.cq("CQTDBR") == 0);
  CHECK(b.cq("CQDPT") == 0);
  CHECK(b.cq("CQCTL") == 1);
  CHECK(b.cq("CQTCN") == 0);
  CHECK(b.card.count(48) == 0);
}

TEST_CASE("CLEAR_ALL_TASKS and CQTCLR are ignored while not halted") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 64);
  b.ring(1);
  b.advance(sc_time(1, sc_core::SC_US));
  b.set_cq("CQCTL", 0x100);
  b.set_cq("CQTCLR", 1);
  CHECK(b.cq("CQTCLR") == 0);
  b.run_until_complete(1);
  CHECK((b.cq("CQIS") & kTcl) == 0);
  b.check_data(0, 0, 64);
}

TEST_CASE("CQTCLR drops one task, and the others go on") {
  QueueBench b;
  b.start();
  for (unsigned tag = 0; tag < 3; ++tag) {
    b.task(tag, true, tag, 1);
    b.card.prepare[tag] = sc_time(50, sc_core::SC_US);
  }
  b.set_cq("CQSSC1", 0x10100);
  b.ring(7);
  b.run_until([&] { return b.cq("CQDPT") == 7; });
  b.halt();
  b.set_cq("CQTCLR", 2);
  b.run_until([&] { return (b.cq("CQIS") & kTcl) != 0; });
  CHECK(b.cq("CQTDBR") == 5);
  CHECK(b.cq("CQTCLR") == 0);
  b.set_cq("CQCTL", 0);
  b.run_until_complete(5);
  CHECK(b.cq("CQTCN") == 5);
  CHECK(b.card.count(46) == 2);
}

TEST_CASE("clearing CQ_EN drops the tasks and their data, and enabled again, nothing old completes") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 64);
  b.ring(1);
  b.run_until([&] { return b.card.count(46) == 1; });
  b.advance(sc_time(5, sc_core::SC_US));
  b.set_cq("CQCFG", 0);
  CHECK(b.cq("CQTDBR") == 0);
  b.card.blocks_left = 0;
  b.enable(k8_8);
  b.advance(sc_time(200, sc_core::SC_US));
  CHECK(b.cq("CQTCN") == 0);
  b.task(0, true, 500, 2);
  b.ring(1);
  b.run_until_complete(1);
  b.check_data(0, 500, 2);
}
