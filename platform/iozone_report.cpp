#include "platform/iozone_report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace vp {
namespace {

constexpr double kKiB = 1024, kPsPerSecond = 1e12;
constexpr std::uint64_t kNever = ~std::uint64_t{0};

double rate(std::uint64_t bytes, std::uint64_t ps) {
  return ps == 0 ? 0 : static_cast<double>(bytes) / kKiB / (static_cast<double>(ps) / kPsPerSecond);
}

/// iozone sets its columns with tabs: the '=' of one block stand below each other.
std::string rate_line(const std::string& label, double value, const char* tail) {
  constexpr std::size_t kColumn = 56, kTab = 8;
  std::string line = label + " ";
  std::size_t at = kTab + line.size();
  do {
    line += '\t';
    at = (at / kTab + 1) * kTab;
  } while (at < kColumn);
  return fmt::format("\t{}= {:10.2f} {}\n", line, value, tail);
}

std::string block(const IozoneRun& run, const IozoneResult& r) {
  const std::string who = fmt::format("{:2d} {}", run.threads, to_string(r.test));
  std::string text = "\n";
  text += rate_line("Children see throughput for " + who, r.children, "kB/sec");
  text += rate_line("Parent sees throughput for " + who, r.parent, "kB/sec");
  text += rate_line("Min throughput per process", r.min, "kB/sec ");
  text += rate_line("Max throughput per process", r.max, "kB/sec ");
  text += rate_line("Avg throughput per process", r.avg, "kB/sec");
  text += rate_line("Min xfer", r.min_xfer, "kB");
  return text;
}

}  // namespace

IozoneRecorder::IozoneRecorder(const IozoneRun& run)
    : run_(run), children_(run.threads * run.tests.size()), begin_ps_(run.tests.size(), kNever) {}

void IozoneRecorder::cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t,
                               std::uint64_t c, sc_time now) {
  if (what == hal::Event::driver_error) ++driver_errors_;
  if (what == hal::Event::io_begin) {
    if (id >= ios_.size()) ios_.resize(id + 1);
    ios_[id] = {static_cast<std::uint32_t>(a >> 32), c};
    const std::size_t test = ios_[id].job / run_.threads;
    if (test < begin_ps_.size()) begin_ps_[test] = std::min<std::uint64_t>(begin_ps_[test], now.value());
  }
  if (what != hal::Event::io_end || id >= ios_.size() || ios_[id].job >= children_.size()) return;
  if (a != 0) {
    ++failed_;
    return;
  }
  Child& child = children_[ios_[id].job];
  child.bytes += ios_[id].bytes;
  child.end_ps = now.value();
  bytes_done_ += ios_[id].bytes;
}

std::vector<IozoneResult> IozoneRecorder::results() const {
  std::vector<IozoneResult> list;
  for (std::size_t t = 0; t < run_.tests.size(); ++t) {
    IozoneResult r;
    r.test = run_.tests[t];
    std::uint64_t bytes = 0, end = 0, least = kNever;
    for (unsigned n = 0; n < run_.threads; ++n) {
      const Child& child = children_[t * run_.threads + n];
      const double own = child.end_ps > begin_ps_[t] ? rate(child.bytes, child.end_ps - begin_ps_[t]) : 0;
      r.children += own;
      r.min = n == 0 ? own : std::min(r.min, own);
      r.max = std::max(r.max, own);
      bytes += child.bytes;
      end = std::max(end, child.end_ps);
      least = std::min(least, child.bytes);
    }
    r.avg = r.children / run_.threads;
    r.parent = end > begin_ps_[t] ? rate(bytes, end - begin_ps_[t]) : 0;
    r.min_xfer = static_cast<double>(least) / kKiB;
    list.push_back(r);
  }
  return list;
}

std::string iozone_text(const IozoneRun& run, const std::vector<IozoneResult>& results,
                        const std::string& version) {
  constexpr std::uint64_t kUnit = 1024;
  std::string text = fmt::format(
      "\tIozone: Performance Test of File I/O\n\t        emmc-vp {}: throughput mode on a simulated "
      "device\n\n"
      "\tFile size set to {} kB\n\tRecord Size {} kB\n\tO_DIRECT feature enabled\n",
      version, run.file_bytes / kUnit, run.record_bytes / kUnit);
  if (run.flush) text += "\tInclude fsync in write timing\n";
  text += fmt::format(
      "\tCommand line used: {}\n\tOutput is in kBytes/sec\n\tThroughput test with {} process{}\n"
      "\tEach process writes a {} kByte file in {} kByte records\n",
      run.line, run.threads, run.threads == 1 ? "" : "es", run.file_bytes / kUnit, run.record_bytes / kUnit);
  for (const IozoneResult& r : results) text += block(run, r);
  return text + "\n\n\niozone test complete.\n";
}

Json iozone_json(const IozoneRun& run, const std::vector<IozoneResult>& results) {
  Json out;
  out["command_line"] = run.line;
  out["processes"] = run.threads;
  out["file_kB"] = run.file_bytes / 1024;
  out["record_kB"] = run.record_bytes / 1024;
  for (const IozoneResult& r : results)
    out["tests"].push_back({{"name", to_string(r.test)},
                            {"children_kB_s", r.children},
                            {"parent_kB_s", r.parent},
                            {"min_kB_s", r.min},
                            {"max_kB_s", r.max},
                            {"avg_kB_s", r.avg},
                            {"min_xfer_kB", r.min_xfer}});
  return out;
}

}  // namespace vp
