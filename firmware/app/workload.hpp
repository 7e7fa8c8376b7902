// The jobs: what a benchmark does between system calls. Each job keeps `iodepth` I/Os in flight, all jobs
// share the CPU and the queue in turns. Sequential jobs wrap in their region (reads and writes have their own
// place, as in fio); random jobs visit each block once per pass unless norandommap. A verify job stamps what
// it writes and reads all of it back afterwards, the stamp's generation being the pass; with verify the
// random order is the same in every pass, so that the last writer of every block is known, and norandommap is
// ignored. A read job with verify checks stamps of any generation. A buffered job makes its calls through the page cache
// (firmware/os), one at a time; other jobs' direct I/O to the same place does not see what is cached. Phases: a job
// starts when all jobs of lower phases have ended; jobs of a phase that stop together submit nothing more once the first
// of them has done its work. An fsync blocks its job, as the system
// call does, and is a no-op while the cache is off.
#pragma once

#include <array>

#include "firmware/app/job_table.hpp"
#include "firmware/app/status.hpp"
#include "firmware/block/queue.hpp"
#include "firmware/os/os_layer.hpp"

namespace fw {

/// Reasons to refuse a job, before anything runs; `sectors` is the card's size (0: not known yet).
Status check_job(const JobDef& def, std::uint64_t sectors);

/// Which block of its region a job's n-th access in a direction goes to.
std::uint64_t job_block(const JobDef& def, std::uint64_t position);

class Workload {
 public:
  /// Cuts the I/O buffers from the table's memory. Call after check_job of every job.
  /// The operating system's layer is set up when a job needs it.
  Status init(JobTable& table, RequestQueue& queue, OsLayer& os, Pool& pool, bool cache_on);
  /// Runs all jobs to their end.
  Status run();

 private:
  enum class Phase : std::uint8_t { run, verify, done };
  struct Job {
    const JobDef* def = nullptr;
    std::uint32_t id = 0;
    std::uint32_t first_slot = 0, next_slot = 0;
    Phase phase = Phase::run;
    std::uint64_t blocks = 0, total = 0, end_ns = 0;
    std::uint64_t issued = 0;
    std::uint64_t position[2] = {0,
                                 0};  ///< next read, next write; [0] for both in a random job without verify
    std::uint64_t verify_next = 0, verify_end = 0;
    std::uint32_t writes_since_sync = 0;
    std::uint32_t in_flight = 0;
    bool sync_due = false, sync_running = false, unsynced = false;
    std::uint32_t error = 0;
    OsFile file;  ///< of a buffered job: the whole device
    OsCall call;
    Io* calling = nullptr;  ///< the I/O whose call is under way
  };

  bool step(Job& job);
  bool more(const Job& job) const;
  void end_phase(Job& job);
  void job_ended(Job& job);
  void next_phase();
  bool submit_next(Job& job);
  void submit_access(Job& job, Io& io);
  void submit_verify(Job& job, Io& io);
  void submit_sync(Job& job, Io& io);
  Direction choose_direction(const Job& job) const;
  void submit(Job& job, Io& io);
  Status start_os(Pool& pool);
  void begin_call(Job& job, Io& io);
  void end_call(Job& job);
  Io& free_io(Job& job);
  bool reap();
  void ended(Io& io);
  void check_data(Io& io);

  JobTable* table_ = nullptr;
  RequestQueue* queue_ = nullptr;
  OsLayer* os_ = nullptr;
  bool cache_on_ = false;
  PageAllocator pages_;
  std::array<Job, kMaxJobs> jobs_{};
  std::array<Io, kMaxIos> ios_{};
  unsigned running_ = 0;
  std::uint32_t phase_ = 0;  ///< of the jobs that run
  unsigned running_in_phase_ = 0;
  bool phase_stops_ = false;  ///< one of those that stop together has ended
};

}  // namespace fw
