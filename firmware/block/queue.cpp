#include "firmware/block/queue.hpp"

#include <bit>

#include "firmware/hal/hal.hpp"

namespace fw {

void RequestQueue::init(BlockBackend& backend, const QueueLimits& limits) {
  backend_ = &backend;
  limits_ = limits;
  free_ = ~std::uint64_t{0};
  for (unsigned i = 0; i < kMaxRequests; ++i) requests_[i].slot = i;
  waiting_ = {};
  cutting_ = {};
  done_ = {};
  prepared_ = nullptr;
  in_flight_ = 0;
}

void RequestQueue::submit(Io& io) {
  io.cut = 0;
  io.all_cut = false;
  io.outstanding = 0;
  io.error = MmcError::none;
  cutting_.push(&io);
  cut_more();
}

void RequestQueue::cut_more() {
  while (cutting_.count && free_) {
    Io& io = *cutting_.front();
    if (!cut_one(io)) io.error = MmcError::bad_request;
    io.all_cut = io.error == MmcError::bad_request || io.cut >= io.bytes;
    if (io.all_cut) {
      cutting_.pop();
      if (io.outstanding == 0) finish(io);
    }
    kick();
  }
}

Request* RequestQueue::new_request(Io& io) {
  Request& r = requests_[static_cast<unsigned>(std::countr_zero(free_))];
  free_ &= free_ - 1;
  const std::uint32_t slot = r.slot;
  r = Request{};
  r.slot = slot;
  r.io = &io;
  ++io.outstanding;
  return &r;
}

bool RequestQueue::cut_one(Io& io) {
  Extent e;
  const bool flush = io.direction == Direction::sync;
  if (!flush) {
    e = cut_request(io.buffer, io.cut, io.bytes - io.cut, limits_);
    if (e.bytes == 0) return false;
  }
  Request& r = *new_request(io);
  r.flush = flush;
  r.write = io.direction == Direction::write;
  r.fua = r.write && io.fua;
  r.lba = (io.offset + io.cut) / kSectorBytes;
  r.bytes = e.bytes;
  r.segments = e.segments;
  r.buffer_offset = io.cut;
  io.cut += e.bytes;
  waiting_.push(&r);
  hal::event(hal::Event::request_begin, r.slot, std::uint64_t{io.slot} << 32 | (r.write ? 1 : 0), r.lba,
             r.bytes);
  return true;
}

void RequestQueue::kick() {
  for (;;) {
    if (!prepared_ && waiting_.count) {
      prepared_ = waiting_.pop();
      announce(*prepared_);
    }
    if (!prepared_) return;
    if (in_flight_ < backend_->max_in_flight()) {
      Request& r = *prepared_;
      prepared_ = nullptr;
      issue(r);
      continue;
    }
    map(*prepared_);  // while the current one runs
    return;
  }
}

void RequestQueue::announce(Request& r) {
  if (r.flush) return;
  const std::uint32_t n = gather(r.io->buffer, r.buffer_offset, r.bytes, limits_.max_seg_bytes, segments_);
  for (std::uint32_t i = 0; i < n; ++i)
    hal::event(hal::Event::request_buffer, r.slot, segments_[i].address, segments_[i].bytes);
}

void RequestQueue::map(Request& r) {
  if (r.mapped || r.flush) return;
  r.mapped = true;
  hal::cost(hal::Cost::dma_map, r.io->buffer.pages_of(r.buffer_offset, r.bytes));
}

void RequestQueue::issue(Request& r) {
  hal::event(hal::Event::request_issue, r.slot, backend_->tag(r));
  hal::cost(hal::Cost::request_prep);
  if (!backend_->maps_itself()) map(r);
  ++in_flight_;
  backend_->issue(r);
}

void RequestQueue::service() {
  backend_->service();
  std::array<Request*, 32> ended;
  unsigned n = 0;
  while (n < ended.size() && (ended[n] = backend_->take_finished())) ++n;
  in_flight_ -= n;
  if (n) kick();
  for (unsigned i = 0; i < n; ++i) complete(*ended[i]);
  if (n) cut_more();
}

void RequestQueue::complete(Request& r) {
  Io& io = *r.io;
  hal::cost(hal::Cost::request_complete);
  if (!r.flush) hal::cost(hal::Cost::dma_unmap, io.buffer.pages_of(r.buffer_offset, r.bytes));
  hal::event(hal::Event::request_end, r.slot, static_cast<std::uint64_t>(r.error));
  if (io.error == MmcError::none) io.error = r.error;
  free_ |= std::uint64_t{1} << r.slot;
  if (--io.outstanding == 0 && io.all_cut) finish(io);
}

void RequestQueue::finish(Io& io) {
  if (io.owner)
    io.owner->io_done(io);
  else
    done_.push(&io);
}

Io* RequestQueue::take_done() { return done_.pop(); }

}  // namespace fw
