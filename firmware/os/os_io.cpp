// The layer's I/Os: built from runs of pages, ended page by page.
#include <algorithm>

#include "firmware/app/stamp.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/os/os_layer.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kMetadataSeed = 0x6A62'6432;
}  // namespace

Status OsLayer::init(JobTable& table, PageAllocator& pages, Pool& pool, RequestQueue& queue, bool cache_on) {
  table_ = &table;
  books_ = &table.os_report;
  *books_ = OsReport{};
  pages_ = &pages;
  config_ = table.os;
  page_bytes_ = table.page_bytes;
  device_bytes_ = table.card_sectors * kSectorBytes;
  const std::uint64_t frames = config_.cache_bytes / page_bytes_;
  constexpr std::uint64_t kFewest = 16;
  if (frames < kFewest || frames >= PageCache::kNone || config_.dirty_limit_bytes > config_.cache_bytes ||
      config_.dirty_background_bytes >= config_.dirty_limit_bytes || config_.writeback_ios == 0)
    return Status::bad_memory;
  const auto count = static_cast<std::uint32_t>(frames);
  const std::uint64_t bytes = PageCache::table_bytes(count);
  constexpr std::uint64_t kTableAlign = 64;
  const std::uint64_t at = pool.take(bytes, kTableAlign);
  if (!at) return Status::pool_too_small;
  cache_.init(hal::ram(at, bytes), count);

  const std::uint64_t metadata = (std::uint64_t{config_.journal_blocks} + 1) * kMetadataBlock;
  metadata_ = {&pages, 0, 0};
  if (!pages.allocate((metadata + page_bytes_ - 1) / page_bytes_, metadata_.first_page))
    return Status::buffers_too_small;
  fill_random(metadata_, metadata, kMetadataSeed);
  if (!pages.allocate(frames, first_frame_page_)) return Status::buffers_too_small;
  const std::uint64_t most = config_.max_io_bytes / page_bytes_;
  most_pages_ = most ? static_cast<std::uint32_t>(most) : 1;
  background_pages_ = config_.dirty_background_bytes / page_bytes_;
  limit_pages_ = config_.dirty_limit_bytes / page_bytes_;
  for (unsigned i = 0; i < kIos; ++i) {
    ios_[i] = OsIo{};
    ios_[i].io.slot = kMaxIos + i;
    ios_[i].io.owner = this;
  }
  background_open_ = scan_ = 0;
  write_error_ = MmcError::none;
  committer_.init(config_, cache_on, queue.can_fua());
  queue_ = &queue;
  return Status::ok;
}

void OsLayer::open(OsFile& file, ReadAhead::Hint hint) const {
  file.ahead.init(config_.read_ahead_bytes / page_bytes_, queue_->limits().max_req_bytes / page_bytes_, hint);
}

const OsLayer::OsIo* OsLayer::find_free() const {
  for (const OsIo& o : ios_)
    if (o.kind == OsIo::Kind::free) return &o;
  return nullptr;
}

void OsLayer::submit(OsIo& o, Direction direction, std::uint64_t offset, std::uint64_t bytes,
                     const Buffer& buffer) {
  o.io.direction = direction;
  o.io.offset = offset;
  o.io.bytes = bytes;
  o.io.buffer = buffer;
  queue_->submit(o.io);
}

/// One I/O of `count` consecutive frames that hold consecutive pages; an I/O is free.
void OsLayer::submit_pages(OsIo::Kind kind, std::uint32_t frame, std::uint32_t count) {
  const bool write = kind == OsIo::Kind::write;
  OsIo& o = *free_io();
  o.kind = kind;
  o.frame = frame;
  o.count = count;
  o.call = nullptr;
  o.io.fua = false;
  if (write) {
    meter.add(hal::Cost::page_writeback, count);
    for (std::uint32_t i = 0; i < count; ++i) {
      cache_.clear(frame + i, PageCache::kDirty);
      cache_.set(frame + i, PageCache::kWriting);
    }
    ++background_open_;
    books_->pages_written += count;
  }
  write ? ++books_->write_ios : ++books_->read_ios;
  meter.add(hal::Cost::io_build, 1);
  settle();
  const std::uint64_t offset = cache_.page(frame) * page_bytes_;
  const std::uint64_t bytes = std::uint64_t{count} * page_bytes_, room = device_bytes_ - offset;
  submit(o, write ? Direction::write : Direction::read, offset, bytes < room ? bytes : room,
         frames_from(frame));
}

/// Allocates and reads the pages of a window that are not cached and lie in the file; as many as find a frame.
void OsLayer::read_window(const OsFile& f, const RaWindow& w, bool ahead) {
  struct Run {
    std::uint32_t frame, count;
  };
  std::array<Run, 16> runs{};
  unsigned open = 0;
  for (const OsIo& o : ios_) open += o.kind != OsIo::Kind::free;
  const unsigned most = kIos - open < runs.size() ? kIos - open : static_cast<unsigned>(runs.size());
  const std::uint64_t base = f.start / page_bytes_;
  const std::uint64_t last = (f.size + page_bytes_ - 1) / page_bytes_;
  const std::uint64_t end = w.start + w.pages < last ? w.start + w.pages : last;
  unsigned n = 0;
  std::uint64_t added = 0;
  bool joined = false;  // the page before is in the run
  for (std::uint64_t index = w.start; index < end; ++index) {
    if (cache_.find(base + index) != PageCache::kNone) {
      joined = false;
      continue;
    }
    joined =
        joined && runs[n - 1].count < most_pages_ && cache_.oldest() == runs[n - 1].frame + runs[n - 1].count;
    if (!joined && n == most) break;
    const std::uint32_t frame = cache_.allocate(base + index);
    if (frame == PageCache::kNone) break;
    cache_.set(frame, PageCache::kReading | PageCache::kAhead | (index == w.mark ? PageCache::kMark : 0u));
    if (joined)
      ++runs[n - 1].count;
    else
      runs[n++] = {frame, 1};
    joined = true;
    ++added;
  }
  if (added == 0) return;
  ahead ? ++books_->async_windows : ++books_->sync_windows;
  books_->pages_read += added;
  if (ahead) books_->pages_read_ahead += added;
  meter.add(hal::Cost::page_add, added);
  for (unsigned i = 0; i < n; ++i) submit_pages(OsIo::Kind::read, runs[i].frame, runs[i].count);
}

/// Frames from `frame` on that are dirty, adjacent and hold adjacent pages.
std::uint32_t OsLayer::run_from(std::uint32_t frame, std::uint32_t most) const {
  std::uint32_t n = 1;
  while (n < most && frame + n < cache_.frames() && cache_.page(frame + n) == cache_.page(frame) + n &&
         cache_.has(frame + n, PageCache::kDirty) && !cache_.has(frame + n, PageCache::kWriting))
    ++n;
  return n;
}

/// The ring's next frame is wanted: when it is dirty it must be written first.
void OsLayer::force_oldest() {
  const std::uint32_t frame = cache_.oldest();
  if (cache_.has(frame, PageCache::kDirty) && free_io())
    submit_pages(OsIo::Kind::write, frame, run_from(frame, most_pages_));
}

void OsLayer::background() {
  if (!ready()) return;
  while (cache_.dirty() > background_pages_ && background_open_ < config_.writeback_ios && free_io()) {
    while (!cache_.has(scan_, PageCache::kDirty)) scan_ = scan_ + 1 == cache_.frames() ? 0 : scan_ + 1;
    const std::uint32_t n = run_from(scan_, most_pages_);
    submit_pages(OsIo::Kind::write, scan_, n);
    scan_ = scan_ + n == cache_.frames() ? 0 : scan_ + n;
  }
}

void OsLayer::io_done(Io& io) {
  OsIo& o = ios_[io.slot - kMaxIos];
  if (io.error != MmcError::none) ++table_->errors;
  if (o.kind == OsIo::Kind::call) {
    --o.call->outstanding;
    if (o.call->error == MmcError::none) o.call->error = io.error;
  } else {
    const bool write = o.kind == OsIo::Kind::write;
    const bool failed_read = !write && io.error != MmcError::none;
    for (std::uint32_t i = 0; i < o.count; ++i) {
      cache_.clear(o.frame + i, write ? PageCache::kWriting : PageCache::kReading);
      if (!write) cache_.arrived(o.frame + i);
      if (failed_read) cache_.set(o.frame + i, PageCache::kFailed);
    }
    if (write) {
      --background_open_;
      if (write_error_ == MmcError::none) write_error_ = io.error;
    }
    hal::cost(hal::Cost::page_end, o.count);
  }
  o.kind = OsIo::Kind::free;
}

void OsLayer::tick() {
  if (!meter.due()) return;
  settle();
  if (queue_->pending()) queue_->service();
}

bool OsLayer::serve_queue() {
  if (!queue_->pending()) {
    const std::uint64_t deadline = queue_->deadline_ns();
    if (deadline == kNever) return false;
    wait_until([this, deadline] { return queue_->must_look(deadline); }, deadline);
  }
  queue_->service();
  return true;
}

bool OsLayer::run_once() {
  settle();
  background();
  return serve_queue();
}

void OsLayer::drain() {
  const auto busy = [](const OsIo& o) { return o.kind != OsIo::Kind::free; };
  while (std::any_of(ios_.begin(), ios_.end(), busy) && serve_queue()) {
  }
}

void OsLayer::report() {
  settle();
  books_->left_dirty_bytes = std::uint64_t{cache_.dirty()} * page_bytes_;
}

}  // namespace fw
