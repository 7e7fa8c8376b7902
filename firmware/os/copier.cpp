#include "firmware/os/copier.hpp"

#include <cstring>

namespace fw {

namespace {
std::uint64_t smaller(std::uint64_t a, std::uint64_t b) { return a < b ? a : b; }

void clear(const Buffer& b, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes;) {
    const Segment s = b.piece(at, bytes - at);
    std::memset(hal::ram(s.address, s.bytes), 0, s.bytes);
    at += s.bytes;
  }
}
}  // namespace

Status Copier::open(End& end, const FileDef& def, std::uint64_t record, Buffer& buffer) {
  end = End{};
  end.def = &def;
  end.at = def.offset;
  end.file.start = def.start;
  end.file.size = def.size;
  end.file.fs = static_cast<FileSystem>(def.filesystem);
  end.file.direct = def.direct != 0;
  end.file.sync = def.sync;
  const std::uint64_t device = table_->card_sectors * kSectorBytes;
  if (record == 0 || def.kind > FileDef::file || def.sync > 2 || def.filesystem > 2) return Status::bad_job;
  if (end.device() &&
      (def.start % table_->page_bytes || def.start > device || def.limit > device - def.start ||
       def.size > def.limit || (def.direct && def.offset % kSectorBytes)))
    return Status::bad_job;
  os_->open(end.file, ReadAhead::Hint::none);
  buffer = {&pages_, 0, table_->buffer_byte_offset};
  const std::uint64_t span = std::uint64_t{table_->buffer_byte_offset} + record + kSectorBytes;
  return pages_.allocate((span + table_->page_bytes - 1) / table_->page_bytes, buffer.first_page)
             ? Status::ok
             : Status::buffers_too_small;
}

Status Copier::init(JobTable& table, RequestQueue& queue, OsLayer& os, Pool& pool, bool cache_on) {
  table_ = &table;
  copy_ = &table.copy;
  os_ = &os;
  pages_ = PageAllocator(table.buffer_base, table.buffer_bytes, table.page_bytes, table.contiguity_pages);
  if (const Status s = os.init(table, pages_, pool, queue, cache_on); s != Status::ok) return s;
  if (const Status s = open(in_, copy_->in, copy_->ibs, in_buffer_); s != Status::ok) return s;
  if (const Status s = open(out_, copy_->out, copy_->obs, out_buffer_); s != Status::ok) return s;
  if (!in_.device()) clear(in_buffer_, copy_->ibs);
  left_ = copy_->bytes;
  held_ = 0;
  copy_->in_full = copy_->in_part = copy_->out_full = copy_->out_part = copy_->copied = 0;
  status_ = Status::ok;
  failed_ = false;
  return Status::ok;
}

Status Copier::run() {
  hal::event(hal::Event::job_begin, 0);
  while (left_ && !failed_ && copy_record()) os_->background();
  if (!failed_ && held_) write(out_buffer_, held_);
  if (!failed_) finish();
  os_->report();
  hal::event(hal::Event::job_done, 0, failed_ ? 1 : 0);
  return status_;
}

/// False at the end of the input.
bool Copier::copy_record() {
  os_->meter.add(hal::Cost::copy_record, 1);
  const std::uint64_t n = read(smaller(copy_->ibs, left_));
  if (n == 0) return false;
  n == copy_->ibs ? ++copy_->in_full : ++copy_->in_part;
  left_ -= n;
  if (copy_->ibs == copy_->obs)
    write(in_buffer_, n);
  else
    gather(n);
  return true;
}

std::uint64_t Copier::read(std::uint64_t bytes) {
  if (in_.device()) return call(in_, OsCallKind::read, in_buffer_, bytes) ? call_.copied : 0;
  os_->meter.add(hal::Cost::syscall, 1);
  os_->meter.add(hal::Cost::zero_byte, bytes);
  os_->tick();
  return bytes;
}

/// Puts a record that was read behind what is held, and writes whole records.
void Copier::gather(std::uint64_t bytes) {
  for (std::uint64_t done = 0; done < bytes && !failed_;) {
    const std::uint64_t n = smaller(bytes - done, copy_->obs - held_);
    for (std::uint64_t at = 0; at < n;) {
      const Segment from = in_buffer_.piece(done + at, n - at);
      const Segment to = out_buffer_.piece(held_ + at, from.bytes);
      std::memcpy(hal::ram(to.address, to.bytes), hal::ram(from.address, to.bytes), to.bytes);
      at += to.bytes;
    }
    os_->meter.add(hal::Cost::copy_byte, n);
    os_->tick();
    done += n;
    held_ += n;
    if (held_ < copy_->obs) continue;
    write(out_buffer_, held_);
    held_ = 0;
  }
}

bool Copier::write(const Buffer& from, std::uint64_t bytes) {
  if (out_.device()) {
    if (!call(out_, OsCallKind::write, from, bytes)) return false;
  } else {
    os_->meter.add(hal::Cost::syscall, 1);
    os_->tick();
  }
  bytes == copy_->obs ? ++copy_->out_full : ++copy_->out_part;
  copy_->copied += bytes;
  return true;
}

void Copier::finish() {
  if (!out_.device()) return;
  if (copy_->final_sync)
    call(out_, copy_->final_sync == 2 ? OsCallKind::fsync : OsCallKind::fdatasync, out_buffer_, 0);
  if (!failed_ && out_.def->kind == FileDef::device) call(out_, OsCallKind::close, out_buffer_, 0);
}

bool Copier::call(End& end, OsCallKind kind, const Buffer& user, std::uint64_t bytes) {
  const bool cut = end.def->direct && kind == OsCallKind::write && bytes % kSectorBytes != 0;
  end.file.direct = end.def->direct && !cut;
  call_.kind = kind;
  call_.file = &end.file;
  call_.offset = end.at;
  call_.bytes = bytes;
  call_.user = user;
  call_.user_offset = 0;
  bool done = os_->begin(call_);
  while (!done && os_->run_once()) done = os_->advance(call_);
  if (!done) status_ = Status::stuck;
  failed_ = !done || call_.error != MmcError::none;
  end.at += call_.copied;
  return !failed_;
}

}  // namespace fw
