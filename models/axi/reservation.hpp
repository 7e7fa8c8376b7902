// A shared resource as a next-free time. It remembers its last unbroken busy stretch and the gap before it,
// so that a request for an earlier instant (temporal decoupling, another channel) that fits there does not
// queue behind what is reserved for later. Before the stretch but one it is taken as free: in order traffic
// never asks there.
#pragma once

#include <algorithm>
#include <cstdint>

namespace vp {

class Reservation {
 public:
  /// Takes the resource for `duration_ps` at or after `at_ps`; returns the start.
  std::uint64_t take(std::uint64_t at_ps, std::uint64_t duration_ps) {
    return take_before(at_ps, duration_ps) ? at_ps : append(at_ps, duration_ps);
  }
  /// Takes it after everything that is reserved.
  std::uint64_t append(std::uint64_t at_ps, std::uint64_t duration_ps) {
    const std::uint64_t start = std::max(at_ps, until_);
    if (start > until_) {
      older_ = from_;
      gap_ = until_;
      from_ = start;
    }
    until_ = start + duration_ps;
    return start;
  }
  /// Places a request before the last stretch when it fits there; `at_ps` becomes its start.
  bool take_before(std::uint64_t& at_ps, std::uint64_t duration_ps) {
    if (at_ps + duration_ps > from_) return false;
    if (at_ps + duration_ps <= older_) return true;
    const std::uint64_t start = std::max(at_ps, gap_);
    if (start + duration_ps > from_) return false;
    gap_ = start + duration_ps;
    at_ps = start;
    return true;
  }
  /// Several requests of one length, the first after everything that is reserved and none touching the next: the
  /// last one at `at_ps`, the one before it at `before_ps`.
  void append_apart(std::uint64_t before_ps, std::uint64_t at_ps, std::uint64_t duration_ps) {
    older_ = before_ps;
    gap_ = before_ps + duration_ps;
    from_ = at_ps;
    until_ = at_ps + duration_ps;
  }
  /// Prolongs the reservation that ended last.
  void extend(std::uint64_t until_ps) { until_ = std::max(until_, until_ps); }
  std::uint64_t until() const { return until_; }

 private:
  std::uint64_t older_ = 0;           // start of the stretch but one
  std::uint64_t gap_ = 0, from_ = 0;  // the gap before the last stretch
  std::uint64_t until_ = 0;           // its end
};

}  // namespace vp
