#include "platform/linux/calendar.hpp"

#include <fmt/format.h>

#include <limits>

namespace vp::guest {

// The guest asks for the end of its signed clock when it has no timer.
static constexpr std::uint64_t kGuestNever = std::numeric_limits<std::int64_t>::max();

std::uint64_t Calendar::tell(std::uint64_t now) {
  if (waiting_) guest_now_ = std::max(guest_now_, std::min(now, request_));
  return guest_now_;
}

um_timetravel_msg Calendar::handle(const um_timetravel_msg& message,
                                   const std::function<std::uint64_t()>& now, const Advance& advance) {
  um_timetravel_msg ack{.op = UM_TIMETRAVEL_ACK, .seq = message.seq, .time = 0};
  switch (message.op) {
    case UM_TIMETRAVEL_START:
      break;
    case UM_TIMETRAVEL_REQUEST:
      ++counters_.requests;
      request_ = message.time >= kGuestNever ? kNever : std::uint64_t{message.time};
      break;
    case UM_TIMETRAVEL_WAIT:
      ++counters_.waits;
      waiting_ = true;
      free_until_ = 0;  // the guest forgets what it was granted
      break;
    case UM_TIMETRAVEL_GET:
      ack.time = tell(now());
      break;
    case UM_TIMETRAVEL_UPDATE:
      ++counters_.updates;
      guest_now_ = std::max(guest_now_, std::uint64_t{message.time});
      advance(message.time);
      break;
    case UM_TIMETRAVEL_GET_TOD:
      ack.time = kStartOfDay;
      break;
    default:
      throw ProtocolError(
          fmt::format("time travel: a guest does not send operation {}", std::uint32_t{message.op}));
  }
  return ack;
}

um_timetravel_msg Calendar::run() {
  waiting_ = false;
  guest_now_ = std::max(guest_now_, request_);
  return {.op = UM_TIMETRAVEL_RUN, .seq = ++sequence_, .time = request_};
}

um_timetravel_msg Calendar::grant_free_run(std::uint64_t until_ns) {
  ++counters_.free_runs;
  free_until_ = until_ns;
  return {.op = UM_TIMETRAVEL_FREE_UNTIL, .seq = ++sequence_, .time = until_ns};
}

bool Calendar::acknowledges(const um_timetravel_msg& reply, const um_timetravel_msg& sent) {
  if (reply.op != UM_TIMETRAVEL_ACK) return false;
  if (reply.seq != sent.seq)
    throw ProtocolError(fmt::format("time travel: acknowledge {} for message {}", std::uint32_t{reply.seq},
                                    std::uint32_t{sent.seq}));
  return true;
}

}  // namespace vp::guest
