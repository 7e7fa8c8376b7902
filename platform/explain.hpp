// Where the time went: spans of the mean and of the slowest requests, stalls, utilisation, findings, and a
// verdict.
//
// Everything is added up in integer picoseconds, so a column's total is the latency, exactly; printed means
// are rounded so that their column still adds up. Memory is bounded: the slowest kSlowestKept requests are
// kept whole, so "slowest 1 %" is exact up to 100 * kSlowestKept requests and says how many it covers beyond.
//
// The verdict names the cause with the largest share of service time, when it is above a third. Service time
// is the latency without queue_wait: what a request waits for others is charged to those others' own spans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/core/findings.hpp"
#include "models/core/spans.hpp"
#include "platform/json_text.hpp"
#include "platform/session.hpp"

namespace vp {

enum class Cause : std::uint8_t {
  link_rate,
  queue_poll_wait,
  axi_stall,
  descriptor_fetch,
  device_array,
  device_firmware,
  device_buffer,
  driver,
  interrupt,
  none,
};
inline constexpr std::size_t kCauseCount = 10;
std::string_view to_string(Cause cause);
/// The cause a span speaks for; none for queue_wait.
Cause cause_of(Span span);

/// Spans of a set of requests, summed.
struct SpanSum {
  std::uint64_t requests = 0;
  std::uint64_t latency_ps = 0;  ///< sum of end - begin
  SpanTimes spans;
  void add(const SpanTimes& times, std::uint64_t latency);
};

struct Verdict {
  Cause cause = Cause::none;
  Cause largest = Cause::none, next = Cause::none;  ///< none: there is no such cause
  double largest_percent = 0, next_percent = 0;     ///< of service time
  std::uint64_t largest_ps = 0, next_ps = 0;        ///< means per request
};
Verdict judge(const SpanSum& sum);

class Explain {
 public:
  static constexpr std::size_t kSlowestKept = 4096;

  void add(const RequestRecord& record);

  const SpanSum& all() const { return all_; }
  /// The slowest ceil(n / 100) requests; of equals the earlier one counts as slower.
  SpanSum slowest() const;
  /// Requests whose spans do not add up to their latency: a bug of a model.
  std::uint64_t unaccounted() const { return unaccounted_; }

 private:
  struct Kept {
    std::uint64_t latency_ps, serial;
    SpanTimes times;
  };
  static bool slower(const Kept& a, const Kept& b) {
    return a.latency_ps != b.latency_ps ? a.latency_ps > b.latency_ps : a.serial < b.serial;
  }
  SpanSum all_;
  std::vector<Kept> kept_;  ///< a heap whose front is the fastest of the kept
  std::uint64_t unaccounted_ = 0;
};

/// What else the report shows.
struct ExplainRows {
  std::vector<StallRow> stalls;
  std::vector<UtilisationRow> utilisation;
  std::vector<CounterRow> counters;
};

std::string explain_text(const Explain& explain, const ExplainRows& rows, const Findings& findings);
std::string findings_text(const Findings& findings);
/// The keys spans, stalls, utilisation, counters, findings, verdict of "emmc-vp".
Json explain_json(const Explain& explain, const ExplainRows& rows, const Findings& findings);

/// Means in whole nanoseconds whose sum is the mean of the sum, rounded (largest remainders get the rest).
std::vector<std::uint64_t> rounded_means_ns(const std::vector<std::uint64_t>& sums_ps, std::uint64_t count);

}  // namespace vp
