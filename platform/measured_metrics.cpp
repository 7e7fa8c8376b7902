// Where a front end's JSON report has what reports of measurements print.
#include <algorithm>
#include <array>

#include "platform/measured.hpp"

namespace vp {
namespace {

struct MetricDef {
  const char* name;
  const char* unit;
  const char* pointer;
  double factor;
};

constexpr MetricDef kMetrics[] = {
    // fio
    {"bandwidth_MB_s", "MB/s", "/jobs/0/read/bw_bytes", 1e-6},
    {"iops", "1/s", "/jobs/0/read/iops", 1},
    {"clat_mean_us", "us", "/jobs/0/read/clat_ns/mean", 1e-3},
    {"clat_stdev_us", "us", "/jobs/0/read/clat_ns/stddev", 1e-3},
    {"clat_min_us", "us", "/jobs/0/read/clat_ns/min", 1e-3},
    {"clat_max_us", "us", "/jobs/0/read/clat_ns/max", 1e-3},
    {"clat_p50_us", "us", "/jobs/0/read/clat_ns/percentile/50.000000", 1e-3},
    {"clat_p99_us", "us", "/jobs/0/read/clat_ns/percentile/99.000000", 1e-3},
    {"clat_p99_95_us", "us", "/jobs/0/read/clat_ns/percentile/99.950000", 1e-3},
    {"disk_ios", "requests", "/disk_util/0/read_ios", 1},
    {"disk_ticks_ms", "ms", "/disk_util/0/read_ticks", 1},
    {"runtime_ms", "ms", "/jobs/0/read/runtime", 1},
    {"usr_percent", "%", "/jobs/0/usr_cpu", 1},
    {"sys_percent", "%", "/jobs/0/sys_cpu", 1},
    // dd
    {"dd_seconds", "s", "/dd/seconds", 1},
    {"dd_MB_s", "MB/s", "/dd/bytes_per_second", 1e-6},
    // any
    {"host_interrupts", "interrupts", "/emmc-vp/counters/run.host_interrupts", 1},
};

/// iozone's tests: their "Children see throughput".
constexpr std::array<const char*, 7> kIozoneTests = {"initial writers", "rewriters",      "readers",
                                                     "re-readers",      "random readers", "mixed workload",
                                                     "random writers"};

const MetricDef* find(const std::string& name) {
  const auto* const it = std::find_if(std::begin(kMetrics), std::end(kMetrics),
                                      [&](const MetricDef& d) { return d.name == name; });
  return it == std::end(kMetrics) ? nullptr : it;
}

std::optional<double> iozone_value(const std::string& test, const Json& report) {
  const Json::json_pointer tests("/iozone/tests");
  if (!report.contains(tests)) return std::nullopt;
  for (const Json& t : report.at(tests))
    if (t.value("name", "") == test && t.contains("children_kB_s"))
      return t.at("children_kB_s").get<double>();
  return std::nullopt;
}

}  // namespace

std::vector<std::string> metric_names() {
  std::vector<std::string> names;
  for (const MetricDef& d : kMetrics) names.emplace_back(d.name);
  names.insert(names.end(), kIozoneTests.begin(), kIozoneTests.end());
  return names;
}

std::string metric_unit(const std::string& metric) {
  const MetricDef* const d = find(metric);
  return d ? d->unit : "kB/s";
}

std::optional<double> metric_value(const std::string& metric, const Json& report) {
  const MetricDef* const d = find(metric);
  if (!d) return iozone_value(metric, report);
  const Json::json_pointer pointer(d->pointer);
  if (!report.contains(pointer) || !report.at(pointer).is_number()) return std::nullopt;
  return report.at(pointer).get<double>() * d->factor;
}

}  // namespace vp
