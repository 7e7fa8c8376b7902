// fio's JSON document (3.33), key by key in fio's order.
#include <fmt/format.h>

#include <algorithm>

#include "platform/fio_report.hpp"

namespace vp {
namespace {

Json latency(const RunningStat& stat) {
  return {{"min", stat.min()},
          {"max", stat.max()},
          {"mean", stat.mean()},
          {"stddev", stat.stdev()},
          {"N", stat.count()}};
}

void add_percentiles(Json& to, const LatencyHistogram& histogram) {
  if (histogram.total() == 0) return;
  const auto& wanted = default_percentiles();
  const auto values = histogram.percentiles(wanted);
  Json list = Json::object();
  for (std::size_t i = 0; i < wanted.size(); ++i) list[fmt::format("{:.6f}", wanted[i])] = values[i];
  to["percentile"] = std::move(list);
}

Json direction(const JobStats& job, unsigned dir, double group_kib_per_second) {
  const DirectionStats& d = job.dir[dir];
  const double bw = job.bytes_per_second(dir);
  Json out;
  out["io_bytes"] = d.bytes;
  out["io_kbytes"] = d.bytes / 1024;
  out["bw_bytes"] = static_cast<std::uint64_t>(bw);
  out["bw"] = static_cast<std::uint64_t>(bw) / 1024;
  out["iops"] = job.ios_per_second(dir);
  out["runtime"] = d.ios == 0 ? 0 : job.runtime_ms();
  out["total_ios"] = d.ios;
  out["short_ios"] = 0;
  out["drop_ios"] = 0;
  out["slat_ns"] = latency(d.slat);
  out["clat_ns"] = latency(d.clat);
  add_percentiles(out["clat_ns"], d.histogram);
  out["lat_ns"] = latency(d.lat);
  const double mean = d.bw_kib.mean();
  out["bw_min"] = d.bw_kib.min();
  out["bw_max"] = d.bw_kib.max();
  out["bw_agg"] = group_kib_per_second > 0 ? std::min(100.0, 100.0 * mean / group_kib_per_second) : 0.0;
  out["bw_mean"] = mean;
  out["bw_dev"] = d.bw_kib.stdev();
  out["bw_samples"] = d.bw_kib.count();
  out["iops_min"] = d.iops.min();
  out["iops_max"] = d.iops.max();
  out["iops_mean"] = d.iops.mean();
  out["iops_stddev"] = d.iops.stdev();
  out["iops_samples"] = d.iops.count();
  return out;
}

Json depths(const char* const (&labels)[7], const DepthMap& map) {
  Json out;
  const double total = static_cast<double>(std::max<std::uint64_t>(map.total(), 1));
  for (std::size_t i = 0; i < 7; ++i) {
    const double share = 100.0 * static_cast<double>(map.counts[i]) / total;
    out[labels[i]] = map.counts[i] != 0 ? std::max(0.1, share) : 0.0;
  }
  return out;
}

template <std::size_t N>
Json ranges(const std::array<std::uint64_t, N>& counts, std::uint64_t total) {
  Json out;
  for (std::size_t i = 0; i < N; ++i) {
    const double share =
        100.0 * static_cast<double>(counts[i]) / static_cast<double>(std::max<std::uint64_t>(total, 1));
    out[i == 11 ? std::string(">=2000") : fmt::format("{}", LatencyRanges::kUpper[i])] =
        counts[i] != 0 ? std::max(0.01, share) : 0.0;
  }
  return out;
}

Json option_list(const std::vector<std::pair<std::string, std::string>>& options) {
  Json out = Json::object();
  for (const auto& [key, value] : options) out[key] = value;
  return out;
}

Json sync_part(const JobStats& s) {
  Json out = {{"total_ios", s.syncs}, {"lat_ns", latency(s.sync_lat)}};
  add_percentiles(out["lat_ns"], s.sync_histogram);
  return out;
}

Json job_part(const FioReportJob& r, const std::array<double, 3>& group_kib) {
  const JobStats& s = r.stats;
  static constexpr const char* kDirs[] = {"read", "write", "trim"};
  static constexpr const char* kDepths[7] = {"1", "2", "4", "8", "16", "32", ">=64"};
  static constexpr const char* kBatches[7] = {"0", "4", "8", "16", "32", "64", ">=64"};
  const double run = static_cast<double>(std::max<std::uint64_t>(s.total_runtime_ns, 1));
  Json out;
  out["jobname"] = r.job->name;
  out["groupid"] = r.group;
  out["error"] = s.error;
  out["eta"] = 0;
  out["elapsed"] = (s.runtime_ns() + 999'999'999) / 1'000'000'000;
  out["job options"] = option_list(r.job->options);
  for (unsigned d = 0; d < 3; ++d) out[kDirs[d]] = direction(s, d, group_kib[d]);
  out["sync"] = sync_part(s);
  out["job_runtime"] = (s.total_runtime_ns + 999'999) / 1'000'000;
  out["usr_cpu"] = 100.0 * s.user_ns / run;
  out["sys_cpu"] = 100.0 * s.system_ns / run;
  out["ctx"] = s.context_switches;
  out["majf"] = 0;
  out["minf"] = 0;
  out["iodepth_level"] = depths(kDepths, s.depths);
  out["iodepth_submit"] = depths(kBatches, s.submits);
  out["iodepth_complete"] = depths(kBatches, s.completes);
  out["latency_ns"] = ranges(s.ranges.nsec, s.rw_ios());
  out["latency_us"] = ranges(s.ranges.usec, s.rw_ios());
  out["latency_ms"] = ranges(s.ranges.msec, s.rw_ios());
  out["latency_depth"] = r.job->iodepth;
  out["latency_target"] = 0;
  out["latency_percentile"] = 100.0;
  out["latency_window"] = 0;
  return out;
}

Json disk_part(const FioRun& run, const DiskStats& disk) {
  const auto ms = [](std::uint64_t ns) { return ns / 1'000'000; };
  return Json::array({{{"name", disk_name(run)},
                       {"read_ios", disk.ios[0]},
                       {"write_ios", disk.ios[1]},
                       {"read_merges", 0},
                       {"write_merges", 0},
                       {"read_ticks", ms(disk.ticks_ns[0])},
                       {"write_ticks", ms(disk.ticks_ns[1])},
                       {"in_queue", ms(disk.ticks_ns[0] + disk.ticks_ns[1])},
                       {"util", disk.util_percent()}}});
}

}  // namespace

Json fio_json(const FioRun& run, const FioResults& results) {
  const std::vector<FioReportJob> jobs = fio_report_jobs(run, results);
  Json out;
  out["fio version"] = fmt::format("fio-3.33 compatible, emmc-vp-{}", results.version);
  out["timestamp"] = results.end_ns / 1'000'000'000;
  out["timestamp_ms"] = results.end_ns / 1'000'000;
  out["time"] = simulated_date(results.end_ns);
  if (!run.global_options.empty()) out["global options"] = option_list(run.global_options);
  out["jobs"] = Json::array();
  for (const FioReportJob& r : jobs) {
    std::array<double, 3> kib{};
    for (const FioReportJob& other : jobs)
      for (unsigned d = 0; d < 3 && other.group == r.group; ++d)
        kib[d] += other.stats.bytes_per_second(d) / 1024.0;
    out["jobs"].push_back(job_part(r, kib));
  }
  out["disk_util"] = disk_part(run, results.disk);
  return out;
}

}  // namespace vp
