// Turns the firmware's marks (hal::event) into fio's job statistics and the disk's, in bounded memory.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "models/cpu/cpu.hpp"
#include "platform/fio_report.hpp"
#include "platform/fio_stats.hpp"
#include "platform/session.hpp"

namespace vp {

class Recorder : public CpuObserver {
 public:
  /// One flag per job of the job table: true for engines that return when the I/O is done.
  explicit Recorder(const std::vector<bool>& synchronous);

  void cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                 sc_time now) override;

  /// Called at every completed I/O with the bytes done so far and the time since the card was ready.
  void on_progress(std::function<void(std::uint64_t bytes, std::uint64_t ns)> sink) {
    progress_ = std::move(sink);
  }

  /// Closes the books at `end`; CPU time is shared out by the jobs' I/O counts.
  FioResults results(sc_time end, const CpuUsage& cpu, const std::string& version) const;

  std::uint64_t driver_errors() const { return driver_errors_; }
  std::uint64_t failed_ios() const;
  bool ready() const { return ready_; }

 private:
  struct OpenIo {
    bool open = false;
    IoSample sample;
  };
  struct OpenRequest {
    bool open = false;
    bool write = false;
    std::uint64_t begin_ps = 0;
  };
  void io_begin(std::uint32_t id, std::uint64_t a, std::uint64_t bytes, sc_time now);
  void io_end(std::uint32_t id, std::uint64_t error, sc_time now);
  void request_begin(std::uint32_t id, std::uint64_t a, sc_time now);
  void request_end(std::uint32_t id, sc_time now);
  void start_jobs(sc_time now);

  std::vector<JobStats> jobs_;
  std::vector<unsigned> in_flight_;
  std::vector<OpenIo> ios_;            ///< by I/O slot
  std::vector<OpenRequest> requests_;  ///< by request slot
  bool ready_ = false;
  std::uint64_t start_ps_ = 0;
  std::uint64_t disk_ios_[2] = {}, disk_ticks_ps_[2] = {};
  std::uint64_t open_requests_ = 0, open_since_ps_ = 0, open_ps_ = 0;
  std::uint64_t bytes_done_ = 0, driver_errors_ = 0;
  std::function<void(std::uint64_t, std::uint64_t)> progress_;
};

}  // namespace vp
