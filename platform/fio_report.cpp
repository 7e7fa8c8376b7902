#include "platform/fio_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>

namespace vp {
namespace {

constexpr unsigned kDigits = 4;  // fio's significant_figures
constexpr double kUsecFrom = 2000, kMsecFrom = 2'000'000;
constexpr std::uint64_t kUsecMax = 99'999, kMsecMax = 99'999'999;

std::string bytes_text(std::uint64_t bytes, bool binary, const char* unit = "B") {
  return fio_number(bytes, kDigits, binary, unit);
}
std::string rate_text(double bytes_per_second, bool binary) {
  return bytes_text(static_cast<std::uint64_t>(bytes_per_second), binary, "B/s");
}

std::string header_lines(const FioRun& run) {
  std::string out;
  unsigned group = 0;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    const FioJob& job = run.jobs[i];
    if (i > 0 && job.new_group) ++group;
    const auto range = [](std::uint64_t bs) {
      const std::string text = bytes_text(bs, true);
      return fmt::format("{0}-{0}", text);
    };
    out += fmt::format("{}: (g={}): rw={}, bs=(R) {}, (W) {}, (T) {}, ioengine={}, iodepth={}\n", job.name,
                       group, to_string(job.rw), range(job.bs_read), range(job.bs_write), range(job.bs_trim),
                       job.ioengine, job.iodepth);
    if (job.numjobs > 1) out += "...\n";
  }
  return out;
}

std::string latency_line(const char* name, const RunningStat& stat) {
  if (stat.count() == 0) return {};
  double mean = stat.mean(), stdev = stat.stdev();
  std::uint64_t min = stat.min(), max = stat.max(), divisor = 1;
  const char* unit = "nsec";
  if (static_cast<double>(min) > kMsecFrom && max > kMsecMax && stdev > 1e6)
    divisor = 1'000'000, unit = "msec";
  else if (static_cast<double>(min) > kUsecFrom && max > kUsecMax && stdev > 1e3)
    divisor = 1'000, unit = "usec";
  min /= divisor, max /= divisor;
  mean /= static_cast<double>(divisor), stdev /= static_cast<double>(divisor);
  return fmt::format("    {} ({}): min={}, max={}, avg={:5.2f}, stdev={:5.2f}\n", name, unit,
                     fio_number(min, 6, false, ""), fio_number(max, 6, false, ""), mean, stdev);
}

std::string percentile_lines(const char* name, const LatencyHistogram& histogram) {
  if (histogram.total() == 0) return {};
  const auto& wanted = default_percentiles();
  std::vector<std::uint64_t> values = histogram.percentiles(wanted);
  const std::uint64_t low = *std::min_element(values.begin(), values.end());
  const std::uint64_t high = *std::max_element(values.begin(), values.end());
  std::uint64_t divisor = 1;
  const char* unit = "nsec";
  if (static_cast<double>(low) > kMsecFrom && high > kMsecMax)
    divisor = 1'000'000, unit = "msec";
  else if (static_cast<double>(low) > kUsecFrom && high > kUsecMax)
    divisor = 1'000, unit = "usec";
  const std::uint64_t widest = std::max<std::uint64_t>(high / divisor, 1);
  const std::size_t width = std::max<std::size_t>(5, fmt::format("{}", widest).size());
  const std::size_t per_line = (80 - 7) / (2 + 10 + width);
  std::string out = fmt::format("    {} percentiles ({}):\n     |", name, unit);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0 && i % per_line == 0) out += "\n     |";
    const std::uint64_t shown = (values[i] + divisor - 1) / divisor;
    out += fmt::format(" {:5.2f}th=[{:{}}]{}", wanted[i], shown, width, i + 1 == values.size() ? "\n" : ",");
  }
  return out;
}

std::string sample_lines(const DirectionStats& d, double group_kib_per_second) {
  std::string out;
  if (d.bw_kib.count() != 0) {
    const double factor = d.bw_kib.mean() > 1024.0 * 1024.0 ? 1024.0 : 1.0;
    const double share =
        group_kib_per_second > 0 ? std::min(100.0, 100.0 * d.bw_kib.mean() / group_kib_per_second) : 100.0;
    const auto whole = [&](std::uint64_t v) { return v / static_cast<std::uint64_t>(factor); };
    out += fmt::format(
        "   bw (  {}/s): min={:5}, max={:5}, per={:3.2f}%, avg={:5.2f}, stdev={:5.2f}, samples={}\n",
        factor > 1 ? "MiB" : "KiB", whole(d.bw_kib.min()), whole(d.bw_kib.max()), share,
        d.bw_kib.mean() / factor, d.bw_kib.stdev() / factor, d.bw_kib.count());
  }
  if (d.iops.count() != 0)
    out += fmt::format("   iops        : min={:5}, max={:5}, avg={:5.2f}, stdev={:5.2f}, samples={}\n",
                       d.iops.min(), d.iops.max(), d.iops.mean(), d.iops.stdev(), d.iops.count());
  return out;
}

std::string direction_lines(const JobStats& job, unsigned dir, double group_kib_per_second) {
  const DirectionStats& d = job.dir[dir];
  if (d.ios == 0) return {};
  static constexpr const char* kNames[] = {"read", "write", "trim"};
  const double bw = job.bytes_per_second(dir);
  std::string out =
      fmt::format("  {}: IOPS={}, BW={} ({})({}/{}msec){}\n", kNames[dir],
                  fio_number(static_cast<std::uint64_t>(job.ios_per_second(dir)), kDigits, false, ""),
                  rate_text(bw, true), rate_text(bw, false), bytes_text(d.bytes, true), job.runtime_ms(),
                  dir == 1 ? "; 0 zone resets" : "");
  out += latency_line("slat", d.slat);
  out += latency_line("clat", d.clat);
  out += latency_line(" lat", d.lat);
  out += percentile_lines("clat", d.histogram);
  return out + sample_lines(d, group_kib_per_second);
}

template <std::size_t N>
std::string range_lines(const std::array<std::uint64_t, N>& counts, std::uint64_t total, const char* unit) {
  std::string out;
  unsigned in_line = 0;
  for (std::size_t i = 0; i < N; ++i) {
    if (counts[i] == 0) continue;
    if (in_line == 5) out += "\n", in_line = 0;
    out += in_line == 0 ? fmt::format("  lat ({})   : ", unit) : std::string(", ");
    ++in_line;
    const double share = std::max(0.01, 100.0 * static_cast<double>(counts[i]) / static_cast<double>(total));
    const bool last = i + 1 == 12;
    out += fmt::format("{}={:.2f}%", last ? ">=2000" : fmt::format("{}", LatencyRanges::kUpper[i]), share);
  }
  return out.empty() ? out : out + "\n";
}

double depth_share(const DepthMap& map, std::size_t i, std::uint64_t total) {
  if (map.counts[i] == 0 || total == 0) return 0.0;
  return std::max(0.1, 100.0 * static_cast<double>(map.counts[i]) / static_cast<double>(total));
}

std::string depth_line(const char* name, const char* const (&labels)[7], const DepthMap& map) {
  std::string out = name;
  for (std::size_t i = 0; i < 7; ++i)
    out += fmt::format("{}{}={:.1f}%", i == 0 ? "" : ", ", labels[i], depth_share(map, i, map.total()));
  return out + "\n";
}

std::string job_block(const FioReportJob& r, std::uint64_t end_ns, const std::array<double, 3>& group_kib) {
  const JobStats& s = r.stats;
  std::string out = fmt::format("{}: (groupid={}, jobs={}): err={:2}{}: pid={}: {}\n", r.job->name, r.group,
                                r.count, s.error, s.error ? fmt::format(" ({} I/Os failed)", s.errors) : "",
                                r.first_clone + 1, simulated_date(end_ns));
  for (unsigned d = 0; d < JobStats::kDirs; ++d) out += direction_lines(s, d, group_kib[d]);
  out += range_lines(s.ranges.nsec, s.rw_ios(), "nsec");
  out += range_lines(s.ranges.usec, s.rw_ios(), "usec");
  out += range_lines(s.ranges.msec, s.rw_ios(), "msec");
  if (s.syncs != 0) {
    out += "  fsync/fdatasync/sync_file_range:\n";
    out += latency_line("sync", s.sync_lat);
    out += percentile_lines("sync", s.sync_histogram);
  }
  const double run = static_cast<double>(std::max<std::uint64_t>(s.total_runtime_ns, 1));
  out += fmt::format("  cpu          : usr={:3.2f}%, sys={:3.2f}%, ctx={}, majf=0, minf=0\n",
                     100.0 * s.user_ns / run, 100.0 * s.system_ns / run, s.context_switches);
  static constexpr const char* kDepths[7] = {"1", "2", "4", "8", "16", "32", ">=64"};
  static constexpr const char* kBatches[7] = {"0", "4", "8", "16", "32", "64", ">=64"};
  out += depth_line("  IO depths    : ", kDepths, s.depths);
  out += depth_line("     submit    : ", kBatches, s.submits);
  out += depth_line("     complete  : ", kBatches, s.completes);
  out += fmt::format("     issued rwts: total={},{},{},{} short=0,0,0,0 dropped=0,0,0,0\n", s.dir[0].ios,
                     s.dir[1].ios, s.dir[2].ios, s.syncs);
  out += fmt::format("     latency   : target=0, window=0, percentile=100.00%, depth={}\n", r.job->iodepth);
  return out;
}

/// "Run status group": sums and extremes over the report's lines of one group.
struct GroupSum {
  std::uint64_t bytes = 0, min_ms = ~0ULL, max_ms = 0, max_ns = 0;
  double min_bw = 0, max_bw = 0;
  bool any = false;
  void add(const JobStats& s, unsigned dir) {
    if (s.dir[dir].ios == 0) return;
    const double bw = s.bytes_per_second(dir);
    min_bw = any ? std::min(min_bw, bw) : bw;
    max_bw = std::max(max_bw, bw);
    bytes += s.dir[dir].bytes;
    min_ms = std::min(min_ms, s.runtime_ms());
    max_ms = std::max(max_ms, s.runtime_ms());
    max_ns = std::max(max_ns, s.runtime_ns());
    any = true;
  }
  double bw() const {
    return max_ns == 0 ? 0 : static_cast<double>(bytes) * 1e9 / static_cast<double>(max_ns);
  }
};

using GroupSums = std::array<GroupSum, 3>;

std::vector<GroupSums> group_sums(const std::vector<FioReportJob>& jobs) {
  std::vector<GroupSums> groups;
  for (const FioReportJob& r : jobs) {
    if (groups.size() <= r.group) groups.resize(r.group + 1);
    for (unsigned d = 0; d < 3; ++d) groups[r.group][d].add(r.stats, d);
  }
  return groups;
}

std::string group_lines(const GroupSums& sums, std::size_t group) {
  static constexpr const char* kNames[] = {"   READ", "  WRITE", "   TRIM"};
  std::string out = fmt::format("\nRun status group {} (all jobs):\n", group);
  for (unsigned d = 0; d < 3; ++d) {
    const GroupSum& g = sums[d];
    if (!g.any) continue;
    out += fmt::format("{}: bw={} ({}), {}-{} ({}-{}), io={} ({}), run={}-{}msec\n", kNames[d],
                       rate_text(g.bw(), true), rate_text(g.bw(), false), rate_text(g.min_bw, true),
                       rate_text(g.max_bw, true), rate_text(g.min_bw, false), rate_text(g.max_bw, false),
                       bytes_text(g.bytes, true), bytes_text(g.bytes, false), g.min_ms, g.max_ms);
  }
  return out;
}

std::string disk_lines(const FioRun& run, const DiskStats& disk) {
  const auto ms = [](std::uint64_t ns) { return ns / 1'000'000; };
  return fmt::format(
      "\nDisk stats (read/write):\n  {}: ios={}/{}, merge=0/0, ticks={}/{}, in_queue={}, util={:3.2f}%\n",
      disk_name(run), disk.ios[0], disk.ios[1], ms(disk.ticks_ns[0]), ms(disk.ticks_ns[1]),
      ms(disk.ticks_ns[0] + disk.ticks_ns[1]), disk.util_percent());
}

}  // namespace

std::string fio_number(std::uint64_t value, unsigned digits, bool binary, const std::string& unit) {
  static constexpr const char* kDecimal[] = {"", "k", "M", "G", "T", "P"};
  static constexpr const char* kBinary[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi"};
  const std::uint64_t step = binary ? 1024 : 1000;
  std::uint64_t rest = 0;
  std::size_t prefix = 0;
  while (fmt::format("{}", value).size() > digits && prefix < 5) {
    rest = value % step;
    value /= step;
    ++prefix;
  }
  const std::string name = std::string(binary ? kBinary[prefix] : kDecimal[prefix]) + unit;
  const std::size_t shown = fmt::format("{}", value).size();
  if (prefix == 0) return fmt::format("{}{}", value, name);
  if (shown + 1 >= digits)
    return fmt::format("{}{}", value + (rest >= step / 2 ? 1 : 0), name);  // no room for decimals
  const std::string fraction =
      fmt::format("{:.{}f}", static_cast<double>(rest) / static_cast<double>(step), digits - shown - 1);
  return fmt::format("{}{}{}", value, fraction.substr(1), name);
}

std::string disk_name(const FioRun& run) {
  const std::string& file = run.jobs.front().filename;
  const auto slash = file.find_last_of('/');
  return slash == std::string::npos ? file : file.substr(slash + 1);
}

std::string simulated_date(std::uint64_t ns) {
  const std::time_t seconds = static_cast<std::time_t>(ns / 1'000'000'000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  static constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  return fmt::format("{} {} {:2} {:02}:{:02}:{:02} {}", kDays[parts.tm_wday], kMonths[parts.tm_mon],
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, 1900 + parts.tm_year);
}

std::vector<FioReportJob> fio_report_jobs(const FioRun& run, const FioResults& results) {
  std::vector<FioReportJob> lines;
  unsigned clone = 0, group = 0;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    const FioJob& job = run.jobs[i];
    if (i > 0 && job.new_group) ++group;
    for (unsigned n = 0; n < job.numjobs; ++n, ++clone) {
      const JobStats& stats = results.clones.at(clone);
      if (!lines.empty() && job.group_reporting && lines.back().group == group &&
          lines.back().job->group_reporting) {
        lines.back().stats.merge(stats);
        ++lines.back().count;
        continue;
      }
      lines.push_back({&job, group, clone, 1, stats});
    }
  }
  return lines;
}

std::string fio_text(const FioRun& run, const FioResults& results) {
  std::string out = header_lines(run);
  out += fmt::format("emmc-vp-{} (fio-3.33 compatible report, simulated time)\n", results.version);
  const std::size_t clones = results.clones.size();
  out += fmt::format("Starting {} process{}\n", clones, clones == 1 ? "" : "es");
  if (std::any_of(run.jobs.begin(), run.jobs.end(),
                  [](const FioJob& j) { return j.synchronous() && j.iodepth > 1; }))
    out +=
        "note: both iodepth >= 1 and synchronous I/O engine are selected, queue depth will be capped at 1\n";
  out += "\n";
  const std::vector<FioReportJob> jobs = fio_report_jobs(run, results);
  const std::vector<GroupSums> groups = group_sums(jobs);
  for (const FioReportJob& job : jobs) {
    std::array<double, 3> kib{};
    for (unsigned d = 0; d < 3; ++d) kib[d] = groups[job.group][d].bw() / 1024.0;
    out += job_block(job, results.end_ns, kib);
  }
  for (std::size_t g = 0; g < groups.size(); ++g) out += group_lines(groups[g], g);
  return out + disk_lines(run, results.disk);
}

}  // namespace vp
