#include "platform/fio_frontend.hpp"

#include <algorithm>

namespace vp {
namespace {

fw::JobKind kind_of(FioRw rw) {
  switch (rw) {
    case FioRw::read:
      return fw::JobKind::read;
    case FioRw::write:
      return fw::JobKind::write;
    case FioRw::randread:
      return fw::JobKind::randread;
    case FioRw::randwrite:
      return fw::JobKind::randwrite;
    case FioRw::rw:
      return fw::JobKind::rw;
    case FioRw::randrw:
      return fw::JobKind::randrw;
  }
  return fw::JobKind::read;
}

/// Spreads neighbouring seeds far apart (the finaliser of SplitMix64).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e37'79b9'7f4a'7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11ebULL;
  return x ^ (x >> 31);
}

fw::JobDef definition(const FioJob& job, const FioRegion& region, std::uint64_t seed) {
  fw::JobDef def{};
  def.kind = kind_of(job.rw);
  def.block_bytes = static_cast<std::uint32_t>(job.block_bytes());
  def.iodepth = job.effective_depth();
  def.rwmix_read = job.rwmix_read;
  def.offset = region.offset;
  def.size = region.size;
  def.io_bytes = region.io_bytes;
  def.runtime_ns = job.runtime_ns;
  def.seed = seed;
  def.time_based = job.time_based;
  def.fsync_every = job.fsync;
  def.verify = job.verify;
  def.norandommap = job.norandommap;
  def.buffered = !job.direct;
  return def;
}

}  // namespace

void fill_job_table(fw::JobTable& table, const FioRun& run, const FioLimits& limits, std::uint64_t seed) {
  table.magic = fw::kJobTableMagic;
  table.job_count = 0;
  for (const FioJob& job : run.jobs)
    for (unsigned clone = 0; clone < job.numjobs; ++clone) {
      const std::uint64_t base = mixed(job.randseed.value_or(seed));
      table.jobs[table.job_count] =
          definition(job, fio_region(job, clone, limits), mixed(base + table.job_count));
      ++table.job_count;
    }
}

std::vector<bool> synchronous_clones(const FioRun& run) {
  std::vector<bool> flags;
  for (const FioJob& job : run.jobs) flags.insert(flags.end(), job.numjobs, job.synchronous());
  return flags;
}

FioGoal fio_goal(const FioRun& run, const FioLimits& limits) {
  FioGoal goal;
  for (const FioJob& job : run.jobs) {
    if (job.time_based) goal.runtime_ns = std::max(goal.runtime_ns, job.runtime_ns);
    for (unsigned clone = 0; clone < job.numjobs; ++clone)
      goal.bytes += fio_region(job, clone, limits).io_bytes;
  }
  return goal;
}

}  // namespace vp
