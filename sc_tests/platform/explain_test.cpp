// Where the time went: exact totals, the slowest requests, the verdict rule.
#include "platform/explain.hpp"

#include <algorithm>
#include <random>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

RequestRecord record(std::uint64_t serial, const std::vector<std::pair<Span, std::uint64_t>>& spans) {
  RequestRecord r;
  r.serial = serial;
  for (const auto& [span, ps] : spans) r.times[span] += ps;
  r.begin = sc_core::sc_time::from_value(serial * 1000);
  r.end = sc_core::sc_time::from_value(serial * 1000 + r.times.total());
  return r;
}

Verdict verdict_of(const std::vector<std::pair<Span, std::uint64_t>>& spans) {
  Explain e;
  e.add(record(0, spans));
  return judge(e.all());
}

}  // namespace

TEST_CASE("span totals equal the latency to the picosecond, and printed means add up") {
  std::mt19937_64 random(3);
  Explain e;
  std::uint64_t latency = 0;
  for (unsigned i = 0; i < 333; ++i) {
    std::vector<std::pair<Span, std::uint64_t>> spans;
    for (unsigned s = 0; s < kSpanCount; ++s) spans.emplace_back(static_cast<Span>(s), random() % 1'000'003);
    const RequestRecord r = record(i, spans);
    latency += (r.end - r.begin).value();
    e.add(r);
  }
  CHECK(e.unaccounted() == 0);
  CHECK(e.all().latency_ps == latency);
  CHECK(e.all().spans.total() == latency);
  CHECK(e.slowest().spans.total() == e.slowest().latency_ps);
  CHECK(e.slowest().requests == 4);  // ceil(333 / 100)
  std::uint64_t printed = 0;
  for (const std::uint64_t ns : rounded_means_ns({e.all().spans.ps.begin(), e.all().spans.ps.end()}, 333))
    printed += ns;
  CHECK(printed == (latency + 333'000 / 2) / 333'000);
}

TEST_CASE("a request whose spans do not add up is counted") {
  Explain e;
  RequestRecord r = record(0, {{Span::wire, 5000}});
  r.end = sc_core::sc_time::from_value(5001);
  e.add(r);
  CHECK(e.unaccounted() == 1);
}

TEST_CASE("the slowest hundredth is the same as sorting says, whatever the order of arrival") {
  std::mt19937_64 random(11);
  for (const unsigned n : {1u, 99u, 100u, 101u, 5000u, 20000u}) {
    Explain e;
    std::vector<std::uint64_t> latencies;
    for (unsigned i = 0; i < n; ++i) {
      latencies.push_back(1 + random() % 100'000);
      e.add(record(i, {{Span::nand_array, latencies.back()}}));
    }
    std::sort(latencies.rbegin(), latencies.rend());
    const unsigned wanted = (n + 99) / 100;
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < wanted; ++i) sum += latencies[i];
    INFO(n);
    CHECK(e.slowest().requests == wanted);
    CHECK(e.slowest().latency_ps == sum);
  }
}

TEST_CASE("the verdict names the cause above a third of service time, with the next best") {
  struct Row {
    Span span;
    Cause cause;
  };
  const Row rows[] = {{Span::wire, Cause::link_rate},
                      {Span::command, Cause::link_rate},
                      {Span::queue_poll_wait, Cause::queue_poll_wait},
                      {Span::axi_write, Cause::axi_stall},
                      {Span::axi_read, Cause::axi_stall},
                      {Span::clock_stop_fifo_full, Cause::axi_stall},
                      {Span::descriptor_fetch, Cause::descriptor_fetch},
                      {Span::nand_array, Cause::device_array},
                      {Span::nand_channel, Cause::device_array},
                      {Span::device_firmware, Cause::device_firmware},
                      {Span::device_map, Cause::device_firmware},
                      {Span::device_buffer, Cause::device_buffer},
                      {Span::busy, Cause::device_buffer},
                      {Span::driver_submit, Cause::driver},
                      {Span::mmio, Cause::driver},
                      {Span::driver_complete, Cause::driver},
                      {Span::interrupt_latency, Cause::interrupt}};
  for (const Row& row : rows) {
    INFO(to_string(row.span));
    CHECK(cause_of(row.span) == row.cause);
    CHECK(verdict_of({{row.span, 1000}}).cause == row.cause);
  }
  const Verdict v = verdict_of({{Span::wire, 600}, {Span::nand_array, 300}, {Span::mmio, 100}});
  CHECK(v.cause == Cause::link_rate);
  CHECK(v.largest_percent == Approx(60.0));
  CHECK(v.next == Cause::device_array);
  CHECK(v.next_percent == Approx(30.0));
}

TEST_CASE("no cause above a third is no verdict, but the evidence stays") {
  const Verdict v =
      verdict_of({{Span::wire, 30}, {Span::nand_array, 30}, {Span::mmio, 20}, {Span::device_firmware, 20}});
  CHECK(v.cause == Cause::none);
  CHECK(v.largest == Cause::link_rate);
  CHECK(v.largest_percent == Approx(30.0));
}

TEST_CASE("waiting for other requests in the queue is not a cause") {
  const Verdict v = verdict_of({{Span::queue_wait, 9000}, {Span::wire, 60}, {Span::mmio, 40}});
  CHECK(v.cause == Cause::link_rate);
  CHECK(v.largest_percent == Approx(60.0));
  CHECK(verdict_of({}).cause == Cause::none);
}

TEST_CASE("the table prints spans that add up to the printed latency") {
  Explain e;
  e.add(record(0, {{Span::wire, 1'000'400}, {Span::nand_array, 2'000'400}}));  // 1.0004 and 2.0004 us
  const std::string text =
      explain_text(e, {{{"sdhci.dma", "no grant", 12, 40'000}}, {{"DAT", 12.5}}, {}}, Findings());
  CHECK(text.find("  wire                           1.000    33.34             1.000    33.34\n") !=
        std::string::npos);
  CHECK(text.find("  nand_array                     2.001") !=
        std::string::npos);  // gets the remainder: 0.8 ns
  CHECK(text.find("  latency                        3.001   100.00             3.001   100.00\n") !=
        std::string::npos);
  CHECK(
      text.find("sdhci.dma         no grant                          12             12.00         0.040\n") !=
      std::string::npos);
  CHECK(text.find("  DAT                       12.50 %\n") != std::string::npos);
  CHECK(text.find("Verdict: device_array\n") != std::string::npos);
}

TEST_CASE("findings are listed with rule, time, place and addresses") {
  Findings f;
  f.report({"dma.crosses_128m",
            sc_core::sc_time::from_value(5'000'000),
            "sdhci.dma",
            {0x7FFF000, 0x8000000},
            "A range crosses."});
  CHECK(findings_text(f).find(
            "dma.crosses_128m at 5000 ns in sdhci.dma: 0x7fff000 0x8000000 A range crosses.\n") !=
        std::string::npos);
  const Json json = explain_json(Explain(), {}, f);
  CHECK(json["findings"][0]["rule"] == "dma.crosses_128m");
  CHECK(json["findings"][0]["addresses"][1] == "0x8000000");
  CHECK(json["verdict"]["cause"] == "none");
}
