// fio's own command line and job files, read as fio reads them (HOWTO, "Job file format" and "Job file
// parameters").
//
// Modelled: the options that mean something on this platform, the size and time suffixes, [global] and [job]
// sections,
// --name starting a new job on the command line, options before the first --name being global. Options that
// only make sense on a running operating system (eta, thread, invalidate …) are accepted and listed as
// ignored; options that would change the I/O pattern in a way the workload program cannot do are refused,
// never silently dropped.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace vp {

enum class FioRw : std::uint8_t { read, write, randread, randwrite, rw, randrw };
/// fio's spelling in reports.
const char* to_string(FioRw rw);

/// An amount that may be a percentage of the device ("size=50%").
struct FioAmount {
  std::uint64_t value = 0;
  bool percent = false;
};

struct FioJob {
  std::string name;
  std::string filename = "/dev/mmcblk0";
  FioRw rw = FioRw::read;
  unsigned rwmix_read = 50;                                       ///< percent
  std::uint64_t bs_read = 4096, bs_write = 4096, bs_trim = 4096;  ///< bytes
  std::optional<FioAmount> size;
  std::optional<std::uint64_t> io_size;
  FioAmount offset;
  std::uint64_t offset_increment = 0;
  bool direct = false;
  std::string ioengine = "psync";
  unsigned iodepth = 1;  ///< as written; see effective_depth()
  unsigned numjobs = 1;
  bool group_reporting = false;
  bool new_group = false;
  std::uint64_t runtime_ns = 0;
  bool time_based = false;
  unsigned fsync = 0;
  std::optional<std::uint64_t> randseed;
  bool verify = false;
  bool norandommap = false;
  std::vector<std::pair<std::string, std::string>> options;  ///< as given in the job's own part
  std::string where;                                         ///< "job.fio:3: " or "fio: ", for later checks

  bool reads() const { return rw != FioRw::write && rw != FioRw::randwrite; }
  bool writes() const { return rw != FioRw::read && rw != FioRw::randread; }
  bool random() const { return rw == FioRw::randread || rw == FioRw::randwrite || rw == FioRw::randrw; }
  bool mixed() const { return rw == FioRw::rw || rw == FioRw::randrw; }
  /// Engines that return when the I/O is done keep one in flight whatever iodepth says.
  bool synchronous() const;
  /// Buffered I/O is done inside the submitting call, whatever the engine (io_submit(2)).
  unsigned effective_depth() const { return synchronous() || !direct ? 1 : iodepth; }
  /// The block size that is used; for mixes both directions have the same.
  std::uint64_t block_bytes() const { return writes() && !reads() ? bs_write : bs_read; }
};

struct FioRun {
  std::vector<FioJob> jobs;
  std::vector<std::pair<std::string, std::string>> global_options;
  std::optional<std::string> output_format, output;
  bool readonly = false;
  std::vector<std::string> ignored;  ///< names, in order of appearance, once each
  std::vector<std::string> notes;    ///< one line each, for stderr
};

/// `args`: the words after `--`. A word that does not start with '-' is a job file. Throws InputError.
FioRun parse_fio(const std::vector<std::string>& args);

struct FioLimits {
  std::uint64_t device_bytes = 0;
  unsigned max_iodepth = 256;  ///< of one job, for asynchronous engines
  unsigned max_jobs = 64;      ///< numjobs summed over all jobs
};
/// Where a job's I/O goes, in bytes.
struct FioRegion {
  std::uint64_t offset = 0, size = 0, io_bytes = 0;
};
/// The region of clone `clone` (0..numjobs-1). Throws InputError when it does not fit the device or its
/// blocks.
FioRegion fio_region(const FioJob& job, unsigned clone, const FioLimits& limits);
/// Everything that needs the device's size and the program's limits. Throws InputError.
void check_fio(const FioRun& run, const FioLimits& limits);

/// Does any job go through the page cache (direct=0)?
bool uses_page_cache(const FioRun& run);

/// A size with fio's suffixes for kb_base=1024: "4k", "1M", "1MiB", "2g", "0x1000"; "1024" is bytes.
std::uint64_t fio_size(const std::string& text, const std::string& where);
/// A time with fio's suffixes (d, h, m, s, ms, us; seconds without one), in nanoseconds.
std::uint64_t fio_time_ns(const std::string& text, const std::string& where);

}  // namespace vp
