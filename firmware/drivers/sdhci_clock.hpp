// The two small searches of an SDHCI driver: clock divider and data timeout exponent. Pure arithmetic.
#pragma once

#include <cstdint>

namespace fw {

/// N of the divided clock mode, f = base / 2N (N = 0: base), smallest divisor that does not exceed
/// `wanted_hz`. An unknown base (0) gives N = 0: the clock comes from the SoC. SDHCI 4.20 2.2.14 (10-bit
/// divider).
constexpr std::uint32_t clock_divider(std::uint32_t base_hz, std::uint32_t wanted_hz) {
  constexpr std::uint32_t kMaxN = 1023;
  if (base_hz <= wanted_hz || wanted_hz == 0) return 0;
  const std::uint64_t step = std::uint64_t{2} * wanted_hz;
  const auto n = static_cast<std::uint32_t>((base_hz + step - 1) / step);
  return n < kMaxN ? n : kMaxN;
}

constexpr std::uint32_t divided_clock(std::uint32_t base_hz, std::uint32_t n) {
  return n == 0 ? base_hz : base_hz / (2 * n);
}

/// n of TMCLK x 2^(13 + n), smallest not below `wanted_ms`; 14 (the longest) when it cannot be reached or the
/// timeout clock is unknown. SDHCI 4.20 2.2.15.
constexpr std::uint8_t timeout_exponent(std::uint32_t tmclk_khz, std::uint32_t wanted_ms) {
  constexpr std::uint8_t kMax = 14;
  if (tmclk_khz == 0) return kMax;
  for (std::uint8_t n = 0; n < kMax; ++n)  // 2^(13+n) clocks / kHz = ms
    if ((std::uint64_t{1} << (13 + n)) >= std::uint64_t{wanted_ms} * tmclk_khz) return n;
  return kMax;
}

}  // namespace fw
