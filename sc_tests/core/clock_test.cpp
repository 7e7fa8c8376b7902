#include "models/core/clock.hpp"

#include <stdexcept>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {
sc_time ps(std::uint64_t v) { return sc_time::from_value(v); }
}  // namespace

TEST_CASE("an instant is aligned to the first edge at or after it") {
  ClockDomain clock("card", 200e6);  // 5 ns
  CHECK(clock.period() == ps(5000));
  CHECK(clock.align(ps(0)) == ps(0));
  CHECK(clock.align(ps(1)) == ps(5000));
  CHECK(clock.align(ps(4999)) == ps(5000));
  CHECK(clock.align(ps(5000)) == ps(5000));
  CHECK(clock.align(ps(5001)) == ps(10000));
}

TEST_CASE("cycles become durations and durations whole cycles, rounded up") {
  ClockDomain clock("core", 400e3);  // 2.5 us
  CHECK(clock.cycles(0) == ps(0));
  CHECK(clock.cycles(48) == ps(48 * 2'500'000ULL));
  CHECK(clock.cycles_in(ps(0)) == 0);
  CHECK(clock.cycles_in(ps(1)) == 1);
  CHECK(clock.cycles_in(ps(2'500'000)) == 1);
  CHECK(clock.cycles_in(ps(2'500'001)) == 2);
}

TEST_CASE("a period is rounded to the picosecond") {
  CHECK(ClockDomain("cqe", 24e6).period() == ps(41667));   // 41666.67
  CHECK(ClockDomain("card", 198e6).period() == ps(5051));  // 5050.51
  CHECK(ClockDomain("card", 198e6).frequency_hz() == 198e6);
}

TEST_CASE("a new frequency counts its edges from the first old edge") {
  ClockDomain clock("card", 200e6);
  clock.set_frequency(50e6, ps(12'001));  // old edge at 15 ns, then every 20 ns
  CHECK(clock.period() == ps(20'000));
  CHECK(clock.align(ps(12'001)) == ps(15'000));
  CHECK(clock.align(ps(15'000)) == ps(15'000));
  CHECK(clock.align(ps(15'001)) == ps(35'000));
  CHECK(clock.align(ps(75'001)) == ps(95'000));
}

TEST_CASE("a stopped clock that starts again has an edge where it starts") {
  ClockDomain clock("card", 200e6);
  clock.restart_at(ps(7'300));
  CHECK(clock.align(ps(1)) == ps(7'300));
  CHECK(clock.align(ps(7'301)) == ps(12'300));
}

TEST_CASE("a clock without a frequency is refused") {
  CHECK_THROWS_AS(ClockDomain("none", 0), std::invalid_argument);
  CHECK_THROWS_AS(ClockDomain("none", -1), std::invalid_argument);
}

TEST_CASE("edges stand at whole periods from the first picosecond to months") {
  constexpr std::uint64_t kMonths = std::uint64_t{1} << 62;  // 53 days
  for (const double hz : {1e12, 333.333e9, 3.2e9, 200e6, 198e6, 166e6, 24e6, 400e3, 32768.0, 1.0}) {
    ClockDomain clock("any", hz);
    const std::uint64_t p = clock.period().value();
    for (std::uint64_t v : {std::uint64_t{0}, std::uint64_t{1}, p - 1, p, p + 1, 7 * p - 1, 7 * p,
                            kMonths / p * p - 1, kMonths / p * p, kMonths / p * p + 1, kMonths - 1}) {
      INFO(hz << " Hz at " << v);
      CHECK(clock.align(ps(v)).value() == (v + p - 1) / p * p);
    }
  }
}
