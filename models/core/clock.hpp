// Clock domains without clocks: time is computed in cycles of a named domain and waited for once.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <systemc>
#include <type_traits>

namespace vp {

using sc_core::sc_time;

/// sc_time from kernel time units (1 ps), inline: the library's from_value() is a call through its shared object, and
/// models make several instants per burst.
inline sc_time from_ps(std::uint64_t units) {
  static_assert(sizeof(sc_time) == sizeof(std::uint64_t) && std::is_standard_layout_v<sc_time>);
  sc_time t;
  std::memcpy(static_cast<void*>(&t), &units, sizeof units);
  return t;
}

/// A clock domain: edges stand at origin + k * period. The period is rounded to the kernel's resolution (1 ps).
class ClockDomain {
 public:
  /// `hz` > 0. Throws std::invalid_argument otherwise.
  ClockDomain(std::string name, double hz);

  /// Changes the frequency; the new edges are counted from the first old edge at or after `now`.
  void set_frequency(double hz, sc_time now);

  sc_time period() const { return from_ps(period_ps_); }
  /// n periods, as a duration.
  sc_time cycles(std::uint64_t n) const { return from_ps(period_ps_ * n); }
  /// The first edge at or after `t`.
  sc_time align(sc_time t) const {
    const std::uint64_t v = t.value();
    if (v <= origin_ps_) return from_ps(origin_ps_);
    const std::uint64_t rest = since_edge(v - origin_ps_);
    return rest == 0 ? t : from_ps(v + period_ps_ - rest);
  }
  /// Whole cycles in a duration, rounded up.
  std::uint64_t cycles_in(sc_time d) const { return (d.value() + period_ps_ - 1) / period_ps_; }
  /// Moves the edges so that one stands at `t` (a stopped clock that starts again).
  void restart_at(sc_time t) { origin_ps_ = t.value(); }

  double frequency_hz() const { return hz_; }
  const std::string& name() const { return name_; }

 private:
  void set_period(double hz);
  /// `ps` modulo the period, by the reciprocal: every burst asks several times, and a 64-bit division is the slowest
  /// instruction there is. The quotient is at most one too small; `ps` below 2^63.
  std::uint64_t since_edge(std::uint64_t ps) const {
    const auto quotient = static_cast<std::uint64_t>(static_cast<unsigned __int128>(ps) * reciprocal_ >> 64);
    const std::uint64_t rest = ps - quotient * period_ps_;
    return rest >= period_ps_ ? rest - period_ps_ : rest;
  }

  std::string name_;
  double hz_ = 0;
  std::uint64_t period_ps_ = 1;
  std::uint64_t reciprocal_ = 0;  // 2^64 / period
  std::uint64_t origin_ps_ = 0;
};

}  // namespace vp
