// The register table, its access kinds, the clock gate, the interrupt level, coalescing.
#include <bit>

#include "sc_tests/cqhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

std::uint64_t bits_of(const RegDef& r, Access a) {
  if (r.fields.empty()) return r.access == a ? 0xFFFFFFFF : 0;
  std::uint64_t m = 0;
  for (const FieldDef& f : r.fields)
    if (f.access == a) m |= f.mask();
  return m;
}

/// Registers whose writes act at once or whose value is computed; they have tests of their own.
bool has_behaviour(const RegDef& r) {
  for (const char* n : {"CQCTL", "CQTDBR", "CQIC", "CQTCLR"})
    if (r.name == n) return true;
  return false;
}

}  // namespace

TEST_CASE("every CQHCI register reads its reset value and keeps exactly its writable bits") {
  CqhciParams q;
  q.crypto_slots = 0;
  QueueBench b(q);
  b.start_card();
  for (const RegDef& r : cqhci::kRegs) {
    INFO(r.name);
    CHECK(b.cq(r.name) == r.reset);  // 24 MHz timer: CQCAP 0x3018
    if (has_behaviour(r)) continue;
    std::uint64_t keeps = bits_of(r, Access::RW);
    if (r.name == "CQCFG") keeps &= ~std::uint64_t{2};  // no crypto engine
    for (const std::uint64_t pattern : {0xFFFFFFFFu, 0x5A5A5A5Au, 0u}) {
      b.set_cq(r.name, pattern);
      CHECK(b.cq(r.name) == ((r.reset & ~keeps) | (pattern & keeps)));
    }
    b.set_cq("CQCFG", 0);
  }
}

TEST_CASE("W1C registers clear the bits written as 1") {
  QueueBench b;
  b.start_card();
  for (const char* n : {"CQIS", "CQTCN"}) {
    INFO(n);
    const std::uint16_t at = find_register(cqhci::kRegs, n)->offset;
    b.cqe.registers().set(at, 0x3F);
    b.set_cq(n, 0x15);
    CHECK(b.cq(n) == 0x2A);
  }
}

TEST_CASE("without the internal clock the area reads 0 and ignores writes") {
  QueueBench b;
  std::vector<std::string> log;
  b.ctx.log_sink = [&](const std::string& l) { log.push_back(l); };
  CHECK(b.cq("CQVER") == 0);
  b.set_cq("CQSSC2", 7);
  CHECK(log.size() == 2);
  b.start_card();
  CHECK(b.cq("CQVER") == 0x510);
  CHECK(b.cq("CQSSC2") == 0);
}

TEST_CASE("a host reset clears the engine's registers, and a doorbell after it is ignored and found") {
  QueueBench b;
  b.start();
  b.write(0x2F, 1, 1);
  b.advance(sc_time(1, sc_core::SC_US));
  b.start_card();
  CHECK(b.cq("CQCFG") == 0);
  CHECK(b.cq("CQTDLBA") == 0);
  b.ring(1);
  b.advance(sc_time(10, sc_core::SC_US));
  CHECK(b.cq("CQTDBR") == 0);
  CHECK(b.findings("cqe.doorbell_while_off") == 1);
  CHECK(b.card.log.empty());
}

TEST_CASE("a doorbell with the list base at 0 is found before the fetch") {
  QueueBench b;
  b.start();
  b.set_cq("CQTDLBA", 0x3FF);  // the low ten bits are not used
  b.ring(1);
  b.advance(cycles(3));
  CHECK(b.findings("cqe.list_base_zero") == 1);
}

TEST_CASE("CQCAP reports what it is told to report, not the timer's frequency") {
  CqhciParams q;
  q.cqetmclk_hz = 19.2e6;
  q.reported_timer_hz = 192'000'000;
  QueueBench b(q);
  b.start_card();
  CHECK(b.cq("CQCAP") == 0x30C0);
}
TEST_CASE("CQCAP of a 18.2 MHz timer is 182 x 100 kHz") {
  CqhciParams q;
  q.cqetmclk_hz = 18.2e6;
  QueueBench b(q);
  b.start_card();
  CHECK(b.cq("CQCAP") == 0x20B6);
}
TEST_CASE("CQCAP of a 266 MHz timer is 266 x 1 MHz") {
  CqhciParams q;
  q.cqetmclk_hz = 266e6;
  QueueBench b(q);
  b.start_card();
  CHECK(b.cq("CQCAP") == 0x310A);
}

TEST_CASE("interrupt bit 14 stays high until CQIS is cleared, whatever is written to it") {
  QueueBench b;
  b.start();
  b.task(0, true, 1, 1);
  b.ring(1);
  b.run_until_complete(1);
  CHECK((b.read(0x30, 2) & 0x4000) != 0);
  b.write(0x30, 2, 0x4000);
  CHECK((b.read(0x30, 2) & 0x4000) != 0);
  CHECK(b.irq.level);
  b.set_cq("CQISGE", 0);  // the level follows CQIS & CQISGE
  CHECK_FALSE(b.irq.level);
  b.set_cq("CQISGE", 0x3F);
  CHECK(b.irq.level);
  b.set_cq("CQIS", 2);
  CHECK((b.read(0x30, 2) & 0x4000) == 0);
  CHECK_FALSE(b.irq.level);
  CHECK(b.cq("CQTCN") == 1);
}

TEST_CASE("CQIS latches only what CQISTE enables") {
  QueueBench b;
  b.start();
  b.set_cq("CQISTE", 0);
  b.task(0, true, 1, 1);
  b.ring(1);
  b.run_until_complete(1);
  CHECK(b.cq("CQIS") == 0);
  CHECK(b.irq.rises.empty());
}

TEST_CASE("CQIC keeps threshold and timeout unless their write enables are set") {
  QueueBench b;
  b.start();
  b.set_cq("CQIC", 0x80000000 | 0x8000 | 4u << 8 | 0x80 | 9);
  CHECK(b.cq("CQIC") == (0x80000000u | 4u << 8 | 9u));
  b.set_cq("CQIC", 0x80000000 | 7u << 8 | 5);
  CHECK(b.cq("CQIC") == (0x80000000u | 4u << 8 | 9u));
}

namespace {

void coalesced(QueueBench& b, unsigned threshold, unsigned tasks) {
  b.start();
  b.set_cq("CQIC", 0x80000000 | 0x8000 | threshold << 8);
  for (unsigned tag = 0; tag < tasks; ++tag) b.task(tag, true, tag, 1, 0);  // INT = 0
  b.ring((1u << tasks) - 1);
  for (unsigned group = 0; group < tasks / threshold; ++group) {
    b.run_until([&] { return b.irq.level; });
    const std::uint32_t done = b.cq("CQTCN");
    CHECK(std::popcount(done) == static_cast<int>(threshold));
    b.set_cq("CQTCN", done);
    b.set_cq("CQIC", 0x80000000 | 0x10000);
    b.set_cq("CQIS", 2);
  }
  b.advance(sc_time(100, sc_core::SC_US));
  CHECK(b.cq("CQTDBR") == 0);
  CHECK(b.irq.rises.size() == tasks / threshold);
  CHECK(b.cqe.counters().interrupts == tasks / threshold);
  CHECK(b.cqe.counters().coalesced == tasks);
}

}  // namespace

TEST_CASE("a threshold of 4 makes one interrupt of four completions") {
  QueueBench b;
  coalesced(b, 4, 16);
}
TEST_CASE("a threshold of 8 makes one interrupt of eight completions (lt)") {
  QueueBench b(queue_params(), TimingStyle::lt);
  coalesced(b, 8, 16);
}

TEST_CASE("the counter stops at its threshold until the driver resets it") {
  QueueBench b;
  b.start();
  b.set_cq("CQIC", 0x80000000 | 0x8000 | 2u << 8);
  for (unsigned tag = 0; tag < 6; ++tag) b.task(tag, true, tag, 1, 0);
  b.ring(0x3);
  b.run_until_complete(0x3);
  CHECK(b.cq("CQIS") == 2);
  CHECK((b.cq("CQIC") & 1u << 20) != 0);
  b.acknowledge();  // without CQIC.16
  b.ring(0xC);
  b.run_until_complete(0xC);
  CHECK(b.cq("CQIS") == 0);
  b.set_cq("CQIC", 0x80010000);
  CHECK((b.cq("CQIC") & 1u << 20) == 0);
  b.ring(0x30);
  b.run_until_complete(0x30);
  CHECK(b.cq("CQIS") == 2);
}

TEST_CASE("the coalescing timer fires 1024 x n timer clocks after the first completion") {
  CqhciParams q = queue_params();
  q.cqetmclk_hz = 10e6;  // 100 ns
  QueueBench b(q);
  b.start();
  b.set_cq("CQIC", 0x80000000 | 0x8000 | 31u << 8 | 0x80 | 2);
  RequestRecord done;
  b.ctx.spans.on_request_done([&](const RequestRecord& r) { done = r; });
  b.ctx.spans.request_begin(1, sc_time_stamp(), false, 0, 512);
  b.ctx.spans.request_issue(1, 0, sc_time_stamp());
  b.task(0, true, 0, 1, 0);
  b.ring(1);
  const sc_time completed = b.run_until_complete(1);
  CHECK_FALSE(b.irq.level);
  const sc_time fired = b.run_until([&] { return b.irq.level; });
  const std::uint64_t from = (completed.value() + 99'999) / 100'000 * 100'000;
  CHECK(fired.value() == from + 2 * 1024 * std::uint64_t{100'000});
  b.ctx.spans.irq_taken(fired);
  b.ctx.spans.request_end(1, fired);
  CHECK(done.times[Span::interrupt_latency] == (fired - completed).value());
  CHECK(done.times.total() == (done.end - done.begin).value());
}

TEST_CASE("an INT task's interrupt tells of the coalesced completions before it") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 1, 0);
  b.task(1, true, 1, 1, kInt);
  b.ring(3);
  b.run_until_complete(3);
  REQUIRE(b.irq.rises.size() == 1);
  CHECK(b.cqe.counters().coalesced == 1);
}
