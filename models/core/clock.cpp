#include "models/core/clock.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

namespace vp {
namespace {

std::uint64_t period_of(double hz) {
  if (!(hz > 0)) throw std::invalid_argument("a clock's frequency must be above 0 Hz");
  const double kernel_units_per_second = 1.0 / sc_core::sc_get_time_resolution().to_seconds();
  return static_cast<std::uint64_t>(std::llround(kernel_units_per_second / hz));
}

}  // namespace

ClockDomain::ClockDomain(std::string name, double hz) : name_(std::move(name)) { set_period(hz); }

void ClockDomain::set_period(double hz) {
  period_ps_ = period_of(hz);
  if (period_ps_ == 0) throw std::invalid_argument("a clock's period must be at least 1 ps");
  hz_ = hz;
  reciprocal_ = std::numeric_limits<std::uint64_t>::max() / period_ps_;
}

void ClockDomain::set_frequency(double hz, sc_time now) {
  origin_ps_ = align(now).value();
  set_period(hz);
}

}  // namespace vp
