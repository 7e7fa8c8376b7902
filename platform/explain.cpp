#include "platform/explain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace vp {
namespace {

constexpr std::array<std::string_view, kCauseCount> kCauseNames = {
    "link_rate",       "queue_poll_wait", "axi_stall", "descriptor_fetch", "device_array",
    "device_firmware", "device_buffer",   "driver",    "interrupt",        "none"};

// A wire that stands still because the FIFO is full waits for the AXI side. A map miss is the translation
// layer's doing, so it goes with the firmware. Busy after a write is the device's buffer not taking more.
constexpr std::array<Cause, kSpanCount> kCauseOfSpan = {
    /* queue_wait */ Cause::none,
    /* driver_submit */ Cause::driver,
    /* mmio */ Cause::driver,
    /* descriptor_fetch */ Cause::descriptor_fetch,
    /* command */ Cause::link_rate,
    /* queue_poll_wait */ Cause::queue_poll_wait,
    /* device_firmware */ Cause::device_firmware,
    /* device_map */ Cause::device_firmware,
    /* nand_array */ Cause::device_array,
    /* nand_channel */ Cause::device_array,
    /* device_buffer */ Cause::device_buffer,
    /* wire */ Cause::link_rate,
    /* clock_stop_fifo_full */ Cause::axi_stall,
    /* axi_write */ Cause::axi_stall,
    /* axi_read */ Cause::axi_stall,
    /* busy */ Cause::device_buffer,
    /* interrupt_latency */ Cause::interrupt,
    /* driver_complete */ Cause::driver,
};

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::string_view to_string(Cause cause) { return kCauseNames[static_cast<std::size_t>(cause)]; }
Cause cause_of(Span span) { return kCauseOfSpan[static_cast<std::size_t>(span)]; }

void SpanSum::add(const SpanTimes& times, std::uint64_t latency) {
  ++requests;
  latency_ps += latency;
  for (std::size_t i = 0; i < kSpanCount; ++i) spans.ps[i] += times.ps[i];
}

Verdict judge(const SpanSum& sum) {
  std::array<std::uint64_t, kCauseCount> per_cause{};
  for (std::size_t i = 0; i < kSpanCount; ++i)
    per_cause[static_cast<std::size_t>(kCauseOfSpan[i])] += sum.spans.ps[i];
  const std::uint64_t service = sum.spans.total() - sum.spans[Span::queue_wait];
  std::array<std::size_t, kCauseCount - 1> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return per_cause[a] > per_cause[b]; });
  Verdict v;
  if (service == 0) return v;
  v.largest = static_cast<Cause>(order[0]);
  v.largest_percent = percent(per_cause[order[0]], service);
  v.largest_ps = per_cause[order[0]] / sum.requests;
  v.next = per_cause[order[1]] != 0 ? static_cast<Cause>(order[1]) : Cause::none;
  v.next_percent = percent(per_cause[order[1]], service);
  v.next_ps = per_cause[order[1]] / sum.requests;
  if (per_cause[order[0]] > service / 3) v.cause = v.largest;
  return v;
}

void Explain::add(const RequestRecord& record) {
  const std::uint64_t latency = (record.end - record.begin).value();
  if (record.times.total() != latency) ++unaccounted_;
  all_.add(record.times, latency);
  if (kept_.size() == kSlowestKept) {
    if (latency <= kept_.front().latency_ps) return;  // on a tie the earlier one stays
    std::pop_heap(kept_.begin(), kept_.end(), slower);
    kept_.pop_back();
  }
  kept_.push_back({latency, record.serial, record.times});
  std::push_heap(kept_.begin(), kept_.end(), slower);
}

SpanSum Explain::slowest() const {
  std::vector<Kept> sorted = kept_;
  std::sort(sorted.begin(), sorted.end(), slower);
  const std::size_t wanted = std::min<std::size_t>((all_.requests + 99) / 100, sorted.size());
  SpanSum sum;
  for (std::size_t i = 0; i < wanted; ++i) sum.add(sorted[i].times, sorted[i].latency_ps);
  return sum;
}

std::vector<std::uint64_t> rounded_means_ns(const std::vector<std::uint64_t>& sums_ps, std::uint64_t count) {
  std::vector<std::uint64_t> means(sums_ps.size(), 0);
  if (count == 0) return means;
  const std::uint64_t unit = count * 1000;  // picoseconds of the sum per nanosecond of the mean
  std::uint64_t total = 0, given = 0;
  for (std::size_t i = 0; i < sums_ps.size(); ++i) {
    total += sums_ps[i];
    means[i] = sums_ps[i] / unit;
    given += means[i];
  }
  std::vector<std::size_t> order(sums_ps.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return sums_ps[a] % unit > sums_ps[b] % unit; });
  const std::uint64_t goal = (total + unit / 2) / unit;
  for (std::size_t i = 0; given < goal; ++i, ++given) ++means[order[i]];
  return means;
}

}  // namespace vp
