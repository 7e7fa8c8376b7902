// The calls. Every stage may be entered again after a sleep: it goes on from what the call remembers.
#include <cstring>

#include "firmware/os/os_layer.hpp"

namespace fw {

namespace {

std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

/// The cache as one file sees it.
struct FileView final : CachedPages {
  const PageCache& cache;
  std::uint64_t base;
  FileView(const PageCache& c, std::uint64_t b) : cache(c), base(b) {}
  bool cached(std::uint64_t index) const override { return cache.find(base + index) != PageCache::kNone; }
};

void copy_bytes(const Buffer& from, std::uint64_t from_at, const Buffer& to, std::uint64_t to_at,
                std::uint64_t n) {
  while (n) {
    const Segment s = from.piece(from_at, n);
    const Segment d = to.piece(to_at, s.bytes);
    std::memcpy(hal::ram(d.address, d.bytes), hal::ram(s.address, d.bytes), d.bytes);
    from_at += d.bytes;
    to_at += d.bytes;
    n -= d.bytes;
  }
}

}  // namespace

bool OsLayer::begin(OsCall& c) {
  c.copied = 0;
  c.error = MmcError::none;
  c.outstanding = 0;
  c.step = 0;
  c.asleep = false;
  c.waiting = OsWait::none;
  const bool transfer = c.kind == OsCallKind::read || c.kind == OsCallKind::write;
  if (transfer && !c.file->direct) {
    c.stage = OsCall::Stage::copy;
  } else {
    c.stage = OsCall::Stage::writeback;
    transfer ? range(c, c.offset, c.bytes) : range(c, 0, c.file->size);
  }
  if (!(transfer && c.file->direct)) meter.add(hal::Cost::syscall, 1);
  return advance(c);
}

bool OsLayer::advance(OsCall& c) {
  while (c.stage != OsCall::Stage::done) {
    if (c.asleep) {
      if (!may_run(c)) return false;
      c.asleep = false;
      hal::event(hal::Event::os_wait, c.job, 0, static_cast<std::uint64_t>(c.waiting));
      hal::cost(hal::Cost::task_switch);
    }
    c.waiting = go(c);
    if (c.waiting == OsWait::none) continue;
    settle();
    if (queue_->pending()) queue_->service();
    if (may_run(c)) continue;
    c.asleep = true;
    hal::event(hal::Event::os_wait, c.job, 1, static_cast<std::uint64_t>(c.waiting));
    return false;
  }
  tick();
  return true;
}

OsWait OsLayer::go(OsCall& c) {
  switch (c.stage) {
    case OsCall::Stage::copy:
      return c.kind == OsCallKind::read ? copy_out(c) : copy_in(c);
    case OsCall::Stage::writeback:
      return write_back(c);
    case OsCall::Stage::wait_data:
      return wait_data(c);
    case OsCall::Stage::direct:
      return go_direct(c);
    case OsCall::Stage::after_data:
      return after_data(c);
    case OsCall::Stage::commit:
      return commit(c);
    case OsCall::Stage::done:
      break;
  }
  return OsWait::none;
}

bool OsLayer::may_run(const OsCall& c) const {
  switch (c.waiting) {
    case OsWait::journal:
    case OsWait::direct:
      return c.outstanding == 0;
    case OsWait::room:
      if (c.frame == PageCache::kNone) return unsettled() < limit_pages_;
      return cache_.oldest() != c.frame || cache_.evictable(c.frame);
    case OsWait::page:
    case OsWait::writeback:
      if (c.frame == PageCache::kNone) return find_free() != nullptr;
      return cache_.page(c.frame) != c.page ||
             !cache_.has(c.frame, PageCache::kReading | PageCache::kWriting);
    default:
      return true;
  }
}

OsWait OsLayer::wait_frame(OsCall& c, std::uint32_t frame, OsWait why) {
  c.frame = frame;
  c.page = frame == PageCache::kNone ? 0 : cache_.page(frame);
  return why;
}

/// There is no frame: the oldest must become free.
OsWait OsLayer::wait_room(OsCall& c) {
  force_oldest();
  return wait_frame(c, cache_.oldest(), OsWait::room);
}

/// Copies between the caller and a frame, in portions that completions can come between.
void OsLayer::move(OsCall& c, std::uint32_t frame, std::uint64_t in_page, std::uint64_t n) {
  const Buffer page = frames_from(frame);
  const bool out = c.kind == OsCallKind::read;
  for (std::uint64_t done = 0; done < n;) {
    const std::uint64_t part = smaller(n - done, Meter::kPortionBytes);
    const std::uint64_t user = c.user_offset + c.copied + done;
    if (out)
      copy_bytes(page, in_page + done, c.user, user, part);
    else
      copy_bytes(c.user, user, page, in_page + done, part);
    done += part;
    meter.add(hal::Cost::copy_byte, part);
    tick();
  }
}

/// Buffered read.
OsWait OsLayer::copy_out(OsCall& c) {
  OsFile& f = *c.file;
  const std::uint64_t base = f.start / page_bytes_;
  const std::uint64_t end = smaller(c.offset + c.bytes, f.size);
  const FileView view(cache_, base);
  while (c.offset + c.copied < end) {
    const std::uint64_t position = c.offset + c.copied, index = position / page_bytes_;
    const std::uint64_t want = (c.offset + c.bytes + page_bytes_ - 1) / page_bytes_ - index;
    const std::uint32_t frame = cache_.find(base + index);
    if (frame == PageCache::kNone) {
      read_window(f, f.ahead.miss(index, want, view), false);
      if (!view.cached(index)) read_window(f, {index, 1, RaWindow::kNoMark}, false);
      if (view.cached(index)) continue;
      return free_io() ? wait_room(c) : wait_frame(c, PageCache::kNone, OsWait::page);
    }
    if (cache_.has(frame, PageCache::kMark)) {
      cache_.clear(frame, PageCache::kMark);
      read_window(f, f.ahead.marked(index, want, view), true);
      continue;  // the window may have taken this frame
    }
    if (cache_.has(frame, PageCache::kReading)) {
      cache_.clear(frame, PageCache::kAhead);
      ++books_->page_waits;
      return wait_frame(c, frame, OsWait::page);
    }
    if (cache_.has(frame, PageCache::kFailed)) {
      cache_.drop(frame);
      c.error = MmcError::card_status;
      break;
    }
    if (cache_.has(frame, PageCache::kAhead)) {
      cache_.clear(frame, PageCache::kAhead);
      ++books_->page_hits;
    }
    const std::uint64_t in_page = position % page_bytes_, n = smaller(end - position, page_bytes_ - in_page);
    meter.add(hal::Cost::page_lookup, 1);
    move(c, frame, in_page, n);
    c.copied += n;
    f.ahead.read_to((position + n) / page_bytes_);
  }
  c.stage = OsCall::Stage::done;
  return OsWait::none;
}

/// A write of part of a page that holds something of the file: its old bytes are needed first.
bool OsLayer::needs_old(const OsCall& c, std::uint64_t position, std::uint64_t n) const {
  const std::uint64_t in_page = position % page_bytes_, size = c.file->size;
  if (in_page == 0 && (n == page_bytes_ || position + n >= size)) return false;
  return position - in_page < size;
}

/// Buffered write.
OsWait OsLayer::copy_in(OsCall& c) {
  OsFile& f = *c.file;
  const std::uint64_t base = f.start / page_bytes_;
  while (c.copied < c.bytes) {
    const std::uint64_t position = c.offset + c.copied, page = base + position / page_bytes_;
    const std::uint64_t in_page = position % page_bytes_,
                        n = smaller(c.bytes - c.copied, page_bytes_ - in_page);
    std::uint32_t frame = cache_.find(page);
    if (frame == PageCache::kNone && needs_old(c, position, n)) {
      read_window(f, {position / page_bytes_, 1, RaWindow::kNoMark}, false);
      if (cache_.find(page) != PageCache::kNone) continue;
      return free_io() ? wait_room(c) : wait_frame(c, PageCache::kNone, OsWait::page);
    }
    if (unsettled() >= limit_pages_) return wait_frame(c, PageCache::kNone, OsWait::room);
    if (frame == PageCache::kNone) {
      frame = cache_.allocate(page);
      if (frame == PageCache::kNone) return wait_room(c);
      meter.add(hal::Cost::page_add, 1);
      if (n != page_bytes_) zero_page(frame);
    }
    if (cache_.has(frame, PageCache::kReading)) return wait_frame(c, frame, OsWait::page);
    if (cache_.has(frame, PageCache::kWriting)) return wait_frame(c, frame, OsWait::writeback);
    if (cache_.has(frame, PageCache::kFailed)) {
      cache_.drop(frame);
      c.error = MmcError::card_status;
      break;
    }
    cache_.clear(frame, PageCache::kMark | PageCache::kAhead);
    cache_.set(frame, PageCache::kDirty);
    meter.add(hal::Cost::page_dirty, 1);
    move(c, frame, in_page, n);
    c.copied += n;
  }
  end_write(c);
  return OsWait::none;
}

void OsLayer::zero_page(std::uint32_t frame) {
  const Buffer page = frames_from(frame);
  for (std::uint64_t at = 0; at < page_bytes_;) {
    const Segment s = page.piece(at, page_bytes_ - at);
    std::memset(hal::ram(s.address, s.bytes), 0, s.bytes);
    at += s.bytes;
  }
}

/// The data are in the cache or on the device: what the open flags ask for comes next.
void OsLayer::end_write(OsCall& c) {
  OsFile& f = *c.file;
  if (c.copied == 0 && c.error != MmcError::none) {
    c.stage = OsCall::Stage::done;
    return;
  }
  f.touched = true;
  if (c.offset + c.copied > f.size) {
    f.size = c.offset + c.copied;
    f.grown = true;
  }
  if (f.sync == 0 || c.error != MmcError::none) {
    c.stage = OsCall::Stage::done;
  } else if (f.direct) {
    c.stage = OsCall::Stage::after_data;
  } else {
    range(c, c.offset, c.copied);
    c.stage = OsCall::Stage::writeback;
  }
}

void OsLayer::range(OsCall& c, std::uint64_t first, std::uint64_t bytes) {
  const std::uint64_t begin = c.file->start + first;
  c.first_page = begin / page_bytes_;
  c.pages = bytes ? (begin + bytes - 1) / page_bytes_ - c.first_page + 1 : 0;
  c.ring = cache_.oldest();
  c.at = 0;
}

/// Frames to look at: the range's own, or all of the ring when the range is longer.
std::uint64_t OsLayer::positions(const OsCall& c) const { return smaller(c.pages, cache_.frames()); }

std::uint32_t OsLayer::frame_at(const OsCall& c, std::uint64_t position) const {
  if (c.pages <= cache_.frames()) return cache_.find(c.first_page + position);
  const auto frame = static_cast<std::uint32_t>((c.ring + position) % cache_.frames());
  const std::uint64_t page = cache_.page(frame);
  const bool inside =
      cache_.has(frame, PageCache::kUsed) && page >= c.first_page && page - c.first_page < c.pages;
  return inside ? frame : PageCache::kNone;
}

/// Starts the I/O of every dirty page of the range.
OsWait OsLayer::write_back(OsCall& c) {
  const std::uint64_t n = cache_.dirty() ? positions(c) : 0;
  while (c.at < n) {
    const std::uint32_t frame = frame_at(c, c.at);
    if (frame == PageCache::kNone || !cache_.has(frame, PageCache::kDirty)) {
      ++c.at;
      continue;
    }
    if (!free_io()) return wait_frame(c, PageCache::kNone, OsWait::writeback);
    const std::uint32_t run = run_from(frame, static_cast<std::uint32_t>(smaller(most_pages_, n - c.at)));
    submit_pages(OsIo::Kind::write, frame, run);
    c.at += run;
  }
  c.at = 0;
  c.stage = OsCall::Stage::wait_data;
  return OsWait::none;
}

OsWait OsLayer::wait_data(OsCall& c) {
  const std::uint64_t n = cache_.writing() ? positions(c) : 0;
  for (; c.at < n; ++c.at) {
    const std::uint32_t frame = frame_at(c, c.at);
    if (frame != PageCache::kNone && cache_.has(frame, PageCache::kWriting))
      return wait_frame(c, frame, OsWait::writeback);
  }
  const bool transfer = c.kind == OsCallKind::read || c.kind == OsCallKind::write;
  c.stage = transfer && c.file->direct ? OsCall::Stage::direct : OsCall::Stage::after_data;
  return OsWait::none;
}

void OsLayer::drop_range(OsCall& c) {
  for (std::uint64_t i = 0; i < positions(c); ++i) {
    const std::uint32_t frame = frame_at(c, i);
    if (frame != PageCache::kNone && cache_.evictable(frame)) cache_.drop(frame);
  }
}

/// O_DIRECT: one I/O from the caller's own pages.
OsWait OsLayer::go_direct(OsCall& c) {
  OsFile& f = *c.file;
  const bool write = c.kind == OsCallKind::write;
  if (c.step == 0) {
    const std::uint64_t left = write ? c.bytes : f.size - smaller(f.size, c.offset);
    c.direct_bytes = smaller(c.bytes, left);
    if (c.direct_bytes == 0) {
      c.stage = OsCall::Stage::done;
      return OsWait::none;
    }
    OsIo* const o = free_io();
    if (!o) return wait_frame(c, PageCache::kNone, OsWait::writeback);
    drop_range(c);
    const std::uint64_t bytes = (c.direct_bytes + kSectorBytes - 1) / kSectorBytes * kSectorBytes;
    settle();
    hal::cost(hal::Cost::io_submit);
    hal::cost(hal::Cost::page_pin, c.user.pages_of(c.user_offset, bytes));
    Buffer user = c.user;
    user.first_byte += static_cast<std::uint32_t>(c.user_offset);
    o->io.fua = false;
    call_io(c, *o, write ? Direction::write : Direction::read, f.start + c.offset, bytes, user);
    write ? ++books_->write_ios : ++books_->read_ios;
    c.step = 1;
  }
  if (c.outstanding) return OsWait::direct;
  hal::cost(hal::Cost::io_complete);
  c.step = 0;
  if (c.error == MmcError::none) c.copied = c.direct_bytes;
  if (write)
    end_write(c);
  else
    c.stage = OsCall::Stage::done;
  return OsWait::none;
}

void OsLayer::call_io(OsCall& c, OsIo& o, Direction direction, std::uint64_t offset, std::uint64_t bytes,
                      const Buffer& buffer) {
  o.kind = OsIo::Kind::call;
  o.call = &c;
  ++c.outstanding;
  submit(o, direction, offset, bytes, buffer);
}

/// The data are on the device: is there anything else to make durable?
OsWait OsLayer::after_data(OsCall& c) {
  OsFile& f = *c.file;
  if (c.error == MmcError::none) c.error = write_error_;
  write_error_ = MmcError::none;
  c.stage = OsCall::Stage::done;
  if (c.kind == OsCallKind::close || c.error != MmcError::none) return OsWait::none;
  const bool all = c.kind == OsCallKind::fsync || (c.kind == OsCallKind::write && f.sync == 2);
  const bool metadata = f.fs != FileSystem::none && (f.grown || (all && f.touched));
  if (metadata) f.grown = f.touched = false;
  c.plan = committer_.plan(f.fs, metadata);
  c.step = 0;
  if (c.plan.transaction) {
    meter.add(hal::Cost::journal_commit, 1);
    ++books_->commits;
  }
  if (c.plan.blocks) meter.add(hal::Cost::journal_block, c.plan.blocks);
  c.stage = OsCall::Stage::commit;
  return OsWait::none;
}

OsWait OsLayer::commit(OsCall& c) {
  if (c.outstanding) return OsWait::journal;
  if (c.step == c.plan.count || c.error != MmcError::none) {
    c.stage = OsCall::Stage::done;
    return OsWait::none;
  }
  OsIo* const o = free_io();
  if (!o) return wait_frame(c, PageCache::kNone, OsWait::writeback);
  const CommitStep& s = c.plan.steps[c.step++];
  const bool write = s.kind == CommitStep::Kind::write;
  meter.add(hal::Cost::io_build, 1);
  settle();
  write ? ++books_->journal_ios : ++books_->flushes;
  o->io.fua = s.fua;
  call_io(c, *o, write ? Direction::write : Direction::sync, s.offset, s.bytes, metadata_);
  return OsWait::journal;
}

}  // namespace fw
