// CPU work of the operating system's path, charged in portions of about a page's copy: calls of a few hundred bytes then
// cost the simulator little, and an interrupt or a completion waits no longer than that portion, as it does behind any
// stretch of kernel code.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "firmware/hal/hal.hpp"

namespace fw {

class Meter {
 public:
  static constexpr std::uint32_t kPortionBytes = 4096;
  static constexpr std::uint32_t kPortionCalls = 16;

  void add(hal::Cost what, std::uint64_t times) {
    const auto i = static_cast<std::size_t>(what);
    owed_[i] += times;
    kinds_ |= 1u << i;
    if (what == hal::Cost::copy_byte || what == hal::Cost::zero_byte) bytes_ += times;
    if (what == hal::Cost::syscall) ++calls_;
  }
  bool due() const { return bytes_ >= kPortionBytes || calls_ >= kPortionCalls; }
  /// Spends what is owed, in the order of hal::Cost.
  void settle() {
    const std::uint32_t kinds = kinds_;
    kinds_ = 0;
    bytes_ = calls_ = 0;
    for (std::uint32_t k = kinds; k; k &= k - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(k));
      const std::uint64_t times = owed_[i];
      owed_[i] = 0;
      hal::cost(static_cast<hal::Cost>(i), times);
    }
  }

 private:
  static_assert(static_cast<std::size_t>(hal::Cost::count) <= 32);
  std::array<std::uint64_t, static_cast<std::size_t>(hal::Cost::count)> owed_{};
  std::uint32_t kinds_ = 0;
  std::uint64_t bytes_ = 0, calls_ = 0;
};

}  // namespace fw
