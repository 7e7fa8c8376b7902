#include "platform/dd_report.hpp"

#include <fmt/format.h>

namespace vp {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr unsigned kMostPrefix = 8;

std::string unit(unsigned prefix, bool binary) {
  static constexpr const char* kLetters = " KMGTPEZY";
  if (prefix == 0) return " B";
  const char letter = prefix == 1 && !binary ? 'k' : kLetters[prefix];
  return fmt::format(" {}{}B", letter, binary ? "i" : "");
}

/// value / divisor to the nearest whole number, halves to even.
std::uint64_t nearest(Wide value, Wide divisor) {
  const Wide whole = value / divisor, twice = value % divisor * 2;
  const bool up = twice > divisor || (twice == divisor && whole % 2 == 1);
  return static_cast<std::uint64_t>(whole + (up ? 1 : 0));
}

/// num / den, which whole-number arithmetic can do.
std::string exact_amount(Wide num, Wide den, bool binary) {
  const unsigned base = binary ? 1024 : 1000;
  unsigned prefix = 0;
  while (num / den >= base && prefix < kMostPrefix) {
    den *= base;
    ++prefix;
  }
  if (prefix != 0 && num / den < 10) {
    const std::uint64_t tenths = nearest(num * 10, den);
    if (tenths < 100) return fmt::format("{}.{}{}", tenths / 10, tenths % 10, unit(prefix, binary));
  }
  const std::uint64_t whole = nearest(num, den);
  if (whole == base && prefix < kMostPrefix) return "1.0" + unit(prefix + 1, binary);
  return fmt::format("{}{}", whole, unit(prefix, binary));
}

std::string plural(std::uint64_t bytes) { return bytes == 1 ? "byte" : "bytes"; }

double rate(const DdResults& r) {
  return r.ns == 0 ? 0.0 : static_cast<double>(r.bytes) / (static_cast<double>(r.ns) / 1e9);
}

Json direction(std::uint64_t bytes, std::uint64_t records, const DdResults& r) {
  const double seconds = static_cast<double>(r.ns) / 1e9;
  const double mean = records == 0 ? 0.0 : static_cast<double>(r.ns) / static_cast<double>(records);
  return {{"io_bytes", bytes},
          {"bw_bytes", seconds > 0 ? static_cast<double>(bytes) / seconds : 0.0},
          {"iops", seconds > 0 ? static_cast<double>(records) / seconds : 0.0},
          {"total_ios", records},
          {"clat_ns", {{"mean", mean}}},
          {"lat_ns", {{"mean", mean}}}};
}

}  // namespace

std::string dd_amount(std::uint64_t n, std::uint64_t from, std::uint64_t to, bool binary) {
  if (to <= from && from % to == 0) return exact_amount(Wide{n} * (from / to), 1, binary);
  if (to > from && to % from == 0) return exact_amount(n, to / from, binary);
  const long double base = binary ? 1024 : 1000;
  long double value =
      static_cast<long double>(n) * (static_cast<long double>(from) / static_cast<long double>(to));
  long double scale = 1;
  unsigned prefix = 0;
  do {
    scale *= base;
    ++prefix;
  } while (scale * base <= value && prefix < kMostPrefix);
  value /= scale;
  const std::size_t fits = binary ? 3 : 4;
  std::string digits = fmt::format("{:.1f}", value);
  if (digits.size() > fits) digits = fmt::format("{:.0f}", value);
  return digits + unit(prefix, binary);
}

DdResults dd_results(const fw::CopyDef& copy, std::uint64_t elapsed_ps) {
  return {copy.in_full, copy.in_part, copy.out_full, copy.out_part, copy.copied, elapsed_ps / 1000};
}

std::string dd_text(const DdRun& run, const DdResults& r) {
  if (run.status == DdStatus::none) return {};
  std::string out =
      fmt::format("{}+{} records in\n{}+{} records out\n", r.in_full, r.in_part, r.out_full, r.out_part);
  if (run.status == DdStatus::noxfer) return out;
  const std::string si = dd_amount(r.bytes, 1, 1, false), iec = dd_amount(r.bytes, 1, 1, true);
  const auto no_prefix = [](const std::string& s) { return s[s.size() - 2] == ' '; };
  out += fmt::format("{} {}", r.bytes, plural(r.bytes));
  if (!no_prefix(si)) out += no_prefix(iec) ? fmt::format(" ({})", si) : fmt::format(" ({}, {})", si, iec);
  const std::string speed = r.ns == 0 ? "Infinity B" : dd_amount(r.bytes, kNsPerSecond, r.ns, false);
  return out + fmt::format(" copied, {:g} s, {}/s\n", static_cast<double>(r.ns) / 1e9, speed);
}

Json dd_json(const DdRun& run, const DdResults& r) {
  Json out;
  out["dd"] = {{"operands", run.operands},
               {"records_in", {{"full", r.in_full}, {"partial", r.in_part}}},
               {"records_out", {{"full", r.out_full}, {"partial", r.out_part}}},
               {"bytes", r.bytes},
               {"seconds", static_cast<double>(r.ns) / 1e9},
               {"bytes_per_second", rate(r)}};
  const bool writes = run.out != "/dev/null";
  const std::uint64_t in = r.in_full + r.in_part, none = 0;
  const std::uint64_t records = writes ? r.out_full + r.out_part : in;
  out["jobs"] = Json::array({{{"jobname", "dd"},
                              {"read", direction(writes ? none : r.bytes, writes ? none : records, r)},
                              {"write", direction(writes ? r.bytes : none, writes ? records : none, r)}}});
  return out;
}

}  // namespace vp
