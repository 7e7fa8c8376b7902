#include "platform/dd_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>

#include "models/core/params.hpp"

namespace vp {
namespace {

constexpr std::uint64_t kBlock = 512;
constexpr std::uint64_t kForever = ~std::uint64_t{0};
constexpr std::uint64_t kMostRecord = 256ull << 20;  ///< its buffer must fit the buffer memory
constexpr std::uint64_t kFileAlign = 1 << 20;

[[noreturn]] void bad(const std::string& operand, const std::string& remedy) {
  throw InputError(fmt::format("dd: {}: {}", operand, remedy));
}

std::uint64_t product(std::uint64_t a, std::uint64_t b, const std::string& operand) {
  if (b != 0 && a > kForever / b) bad(operand, "too large: write a smaller number");
  return a * b;
}

/// One factor: digits and a suffix.
std::uint64_t factor(const std::string& text, const std::string& operand, bool* bytes) {
  struct Unit {
    const char* name;
    std::uint64_t factor;
  };
  static constexpr std::uint64_t kK = 1024, kD = 1000;
  static constexpr Unit kUnits[] = {{"", 1},
                                    {"c", 1},
                                    {"w", 2},
                                    {"b", 512},
                                    {"kB", kD},
                                    {"KB", kD},
                                    {"k", kK},
                                    {"K", kK},
                                    {"KiB", kK},
                                    {"MB", kD * kD},
                                    {"M", kK * kK},
                                    {"MiB", kK * kK},
                                    {"GB", kD * kD * kD},
                                    {"G", kK * kK * kK},
                                    {"GiB", kK * kK * kK},
                                    {"TB", kD * kD * kD * kD},
                                    {"T", kK * kK * kK * kK},
                                    {"TiB", kK * kK * kK * kK}};
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  std::string suffix(rest, text.data() + text.size());
  if (bytes && suffix == "B") {
    *bytes = true;
    suffix.clear();
  }
  if (error == std::errc{} && !text.empty())
    for (const Unit& u : kUnits)
      if (suffix == u.name) return product(value, u.factor, operand);
  bad(operand,
      fmt::format("invalid number '{}': write digits with c, w, b, kB, K, MB, M, GB or G, or a product 2x512",
                  text));
}

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t comma = std::min(list.find(',', at), list.size());
    out.push_back(list.substr(at, comma - at));
    at = comma + 1;
  }
  return out;
}

const std::vector<std::string>& flag_names() {
  static const std::vector<std::string> names = {"direct",      "dsync",      "sync",      "fullblock",
                                                 "nonblock",    "noatime",    "noctty",    "nofollow",
                                                 "count_bytes", "skip_bytes", "seek_bytes"};
  return names;
}

void flags(const std::string& operand, const std::string& list, DdFlags& f) {
  const bool input = operand[0] == 'i';
  for (const std::string& w : words(list)) {
    if (w == "direct")
      f.direct = true;
    else if (w == "dsync")
      f.sync = std::max(f.sync, 1u);
    else if (w == "sync")
      f.sync = 2;
    else if (w == "count_bytes" && input)
      f.count_bytes = true;
    else if (w == "skip_bytes" && input)
      f.skip_bytes = true;
    else if (w == "seek_bytes" && !input)
      f.seek_bytes = true;
    else if ((w == "fullblock" && input) ||  // reads of files are whole anyway
             w == "nonblock" || w == "noatime" || w == "noctty" || w == "nofollow")
      continue;
    else if (w == "append" || w == "cio" || w == "directory" || w == "nocache" || w == "nolinks" ||
             w == "binary" || w == "text")
      bad(operand, fmt::format("'{}' is not in this version yet: leave it out", w));
    else
      bad(operand, fmt::format("invalid flag '{}': did you mean '{}'?", w, nearest_word(w, flag_names())));
  }
}

void conversions(const std::string& operand, const std::string& list, DdRun& run) {
  static const std::vector<std::string> kRefused = {"ascii", "ebcdic", "ibm",  "block", "unblock", "lcase",
                                                    "ucase", "sparse", "swab", "sync",  "excl",    "noerror"};
  static const std::vector<std::string> kKnown = {"fsync", "fdatasync", "notrunc", "nocreat"};
  for (const std::string& w : words(list)) {
    if (w == "fsync")
      run.final_sync = 2;
    else if (w == "fdatasync")
      run.final_sync = std::max(run.final_sync, 1u);
    else if (w == "notrunc")
      run.notrunc = true;
    else if (w == "nocreat")
      continue;
    else if (std::find(kRefused.begin(), kRefused.end(), w) != kRefused.end())
      bad(operand, fmt::format("'{}' is not in this version yet: leave it out", w));
    else
      bad(operand, fmt::format("invalid conversion '{}': did you mean '{}'?", w, nearest_word(w, kKnown)));
  }
}

DdStatus status_level(const std::string& operand, const std::string& value) {
  if (value == "none") return DdStatus::none;
  if (value == "noxfer") return DdStatus::noxfer;
  if (value == "progress") return DdStatus::progress;
  bad(operand, fmt::format("invalid status level: write none, noxfer or progress; did you mean '{}'?",
                           nearest_word(value, {"none", "noxfer", "progress"})));
}

std::uint64_t record(const std::string& operand, const std::string& value) {
  const std::uint64_t n = dd_number(value, operand);
  if (n == 0) bad(operand, "invalid number '0': a record has at least one byte");
  if (n > kMostRecord)
    bad(operand, fmt::format("larger than {} bytes, the most this machine buffers: lower it", kMostRecord));
  return n;
}

bool is_node(const std::string& name, bool& partition) {
  const std::string prefix = "/dev/mmcblk";
  if (name.rfind(prefix, 0) != 0) return false;
  const std::string rest = name.substr(prefix.size());
  const std::size_t p = rest.find('p');
  const auto digits = [](const std::string& s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](unsigned char c) { return c >= '0' && c <= '9'; });
  };
  partition = p != std::string::npos;
  return digits(rest.substr(0, p)) && (!partition || digits(rest.substr(p + 1)));
}

/// What a name stands for, without sizes.
fw::FileDef name_kind(const std::string& operand, const std::string& name, const char* special,
                      const fw::OsConfig& os) {
  fw::FileDef f{};
  bool partition = false;
  if (name == special) return f;
  if (is_node(name, partition)) {
    f.kind = fw::FileDef::device;
    f.start = partition ? os.partition_start : 0;
  } else if (name.rfind("/dev/", 0) == 0) {
    bad(operand,
        fmt::format("no such device here: use {}, /dev/mmcblk0, /dev/mmcblk0p1 or a file's name", special));
  } else {
    f.kind = fw::FileDef::file;
    f.filesystem = os.filesystem;
    f.start = os.file_start;
  }
  return f;
}

std::uint64_t place(std::uint64_t number, bool in_bytes, std::uint64_t record_bytes,
                    const std::string& operand) {
  return in_bytes ? number : product(number, record_bytes, operand);
}

void check_direct(const DdFlags& f, std::uint64_t record_bytes, std::uint64_t offset,
                  const std::string& operand, const std::string& size_name) {
  if (!f.direct) return;
  if (record_bytes % kBlock != 0)
    bad(operand,
        fmt::format(
            "{}={} is not a multiple of the 512-byte block, as O_DIRECT needs: round it, or leave direct out",
            size_name, record_bytes));
  if (offset % kBlock != 0)
    bad(operand,
        fmt::format("starts at byte {}, not a multiple of the 512-byte block as O_DIRECT needs: round it",
                    offset));
}

void input_size(fw::FileDef& f, const DdRun& run, std::uint64_t device_bytes, const fw::OsConfig& os) {
  const std::string operand = "if=" + run.in;
  if (f.kind == fw::FileDef::none) return;
  if (f.start >= device_bytes)
    bad(operand, fmt::format("begins at byte {}, behind the end of the device", f.start));
  f.limit = device_bytes - f.start;
  f.size = f.kind == fw::FileDef::file ? os.file_bytes : f.limit;
  if (f.size > f.limit)
    bad(operand,
        fmt::format(
            "its {} bytes (os.file_bytes) from byte {} on pass the end of the device: lower one of them",
            f.size, f.start));
  if (f.offset > f.size) bad(operand, fmt::format("cannot skip to byte {}: it holds {}", f.offset, f.size));
}

void output_size(fw::FileDef& f, const DdRun& run, std::uint64_t device_bytes, std::uint64_t bytes,
                 const fw::OsConfig& os) {
  const std::string operand = "of=" + run.out;
  if (f.kind == fw::FileDef::none) return;
  if (f.start >= device_bytes)
    bad(operand, fmt::format("begins at byte {}, behind the end of the device", f.start));
  f.limit = device_bytes - f.start;
  const bool fits = f.offset <= f.limit && bytes <= f.limit - f.offset;
  if (!fits)
    bad(operand,
        fmt::format("no space left on device: it has {} bytes from there on: lower count or seek", f.limit));
  f.size = f.limit;
  if (f.kind == fw::FileDef::file) f.size = run.notrunc ? std::min(os.file_bytes, f.limit) : f.offset;
}

}  // namespace

std::uint64_t dd_number(const std::string& text, const std::string& operand, bool* bytes) {
  std::uint64_t value = 1;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t x = std::min(text.find('x', at), text.size());
    value = product(value, factor(text.substr(at, x - at), operand, bytes), operand);
    at = x + 1;
  }
  return value;
}

DdRun parse_dd(const std::vector<std::string>& args) {
  DdRun run;
  std::optional<std::uint64_t> bs;
  using Apply = std::function<void(const std::string& operand, const std::string& value)>;
  const std::vector<std::pair<std::string, Apply>> table = {
      {"if", [&](auto&, auto& v) { run.in = v; }},
      {"of", [&](auto&, auto& v) { run.out = v; }},
      {"bs", [&](auto& o, auto& v) { bs = record(o, v); }},
      {"ibs", [&](auto& o, auto& v) { run.ibs = record(o, v); }},
      {"obs", [&](auto& o, auto& v) { run.obs = record(o, v); }},
      {"count",
       [&](auto& o, auto& v) {
         run.count_in_bytes = false, run.count = dd_number(v, o, &run.count_in_bytes);
       }},
      {"skip",
       [&](auto& o, auto& v) { run.skip_in_bytes = false, run.skip = dd_number(v, o, &run.skip_in_bytes); }},
      {"iseek",
       [&](auto& o, auto& v) { run.skip_in_bytes = false, run.skip = dd_number(v, o, &run.skip_in_bytes); }},
      {"seek",
       [&](auto& o, auto& v) { run.seek_in_bytes = false, run.seek = dd_number(v, o, &run.seek_in_bytes); }},
      {"oseek",
       [&](auto& o, auto& v) { run.seek_in_bytes = false, run.seek = dd_number(v, o, &run.seek_in_bytes); }},
      {"iflag", [&](auto& o, auto& v) { flags(o, v, run.iflag); }},
      {"oflag", [&](auto& o, auto& v) { flags(o, v, run.oflag); }},
      {"conv", [&](auto& o, auto& v) { conversions(o, v, run); }},
      {"status", [&](auto& o, auto& v) { run.status = status_level(o, v); }},
  };
  std::vector<std::string> names;
  for (const auto& [name, apply] : table) names.push_back(name);
  for (const std::string& word : args) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const auto it = std::find_if(table.begin(), table.end(), [&](const auto& e) { return e.first == name; });
    if (it == table.end())
      throw InputError(
          fmt::format("dd: unrecognized operand '{}': did you mean '{}='?", word, nearest_word(name, names)));
    if (equals == std::string::npos || equals + 1 == word.size())
      throw InputError(fmt::format("dd: {}: needs a value: write {}=…", name, name));
    it->second(word, word.substr(equals + 1));
    run.operands.push_back(word);
  }
  if (bs) run.ibs = run.obs = *bs;
  run.count_in_bytes = run.count_in_bytes || run.iflag.count_bytes;
  run.skip_in_bytes = run.skip_in_bytes || run.iflag.skip_bytes;
  run.seek_in_bytes = run.seek_in_bytes || run.oflag.seek_bytes;
  if (run.in.empty())
    throw InputError("dd: there is no standard input here: give if=/dev/zero, a device or a file");
  if (run.out.empty())
    throw InputError(
        "dd: there is no standard output to copy to here: give of=/dev/null, a device or a file");
  return run;
}

fw::CopyDef dd_copy(const DdRun& run, std::uint64_t device_bytes, const fw::OsConfig& os) {
  fw::CopyDef c{};
  c.active = 1;
  c.ibs = run.ibs;
  c.obs = run.obs;
  c.final_sync = run.final_sync;
  c.in = name_kind("if=" + run.in, run.in, "/dev/zero", os);
  c.out = name_kind("of=" + run.out, run.out, "/dev/null", os);
  c.in.offset = place(run.skip, run.skip_in_bytes, run.ibs, "skip");
  c.out.offset = place(run.seek, run.seek_in_bytes, run.obs, "seek");
  c.in.direct = run.iflag.direct && c.in.kind != fw::FileDef::none;
  c.out.direct = run.oflag.direct && c.out.kind != fw::FileDef::none;
  c.out.sync = run.oflag.sync;
  const bool both_files = c.in.kind == fw::FileDef::file && c.out.kind == fw::FileDef::file;
  if (both_files && run.in == run.out)
    bad("of=" + run.out, "is the input file too, and would be cut to nothing first: name another file");
  if (both_files) c.out.start = (os.file_start + os.file_bytes + kFileAlign - 1) / kFileAlign * kFileAlign;
  input_size(c.in, run, device_bytes, os);
  c.bytes = run.count ? place(*run.count, run.count_in_bytes, run.ibs, "count") : kForever;
  if (c.in.kind == fw::FileDef::none && c.bytes == kForever) bad("if=" + run.in, "never ends: give count=");
  const std::uint64_t there =
      c.in.kind == fw::FileDef::none ? c.bytes : std::min(c.bytes, c.in.size - c.in.offset);
  c.bytes = there;
  output_size(c.out, run, device_bytes, there, os);
  if (c.in.kind != fw::FileDef::none) check_direct(run.iflag, run.ibs, c.in.offset, "iflag=direct", "ibs");
  if (c.out.kind != fw::FileDef::none) check_direct(run.oflag, run.obs, c.out.offset, "oflag=direct", "obs");
  return c;
}

}  // namespace vp
