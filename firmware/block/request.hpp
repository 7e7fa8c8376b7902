// I/Os, requests and what carries requests out.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/block/pages.hpp"

namespace fw {

struct Io;
/// Who is told at once when its I/O has ended, from inside RequestQueue::service() or submit().
class IoOwner {
 public:
  virtual void io_done(Io& io) = 0;

 protected:
  ~IoOwner() = default;
};

enum class Direction : std::uint32_t { read = 0, write = 1, trim = 2, sync = 3 };

/// One I/O of a job, as the caller sees it.
struct Io {
  std::uint32_t slot = 0;
  std::uint32_t job = 0;
  Direction direction = Direction::read;
  std::uint64_t offset = 0;  ///< bytes on the device
  std::uint64_t bytes = 0;   ///< 0: a flush
  Buffer buffer;
  bool fua = false;          ///< a write that must be on the medium when it ends; only where the back end can
  IoOwner* owner = nullptr;  ///< null: collected by RequestQueue::take_done()
  // the queue's
  std::uint64_t cut = 0;  ///< bytes that are already requests
  bool all_cut = false;
  std::uint32_t outstanding = 0;  ///< requests not yet ended
  MmcError error = MmcError::none;
  // the job's
  std::uint64_t position = 0;    ///< of the block in the job's order
  std::uint64_t generation = 0;  ///< of the stamps written or expected
  bool check = false;            ///< verify the data when it has come
  bool busy = false;
};

struct Request {
  std::uint32_t slot = 0;
  Io* io = nullptr;
  bool flush = false;
  bool write = false;
  bool fua = false;
  std::uint64_t lba = 0;
  std::uint32_t bytes = 0;
  std::uint64_t buffer_offset = 0;
  std::uint32_t segments = 0;
  bool mapped = false;
  std::uint32_t attempts = 0;
  MmcError error = MmcError::none;
};

/// Carries requests out. The queue keeps at most max_in_flight() of them here; each is reported once by
/// take_finished(). A command-queue engine is another implementation with a larger number.
class BlockBackend {
 public:
  virtual unsigned max_in_flight() const = 0;
  /// Hardware tag for the instruments; 32: not queued.
  virtual std::uint32_t tag(const Request& r) const = 0;
  virtual void issue(Request& r) = 0;
  /// Work outside the interrupt handler: completion, status polls, recovery. Call when woken.
  virtual void service() = 0;
  /// A request that has ended, or null.
  virtual Request* take_finished() = 0;
  /// True when service() or take_finished() has something to do now.
  virtual bool pending() const = 0;
  /// Call service() by this instant at the latest (ns); all ones when nothing runs.
  virtual std::uint64_t deadline_ns() const = 0;
  /// Whether it can carry out a write with fua (a reliable write).
  virtual bool can_fua() const { return false; }

 protected:
  ~BlockBackend() = default;
};

}  // namespace fw
