#include "firmware/app/workload.hpp"

#include "firmware/app/permutation.hpp"
#include "firmware/app/stamp.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kMixSalt = 0x7277'6D69'78;  // keeps the read/write draw apart from the offsets

bool is_random(const JobDef& d) {
  return d.kind == JobKind::randread || d.kind == JobKind::randwrite || d.kind == JobKind::randrw;
}
bool is_mixed(const JobDef& d) { return d.kind == JobKind::rw || d.kind == JobKind::randrw; }
bool only_reads(const JobDef& d) { return d.kind == JobKind::read || d.kind == JobKind::randread; }
}  // namespace

Status check_job(const JobDef& d, std::uint64_t sectors) {
  const bool whole = d.block_bytes && d.block_bytes % kSectorBytes == 0 && d.offset % kSectorBytes == 0;
  if (!whole || d.iodepth == 0 || d.size < d.block_bytes || d.rwmix_read > 100) return Status::bad_job;
  if (static_cast<std::uint32_t>(d.kind) > static_cast<std::uint32_t>(JobKind::randrw))
    return Status::bad_job;
  if (d.time_based && d.runtime_ns == 0) return Status::bad_job;
  if (d.buffered && d.iodepth != 1) return Status::bad_job;
  if (d.offset + d.size < d.offset) return Status::bad_job;
  if (sectors && d.offset + d.size > sectors * kSectorBytes) return Status::bad_job;
  return d.iodepth > kMaxIos ? Status::too_many_ios : Status::ok;
}

std::uint64_t job_block(const JobDef& d, std::uint64_t position) {
  const std::uint64_t blocks = d.size / d.block_bytes;
  if (!is_random(d)) return position % blocks;
  if (d.norandommap && !d.verify) return mix64(mix64(d.seed) + position) % blocks;
  const std::uint64_t pass = d.verify ? 0 : position / blocks;
  return Permutation(blocks, mix64(d.seed) + mix64(pass))(position % blocks);
}

Status Workload::init(JobTable& table, RequestQueue& queue, OsLayer& os, Pool& pool, bool cache_on) {
  table_ = &table;
  queue_ = &queue;
  os_ = &os;
  cache_on_ = cache_on;
  pages_ = PageAllocator(table.buffer_base, table.buffer_bytes, table.page_bytes, table.contiguity_pages,
                         table.run_stride);
  running_ = table.job_count;
  std::uint32_t slot = 0;
  for (std::uint32_t i = 0; i < table.job_count; ++i) {
    const JobDef& d = table.jobs[i];
    if (d.iodepth > kMaxIos - slot) return Status::too_many_ios;
    Job& job = jobs_[i] = Job{};
    job.def = &d;
    job.id = i;
    job.first_slot = slot;
    job.blocks = d.size / d.block_bytes;
    const std::uint64_t bytes = d.io_bytes ? d.io_bytes : d.size;
    job.total = bytes < d.block_bytes ? 1 : bytes / d.block_bytes;
    for (std::uint32_t n = 0; n < d.iodepth; ++n, ++slot) {
      Io& io = ios_[slot] = Io{};
      io.slot = slot;
      io.job = i;
      io.buffer = {&pages_, 0, table.buffer_byte_offset};
      const std::uint64_t span = std::uint64_t{table.buffer_byte_offset} + d.block_bytes;
      if (!pages_.allocate((span + table.page_bytes - 1) / table.page_bytes, io.buffer.first_page))
        return Status::buffers_too_small;
      if (!only_reads(d) && !d.verify) fill_random(io.buffer, d.block_bytes, d.seed + slot);
    }
  }
  return start_os(pool);
}

/// fio advises the system how it will read (fadvise_hint), and drops what is cached first: the cache begins empty.
Status Workload::start_os(Pool& pool) {
  bool any = false;
  for (std::uint32_t i = 0; i < table_->job_count; ++i) any = any || jobs_[i].def->buffered;
  if (!any) return Status::ok;
  std::uint32_t slots = 0;
  for (std::uint32_t i = 0; i < table_->job_count; ++i) slots += jobs_[i].def->iodepth;
  if (slots > kMaxIos - OsLayer::kIos) return Status::too_many_ios;  // the queue's rings hold both
  if (const Status s = os_->init(*table_, pages_, pool, *queue_, cache_on_); s != Status::ok) return s;
  for (std::uint32_t i = 0; i < table_->job_count; ++i) {
    Job& job = jobs_[i];
    job.file.size = table_->card_sectors * kSectorBytes;
    os_->open(job.file, is_random(*job.def) ? ReadAhead::Hint::random : ReadAhead::Hint::sequential);
    job.call.file = &job.file;
    job.call.job = i;
  }
  return Status::ok;
}

Status Workload::run() {
  const std::uint64_t start = hal::now_ns();
  for (std::uint32_t i = 0; i < table_->job_count; ++i)
    jobs_[i].end_ns = jobs_[i].def->runtime_ns ? start + jobs_[i].def->runtime_ns : kNever;
  while (running_) {
    bool progress = false;
    for (std::uint32_t i = 0; i < table_->job_count; ++i) progress |= step(jobs_[i]);
    progress |= os_->ready() && queue_->pending();  // what ends now may be what a call sleeps for
    queue_->service();
    progress |= reap();
    if (os_->ready()) {
      os_->settle();
      os_->background();
    }
    if (progress || !running_) continue;
    if (queue_->pending()) continue;
    const std::uint64_t deadline = queue_->deadline_ns();
    if (deadline == kNever) return Status::stuck;
    wait_until([this] { return queue_->pending(); }, deadline);
  }
  if (os_->ready()) os_->report();
  return Status::ok;
}

/// Submits until the job is full, then lets the others in. True when anything was done.
bool Workload::step(Job& job) {
  if (job.phase == Phase::done) return false;
  bool progress = false;
  if (job.calling && os_->advance(job.call)) {
    end_call(job);
    progress = true;
  }
  while (job.in_flight < job.def->iodepth && !job.sync_running && submit_next(job)) {
    progress = true;
    if (queue_->pending()) queue_->service();
    if (job.def->buffered) break;  // a call that the cache serves ends at once: the others have their turn
  }
  if (job.in_flight == 0 && !job.sync_due && !more(job)) {
    end_phase(job);
    progress = true;
  }
  return progress;
}

bool Workload::more(const Job& job) const {
  if (job.phase == Phase::verify) return job.verify_next < job.verify_end;
  if (job.phase == Phase::done || hal::now_ns() >= job.end_ns) return false;
  return job.def->time_based || job.issued < job.total;
}

void Workload::end_phase(Job& job) {
  const std::uint64_t written = job.position[1];
  if (job.phase == Phase::run && job.def->verify && written) {
    job.phase = Phase::verify;  // the last pass over each block, oldest first
    job.verify_next = written > job.blocks ? written - job.blocks : 0;
    job.verify_end = written;
    return;
  }
  job.phase = Phase::done;
  --running_;
  hal::event(hal::Event::job_done, job.id, job.error);
}

Io& Workload::free_io(Job& job) {
  for (;;) {
    Io& io = ios_[job.first_slot + job.next_slot];
    job.next_slot = (job.next_slot + 1) % job.def->iodepth;
    if (!io.busy) return io;
  }
}

bool Workload::submit_next(Job& job) {
  if (!job.sync_due && !more(job)) return false;
  Io& io = free_io(job);
  io.busy = true;
  io.check = false;
  hal::cost(hal::Cost::io_user);
  if (job.sync_due)
    submit_sync(job, io);
  else if (job.phase == Phase::verify)
    submit_verify(job, io);
  else
    submit_access(job, io);
  return true;
}

Direction Workload::choose_direction(const Job& job) const {
  if (!is_mixed(*job.def)) return only_reads(*job.def) ? Direction::read : Direction::write;
  const std::uint64_t draw = mix64(mix64(job.def->seed ^ kMixSalt) + job.issued) % 100;
  return draw < job.def->rwmix_read ? Direction::read : Direction::write;
}

void Workload::submit_access(Job& job, Io& io) {
  const JobDef& d = *job.def;
  io.direction = choose_direction(job);
  const bool write = io.direction == Direction::write;
  const bool own_place = !is_random(d) || d.verify;
  io.position = job.position[own_place && write ? 1 : 0]++;
  io.offset = d.offset + job_block(d, io.position) * d.block_bytes;
  io.bytes = d.block_bytes;
  io.generation = io.position / job.blocks + 1;
  ++job.issued;
  if (write && d.verify) {
    fill_stamps(io.buffer, io.bytes, {io.offset / kSectorBytes, d.seed, io.generation});
    hal::cost(hal::Cost::verify_byte, io.bytes);
  }
  if (!write && d.verify && only_reads(d)) {
    io.check = true;
    io.generation = kAnyGeneration;
  }
  if (write && d.fsync_every && ++job.writes_since_sync == d.fsync_every) {
    job.writes_since_sync = 0;
    job.sync_due = true;
  }
  submit(job, io);
}

void Workload::submit_verify(Job& job, Io& io) {
  const JobDef& d = *job.def;
  io.direction = Direction::read;
  io.position = job.verify_next++;
  io.offset = d.offset + job_block(d, io.position) * d.block_bytes;
  io.bytes = d.block_bytes;
  io.generation = io.position / job.blocks + 1;
  io.check = true;
  submit(job, io);
}

void Workload::submit_sync(Job& job, Io& io) {
  job.sync_due = false;
  job.sync_running = true;
  io.direction = Direction::sync;
  io.offset = io.bytes = 0;
  submit(job, io);
}

void Workload::submit(Job& job, Io& io) {
  ++job.in_flight;
  const auto direction = static_cast<std::uint32_t>(io.direction);
  hal::event(hal::Event::io_begin, io.slot, std::uint64_t{job.id} << 32 | direction, io.offset, io.bytes);
  if (job.def->buffered) return begin_call(job, io);
  hal::cost(hal::Cost::io_submit);
  if (io.bytes) hal::cost(hal::Cost::page_pin, io.buffer.pages_of(0, io.bytes));
  const bool elided = io.direction == Direction::sync && !cache_on_;
  if (!elided) queue_->submit(io);
  hal::event(hal::Event::io_submitted, io.slot);
  if (elided) {
    io.error = MmcError::none;
    ended(io);
  }
}

void Workload::begin_call(Job& job, Io& io) {
  OsCall& c = job.call;
  c.kind = io.direction == Direction::sync   ? OsCallKind::fsync
           : io.direction == Direction::read ? OsCallKind::read
                                             : OsCallKind::write;
  c.offset = io.offset;
  c.bytes = io.bytes;
  c.user = io.buffer;
  c.user_offset = 0;
  job.calling = &io;
  if (os_->begin(c)) end_call(job);
}

void Workload::end_call(Job& job) {
  Io& io = *job.calling;
  job.calling = nullptr;
  io.error = job.call.error;
  os_->settle();
  hal::event(hal::Event::io_submitted, io.slot);
  ended(io);
}

bool Workload::reap() {
  bool any = false;
  while (Io* io = queue_->take_done()) {
    ended(*io);
    any = true;
    if (queue_->pending()) queue_->service();
  }
  return any;
}

void Workload::ended(Io& io) {
  Job& job = jobs_[io.job];
  if (!job.def->buffered) hal::cost(hal::Cost::io_complete);
  hal::event(hal::Event::io_end, io.slot, static_cast<std::uint64_t>(io.error));
  --job.in_flight;
  if (io.direction == Direction::sync) job.sync_running = false;
  if (io.error != MmcError::none) {
    if (!job.def->buffered) ++table_->errors;  // the layer counts its own
    if (!job.error) job.error = static_cast<std::uint32_t>(io.error);
  } else if (io.check) {
    check_data(io);
  }
  io.busy = false;
}

void Workload::check_data(Io& io) {
  std::uint64_t first = 0;
  const Stamp stamp{io.offset / kSectorBytes, jobs_[io.job].def->seed, io.generation};
  hal::cost(hal::Cost::verify_byte, io.bytes);
  const std::uint32_t bad = check_stamps(io.buffer, io.bytes, stamp, first);
  if (bad && table_->verify_errors == 0) table_->first_bad_offset = io.offset + first * kSectorBytes;
  table_->verify_errors += bad;
}

}  // namespace fw
