#include "platform/recorder.hpp"

#include <algorithm>
#include <cmath>

namespace vp {
namespace {

constexpr std::uint64_t kPsPerNs = 1000;

std::uint64_t ns(sc_time t) { return t.value() / kPsPerNs; }

template <typename Slot>
Slot& slot(std::vector<Slot>& slots, std::uint32_t id) {
  if (id >= slots.size()) slots.resize(id + 1);
  return slots[id];
}

}  // namespace

Recorder::Recorder(const std::vector<bool>& synchronous)
    : jobs_(synchronous.size()), in_flight_(synchronous.size()) {
  for (std::size_t i = 0; i < jobs_.size(); ++i) jobs_[i].synchronous = synchronous[i];
}

void Recorder::cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t, std::uint64_t c,
                         sc_time now) {
  switch (what) {
    case hal::Event::ready:
      start_jobs(now);
      break;
    case hal::Event::io_begin:
      io_begin(id, a, c, now);
      break;
    case hal::Event::io_submitted:
      slot(ios_, id).sample.submitted_ns = ns(now);
      break;
    case hal::Event::io_end:
      io_end(id, a, now);
      break;
    case hal::Event::request_begin:
      if (c != 0) request_begin(id, a, now);  // a cache flush moves no data: Linux counts it apart
      break;
    case hal::Event::request_end:
      request_end(id, now);
      break;
    case hal::Event::driver_error:
      ++driver_errors_;
      break;
    case hal::Event::request_issue:
    case hal::Event::request_buffer:
    case hal::Event::job_done:
    case hal::Event::job_begin:
    case hal::Event::driver_wait:
    case hal::Event::driver_refusal:
    case hal::Event::os_wait:
      break;
  }
}

/// Jobs start together when the card is ready.
void Recorder::start_jobs(sc_time now) {
  if (ready_) return;
  ready_ = true;
  start_ps_ = now.value();
  for (JobStats& job : jobs_) job.start_ns = job.end_ns = ns(now);
}

void Recorder::io_begin(std::uint32_t id, std::uint64_t a, std::uint64_t bytes, sc_time now) {
  start_jobs(now);
  OpenIo& io = slot(ios_, id);
  io.sample = {};
  io.sample.job = static_cast<unsigned>(a >> 32);
  if (io.sample.job >= jobs_.size()) return;
  io.open = true;
  io.sample.dir = static_cast<IoSample::Dir>(a & 3);
  io.sample.bytes = bytes;
  io.sample.begin_ns = io.sample.submitted_ns = ns(now);
  io.sample.depth = ++in_flight_[io.sample.job];
}

void Recorder::io_end(std::uint32_t id, std::uint64_t error, sc_time now) {
  OpenIo& io = slot(ios_, id);
  if (!io.open) return;
  io.open = false;
  io.sample.end_ns = ns(now);
  io.sample.error = static_cast<int>(error);
  --in_flight_[io.sample.job];
  jobs_[io.sample.job].add(io.sample);
  if (io.sample.dir != IoSample::Dir::sync) bytes_done_ += io.sample.bytes;
  if (progress_) progress_(bytes_done_, (now.value() - start_ps_) / kPsPerNs);
}

void Recorder::request_begin(std::uint32_t id, std::uint64_t a, sc_time now) {
  OpenRequest& r = slot(requests_, id);
  r = {true, (a & 1) != 0, now.value()};
  if (open_requests_++ == 0) open_since_ps_ = now.value();
}

void Recorder::request_end(std::uint32_t id, sc_time now) {
  OpenRequest& r = slot(requests_, id);
  if (!r.open) return;
  r.open = false;
  ++disk_ios_[r.write];
  disk_ticks_ps_[r.write] += now.value() - r.begin_ps;
  if (--open_requests_ == 0) open_ps_ += now.value() - open_since_ps_;
}

std::uint64_t Recorder::failed_ios() const {
  std::uint64_t sum = 0;
  for (const JobStats& job : jobs_) sum += job.errors;
  return sum;
}

FioResults Recorder::results(sc_time end, const CpuUsage& cpu, const std::string& version) const {
  FioResults r;
  r.clones = jobs_;
  r.version = version;
  r.end_ns = ns(end);
  std::uint64_t ios = 0;
  for (const JobStats& job : jobs_) ios += job.rw_ios() + job.syncs;
  for (JobStats& job : r.clones) {
    const double share =
        ios == 0 ? 0 : static_cast<double>(job.rw_ios() + job.syncs) / static_cast<double>(ios);
    job.user_ns = cpu.user_ns * share;
    job.system_ns = cpu.system_ns * share;
    job.context_switches =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(cpu.context_switches) * share));
  }
  for (unsigned d = 0; d < 2; ++d) {
    r.disk.ios[d] = disk_ios_[d];
    r.disk.ticks_ns[d] = disk_ticks_ps_[d] / kPsPerNs;
  }
  const std::uint64_t still_open = open_requests_ != 0 ? end.value() - open_since_ps_ : 0;
  r.disk.open_ns = (open_ps_ + still_open) / kPsPerNs;
  // The disk's run time is the jobs' own: from ready to the last completed I/O.
  std::uint64_t last_ns = start_ps_ / kPsPerNs;
  for (const JobStats& job : jobs_) last_ns = std::max(last_ns, job.end_ns);
  r.disk.run_ns = std::max(last_ns - start_ps_ / kPsPerNs, r.disk.open_ns);
  return r;
}

}  // namespace vp
