// How Explain is shown: a table for people, and the same numbers as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "platform/explain.hpp"

namespace vp {
namespace {

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

double us(std::uint64_t ps, std::uint64_t count) {
  return count == 0 ? 0.0 : static_cast<double>(ps) / static_cast<double>(count) / 1e6;
}

/// Nanoseconds as microseconds with three decimals, without passing through a double.
std::string us_text(std::uint64_t ns) { return fmt::format("{}.{:03}", ns / 1000, ns % 1000); }

std::vector<std::uint64_t> span_sums(const SpanSum& sum) {
  return {sum.spans.ps.begin(), sum.spans.ps.end()};
}

std::string span_table(const SpanSum& all, const SpanSum& slow) {
  const auto mean = rounded_means_ns(span_sums(all), all.requests);
  const auto tail = rounded_means_ns(span_sums(slow), slow.requests);
  std::string out = fmt::format("\nWhere the time went: {} requests; slowest 1 %: {} requests\n",
                                all.requests, slow.requests);
  out += fmt::format("  {:<22}{:>14}{:>9}{:>18}{:>9}\n", "span", "mean us", "share %", "slowest 1 % us",
                     "share %");
  std::uint64_t mean_total = 0, tail_total = 0;
  for (std::size_t i = 0; i < kSpanCount; ++i) {
    mean_total += mean[i], tail_total += tail[i];
    if (all.spans.ps[i] == 0) continue;
    out += fmt::format("  {:<22}{:>14}{:>9.2f}{:>18}{:>9.2f}\n", to_string(static_cast<Span>(i)),
                       us_text(mean[i]), percent(all.spans.ps[i], all.latency_ps), us_text(tail[i]),
                       percent(slow.spans.ps[i], slow.latency_ps));
  }
  return out + fmt::format("  {:<22}{:>14}{:>9.2f}{:>18}{:>9.2f}\n", "latency", us_text(mean_total),
                           percent(all.spans.total(), all.latency_ps), us_text(tail_total),
                           percent(slow.spans.total(), slow.latency_ps));
}

std::string stall_table(const std::vector<StallRow>& stalls, std::uint64_t requests) {
  std::string out;
  for (const StallRow& row : stalls) {
    if (row.cycles == 0) continue;
    if (out.empty())
      out = fmt::format("\nAXI stalls\n  {:<18}{:<22}{:>14}{:>18}{:>14}\n", "master", "cause", "cycles",
                        "cycles/request", "us/request");
    const double n = static_cast<double>(std::max<std::uint64_t>(requests, 1));
    out += fmt::format("  {:<18}{:<22}{:>14}{:>18.2f}{:>14.3f}\n", row.master, row.cause, row.cycles,
                       static_cast<double>(row.cycles) / n, static_cast<double>(row.ps) / 1e6 / n);
  }
  return out;
}

std::string utilisation_table(const std::vector<UtilisationRow>& rows) {
  if (rows.empty()) return {};
  std::string out = "\nUtilisation\n";
  for (const UtilisationRow& row : rows) out += fmt::format("  {:<22}{:>9.2f} %\n", row.name, row.percent);
  return out;
}

/// What tells the rows of the verdict apart beside the spans: how busy the data lines were, and what AXI cost.
std::string separating_numbers(const ExplainRows& rows, std::uint64_t requests) {
  std::string out;
  for (const UtilisationRow& row : rows.utilisation)
    if (row.name == "DAT") out += fmt::format("; DAT lines busy {:.2f} % of the run", row.percent);
  std::string stalls;
  const double n = static_cast<double>(std::max<std::uint64_t>(requests, 1));
  for (const StallRow& row : rows.stalls)
    if (row.ps != 0)
      stalls += fmt::format("{}{} {:.3f}", stalls.empty() ? "" : ", ", row.cause,
                            static_cast<double>(row.ps) / 1e6 / n);
  if (!rows.stalls.empty())
    out += "; AXI stalls in us per request: " + (stalls.empty() ? std::string("none") : stalls);
  return out;
}

std::string evidence_text(const Verdict& v, const ExplainRows& rows, std::uint64_t requests) {
  if (v.largest == Cause::none) return "no request was measured";
  const auto part = [](Cause cause, double share, std::uint64_t ps) {
    return fmt::format("{} {:.2f} % of service time ({} us per request)", to_string(cause), share,
                       us_text((ps + 500) / 1000));
  };
  std::string out = part(v.largest, v.largest_percent, v.largest_ps);
  if (v.next != Cause::none) out += "; next " + part(v.next, v.next_percent, v.next_ps);
  return out + separating_numbers(rows, requests);
}

Json span_json(const SpanSum& all, const SpanSum& slow) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < kSpanCount; ++i)
    rows.push_back({{"span", to_string(static_cast<Span>(i))},
                    {"total_ps", all.spans.ps[i]},
                    {"mean_us", us(all.spans.ps[i], all.requests)},
                    {"share_percent", percent(all.spans.ps[i], all.latency_ps)},
                    {"slowest_total_ps", slow.spans.ps[i]},
                    {"slowest_mean_us", us(slow.spans.ps[i], slow.requests)},
                    {"slowest_share_percent", percent(slow.spans.ps[i], slow.latency_ps)}});
  return {{"requests", all.requests},
          {"latency_total_ps", all.latency_ps},
          {"latency_mean_us", us(all.latency_ps, all.requests)},
          {"slowest_requests", slow.requests},
          {"slowest_latency_total_ps", slow.latency_ps},
          {"slowest_latency_mean_us", us(slow.latency_ps, slow.requests)},
          {"rows", rows}};
}

Json verdict_json(const Verdict& v, const ExplainRows& rows, std::uint64_t requests) {
  return {{"cause", to_string(v.cause)},
          {"evidence",
           {{"text", evidence_text(v, rows, requests)},
            {"largest", to_string(v.largest)},
            {"largest_percent", v.largest_percent},
            {"largest_mean_us", us(v.largest_ps, 1)},
            {"next", to_string(v.next)},
            {"next_percent", v.next_percent},
            {"next_mean_us", us(v.next_ps, 1)}}}};
}

Json findings_json(const Findings& findings) {
  Json rows = Json::array();
  for (const Finding& f : findings.kept()) {
    Json addresses = Json::array();
    for (const std::uint64_t a : f.addresses) addresses.push_back(fmt::format("{:#x}", a));
    rows.push_back({{"rule", f.rule},
                    {"time_ps", f.time.value()},
                    {"path", f.path},
                    {"addresses", addresses},
                    {"text", f.text},
                    {"count", findings.count(f.rule)}});
  }
  return rows;
}

}  // namespace

std::string findings_text(const Findings& findings) {
  if (findings.empty()) return {};
  std::string out = "\nFindings: hardware rules that were broken\n";
  for (const Finding& f : findings.kept()) {
    std::string addresses;
    for (const std::uint64_t a : f.addresses) addresses += fmt::format(" {:#x}", a);
    out +=
        fmt::format("  {} at {} ns in {}:{} {}\n", f.rule, f.time.value() / 1000, f.path, addresses, f.text);
  }
  for (const auto& [rule, count] : findings.counts())
    if (count > Findings::kKept)
      out += fmt::format("  {}: {} in all, the first {} are shown\n", rule, count, Findings::kKept);
  return out;
}

std::string explain_text(const Explain& explain, const ExplainRows& rows, const Findings& findings) {
  const Verdict v = judge(explain.all());
  std::string out = span_table(explain.all(), explain.slowest());
  out += stall_table(rows.stalls, explain.all().requests);
  out += utilisation_table(rows.utilisation);
  out += findings_text(findings);
  return out + fmt::format("\nVerdict: {}\n  {}\n", to_string(v.cause),
                           evidence_text(v, rows, explain.all().requests));
}

Json explain_json(const Explain& explain, const ExplainRows& rows, const Findings& findings) {
  Json out;
  out["spans"] = span_json(explain.all(), explain.slowest());
  const double n = static_cast<double>(std::max<std::uint64_t>(explain.all().requests, 1));
  out["stalls"] = Json::array();
  for (const StallRow& r : rows.stalls)
    out["stalls"].push_back({{"master", r.master},
                             {"cause", r.cause},
                             {"cycles", r.cycles},
                             {"cycles_per_request", static_cast<double>(r.cycles) / n},
                             {"us_per_request", static_cast<double>(r.ps) / 1e6 / n}});
  out["utilisation"] = Json::array();
  for (const UtilisationRow& r : rows.utilisation)
    out["utilisation"].push_back({{"name", r.name}, {"percent", r.percent}});
  out["counters"] = Json::object();
  for (const CounterRow& r : rows.counters) out["counters"][r.name] = r.value;
  out["findings"] = findings_json(findings);
  out["verdict"] = verdict_json(judge(explain.all()), rows, explain.all().requests);
  return out;
}

}  // namespace vp
