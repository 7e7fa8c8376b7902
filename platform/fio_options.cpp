#include "platform/fio_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "models/core/params.hpp"
#include "platform/fio_option_table.hpp"
#include "platform/output_file.hpp"

namespace vp {
namespace {

constexpr std::uint64_t kBlock = 512;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

/// Splits a leading whole number from what follows it; false when there is none or it overflows.
bool split_number(const std::string& text, std::uint64_t& value, std::string& suffix) {
  const bool hex = text.rfind("0x", 0) == 0 || text.rfind("0X", 0) == 0;
  const char* first = text.data() + (hex ? 2 : 0);
  const char* last = text.data() + text.size();
  const auto [rest, error] = std::from_chars(first, last, value, hex ? 16 : 10);
  suffix.assign(rest, last);
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  return error == std::errc{};
}

std::string format_name(const std::string& value, const std::string& where) {
  static const std::vector<std::string> kFormats = {"normal", "json"};
  if (std::find(kFormats.begin(), kFormats.end(), value) != kFormats.end()) return value;
  bad_fio_value(where, "output-format", value,
                fmt::format("must be normal or json; did you mean '{}'?", nearest_word(value, kFormats)));
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& args) : args_(args) { global_.where = "fio: "; }

  FioRun parse() {
    for (std::size_t i = 0; i < args_.size(); ++i) {
      const std::string& word = args_[i];
      if (word.size() > 1 && word[0] == '-')
        command_line_option(i);
      else
        job_file(word);
    }
    finish();
    return std::move(run_);
  }

 private:
  void command_line_option(std::size_t& i) {
    const std::string& word = args_[i];
    std::string key = word.substr(
        word.find_first_not_of('-') == std::string::npos ? word.size() : word.find_first_not_of('-'));
    std::string value;
    const auto equals = key.find('=');
    const FioOption* option = find_fio_option(key.substr(0, equals));
    if (!option) unknown(key.substr(0, equals), "fio: ");
    bool has_value = equals != std::string::npos;
    if (has_value) {
      value = key.substr(equals + 1);
      key.resize(equals);
    } else if (!option->flag) {
      if (i + 1 >= args_.size())
        throw InputError(fmt::format("fio: --{}: needs a value: write --{}=…", key, key));
      value = args_[++i];
      has_value = true;
    }
    if (option->name == "name") return start_job(value, "fio: ", global_);
    apply(*option, key, value, has_value, "fio: --", current_ ? run_.jobs.back() : global_, current_);
  }

  void job_file(const std::string& file) {
    std::istringstream lines(read_whole_file(file, "job file"));
    FioJob defaults = global_;  // of this file; the command line's own come first
    enum class Section { none, global, job } section = Section::none;
    int number = 0;
    for (std::string raw; std::getline(lines, raw);) {
      const std::string where = fmt::format("{}:{}: ", file, ++number);
      const std::string line = trimmed(raw);
      if (line.empty() || line[0] == '#' || line[0] == ';') continue;
      if (line[0] == '[') {
        if (line.back() != ']' || line.size() < 3)
          throw InputError(fmt::format("{}'{}' is not a section: write [global] or [job name]", where, line));
        const std::string name = line.substr(1, line.size() - 2);
        section = name == "global" ? Section::global : Section::job;
        if (section == Section::job) start_job(name, where, defaults);
        continue;
      }
      if (section == Section::none)
        throw InputError(fmt::format(
            "{}'{}' stands before the first section: begin with [global] or [job name]", where, line));
      file_option(line, where, section == Section::job ? run_.jobs.back() : defaults,
                  section == Section::job);
    }
    if (section == Section::none)
      throw InputError(fmt::format("{}: holds no job: add a section [job name]", file));
    current_ = false;
  }

  void file_option(const std::string& line, const std::string& where, FioJob& job, bool own) {
    const auto equals = line.find('=');
    const std::string key = trimmed(line.substr(0, equals));
    const std::string value = equals == std::string::npos ? std::string() : trimmed(line.substr(equals + 1));
    const FioOption* option = find_fio_option(key);
    if (!option || option->name == "name") unknown(key, where);
    if (equals == std::string::npos && !option->flag)
      throw InputError(fmt::format("{}{}: needs a value: write {}=…", where, key, key));
    apply(*option, key, value, equals != std::string::npos, where, job, own);
  }

  void start_job(const std::string& name, const std::string& where, const FioJob& defaults) {
    if (name.empty()) bad_fio_value(where, "name", name, "give the job a name");
    run_.jobs.push_back(defaults);
    FioJob& job = run_.jobs.back();
    job.options.clear();
    job.name = name;
    job.where = where;
    job.options.emplace_back("name", name);
    current_ = true;
  }

  void apply(const FioOption& option, const std::string& key, const std::string& value, bool has_value,
             const std::string& where, FioJob& job, bool own) {
    using Use = FioOption::Use;
    switch (option.use) {
      case Use::program:
        return program_option(option, value, where);
      case Use::ignored:
        if (std::find(run_.ignored.begin(), run_.ignored.end(), key) == run_.ignored.end())
          run_.ignored.push_back(key);
        break;
      case Use::refused:
        check_neutral(option, key, value, where);
        break;
      case Use::job:
        option.apply(job, value, where);
        break;
    }
    auto& list = own ? job.options : run_.global_options;
    list.emplace_back(key, has_value ? value : "1");
  }

  void check_neutral(const FioOption& option, const std::string& key, const std::string& value,
                     const std::string& where) {
    // The first job waits for nobody.
    if (option.name == "stonewall" && run_.jobs.size() == 1) return;
    if (!option.neutral.empty() && value == option.neutral) return;
    const std::string shown = value.empty() ? key : key + "=" + value;
    throw InputError(fmt::format("{}{}: not in this version yet: leave it out{}", where, shown,
                                 option.neutral.empty()
                                     ? std::string()
                                     : fmt::format(", or give its neutral value {}", option.neutral)));
  }

  void program_option(const FioOption& option, const std::string& value, const std::string& where) {
    if (option.name == "readonly")
      run_.readonly = true;
    else if (option.name == "output-format")
      run_.output_format = format_name(value, where);
    else if (option.name == "output") {
      if (value.empty()) bad_fio_value(where, "output", value, "name a file");
      run_.output = value;
    } else {
      sections_.push_back(value);
    }
  }

  [[noreturn]] static void unknown(const std::string& key, const std::string& where) {
    const bool line = where == "fio: ";
    throw InputError(fmt::format("{}unknown option '{}{}': did you mean '{}{}'?", where, line ? "--" : "",
                                 key, line ? "--" : "", nearest_word(key, fio_option_names())));
  }

  void keep_sections() {
    if (sections_.empty()) return;
    std::vector<std::string> names;
    for (const FioJob& job : run_.jobs) names.push_back(job.name);
    for (const std::string& wanted : sections_)
      if (std::find(names.begin(), names.end(), wanted) == names.end())
        bad_fio_value("fio: --", "section", wanted,
                      fmt::format("no such job; did you mean '{}'?", nearest_word(wanted, names)));
    std::erase_if(run_.jobs, [&](const FioJob& job) {
      return std::find(sections_.begin(), sections_.end(), job.name) == sections_.end();
    });
  }

  void finish() {
    keep_sections();
    if (run_.jobs.empty())
      throw InputError("fio: no job defined: add --name=NAME, or name a job file after --");
    bool buffered = false;
    for (const FioJob& job : run_.jobs) {
      check_job(job);
      buffered = buffered || !job.direct;
    }
    if (buffered)
      run_.notes.emplace_back(
          "note: without direct=1 the I/O goes through the page cache (parameters os.*), one call of a job "
          "at a time");
  }

  void check_job(const FioJob& job) const {
    if (run_.readonly && job.writes())
      throw InputError(
          fmt::format("{}job '{}': rw={}: trim and write operations are not allowed with the --readonly "
                      "parameter: use a read workload, or leave --readonly out",
                      job.where, job.name, to_string(job.rw)));
    if (job.time_based && job.runtime_ns == 0)
      throw InputError(
          fmt::format("{}job '{}': time_based requires a runtime/timeout setting: add runtime=SECONDS",
                      job.where, job.name));
    if (job.mixed() && job.bs_read != job.bs_write)
      throw InputError(
          fmt::format("{}job '{}': bs={},{}: different sizes for reads and writes of one job are not in "
                      "this version yet: give one size",
                      job.where, job.name, job.bs_read, job.bs_write));
  }

  const std::vector<std::string>& args_;
  FioRun run_;
  FioJob global_;
  std::vector<std::string> sections_;
  bool current_ = false;  ///< command line options belong to the last job, not to the globals
};

std::uint64_t amount_bytes(const FioAmount& amount, std::uint64_t whole) {
  return amount.percent ? whole / 100 * amount.value + whole % 100 * amount.value / 100 : amount.value;
}

}  // namespace

const char* to_string(FioRw rw) {
  switch (rw) {
    case FioRw::read:
      return "read";
    case FioRw::write:
      return "write";
    case FioRw::randread:
      return "randread";
    case FioRw::randwrite:
      return "randwrite";
    case FioRw::rw:
      return "rw";
    case FioRw::randrw:
      return "randrw";
  }
  return "";
}

bool FioJob::synchronous() const {
  return ioengine != "libaio" && ioengine != "io_uring" && ioengine != "posixaio";
}

bool uses_page_cache(const FioRun& run) {
  return std::any_of(run.jobs.begin(), run.jobs.end(), [](const FioJob& job) { return !job.direct; });
}

FioRun parse_fio(const std::vector<std::string>& args) { return Parser(args).parse(); }

std::uint64_t fio_size(const std::string& text, const std::string& where) {
  // With kb_base=1024, fio's default, K is 1024 and KiB is 1000 ("yes, really", says its HOWTO).
  struct Unit {
    const char* name;
    std::uint64_t factor;
  };
  static constexpr std::uint64_t kK = 1024, kD = 1000;
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"b", 1},
                                    {"k", kK},
                                    {"kb", kK},
                                    {"ki", kK},
                                    {"m", kK * kK},
                                    {"mb", kK * kK},
                                    {"mi", kK * kK},
                                    {"g", kK * kK * kK},
                                    {"gb", kK * kK * kK},
                                    {"gi", kK * kK * kK},
                                    {"t", kK * kK * kK * kK},
                                    {"tb", kK * kK * kK * kK},
                                    {"ti", kK * kK * kK * kK},
                                    {"kib", kD},
                                    {"mib", kD * kD},
                                    {"gib", kD * kD * kD},
                                    {"tib", kD * kD * kD * kD}};
  std::uint64_t value = 0;
  std::string suffix;
  if (split_number(text, value, suffix))
    for (const Unit& unit : kUnits)
      if (suffix == unit.name && value <= ~0ULL / unit.factor) return value * unit.factor;
  throw InputError(
      fmt::format("{}'{}' is not a size: write a whole number with k, m, g or t (k is 1024)", where, text));
}

std::uint64_t fio_time_ns(const std::string& text, const std::string& where) {
  struct Unit {
    const char* name;
    std::uint64_t ns;
  };
  static constexpr std::uint64_t kSecond = 1'000'000'000;
  static constexpr Unit kUnits[] = {{"", kSecond},         {"s", kSecond},      {"ms", 1'000'000},
                                    {"us", 1'000},         {"m", 60 * kSecond}, {"h", 3600 * kSecond},
                                    {"d", 86400 * kSecond}};
  std::uint64_t value = 0;
  std::string suffix;
  if (split_number(text, value, suffix))
    for (const Unit& unit : kUnits)
      if (suffix == unit.name && value <= ~0ULL / unit.ns) return value * unit.ns;
  throw InputError(fmt::format(
      "{}'{}' is not a time: write a whole number with us, ms, s, m, h or d (s without one)", where, text));
}

FioRegion fio_region(const FioJob& job, unsigned clone, const FioLimits& limits) {
  const std::string at = fmt::format("{}job '{}': ", job.where, job.name);
  const std::uint64_t device = limits.device_bytes;
  FioRegion region;
  region.offset = amount_bytes(job.offset, device) / kBlock * kBlock;
  if (!job.offset.percent && job.offset.value % kBlock != 0)
    throw InputError(
        fmt::format("{}offset={}: not a multiple of the 512-byte block: round it", at, job.offset.value));
  region.offset += clone * job.offset_increment;
  if (region.offset >= device)
    throw InputError(fmt::format("{}offset={}: the device ends at {} bytes: choose a smaller offset", at,
                                 region.offset, device));
  const std::uint64_t room = device - region.offset;
  region.size = job.size ? amount_bytes(*job.size, device) : room;
  if (job.size && !job.size->percent && region.size > room)
    throw InputError(
        fmt::format("{}size={}: the device holds {} bytes from offset {}: choose a size up to that, or "
                    "size=100%",
                    at, region.size, room, region.offset));
  region.size = std::min(region.size, room);
  const std::uint64_t bs = job.block_bytes();
  if (job.size && !job.size->percent && job.size->value % kBlock != 0)
    throw InputError(
        fmt::format("{}size={}: not a multiple of the 512-byte block: round it", at, job.size->value));
  if (region.size < bs)
    throw InputError(fmt::format("{}size={}: smaller than one block of bs={}: raise size or lower bs", at,
                                 region.size, bs));
  region.size -= region.size % bs;  // as fio: only whole blocks are done
  region.io_bytes = job.io_size.value_or(region.size);
  if (region.io_bytes < bs)
    throw InputError(fmt::format("{}io_size={}: smaller than one block of bs={}: raise io_size or lower bs",
                                 at, region.io_bytes, bs));
  region.io_bytes -= region.io_bytes % bs;
  return region;
}

void check_fio(const FioRun& run, const FioLimits& limits) {
  std::uint64_t clones = 0;
  for (const FioJob& job : run.jobs) {
    clones += job.numjobs;
    if (!job.synchronous() && job.iodepth > limits.max_iodepth)
      throw InputError(fmt::format("{}job '{}': iodepth={}: must be at most {}", job.where, job.name,
                                   job.iodepth, limits.max_iodepth));
    for (unsigned clone = 0; clone < job.numjobs; ++clone) fio_region(job, clone, limits);
  }
  if (clones > limits.max_jobs)
    throw InputError(fmt::format("{}numjobs: {} jobs in all, but at most {} can run at once: lower numjobs",
                                 run.jobs.front().where, clones, limits.max_jobs));
}

}  // namespace vp
