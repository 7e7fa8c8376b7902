// fio's report, normal text and JSON, from collected statistics.
//
// The layout follows fio 3.33 line by line, so that scripts made for fio read it. Where fio prints what a
// deterministic simulation does not have, a fixed value stands: process ids are job numbers, dates are
// simulated time after 1970-01-01, page faults are 0. Bandwidth and IOPS divide by the exact simulated run
// time, not by rounded milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/fio_options.hpp"
#include "platform/fio_stats.hpp"
#include "platform/json_text.hpp"

namespace vp {

/// What Linux counts for a disk: requests, their summed lives, and the time with one open.
struct DiskStats {
  std::uint64_t ios[2] = {}, ticks_ns[2] = {};  ///< read, write
  std::uint64_t flushes = 0;
  std::uint64_t open_ns = 0;  ///< time with at least one request open
  std::uint64_t run_ns = 0;   ///< the time `open_ns` is a share of
  double util_percent() const {
    return run_ns == 0 ? 0.0 : 100.0 * static_cast<double>(open_ns) / static_cast<double>(run_ns);
  }
};

struct FioResults {
  std::vector<JobStats> clones;  ///< job 0's clones, then job 1's …
  DiskStats disk;
  std::uint64_t end_ns = 0;  ///< simulated time at the end of the run
  std::string version;       ///< our own, "0.1.0"
};

std::string fio_text(const FioRun& run, const FioResults& results);
/// The whole document but for the extra key "emmc-vp", which the caller adds.
Json fio_json(const FioRun& run, const FioResults& results);

/// A line of the report: one job, or the jobs that group_reporting merged.
struct FioReportJob {
  const FioJob* job = nullptr;
  unsigned group = 0, first_clone = 0, count = 1;
  JobStats stats;
};
std::vector<FioReportJob> fio_report_jobs(const FioRun& run, const FioResults& results);

/// fio's short form of a number: at most `digits` characters of it, then a prefix. `binary`: Ki, Mi …; else
/// k, M ….
std::string fio_number(std::uint64_t value, unsigned digits, bool binary, const std::string& unit);
/// "/dev/mmcblk0" -> "mmcblk0".
std::string disk_name(const FioRun& run);
std::string simulated_date(std::uint64_t ns);

}  // namespace vp
