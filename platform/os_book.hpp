// What overlapped with what on the operating system's path: the time from the first call to the end, cut exactly by what
// the caller did (ran, or slept for a page, write-back, the journal, room, a direct transfer) and by whether the disk had
// a request open meanwhile. With several jobs the caller runs as long as one of them does.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "firmware/os/os_layer.hpp"
#include "models/cpu/cpu.hpp"
#include "platform/explain.hpp"
#include "platform/json_text.hpp"

namespace vp {

class OsBook : public CpuObserver {
 public:
  static constexpr std::size_t kStates =
      static_cast<std::size_t>(fw::OsWait::count);  ///< [0]: the caller runs

  /// Passes every mark on to `next`. `jobs` callers, which begin when the card is ready, or at job_begin.
  OsBook(CpuObserver& next, unsigned jobs) : next_(next), live_(jobs) {}

  void cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                 sc_time now) override;

  std::uint64_t begin_ps() const { return begin_; }
  std::uint64_t elapsed_ps() const { return end_ - begin_; }
  std::uint64_t ps(fw::OsWait state, bool disk_busy) const {
    return parts_[static_cast<std::size_t>(state)][disk_busy];
  }
  std::uint64_t disk_busy_ps() const;
  std::uint64_t asleep_ps() const;
  std::uint64_t sleeps() const { return sleeps_; }
  std::uint64_t requests(bool write) const { return requests_[write]; }
  std::uint64_t request_bytes(bool write) const { return request_bytes_[write]; }
  std::uint64_t flushes() const { return flushes_; }

 private:
  void account(std::uint64_t now);
  void begin(std::uint64_t now);

  CpuObserver& next_;
  unsigned live_;
  bool running_ = false;
  std::uint64_t begin_ = 0, end_ = 0, last_ = 0;
  unsigned asleep_ = 0;
  std::size_t reason_ = 0;  ///< of the last that fell asleep
  unsigned open_ = 0;
  std::array<std::array<std::uint64_t, 2>, kStates> parts_{};
  std::uint64_t sleeps_ = 0, flushes_ = 0;
  std::array<std::uint64_t, 2> requests_{}, request_bytes_{};
};

const char* to_string(fw::OsWait state);
/// The section of --explain, and the value of "os" in JSON.
std::string os_text(const OsBook& book, const fw::OsReport& report, const ExplainRows& rows);
Json os_json(const OsBook& book, const fw::OsReport& report, const ExplainRows& rows);

}  // namespace vp
