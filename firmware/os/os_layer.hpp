// The operating system between a caller and the request queue: read, write and sync calls on a file or a device node.
//
// Modelled, as Linux does it: the page cache and on-demand read-ahead (readahead.hpp), whose I/O runs while the CPU
// copies; I/Os built from runs of pages that are contiguous on the device and in memory, split by the request queue;
// writes that dirty pages, wait for room above the dirty limit, and wait for pages under write-back (stable pages);
// background write-back; O_DSYNC and O_SYNC per call, fsync, fdatasync, close of a device node; what the file system adds
// (commit.hpp); O_DIRECT, which writes back and drops cached pages first. Pages become ready when their whole I/O has
// ended, not request by request (one bio). CPU time is priced per call, page, byte and I/O (hal::Cost).
// Not modelled: several CPUs (copying and completion share one), memory pressure beyond the ring of page_cache.hpp,
// fragmented files, the metadata a reader looks up.
//
// A call is a state machine: advance() goes on until it ends or must sleep, so several jobs share the one CPU.
#pragma once

#include <array>

#include "firmware/app/job_table.hpp"
#include "firmware/app/pool.hpp"
#include "firmware/app/status.hpp"
#include "firmware/block/queue.hpp"
#include "firmware/os/commit.hpp"
#include "firmware/os/meter.hpp"
#include "firmware/os/page_cache.hpp"
#include "firmware/os/readahead.hpp"

namespace fw {

/// Why a caller sleeps inside a call.
enum class OsWait : std::uint32_t {
  none,
  page,       ///< a page that is being read
  writeback,  ///< data on their way to the device
  journal,    ///< metadata, commit records and flushes
  room,       ///< the dirty limit, or a frame of memory
  direct,     ///< an O_DIRECT transfer
  count
};

/// An open file or device node.
struct OsFile {
  std::uint64_t start = 0;  ///< bytes on the device, multiple of the page size
  std::uint64_t size = 0;   ///< bytes it holds
  FileSystem fs = FileSystem::none;
  bool direct = false;
  std::uint32_t sync = 0;  ///< 0; 1 O_DSYNC, 2 O_SYNC
  ReadAhead ahead;
  bool grown = false;    ///< its size changed since the last commit
  bool touched = false;  ///< it was written since the last commit
};

enum class OsCallKind : std::uint8_t { read, write, fsync, fdatasync, close };

struct OsCall {
  OsCallKind kind = OsCallKind::read;
  OsFile* file = nullptr;
  std::uint64_t offset = 0, bytes = 0;  ///< in the file
  Buffer user;
  std::uint64_t user_offset = 0;
  std::uint32_t job = 0;
  // progress
  enum class Stage : std::uint8_t { copy, writeback, wait_data, direct, after_data, commit, done };
  Stage stage = Stage::copy;
  std::uint64_t copied = 0;  ///< bytes moved so far
  MmcError error = MmcError::none;
  std::uint64_t first_page = 0, pages = 0,
                at = 0;    ///< of the write-back: range on the device, position in it
  std::uint32_t ring = 0;  ///< the oldest frame when it began
  std::uint64_t direct_bytes = 0;
  std::uint32_t outstanding = 0;  ///< direct and journal I/Os that have not ended
  CommitPlan plan;
  unsigned step = 0;
  OsWait waiting = OsWait::none;
  std::uint32_t frame = PageCache::kNone;  ///< what it waits for, with the page it then held
  std::uint64_t page = 0;
  bool asleep = false;
};

class OsLayer final : private IoOwner {
 public:
  static constexpr unsigned kIos = 64;  ///< I/Os of its own, beside those of the jobs

  /// Takes the cache's memory from `pages`, its tables from `pool`.
  Status init(JobTable& table, PageAllocator& pages, Pool& pool, RequestQueue& queue, bool cache_on);
  bool ready() const { return queue_ != nullptr; }

  /// Makes a file ready for calls.
  void open(OsFile& file, ReadAhead::Hint hint) const;
  /// Begins a call; `c` keeps its place until it has ended. Goes on as advance().
  bool begin(OsCall& c);
  /// Goes on with a call. True when it has ended (c.copied, c.error).
  bool advance(OsCall& c);
  /// Work that belongs to no call: background write-back.
  void background();
  /// Runs what is due; sleeps until an interrupt when there is nothing. False: nothing runs and nothing will.
  bool run_once();
  /// Waits for the I/Os that no call waits for: read-ahead, write-back under way. Starts no new ones.
  void drain();

  Meter meter;
  /// Spends what the meter owes when it is a portion, and lets completions in.
  void tick();
  /// Spends all that is owed.
  void settle() { meter.settle(); }
  /// Closes the books (what is left dirty) in the job table.
  void report();

 private:
  struct OsIo {
    Io io;
    enum class Kind : std::uint8_t { free, read, write, call } kind = Kind::free;
    std::uint32_t frame = 0, count = 0;
    OsCall* call = nullptr;
  };
  // I/O (os_io.cpp)
  void io_done(Io& io) override;
  const OsIo* find_free() const;
  OsIo* free_io() { return const_cast<OsIo*>(find_free()); }
  void submit(OsIo& o, Direction direction, std::uint64_t offset, std::uint64_t bytes, const Buffer& buffer);
  void submit_pages(OsIo::Kind kind, std::uint32_t frame, std::uint32_t count);
  void read_window(const OsFile& f, const RaWindow& w, bool ahead);
  std::uint32_t run_from(std::uint32_t frame, std::uint32_t most) const;
  void force_oldest();
  bool serve_queue();
  Buffer frames_from(std::uint32_t frame) const { return {pages_, first_frame_page_ + frame, 0}; }

  // calls (os_calls.cpp): each goes on with its stage and says what it must wait for
  OsWait go(OsCall& c);
  OsWait copy_out(OsCall& c);
  OsWait copy_in(OsCall& c);
  OsWait write_back(OsCall& c);
  OsWait wait_data(OsCall& c);
  OsWait go_direct(OsCall& c);
  OsWait after_data(OsCall& c);
  OsWait commit(OsCall& c);
  OsWait wait_frame(OsCall& c, std::uint32_t frame, OsWait why);
  OsWait wait_room(OsCall& c);
  bool may_run(const OsCall& c) const;
  void range(OsCall& c, std::uint64_t first, std::uint64_t bytes);
  std::uint64_t positions(const OsCall& c) const;
  std::uint32_t frame_at(const OsCall& c, std::uint64_t position) const;
  void end_write(OsCall& c);
  void call_io(OsCall& c, OsIo& o, Direction direction, std::uint64_t offset, std::uint64_t bytes,
               const Buffer& buffer);
  void drop_range(OsCall& c);
  bool needs_old(const OsCall& c, std::uint64_t position, std::uint64_t n) const;
  void move(OsCall& c, std::uint32_t frame, std::uint64_t in_page, std::uint64_t n);
  void zero_page(std::uint32_t frame);
  std::uint64_t unsettled() const { return std::uint64_t{cache_.dirty()} + cache_.writing(); }

  JobTable* table_ = nullptr;
  OsReport* books_ = nullptr;
  RequestQueue* queue_ = nullptr;
  const PageAllocator* pages_ = nullptr;
  OsConfig config_{};
  PageCache cache_;
  Committer committer_;
  std::uint32_t page_bytes_ = 4096;
  std::uint64_t device_bytes_ = 0;
  std::uint64_t first_frame_page_ = 0;  ///< of the allocator
  Buffer metadata_;
  std::uint32_t most_pages_ = 1;  ///< of one I/O
  std::uint64_t background_pages_ = 0, limit_pages_ = 0;
  std::array<OsIo, kIos> ios_{};
  unsigned background_open_ = 0;           ///< write-back I/Os in flight
  std::uint32_t scan_ = 0;                 ///< where background write-back looks next
  MmcError write_error_ = MmcError::none;  ///< reported once, by the next call that asks
};

}  // namespace fw
