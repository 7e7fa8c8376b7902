#include "platform/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace vp {

std::string Progress::line(double done, double elapsed_seconds, std::uint64_t simulated_ns) {
  constexpr int kWidth = 30;
  const double share = std::clamp(done, 0.0, 1.0);
  const int filled = static_cast<int>(share * kWidth);
  const std::string eta =
      share > 0 ? fmt::format("{:.0f} s", elapsed_seconds / share * (1 - share)) : std::string("?");
  return fmt::format("[{}{}] {:5.1f} %  simulated {:.3f} s  ETA {}",
                     std::string(static_cast<std::size_t>(filled), '='),
                     std::string(static_cast<std::size_t>(kWidth - filled), ' '), share * 100,
                     static_cast<double>(simulated_ns) / 1e9, eta);
}

void Progress::update(std::uint64_t bytes, std::uint64_t simulated_ns) {
  if (!on_ || ++calls_ % 16 != 0) return;
  const Clock::time_point now = Clock::now();
  if (now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  const double done =
      goal_.runtime_ns != 0
          ? static_cast<double>(simulated_ns) / static_cast<double>(goal_.runtime_ns)
          : static_cast<double>(bytes) / static_cast<double>(std::max<std::uint64_t>(goal_.bytes, 1));
  out_ << '\r' << line(done, std::chrono::duration<double>(now - start_).count(), simulated_ns) << "\x1b[K"
       << std::flush;
  shown_ = true;
}

void Progress::finish() {
  if (shown_) out_ << "\r\x1b[K" << std::flush;
  shown_ = false;
}

}  // namespace vp
