// A progress bar with ETA on a terminal. The only place that reads the wall clock; it never touches results.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>

#include "platform/fio_frontend.hpp"

namespace vp {

class Progress {
 public:
  /// Draws on `out` when `on`, at most ten times per second.
  Progress(std::ostream& out, bool on, FioGoal goal) : out_(out), on_(on), goal_(goal) {}
  ~Progress() { finish(); }
  void update(std::uint64_t bytes, std::uint64_t simulated_ns);
  /// Clears the line.
  void finish();

  /// The bar for a share done (0..1) after `elapsed` seconds.
  static std::string line(double done, double elapsed_seconds, std::uint64_t simulated_ns);

 private:
  using Clock = std::chrono::steady_clock;
  std::ostream& out_;
  bool on_;
  FioGoal goal_;
  bool shown_ = false;
  unsigned calls_ = 0;
  Clock::time_point start_ = Clock::now(), last_ = start_;
};

}  // namespace vp
