#include "platform/os_book.hpp"

#include <fmt/format.h>

namespace vp {
namespace {

constexpr const char* kTimePrefix = "cpu_time_ns.";

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}
double ms(std::uint64_t ps) { return static_cast<double>(ps) / 1e9; }

/// What the CPU spent on each priced step: name and nanoseconds.
std::vector<std::pair<std::string, std::uint64_t>> cpu_steps(const ExplainRows& rows) {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (const CounterRow& r : rows.counters)
    if (r.name.rfind(kTimePrefix, 0) == 0 && r.value != 0)
      out.emplace_back(r.name.substr(std::string(kTimePrefix).size()), r.value);
  return out;
}

std::string state_table(const OsBook& book) {
  const std::uint64_t all = book.elapsed_ps();
  std::string out = fmt::format("\nCaller and disk: {:.3f} ms from the first call to the end\n", ms(all));
  out += fmt::format("  {:<26}{:>16}{:>16}{:>14}{:>9}\n", "caller", "disk busy ms", "disk idle ms", "sum ms",
                     "share %");
  for (std::size_t i = 0; i < OsBook::kStates; ++i) {
    const auto state = static_cast<fw::OsWait>(i);
    const std::uint64_t busy = book.ps(state, true), idle = book.ps(state, false);
    if (busy + idle == 0) continue;
    out += fmt::format("  {:<26}{:>16.3f}{:>16.3f}{:>14.3f}{:>9.2f}\n", to_string(state), ms(busy), ms(idle),
                       ms(busy + idle), percent(busy + idle, all));
  }
  return out + fmt::format("  {:<26}{:>16.3f}{:>16.3f}{:>14.3f}{:>9.2f}\n", "sum", ms(book.disk_busy_ps()),
                           ms(all - book.disk_busy_ps()), ms(all), percent(all, all));
}

std::string overlap_line(const OsBook& book) {
  const std::uint64_t runs = book.ps(fw::OsWait::none, true) + book.ps(fw::OsWait::none, false);
  const std::uint64_t both = book.ps(fw::OsWait::none, true);
  return fmt::format(
      "  overlapped: the caller ran while the disk worked for {:.3f} ms: {:.2f} % of the caller's own time, "
      "{:.2f} % of "
      "the disk's\n  not overlapped: the caller slept {:.3f} ms, the disk idled {:.3f} ms\n",
      ms(both), percent(both, runs), percent(both, book.disk_busy_ps()), ms(book.asleep_ps()),
      ms(book.elapsed_ps() - book.disk_busy_ps()));
}

}  // namespace

const char* to_string(fw::OsWait state) {
  switch (state) {
    case fw::OsWait::none:
      return "runs";
    case fw::OsWait::page:
      return "waits for a page";
    case fw::OsWait::writeback:
      return "waits for write-back";
    case fw::OsWait::journal:
      return "waits for journal, flush";
    case fw::OsWait::room:
      return "waits for room";
    case fw::OsWait::direct:
      return "waits for direct I/O";
    case fw::OsWait::count:
      break;
  }
  return "";
}

void OsBook::begin(std::uint64_t now) {
  running_ = true;
  begin_ = end_ = last_ = now;
  parts_ = {};
}

void OsBook::account(std::uint64_t now) {
  if (!running_) return;
  const std::size_t state = live_ != 0 && asleep_ == live_ ? reason_ : 0;
  parts_[state][open_ != 0] += now - last_;
  last_ = end_ = now;
}

void OsBook::cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                       sc_time now) {
  account(now.value());
  switch (what) {
    case hal::Event::ready:
    case hal::Event::job_begin:
      begin(now.value());
      break;
    case hal::Event::os_wait:
      if (a) {
        ++asleep_;
        ++sleeps_;
        reason_ = static_cast<std::size_t>(b) < kStates ? static_cast<std::size_t>(b) : 0;
      } else if (asleep_) {
        --asleep_;
      }
      break;
    case hal::Event::request_begin:
      ++open_;
      if (!running_) break;
      if (c == 0) {
        ++flushes_;
      } else {
        ++requests_[a & 1];
        request_bytes_[a & 1] += c;
      }
      break;
    case hal::Event::request_end:
      if (open_) --open_;
      break;
    case hal::Event::job_done:
      if (live_ && --live_ == 0) running_ = false;
      break;
    default:
      break;
  }
  next_.cpu_event(what, id, a, b, c, now);
}

std::uint64_t OsBook::disk_busy_ps() const {
  std::uint64_t sum = 0;
  for (const auto& p : parts_) sum += p[1];
  return sum;
}

std::uint64_t OsBook::asleep_ps() const {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < kStates; ++i) sum += parts_[i][0] + parts_[i][1];
  return sum;
}

std::string os_text(const OsBook& book, const fw::OsReport& r, const ExplainRows& rows) {
  std::string out = state_table(book) + overlap_line(book);
  out += "\nCPU, by step\n";
  for (const auto& [name, ns] : cpu_steps(rows))
    out += fmt::format("  {:<26}{:>14.3f} ms{:>9.2f} % of the time\n", name, static_cast<double>(ns) / 1e6,
                       percent(ns * 1000, book.elapsed_ps()));
  if (r.pages_read != 0)
    out += fmt::format(
        "\nRead-ahead: {} windows on a miss, {} on a mark; {} pages in {} I/Os, {} of them ahead; {} pages "
        "were ready when "
        "first asked for, {} sleeps for a page\n",
        r.sync_windows, r.async_windows, r.pages_read, r.read_ios, r.pages_read_ahead, r.page_hits,
        r.page_waits);
  if (r.write_ios + r.journal_ios + r.flushes != 0)
    out += fmt::format(
        "\nWrites: {} pages in {} data I/Os, {} journal or metadata I/Os, {} flushes, {} journal commits; {} "
        "bytes left "
        "dirty in the cache\n",
        r.pages_written, r.write_ios, r.journal_ios, r.flushes, r.commits, r.left_dirty_bytes);
  return out;
}

Json os_json(const OsBook& book, const fw::OsReport& r, const ExplainRows& rows) {
  Json out;
  out["elapsed_ps"] = book.elapsed_ps();
  out["states"] = Json::array();
  for (std::size_t i = 0; i < OsBook::kStates; ++i) {
    const auto state = static_cast<fw::OsWait>(i);
    out["states"].push_back({{"caller", to_string(state)},
                             {"disk_busy_ps", book.ps(state, true)},
                             {"disk_idle_ps", book.ps(state, false)}});
  }
  out["overlap_ps"] = book.ps(fw::OsWait::none, true);
  out["asleep_ps"] = book.asleep_ps();
  out["disk_busy_ps"] = book.disk_busy_ps();
  out["disk_idle_ps"] = book.elapsed_ps() - book.disk_busy_ps();
  out["sleeps"] = book.sleeps();
  out["cpu_steps_ns"] = Json::object();
  for (const auto& [name, ns] : cpu_steps(rows)) out["cpu_steps_ns"][name] = ns;
  out["read_ahead"] = {{"sync_windows", r.sync_windows}, {"async_windows", r.async_windows},
                       {"pages", r.pages_read},          {"pages_ahead", r.pages_read_ahead},
                       {"page_hits", r.page_hits},       {"page_waits", r.page_waits}};
  out["ios"] = {{"read", r.read_ios},
                {"write", r.write_ios},
                {"journal", r.journal_ios},
                {"flushes", r.flushes},
                {"commits", r.commits},
                {"pages_written", r.pages_written},
                {"left_dirty_bytes", r.left_dirty_bytes}};
  return out;
}

}  // namespace vp
