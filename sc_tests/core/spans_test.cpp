#include "models/core/spans.hpp"

#include <algorithm>
#include <map>
#include <random>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

sc_time ps(std::uint64_t v) { return sc_time::from_value(v); }
constexpr unsigned kLegacy = SpanRecorder::kLegacyTag;

}  // namespace

TEST_CASE("a cause graph charges only what the end was waiting for") {
  CauseGraph g;
  CHECK_FALSE(g.open());
  g.restart(ps(100));
  const NodeId command = g.add(kRootNode, Span::command, ps(300));
  const NodeId device = g.add(command, Span::nand_array, ps(900));
  const NodeId descriptor = g.add(kRootNode, Span::descriptor_fetch, ps(700));  // overlaps, does not block
  const NodeId wire = g.add(g.later(device, descriptor), Span::wire, ps(1500));
  const NodeId written = g.add(wire, Span::axi_write, ps(1600));
  SpanTimes t;
  g.settle(written, t);
  CHECK(t[Span::command] == 200);
  CHECK(t[Span::nand_array] == 600);
  CHECK(t[Span::descriptor_fetch] == 0);
  CHECK(t[Span::wire] == 600);
  CHECK(t[Span::axi_write] == 100);
  CHECK(t.total() == 1600 - 100);
}

TEST_CASE("a node never ends before what it follows, and may be prolonged") {
  CauseGraph g;
  g.restart(ps(100));
  const NodeId a = g.add(kRootNode, Span::busy, ps(400));
  const NodeId b = g.add(a, Span::wire, ps(50));
  CHECK(g.end(b) == ps(400));
  g.extend(b, ps(600));
  g.extend(b, ps(500));  // not shortened
  CHECK(g.end(b) == ps(600));
  CHECK(g.later(a, a) == a);
  SpanTimes t;
  g.settle(b, t);
  CHECK(t[Span::busy] == 300);
  CHECK(t[Span::wire] == 200);
}

TEST_CASE("random cause graphs: the way back from any node sums to its end") {
  std::mt19937_64 rng(1);
  for (int round = 0; round < 200; ++round) {
    CauseGraph g;
    g.restart(ps(1000));
    NodeId last = kRootNode;
    for (unsigned i = 1; i < 60; ++i)
      last = g.add(static_cast<NodeId>(rng() % i), static_cast<Span>(rng() % kSpanCount),
                   ps(900 + rng() % 5000));
    SpanTimes t;
    g.settle(last, t);
    CHECK(t.total() == (g.end(last) - ps(1000)).value());
  }
}

TEST_CASE("the phases of one request follow the order of the timing contract") {
  SpanRecorder r;
  std::vector<RequestRecord> done;
  r.on_request_done([&](const RequestRecord& x) { done.push_back(x); });
  r.request_begin(1, ps(100), true, 64, 4096);
  r.cpu_work(ps(150));  // not yet issued: the CPU works for others, the request waits
  r.request_issue(1, kLegacy, ps(200));
  r.cpu_work(ps(500));
  r.cpu_mmio(ps(530));
  CHECK(r.graph(kLegacy) == nullptr);
  CauseGraph* g = r.hardware_begin(kLegacy, ps(550));
  REQUIRE(g);
  r.cpu_work(ps(700));  // others
  CHECK(r.graph(kLegacy) == g);
  const NodeId last = g->add(g->add(kRootNode, Span::command, ps(800)), Span::wire, ps(2000));
  r.hardware_end(kLegacy, last);
  CHECK(r.graph(kLegacy) == nullptr);
  r.cpu_work(ps(2100));  // the interrupt is not taken yet
  r.irq_taken(ps(2400));
  r.cpu_work(ps(2500));
  r.cpu_mmio(ps(2520));
  r.request_end(1, ps(2600));
  REQUIRE(done.size() == 1);
  const SpanTimes& t = done[0].times;
  CHECK(t[Span::queue_wait] == 100);
  CHECK(t[Span::driver_submit] == 300);
  CHECK(t[Span::mmio] == 30 + 20 + 20);
  CHECK(t[Span::command] == 250);
  CHECK(t[Span::wire] == 1200);
  CHECK(t[Span::interrupt_latency] == 400);
  CHECK(t[Span::driver_complete] == 100 + 80);
  CHECK(t.total() == 2500);
}

TEST_CASE(
    "what the core sleeps through after the data have moved is the card's busy, before that it is not") {
  SpanRecorder r;
  std::vector<RequestRecord> done;
  r.on_request_done([&](const RequestRecord& x) { done.push_back(x); });
  r.request_begin(1, ps(0), true, 64, 4096);
  r.request_issue(1, kLegacy, ps(0));
  r.cpu_slept(ps(40));  // an interrupt the driver waits for before its command
  CauseGraph* g = r.hardware_begin(kLegacy, ps(100));
  REQUIRE(g);
  r.cpu_slept(ps(500));
  r.hardware_end(kLegacy, g->add(kRootNode, Span::wire, ps(600)));
  r.irq_taken(ps(650));
  r.cpu_work(ps(700));
  r.cpu_slept(ps(32'700));  // between two looks at the card
  r.cpu_mmio(ps(32'720));
  r.request_end(1, ps(32'800));
  REQUIRE(done.size() == 1);
  CHECK(done[0].times[Span::busy] == 32'000);
  CHECK(done[0].times[Span::mmio] == 100 + 20);
  CHECK(done[0].times[Span::driver_complete] == 50 + 80);
  CHECK(done[0].times.total() == 32'800);
}

TEST_CASE("calls for requests without a timeline are ignored") {
  SpanRecorder r;
  r.request_issue(7, 3, ps(1));
  r.request_end(7, ps(2));
  CHECK(r.hardware_begin(3, ps(3)) == nullptr);
  CHECK(r.graph(3) == nullptr);
  r.hardware_end(3, kRootNode);
  CHECK(r.hardware_begin(99, ps(3)) == nullptr);
  r.irq_taken(ps(4));
  CHECK(r.requests_begun() == 0);
}

TEST_CASE("interleaved requests: the spans of each sum to exactly its life") {
  struct Live {
    int phase = 0;  // 0 queued, 1 issued, 2 hardware, 3 hardware done, 4 interrupt taken
    unsigned tag = kLegacy;
    std::uint64_t hardware_from = 0;
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    std::mt19937_64 rng(seed);
    SpanRecorder r;
    std::vector<RequestRecord> done;
    r.on_request_done([&](const RequestRecord& x) { done.push_back(x); });
    std::map<std::uint32_t, Live> live;
    std::map<std::uint32_t, std::uint64_t> begun;
    std::array<bool, kLegacy> tag_used{};
    std::uint64_t now = 0;
    std::uint32_t next = 0;
    std::vector<std::uint64_t> begin_time, end_time;
    while (done.size() < 300) {
      now += rng() % 1000;
      const auto pick = rng();
      switch (rng() % 8) {
        case 0:
          if (live.size() < 20) {
            r.request_begin(next, ps(now), pick & 1, pick >> 8, 512);
            live[next] = {};
            begun[next++] = now;
          }
          continue;
        case 1:
          r.cpu_work(ps(now));
          continue;
        case 2:
          r.cpu_mmio(ps(now));
          continue;
        case 3:
          r.irq_taken(ps(now));
          for (auto& [id, l] : live)
            if (l.phase == 3) l.phase = 4;
          continue;
        default:
          break;
      }
      if (live.empty()) continue;
      auto& [id, l] = *std::next(live.begin(), static_cast<long>(pick % live.size()));
      if (l.phase == 0) {
        const auto free_tag = std::find(tag_used.begin(), tag_used.end(), false);
        REQUIRE(free_tag != tag_used.end());
        *free_tag = true;
        l.tag = static_cast<unsigned>(free_tag - tag_used.begin());
        r.request_issue(id, l.tag, ps(now));
        l.phase = 1;
      } else if (l.phase == 1) {
        REQUIRE(r.hardware_begin(l.tag, ps(now)) != nullptr);
        l.hardware_from = now;
        l.phase = 2;
      } else if (l.phase == 2) {
        CauseGraph* g = r.graph(l.tag);
        REQUIRE(g != nullptr);
        NodeId n = kRootNode;
        for (unsigned i = 0; i < 5; ++i)
          n = g->add(n, static_cast<Span>(rng() % kSpanCount),
                     ps(l.hardware_from + rng() % (now - l.hardware_from + 1)));
        r.hardware_end(l.tag, n);
        l.phase = 3;
      } else if (l.phase == 4) {
        r.request_end(id, ps(now));
        const RequestRecord& x = done.back();
        CHECK(x.id == id);
        CHECK(x.begin == ps(begun[id]));
        CHECK(x.end == ps(now));
        CHECK(x.times.total() == now - begun[id]);
        tag_used[l.tag] = false;
        live.erase(id);
      }
    }
    CHECK(r.requests_begun() == next);
  }
}

TEST_CASE("a request issued again after an error keeps its sum") {
  SpanRecorder r;
  RequestRecord done;
  r.on_request_done([&](const RequestRecord& x) { done = x; });
  r.request_begin(1, ps(0), false, 0, 512);
  r.request_issue(1, kLegacy, ps(10));
  for (std::uint64_t round = 0; round < 2; ++round) {
    const std::uint64_t t0 = 1000 * (round + 1);
    CauseGraph* g = r.hardware_begin(kLegacy, ps(t0));
    REQUIRE(g);
    r.hardware_end(kLegacy, g->add(kRootNode, Span::wire, ps(t0 + 300)));
    r.irq_taken(ps(t0 + 400));
    if (round == 0) r.request_issue(1, kLegacy, ps(t0 + 450));
  }
  r.request_end(1, ps(2500));
  CHECK(done.times[Span::wire] == 600);
  CHECK(done.times[Span::interrupt_latency] == 200);
  CHECK(done.times[Span::driver_complete] == 50 + 100);
  CHECK(done.times[Span::queue_wait] == 10);
  CHECK(done.times.total() == 2500);
}

TEST_CASE("every span has its name") {
  CHECK(to_string(Span::queue_wait) == "queue_wait");
  CHECK(to_string(Span::clock_stop_fifo_full) == "clock_stop_fifo_full");
  CHECK(to_string(Span::driver_complete) == "driver_complete");
}
