// What the command queue tests share: register traffic as values, a job table with the queue on, counts of events.
#pragma once

#include <algorithm>
#include <ostream>

#include "models/cqhci/cqhci_regs.hpp"
#include "models/sdhci/sdhci_regs.hpp"
#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/fake_board.hpp"

namespace cqe_test {

using namespace fw;
using fake::Board;
using Fate = fake::Cqe::Fate;

constexpr std::uint32_t reg(const char* name) { return vp::find_register(vp::sdhci::kRegs, name)->offset; }
constexpr std::uint32_t cq(const char* name) {
  return fake::kCqeOffset + vp::find_register(vp::cqhci::kRegs, name)->offset;
}
/// Register traffic as "offset=value" of writes and "offset?" of reads, for comparing whole sequences.
struct Step {
  bool write;
  std::uint32_t offset;
  std::uint64_t value;
  bool operator==(const Step& o) const {
    return write == o.write && offset == o.offset && (!write || value == o.value);
  }
};
inline std::ostream& operator<<(std::ostream& os, const Step& s) {
  os << (s.write ? "w " : "r ") << std::hex << s.offset;
  if (s.write) os << " = " << s.value;
  return os << std::dec;
}
inline Step w(std::uint32_t offset, std::uint64_t value) { return {true, offset, value}; }
inline Step r(std::uint32_t offset) { return {false, offset, 0}; }
inline std::vector<Step> steps(const Board& b, std::size_t from = 0) {
  std::vector<Step> out;
  for (std::size_t i = from; i < b.log.size(); ++i)
    out.push_back({b.log[i].write, b.log[i].offset, b.log[i].value});
  return out;
}

using fake::job;
inline JobTable& with_queue(Board& b, const JobDef& d) {
  b.cqe.present = true;
  JobTable& t = fake::table(b);
  t.use_cqe = 1;
  t.job_count = 1;
  t.jobs[0] = d;
  return t;
}
inline std::vector<fake::Mark> marks(const Board& b, hal::Event what) {
  std::vector<fake::Mark> out;
  std::copy_if(b.marks.begin(), b.marks.end(), std::back_inserter(out),
               [&](auto& m) { return m.what == what; });
  return out;
}
/// Recoveries reported; a CMD12 that the idle card does not answer is reported too, with count 0.
inline std::vector<fake::Mark> recoveries(const Board& b) {
  auto all = marks(b, hal::Event::driver_error);
  all.erase(std::remove_if(all.begin(), all.end(), [](auto& m) { return m.b == 0; }), all.end());
  return all;
}
/// Every request begun has ended exactly once; returns how many.
inline std::size_t each_ended_once(const Board& b) {
  std::vector<int> open(64);
  std::size_t n = 0;
  for (const auto& m : b.marks) {
    if (m.what == hal::Event::request_begin) {
      ++n;
      REQUIRE(++open[m.id] == 1);
    }
    if (m.what == hal::Event::request_end) REQUIRE(--open[m.id] == 0);
  }
  for (int o : open) REQUIRE(o == 0);
  return n;
}
inline std::size_t count_steps(const Board& b, bool write, std::uint32_t offset) {
  return static_cast<std::size_t>(std::count_if(
      b.log.begin(), b.log.end(), [&](auto& a) { return a.write == write && a.offset == offset; }));
}
inline std::vector<unsigned> indices_from(const Board& b, unsigned first) {
  std::vector<unsigned> out;
  for (const auto& s : b.commands)
    if (!out.empty() || s.index == first) out.push_back(s.index);
  return out;
}
/// Fails a tag so many times; all else completes when the CPU sleeps.
inline std::function<Fate(unsigned)> fail_times(unsigned tag, unsigned times, Fate how) {
  return [=](unsigned t) mutable { return t == tag && times && times-- ? how : Fate::hold; };
}

}  // namespace cqe_test
