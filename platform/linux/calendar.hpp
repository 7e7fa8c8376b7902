// Calendar of User-mode Linux's external time travel (linux/um_timetravel.h): what the guest's clock may do.
//
// SystemC is the master of time. The guest's CPU is infinitely fast: its clock moves only when it asks, and it asks for
// every step up to `free until`, the first instant at which hardware does something. Register accesses take simulated
// time during which the guest's clock stands still, so its clock (`guest_now`) may be behind SystemC's by the accesses
// since it last waited; it catches up when it waits. It is never ahead.
// This class keeps the guest's side of the books and knows the messages; it neither waits nor owns a socket.
#pragma once

#include <linux/um_timetravel.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>

#include "platform/linux/stream.hpp"

namespace vp::guest {

class Calendar {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  /// Time of day at the guest's start, in ns since 1970 (constant, so that runs repeat): 2026-01-01 00:00:00 UTC.
  static constexpr std::uint64_t kStartOfDay = 1'767'225'600'000'000'000;

  /// Brings SystemC to this instant (ns), if it is not there yet.
  using Advance = std::function<void(std::uint64_t ns)>;

  /// Takes one message of the guest and returns the acknowledge to send. `now` is SystemC's time in ns, read after an
  /// update was carried out by `advance`. Throws ProtocolError on an operation that a guest does not send.
  um_timetravel_msg handle(const um_timetravel_msg& message, const std::function<std::uint64_t()>& now,
                           const Advance& advance);

  /// The guest has stopped until it is told to run.
  bool waiting() const { return waiting_; }
  /// Instant (ns) at which it asked to run; kNever: it waits for an interrupt only.
  std::uint64_t requested() const { return request_; }
  std::uint64_t guest_now() const { return guest_now_; }
  /// The guest may move its clock to anything below this without asking.
  std::uint64_t free_until() const { return free_until_; }

  /// Messages to the guest; each is acknowledged by it.
  um_timetravel_msg run();
  um_timetravel_msg grant_free_run(std::uint64_t until_ns);
  /// Whether `reply` acknowledges `sent`. Throws ProtocolError when it acknowledges something else.
  static bool acknowledges(const um_timetravel_msg& reply, const um_timetravel_msg& sent);

  struct Counters {
    std::uint64_t waits = 0, updates = 0, requests = 0, free_runs = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  /// What the guest may be told as the present: never past what it asked to run at.
  std::uint64_t tell(std::uint64_t now);
  std::uint64_t request_ = kNever, guest_now_ = 0, free_until_ = 0;
  bool waiting_ = false;
  std::uint32_t sequence_ = 0;
  Counters counters_;
};

}  // namespace vp::guest
