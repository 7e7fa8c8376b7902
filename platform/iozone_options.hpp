// iozone's throughput-mode command line: -t N -s SIZE -r SIZE -i 0|1|2|8 … -I [-e] [-F FILE…].
//
// Understood as iozone 3 does: sizes are KiB unless they end in k, m or g; letters may be joined (-Ie) and values may
// stand beside their letter (-t4). -i 0 writes and rewrites, -i 1 reads and re-reads, -i 2 reads and writes at random,
// -i 8 mixes: every even thread (from 0) reads and every odd one writes at random, so one thread alone reads. The order
// of the tests is iozone's own, not that of the -i options. -F names files; where they lie is this program's business.
// Anything else of iozone is an error, also buffered I/O (no -I).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "firmware/app/job_table.hpp"

namespace vp {

enum class IozoneTest : std::uint8_t { write, rewrite, read, reread, random_read, mixed, random_write };
/// "initial writers", as the report says.
const char* to_string(IozoneTest t);

struct IozoneRun {
  unsigned threads = 1;
  std::uint64_t file_bytes = 512 << 10;  ///< per thread; iozone's default
  std::uint64_t record_bytes = 4 << 10;
  bool flush = false;              ///< -e: a flush at the end of each writer is part of its time
  std::vector<std::string> files;  ///< -F
  std::vector<IozoneTest> tests;   ///< in the order they run
  std::string line;                ///< the command line, for the report
};

struct IozoneLimits {
  std::uint64_t device_bytes = 0;
  std::uint64_t buffer_bytes = 0;  ///< for all jobs' records
  std::uint64_t page_bytes = 4096;
  unsigned jobs = fw::kMaxJobs;
};

/// Throws InputError.
IozoneRun parse_iozone(const std::vector<std::string>& words);
/// Throws InputError when the machine is too small for the run.
void check_iozone(const IozoneRun& run, const IozoneLimits& limits);
/// One job per thread and test, tests in phases; file n lies at n times the file size on the device. The jobs of a test
/// stop together: iozone ends a test when its first thread is through, and the writers' unmeasured rest is left out.
void fill_job_table(fw::JobTable& table, const IozoneRun& run, std::uint64_t seed);

}  // namespace vp
