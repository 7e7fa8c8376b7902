// A shared resource as a next-free time. It remembers where its last unbroken busy stretch began, so that a request
// for an earlier instant (temporal decoupling, another channel) that fits before the stretch does not queue behind it.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vp {

class Reservation {
 public:
  /// Takes the resource for `duration_ps` at or after `at_ps`; returns the start.
  std::uint64_t take(std::uint64_t at_ps, std::uint64_t duration_ps) {
    if (at_ps + duration_ps <= from_) return at_ps;
    const std::uint64_t start = std::max(at_ps, until_);
    if (start > until_) from_ = start;
    until_ = start + duration_ps;
    return start;
  }
  /// Prolongs the reservation that ended last.
  void extend(std::uint64_t until_ps) { until_ = std::max(until_, until_ps); }
  /// True when a request of that length at that instant lies before the stretch.
  bool fits_before(std::uint64_t at_ps, std::uint64_t duration_ps) const { return at_ps + duration_ps <= from_; }
  std::uint64_t until() const { return until_; }

 private:
  std::uint64_t from_ = 0, until_ = 0;
};

}  // namespace vp
