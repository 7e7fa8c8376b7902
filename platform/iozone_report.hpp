// iozone's throughput results from the firmware's marks, and its text.
//
// A child's throughput is what it moved up to the end of the test divided by its own time, which begins for all children
// when the test begins (iozone releases them from a barrier) and ends with its last record (with -e: its flush). A test
// ends when its first child is through; "Min xfer" tells how far the slowest had come. "Children see" is the sum of the
// children's throughputs, "Parent sees" what all moved over the time until the last was through. kB are KiB, as there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/cpu/cpu.hpp"
#include "platform/iozone_options.hpp"
#include "platform/json_text.hpp"

namespace vp {

struct IozoneResult {
  IozoneTest test = IozoneTest::write;
  double children = 0, parent = 0, min = 0, max = 0, avg = 0;  ///< KiB/s
  double min_xfer = 0;                                         ///< KiB
};

/// Follows the jobs of fill_job_table.
class IozoneRecorder : public CpuObserver {
 public:
  explicit IozoneRecorder(const IozoneRun& run);
  void cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                 sc_time now) override;
  std::vector<IozoneResult> results() const;
  std::uint64_t failed_ios() const { return failed_; }
  std::uint64_t driver_errors() const { return driver_errors_; }
  std::uint64_t bytes_done() const { return bytes_done_; }

 private:
  struct Io {
    std::uint32_t job = 0;
    std::uint64_t bytes = 0;
  };
  struct Child {
    std::uint64_t bytes = 0, end_ps = 0;
  };
  const IozoneRun run_;
  std::vector<Child> children_;          ///< test by test
  std::vector<std::uint64_t> begin_ps_;  ///< of each test
  std::vector<Io> ios_;                  ///< by I/O slot
  std::uint64_t failed_ = 0, driver_errors_ = 0, bytes_done_ = 0;
};

std::string iozone_text(const IozoneRun& run, const std::vector<IozoneResult>& results,
                        const std::string& version);
Json iozone_json(const IozoneRun& run, const std::vector<IozoneResult>& results);

}  // namespace vp
