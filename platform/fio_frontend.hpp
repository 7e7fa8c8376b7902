// fio jobs as the workload program reads them: one JobDef per clone.
#pragma once

#include <cstdint>
#include <vector>

#include "firmware/app/job_table.hpp"
#include "platform/fio_options.hpp"

namespace vp {

/// Fills the workload part of `table` (magic, job_count, jobs); the machine's part stays. The run has passed
/// check_fio().
void fill_job_table(fw::JobTable& table, const FioRun& run, const FioLimits& limits, std::uint64_t seed);
/// One flag per clone: synchronous engine.
std::vector<bool> synchronous_clones(const FioRun& run);
/// Bytes all clones will move, and the longest run time of time-based ones (0: none), for a progress bar.
struct FioGoal {
  std::uint64_t bytes = 0, runtime_ns = 0;
};
FioGoal fio_goal(const FioRun& run, const FioLimits& limits);

}  // namespace vp
