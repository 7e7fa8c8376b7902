// The request queue: cuts I/Os into requests, first in first out, one more prepared (mapped) than the back
// end runs. Like Linux's MMC block layer: the next request is mapped while the current one moves data; when
// that ends the next is started first and the old one completed after it. No elevator, no merging across
// I/Os, no priorities.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/block/request.hpp"
#include "firmware/block/ring.hpp"
#include "firmware/block/split.hpp"

namespace fw {

inline constexpr unsigned kMaxRequests = 64;  ///< Linux MMC_QUEUE_DEPTH
inline constexpr unsigned kMaxIos = 1024;

class RequestQueue {
 public:
  void init(BlockBackend& backend, const QueueLimits& limits);
  /// Takes an I/O in; starts it when the hardware is free. Bytes and offset are multiples of 512.
  void submit(Io& io);
  /// Completes what has ended, starts what can start.
  void service();
  /// An I/O whose requests have all ended, or null.
  Io* take_done();

  bool pending() const { return backend_->pending() || done_.count != 0; }
  /// For a caller asleep until `deadline_ns`: there is something to do, or an interrupt has brought the deadline forward.
  bool must_look(std::uint64_t deadline_ns) const {
    return pending() || backend_->deadline_ns() < deadline_ns;
  }
  unsigned in_flight() const { return in_flight_; }
  std::uint64_t deadline_ns() const { return backend_->deadline_ns(); }
  bool can_fua() const { return backend_->can_fua(); }
  const QueueLimits& limits() const { return limits_; }

 private:
  void cut_more();
  bool cut_one(Io& io);
  Request* new_request(Io& io);
  void kick();
  void announce(Request& r);
  void map(Request& r);
  void issue(Request& r);
  void complete(Request& r);
  void finish(Io& io);

  BlockBackend* backend_ = nullptr;
  QueueLimits limits_;
  std::array<Request, kMaxRequests> requests_{};
  std::uint64_t free_ = 0;  ///< bit n: request n is free
  Ring<Request*, kMaxRequests> waiting_;
  Ring<Io*, kMaxIos> cutting_, done_;
  Request* prepared_ = nullptr;
  unsigned in_flight_ = 0;
  std::array<Segment, kMaxSegments> segments_{};
};

}  // namespace fw
