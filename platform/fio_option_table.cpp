#include "platform/fio_option_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "models/core/params.hpp"

namespace vp {
namespace {

std::uint64_t number(const std::string& where, std::string_view key, const std::string& value,
                     std::uint64_t min, std::uint64_t max) {
  std::uint64_t n = 0;
  const auto [rest, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (error != std::errc{} || rest != value.data() + value.size() || n < min || n > max)
    bad_fio_value(where, std::string(key), value,
                  fmt::format("must be a whole number from {} to {}", min, max));
  return n;
}

bool truth(const std::string& where, std::string_view key, const std::string& value) {
  if (value.empty() || value == "1" || value == "true") return true;
  if (value == "0" || value == "false") return false;
  bad_fio_value(where, std::string(key), value, "must be 0 or 1");
}

std::uint64_t bytes(const std::string& where, std::string_view key, const std::string& value) {
  return fio_size(value, fmt::format("{}{}={}: ", where, key, value));
}

FioAmount amount(const std::string& where, std::string_view key, const std::string& value) {
  if (value.empty() || value.back() != '%') return {bytes(where, key, value), false};
  const std::string percent = value.substr(0, value.size() - 1);
  return {number(where, key, percent, 0, 100), true};
}

void set_rw(FioJob& job, const std::string& value, const std::string& where) {
  static constexpr std::pair<const char*, FioRw> kNames[] = {
      {"read", FioRw::read},           {"write", FioRw::write}, {"randread", FioRw::randread},
      {"randwrite", FioRw::randwrite}, {"rw", FioRw::rw},       {"readwrite", FioRw::rw},
      {"randrw", FioRw::randrw}};
  std::vector<std::string> names;
  for (const auto& [name, rw] : kNames) {
    names.push_back(name);
    if (value == name) {
      job.rw = rw;
      return;
    }
  }
  if (value.find("trim") != std::string::npos)
    bad_fio_value(where, "rw", value, "trim is not in this version yet");
  bad_fio_value(where, "rw", value,
                fmt::format("must be one of {}; did you mean '{}'?", fmt::join(names, ", "),
                            nearest_word(value, names)));
}

void set_bs(FioJob& job, const std::string& value, const std::string& where) {
  std::vector<std::uint64_t> sizes;
  std::istringstream words(value);
  for (std::string word; std::getline(words, word, ',');) sizes.push_back(bytes(where, "bs", word));
  if (sizes.empty() || sizes.size() > 3)
    bad_fio_value(where, "bs", value, "write one size, or read,write,trim sizes separated by commas");
  for (const std::uint64_t size : sizes) {
    const bool decimal = value.find("iB") != std::string::npos;
    if (size == 0 || size % 512 != 0)
      bad_fio_value(where, "bs", value,
                    fmt::format("{} bytes is not a multiple of the 512-byte block{}", size,
                                decimal ? " (fio reads KiB as 1000 bytes: write 4k)" : ""));
    if (size > (1ULL << 31)) bad_fio_value(where, "bs", value, "must be at most 2g");
  }
  job.bs_read = sizes.front();  // a missing size repeats the one before it, as in fio
  job.bs_write = sizes.size() > 1 ? sizes[1] : job.bs_read;
  job.bs_trim = sizes.back();
}

void set_engine(FioJob& job, const std::string& value, const std::string& where) {
  static const std::vector<std::string> kEngines = {"sync",    "psync",  "vsync",    "pvsync",
                                                    "pvsync2", "libaio", "io_uring", "posixaio"};
  if (std::find(kEngines.begin(), kEngines.end(), value) == kEngines.end())
    bad_fio_value(where, "ioengine", value,
                  fmt::format("must be one of {}; did you mean '{}'?", fmt::join(kEngines, ", "),
                              nearest_word(value, kEngines)));
  job.ioengine = value;
}

void set_verify(FioJob& job, const std::string& value, const std::string& where) {
  static const std::vector<std::string> kNames = {
      "0",        "none",     "md5",      "crc64",  "crc32",   "crc32c",      "crc32c-intel",
      "crc16",    "crc7",     "sha1",     "sha256", "sha512",  "xxhash",      "sha3-224",
      "sha3-256", "sha3-384", "sha3-512", "meta",   "pattern", "pattern_hdr", "null"};
  if (std::find(kNames.begin(), kNames.end(), value) == kNames.end())
    bad_fio_value(where, "verify", value, fmt::format("did you mean '{}'?", nearest_word(value, kNames)));
  job.verify = value != "0" && value != "none" && value != "null";
}

void set_mix(FioJob& job, const std::string& value, const std::string& where, std::string_view key) {
  const auto percent = static_cast<unsigned>(number(where, key, value, 0, 100));
  job.rwmix_read = key == "rwmixread" ? percent : 100 - percent;
}

using Use = FioOption::Use;

// One row per option that changes a job.
const FioOption kJobOptions[] = {
    {"filename",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       if (v.empty()) bad_fio_value(w, "filename", v, "name a device, for example /dev/mmcblk0");
       j.filename = v;
     },
     {}},
    {"rw", Use::job, false, set_rw, {}},
    {"rwmixread",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) { set_mix(j, v, w, "rwmixread"); },
     {}},
    {"rwmixwrite",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) { set_mix(j, v, w, "rwmixwrite"); },
     {}},
    {"bs", Use::job, false, set_bs, {}},
    {"size",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) { j.size = amount(w, "size", v); },
     {}},
    {"io_size",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) { j.io_size = bytes(w, "io_size", v); },
     {}},
    {"offset",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) { j.offset = amount(w, "offset", v); },
     {}},
    {"offset_increment",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.offset_increment = bytes(w, "offset_increment", v);
     },
     {}},
    {"direct",
     Use::job,
     true,
     [](FioJob& j, const std::string& v, const std::string& w) { j.direct = truth(w, "direct", v); },
     {}},
    {"buffered",
     Use::job,
     true,
     [](FioJob& j, const std::string& v, const std::string& w) { j.direct = !truth(w, "buffered", v); },
     {}},
    {"ioengine", Use::job, false, set_engine, {}},
    {"iodepth",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.iodepth = static_cast<unsigned>(number(w, "iodepth", v, 1, 65536));
     },
     {}},
    {"numjobs",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.numjobs = static_cast<unsigned>(number(w, "numjobs", v, 1, 64));
     },
     {}},
    {"group_reporting",
     Use::job,
     true,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.group_reporting = truth(w, "group_reporting", v);
     },
     {}},
    {"new_group",
     Use::job,
     true,
     [](FioJob& j, const std::string& v, const std::string& w) { j.new_group = truth(w, "new_group", v); },
     {}},
    {"runtime",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.runtime_ns = fio_time_ns(v, fmt::format("{}runtime={}: ", w, v));
     },
     {}},
    {"time_based",
     Use::job,
     true,
     [](FioJob& j, const std::string& v, const std::string& w) { j.time_based = truth(w, "time_based", v); },
     {}},
    {"fsync",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.fsync = static_cast<unsigned>(number(w, "fsync", v, 0, 1u << 31));
     },
     {}},
    // The device has one flush for data and metadata.
    {"fdatasync",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.fsync = static_cast<unsigned>(number(w, "fdatasync", v, 0, 1u << 31));
     },
     {}},
    {"randseed",
     Use::job,
     false,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.randseed = number(w, "randseed", v, 0, ~0ULL);
     },
     {}},
    {"verify", Use::job, false, set_verify, {}},
    {"norandommap",
     Use::job,
     true,
     [](FioJob& j, const std::string& v, const std::string& w) {
       j.norandommap = truth(w, "norandommap", v);
     },
     {}},
};

constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"readwrite", "rw"},
    {"blocksize", "bs"},
    {"timeout", "runtime"},
    {"iodepth_batch_submit", "iodepth_batch"},
    {"io_limit", "io_size"},
    {"fileoffset", "offset"},
    {"iomem", "mem"},
    {"wait_for_previous", "stonewall"},
    {"mem_align", "iomem_align"},
    {"blockalign", "ba"},
    {"blocksize_range", "bsrange"},
    {"zero_buffer", "zero_buffers"},
};

constexpr std::string_view kProgramOptions[] = {"name", "readonly", "output", "output-format", "section"};
constexpr std::string_view kProgramFlags[] = {"readonly"};

// What only means something on a running operating system, or only changes how results are logged.
constexpr std::string_view kIgnored[] = {
    "eta",
    "eta-newline",
    "eta-interval",
    "status-interval",
    "invalidate",
    "randrepeat",
    "allrandrepeat",
    "buffer_pattern",
    "buffer_compress_percentage",
    "buffer_compress_chunk",
    "dedupe_percentage",
    "scramble_buffers",
    "fallocate",
    "fadvise_hint",
    "overwrite",
    "create_serialize",
    "create_fsync",
    "create_on_open",
    "allow_file_create",
    "allow_mounted_write",
    "cpumask",
    "cpus_allowed",
    "cpus_allowed_policy",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "nice",
    "prio",
    "prioclass",
    "ioscheduler",
    "mem",
    "iomem_align",
    "clocksource",
    "gtod_reduce",
    "gtod_cpu",
    "disable_lat",
    "disable_clat",
    "disable_slat",
    "disable_bw_measurement",
    "disable_bw",
    "disk_util",
    "clat_percentiles",
    "lat_percentiles",
    "slat_percentiles",
    "percentile_list",
    "significant_figures",
    "log_avg_msec",
    "log_offset",
    "log_max_value",
    "per_job_logs",
    "write_bw_log",
    "write_lat_log",
    "write_iops_log",
    "write_hist_log",
    "log_hist_msec",
    "bwavgtime",
    "iopsavgtime",
    "exitall_on_error",
    "continue_on_error",
    "ignore_error",
    "error_dump",
    "lockmem",
    "unlink",
    "pre_read",
    "description",
    "max-jobs",
    "alloc-size",
    "debug",
    "verify_fatal",
    "verify_dump",
    "verify_pattern",
    "verify_interval",
    "verify_offset",
    "verify_async",
    "verify_state_save",
    "hugepage-size",
    "hipri",
    "fixedbufs",
    "registerfiles",
    "sqthread_poll",
    "nonvectored",
    "random_generator",
    "filesize",
    "openfiles",
    "file_service_type",
    "uid",
    "gid",
    "cgroup",
    "cgroup_weight",
    "cgroup_nodelete",
    "lockfile",
    "directory",
    "stats",
    "write_hint",
    "serialize_overlap",
    "exec_prerun",
    "exec_postrun",
    "unit_base",
    "filename_format",
    "unique_filename",
    "idle-prof",
    "aux-path",
    "bandwidth-log",
};
constexpr std::string_view kIgnoredFlags[] = {
    "thread",         "refill_buffers", "zero_buffers",        "exitall",
    "warnings-fatal", "bs_unaligned",   "blocksize_unaligned", "userspace_reap"};

// What would change which I/O is done, or when; each with the value that asks for nothing.
constexpr std::pair<std::string_view, std::string_view> kRefused[] = {
    {"loops", "1"},
    {"startdelay", "0"},
    {"thinktime", "0"},
    {"thinktime_spin", "0"},
    {"thinktime_blocks", "1"},
    {"rate", "0"},
    {"rate_min", "0"},
    {"rate_iops", "0"},
    {"rate_iops_min", "0"},
    {"rate_process", "linear"},
    {"ramp_time", "0"},
    {"percentage_random", "100"},
    {"random_distribution", "random"},
    {"zonemode", "none"},
    {"zonesize", "0"},
    {"zonerange", "0"},
    {"zoneskip", "0"},
    {"bssplit", ""},
    {"bsrange", ""},
    {"ba", ""},
    {"iodepth_batch", "1"},
    {"iodepth_batch_complete", "1"},
    {"iodepth_batch_complete_min", "1"},
    {"iodepth_batch_complete_max", "1"},
    {"iodepth_low", ""},
    {"nrfiles", "1"},
    {"sync", "0"},
    {"sync_file_range", ""},
    {"write_barrier", "0"},
    {"end_fsync", "0"},
    {"fsync_on_close", "0"},
    {"number_ios", "0"},
    {"verify_only", "0"},
    {"do_verify", "1"},
    {"verify_backlog", "0"},
    {"verify_state_load", "0"},
    {"experimental_verify", "0"},
    {"trim_percentage", "0"},
    {"read_iolog", ""},
    {"write_iolog", ""},
    {"rw_sequencer", "sequential"},
    {"latency_target", "0"},
    {"latency_window", "0"},
    {"max_latency", "0"},
    {"steadystate", ""},
    {"wait_for", ""},
    {"stonewall", "0"},
    {"flow", "0"},
    {"flow_id", "0"},
    {"profile", ""},
    {"client", ""},
    {"server", ""},
    {"terse-version", ""},
    {"kb_base", "1024"},
    {"fill_device", "0"},
    {"unified_rw_reporting", "0"},
    {"io_submit_mode", "inline"},
    {"file_append", "0"},
    {"offset_align", "0"},
    {"atomic", "0"},
    {"dedupe_mode", ""},
    {"opendir", ""},
    {"include", ""},
    {"create_only", "0"},
    {"exit_what", ""},
};
constexpr std::string_view kRefusedFlags[] = {"stonewall", "minimal", "parse-only", "showcmd", "fill_device"};

template <typename List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

std::vector<FioOption> build_table() {
  std::vector<FioOption> table(std::begin(kJobOptions), std::end(kJobOptions));
  for (const auto name : kProgramOptions)
    table.push_back({name, Use::program, contains(kProgramFlags, name), nullptr, {}});
  for (const auto name : kIgnored) table.push_back({name, Use::ignored, false, nullptr, {}});
  for (const auto name : kIgnoredFlags) table.push_back({name, Use::ignored, true, nullptr, {}});
  for (const auto& [name, neutral] : kRefused)
    table.push_back({name, Use::refused, contains(kRefusedFlags, name), nullptr, neutral});
  for (const auto name : {"minimal", "parse-only", "showcmd"})
    table.push_back({name, Use::refused, true, nullptr, "0"});
  return table;
}

const std::vector<FioOption>& table() {
  static const std::vector<FioOption> rows = build_table();
  return rows;
}

}  // namespace

const FioOption* find_fio_option(const std::string& name) {
  std::string_view wanted = name;
  for (const auto& [alias, target] : kAliases)
    if (wanted == alias) wanted = target;
  for (const FioOption& option : table())
    if (option.name == wanted) return &option;
  return nullptr;
}

std::vector<std::string> fio_option_names() {
  std::vector<std::string> names;
  for (const FioOption& option : table()) names.emplace_back(option.name);
  for (const auto& [alias, target] : kAliases) names.emplace_back(alias);
  return names;
}

void bad_fio_value(const std::string& where, const std::string& key, const std::string& value,
                   const std::string& remedy) {
  throw InputError(fmt::format("{}{}={}: {}", where, key, value, remedy));
}

}  // namespace vp
