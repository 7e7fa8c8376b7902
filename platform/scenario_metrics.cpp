#include "platform/scenario_metrics.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

namespace vp {
namespace {

/// "waiting for first beat" -> "waiting_for_first_beat"; what stands in parentheses is explanation.
std::string slug(const std::string& text) {
  std::string out;
  for (const char c : text.substr(0, text.find(" ("))) {
    const auto u = static_cast<unsigned char>(c);
    out += std::isalnum(u) || c == '.' ? static_cast<char>(std::tolower(u)) : '_';
  }
  return out;
}

struct Totals {
  double ios = 0, iops = 0, bw = 0, clat = 0, lat = 0, p99 = 0, bytes = 0;
  double run_us = 0;  ///< the longest job's
};

Totals totals_of(const Json& report) {
  Totals t;
  for (const Json& job : report.at("jobs"))
    for (const char* name : {"read", "write"}) {
      const Json& d = job.at(name);
      const double n = d.at("total_ios").get<double>();
      if (n == 0) continue;
      const double iops = d.at("iops").get<double>();
      t.ios += n;
      t.iops += iops;
      t.bw += d.at("bw_bytes").get<double>();
      t.bytes += d.at("io_bytes").get<double>();
      t.clat += n * d.at("clat_ns").at("mean").get<double>();
      t.lat += n * d.at("lat_ns").at("mean").get<double>();
      if (d.at("clat_ns").contains("percentile"))
        t.p99 = std::max(t.p99, d.at("clat_ns").at("percentile").at("99.000000").get<double>());
      if (iops > 0) t.run_us = std::max(t.run_us, n / iops * 1e6);
    }
  return t;
}

void add_io(Metrics& m, const Totals& t) {
  m.set("ios", t.ios);
  m.set("iops", t.iops);
  m.set("bw_bytes", t.bw);
  if (t.ios == 0) return;
  m.set("clat_mean_us", t.clat / t.ios / 1e3);
  m.set("lat_mean_us", t.lat / t.ios / 1e3);
  m.set("clat_p99_us", t.p99 / 1e3);
}

void add_spans(Metrics& m, const Json& spans) {
  double latency = 0;
  for (const Json& row : spans.at("rows")) {
    const std::string name = row.at("span").get<std::string>();
    const double us = row.at("mean_us").get<double>();
    m.set("span." + name, us);
    if (name != "queue_wait") latency += us;
  }
  m.set("latency_us", latency);
}

/// The disk's time per request, and what it is made of.
void add_service(Metrics& m, const Json& report, const Totals& t) {
  const double requests = m.get("requests").value_or(0);
  if (requests == 0 || t.run_us == 0) return;
  m.set("bytes_per_request", t.bytes / requests);
  const Json& disk = report.at("disk_util").at(0);
  const double service = disk.at("util").get<double>() / 100 * t.run_us / requests;
  m.set("service_us", service);
  m.set("dat_us", m.get("util.dat").value_or(0) / 100 * t.run_us / requests);
  const double latency = m.get("latency_us").value_or(0);
  if (latency <= 0) return;
  std::vector<std::pair<std::string, double>> parts;
  for (const auto& [name, us] : m.all())
    if (name.rfind("span.", 0) == 0 && name != "span.queue_wait")
      parts.emplace_back("part." + name.substr(5), service * us / latency);
  for (const auto& [name, us] : parts) m.set(name, us);
}

void add_findings(Metrics& m, const Json& findings) {
  double sum = 0;
  std::set<std::string> seen;
  for (const Json& f : findings) {
    const std::string rule = f.at("rule").get<std::string>();
    if (!seen.insert(rule).second) continue;  // every kept one carries its rule's count
    const double n = f.at("count").get<double>();
    m.set("finding." + rule, n);
    sum += n;
  }
  m.set("findings", sum);
}

}  // namespace

std::optional<double> Metrics::get(const std::string& name) const {
  const std::string per = "/request";
  if (name.size() > per.size() && name.compare(name.size() - per.size(), per.size(), per) == 0) {
    const auto value = get(name.substr(0, name.size() - per.size())), requests = get("requests");
    if (!value || !requests || *requests == 0) return std::nullopt;
    return *value / *requests;
  }
  if (const auto it = values_.find(name); it != values_.end()) return it->second;
  const bool counted = name.rfind("mmc_bus.cmd", 0) == 0 || name.rfind("finding.", 0) == 0;
  if (counted && values_.count("requests")) return 0.0;
  return std::nullopt;
}

Json Metrics::json() const {
  Json out = Json::object();
  for (const auto& [name, value] : values_) {
    if (value == std::floor(value) && std::fabs(value) < 9e15)
      out[name] = static_cast<std::int64_t>(value);
    else
      out[name] = value;
  }
  return out;
}

Metrics metrics_of(const Json& report, int exit_status) {
  Metrics m;
  const Json& own = report.at("emmc-vp");
  const Totals t = totals_of(report);
  add_io(m, t);
  m.set("requests", own.at("spans").at("requests").get<double>());
  add_spans(m, own.at("spans"));
  for (const Json& s : own.at("stalls"))
    m.set("stall." + slug(s.at("cause").get<std::string>()), s.at("us_per_request").get<double>());
  for (const Json& u : own.at("utilisation"))
    m.set("util." + slug(u.at("name").get<std::string>()), u.at("percent").get<double>());
  for (const auto& [name, value] : own.at("counters").items()) m.set(name, value.get<double>());
  add_findings(m, own.at("findings"));
  add_service(m, report, t);
  m.set("data_errors", own.at("verify_errors").get<double>());
  m.set("io_errors", own.at("io_errors").get<double>());
  m.set("driver_errors", own.at("driver_errors").get<double>());
  m.set("simulated_us", own.at("simulated_ns").get<double>() / 1e3);
  m.set("exit_status", exit_status);
  return m;
}

}  // namespace vp
