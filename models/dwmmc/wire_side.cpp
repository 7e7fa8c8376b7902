// The DAT side of the data path: blocks as quanta. `at` style spends one event per quantum: with a block's last one its
// frame's end is known, and the next block is placed. The steps that compute instants are shared with `lt` style.
#include <algorithm>

#include "models/dwmmc/data_path.hpp"

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

sc_time DwmmcData::frame_end() const { return data_end_ + bus_.clock().cycles(kFrameTail); }

void DwmmcData::on_wire() {
  if (by_reservation()) return run_lt();
  settle();
  on_wire_ = false;
  if (tail_) {
    tail_ = false;
    return fail(pending_errors_, sc_time_stamp());
  }
  job_.direction == DataDir::read ? end_read_quantum() : end_write_quantum();
}

void DwmmcData::resume_wire() {
  if (!wire_active_ || wire_finished_ || on_wire_ || card_stopped_ || by_reservation()) return;
  const bool read = job_.direction == DataDir::read;
  if (in_block_)
    read ? start_read_quantum() : start_write_quantum();
  else
    read ? start_read_block() : start_write_block();
}

/// Room (read) or data (write) a block needs to start.
std::uint64_t DwmmcData::needed_to_start() const {
  const std::uint64_t first = std::min(quantum_, job_.block_bytes);
  const std::uint64_t threshold = job_.direction == DataDir::write
                                      ? std::min(job_.card_threshold, job_.block_bytes)
                                      : job_.card_threshold;
  return std::max(first, threshold);
}

// --- read: card to host ---

NodeId DwmmcData::read_cause(const BlockReady& ready, sc_time room) {
  CauseGraph& g = graph();
  if (room > wire_base_ && room >= ready.at)
    return g.add(g.add(wire_node_, Span::clock_stop_fifo_full, room), Span::wire, block_start_);
  if (ready.at > wire_base_) {
    const NodeId why = ready.why == kRootNode ? g.add(wire_node_, Span::device_buffer, ready.at) : ready.why;
    return g.add(why, Span::wire, block_start_);
  }
  return g.add(wire_node_, Span::wire, block_start_);
}

/// Takes the next block from the card, its first room free since `room_at`. False: the card has none in time.
bool DwmmcData::begin_read_block(sc_time room_at) {
  count_stop(wire_base_, room_at);
  const BlockReady ready = bus_.read_ready(static_cast<std::uint32_t>(block_), graph());
  if (ready.at > wire_base_ + timeout_) {
    arm_timeout(wire_base_, kIntDataReadTimeout);
    return false;
  }
  block_start_ = bus_.clock().align(std::max({wire_base_, ready.at, room_at}));
  data_end_ = block_start_;
  wire_node_ = read_cause(ready, room_at);
  std::byte* const next = block_data_.data() + job_.block_bytes;
  block_data_ = {next == blocks_data_.data() + blocks_data_.size() ? blocks_data_.data() : next,
                 job_.block_bytes};
  check_ = bus_.receive(static_cast<std::uint32_t>(block_), block_data_, block_start_,
                        block_start_ + bus_.frame_time(job_.block_bytes));
  if (!client_.sampling_good()) {
    block_data_[0] ^= std::byte{0xFF};
    check_.crc_error = true;
  }
  in_block_ = true;
  offset_ = 0;
  return true;
}

/// The next `bytes` of the block cross the wire, into room that is free since `room_at`.
void DwmmcData::advance_read(std::uint32_t bytes, sc_time room_at) {
  sc_time from = data_end_;
  if (room_at > from) {
    count_stop(from, room_at);
    from = bus_.clock().align(room_at);
    wire_node_ = graph().add(graph().add(wire_node_, Span::clock_stop_fifo_full, from), Span::wire, from);
  }
  part_ = bytes;
  fifo_.in_reserved += bytes;
  data_end_ = from + data_time(bytes) + bus_.clock().cycles(offset_ == 0 ? 1 : 0);
  graph().extend(wire_node_, data_end_);
}

/// The block's CRC and end bit are looked at at `checked`. True: another block follows.
bool DwmmcData::end_read_block(sc_time checked) {
  in_block_ = false;
  graph().extend(wire_node_, frame_end());
  ++counters_.blocks_read;
  ++block_;
  if (const std::uint32_t errors = read_errors()) {
    by_reservation() ? fail(errors, checked) : fail_when_due(errors, checked);
    return false;
  }
  if (rest_is_done()) {
    wire_over(checked, 0);
    return false;
  }
  wire_base_ = frame_end() + block_gap();
  return true;
}

/// From the end of a block read to the earliest start of the next.
sc_time DwmmcData::block_gap() const {
  return bus_.clock().cycles(bus_.card().block_gap_clocks(bus_.clock().frequency_hz()));
}

void DwmmcData::start_read_block() {
  if (!wire_active_ || wire_finished_ || on_wire_ || card_stopped_) return;
  if (!bus_.card()
           .transfer_running()) {  // the device has no more: it ran over its end, or counts fewer blocks
    clock_runs();
    return arm_timeout(wire_base_, kIntDataReadTimeout);
  }
  std::uint64_t need = needed_to_start();
  const std::uint64_t room = fifo_.room();
  if (room < need) {
    if (job_.card_threshold != 0 || room == 0 || !partial_allowed()) return stop_clock(wire_base_);
    need = room;
  }
  const GraphScope scope(*this);
  clock_runs();
  const std::uint64_t filled = fifo_.in_reserved + need;
  const sc_time room_at = filled > fifo_.capacity() ? out_marks_.when(filled - fifo_.capacity()) : sc_time();
  if (begin_read_block(room_at) && !start_ahead()) start_read_quantum();
}

/// A block whose quanta are bursts of one buffer, with room for all of them: nothing can come between, so the bursts are
/// handed to the port now, each for the instant its bytes are in the FIFO. False: not such a block. Waveforms want every
/// step at its time, and reads ahead of the list their place among the bursts.
bool DwmmcData::start_ahead() {
  const std::uint32_t n = quantum_, rest = job_.block_bytes;
  const Entry* const e = list_.in_use();
  if (!dma_active_ || dma_failed_ || dma_finished_ || list_dead_ || no_requests_ || closing_ || !e ||
      !e->checked || e->bytes < rest || n != job_.burst_bytes || rest % n != 0 ||
      rest / n > ahead_.quanta.size() || fifo_.in_reserved != fifo_.out_reserved || fifo_.room() < rest ||
      closes_open_ > 0 || (job_.rx_watermark + 1) * word_bytes_ > n || list_.setup().depth > 0 ||
      port_.params().address_bits < 64 || ctx_.trace.on())
    return false;
  ahead_.next = ahead_.count = 0;
  const bool one_by_one = port_.params().outstanding_writes == 1 && params_.posted_drain;
  std::byte* from = block_data_.data();
  for (std::uint32_t offset = 0; offset < rest; offset += n, from += n) {
    offset_ = offset;  // the start bit is the first quantum's
    advance_read(n, sc_time());
    Piece& p = new_piece(n);
    p.data = from;  // moved while the FIFO has it, so before the block's place is used again
    p.is_write = true;
    p.address = e->data + offset;
    p.end = fifo_.in_reserved;
    p.descriptor = e->address;
    p.des0 = e->d.des0;
    // The next block waits for the room of this one's last burst; who closes a descriptor waits for its end.
    const bool last = offset + n == rest;
    p.quiet_left = one_by_one && !last;
    p.quiet_done = one_by_one && !(last && (e->bytes == rest || p.end == total_));
    const sc_time ready = core_.align(data_end_) + core_.cycles(params_.fifo_latency);
    ahead_.quanta[ahead_.count++] = {ready, &p};
    port_.start(p, ready);
  }
  offset_ = 0;
  on_wire_ = true;
  const sc_time at = ahead_.quanta[ahead_.count - 1].ready, now = sc_time_stamp();
  wire_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
  return true;
}

/// What end_read_quantum() and issue() do at each quantum's instant, up to now.
void DwmmcData::settle_ahead() {
  const sc_time now = sc_time_stamp();
  for (; ahead_.next < ahead_.count && ahead_.quanta[ahead_.next].ready <= now; ++ahead_.next) {
    Piece* const p = ahead_.quanta[ahead_.next].piece;
    if (!p) {
      fifo_.push(block_data_.data() + offset_, part_);
    } else {
      Entry& e = *list_.current();
      fifo_.in_done += part_;
      fifo_.out_reserved += part_;
      buffer_address_ = e.data;
      e.data += part_;
      e.bytes -= part_;
      ++pieces_open_;
      ++counters_.bursts;
      if (p->quiet_done) quiet_.push(p);
      p->closes = closing_ = e.used_up() || p->end == total_;
      set_fsm(closing_ ? Fsm::write : Fsm::write_request_wait, now);
    }
    offset_ += part_;
    card_bytes_ += part_;
  }
  if (!quiet_.empty()) settle_quiet(now.value());
}

/// What drained() and axi_done() do for bursts that the port does not call for.
void DwmmcData::settle_quiet(std::uint64_t now) {
  while (!quiet_.empty()) {
    Piece& p = *quiet_.front();
    if (p.quiet_left && p.left_ps <= now && fifo_.out_done < p.end) {
      fifo_.out_done = p.end;
      out_marks_.add(p.end, from_ps(p.left_ps));
    }
    if (p.error || p.done_ps > now) return;
    quiet_.pop();
    --pieces_open_;
    piece_free_.push_back(&p);
    host_bytes_ += p.bytes;
    dma_end_ = from_ps(p.done_ps);
  }
}

/// From here on somebody waits for the room of the bursts under way, or for their end.
void DwmmcData::tell_room() {
  settle();
  for (std::size_t i = 0; i < quiet_.size(); ++i) port_.tell_left(*quiet_[i]);
}
void DwmmcData::tell_end() {
  tell_room();
  while (!quiet_.empty()) port_.tell_done(*quiet_.pop());
}

/// The IDMAC takes nothing more: bursts of quanta to come are off, the wire goes on.
void DwmmcData::withdraw_ahead() {
  settle();
  for (unsigned i = ahead_.count; i-- > ahead_.next;) {
    Piece*& p = ahead_.quanta[i].piece;
    if (!p) continue;
    port_.withdraw(*p);
    piece_free_.push_back(p);
    p = nullptr;
  }
}

void DwmmcData::start_read_quantum() {
  std::uint32_t n = std::min(quantum_, job_.block_bytes - offset_);
  const std::uint64_t room = fifo_.room();
  if (room < n) {
    if (room == 0 || !partial_allowed()) return stop_clock(data_end_);
    n = static_cast<std::uint32_t>(room);
  }
  clock_runs();
  const std::uint64_t filled = fifo_.in_reserved + n;
  const bool waited = offset_ > 0 && filled > fifo_.capacity();
  advance_read(n, waited ? out_marks_.when(filled - fifo_.capacity()) : sc_time());
  on_wire_ = true;
  const sc_time at = core_.align(data_end_) + core_.cycles(params_.fifo_latency), now = sc_time_stamp();
  wire_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void DwmmcData::end_read_quantum() {
  const GraphScope scope(*this);
  if (ahead_.count > 0) {
    settle();
    ahead_.next = ahead_.count = 0;
  } else {
    fifo_.push(block_data_.data() + offset_, part_);
    offset_ += part_;
    card_bytes_ += part_;
    trace_level(sc_time_stamp());
  }
  job_.idmac ? pump_dma() : pio_requests();
  if (offset_ < job_.block_bytes) return start_read_quantum();
  if (end_read_block(core_.align(frame_end()) + core_.cycles(params_.crc_check))) start_read_block();
}

// --- write: host to card ---

void DwmmcData::write_cause(sc_time base, sc_time have, sc_time end) {
  CauseGraph& g = graph();
  if (have > base) {
    if (descriptor_wait_until_ > g.end(wire_node_) && descriptor_wait_until_ <= have)
      wire_node_ = g.add(wire_node_, Span::descriptor_fetch, descriptor_wait_until_);
    wire_node_ = g.add(wire_node_, job_.idmac ? Span::axi_read : Span::driver_submit, have);
    count_stop(base, have);
  }
  wire_node_ = g.add(wire_node_, Span::wire, end);
}

/// The next block starts; what it needs has been in the FIFO since `have`.
void DwmmcData::begin_write_block(sc_time have) {
  block_start_ = bus_.clock().align(std::max(wire_base_, have));
  data_end_ = block_start_;
  write_cause(wire_base_, have, block_start_);
  in_block_ = true;
  offset_ = 0;
}

void DwmmcData::advance_write(std::uint32_t bytes, sc_time have) {
  sc_time from = data_end_;
  if (have > from && offset_ > 0) {
    from = bus_.clock().align(have);
    write_cause(data_end_, have, from);
  }
  part_ = bytes;
  fifo_.pull(block_data_.data() + offset_, bytes);
  data_end_ = from + data_time(bytes) + bus_.clock().cycles(offset_ == 0 ? 1 : 0);
  graph().extend(wire_node_, data_end_);
}

/// The block's CRC status and busy. True: another block follows.
bool DwmmcData::end_write_block() {
  const sc_time token = bus_.token_end(frame_end());
  graph().extend(wire_node_, token);
  const WriteEffect effect = bus_.send(static_cast<std::uint32_t>(block_), block_data_, block_start_,
                                       frame_end(), graph(), wire_node_);
  ++counters_.blocks_written;
  ++block_;
  in_block_ = false;
  if (effect.status != CrcStatus::accepted) {
    const std::uint32_t errors = effect.status == CrcStatus::none ? kIntEndBit : kIntDataCrc;
    by_reservation() ? fail(errors, token) : fail_when_due(errors, token);
    return false;
  }
  const sc_time free = std::max(token, effect.busy_until);
  const bool last = rest_is_done();
  if (last) wire_over(token, 0);
  if (free > token)
    wire_node_ = effect.why == kRootNode ? graph().add(wire_node_, Span::busy, free) : effect.why;
  if (last) {
    const sc_time at = core_.align(free) + core_.cycles(params_.dto_latch);
    if (job_.reports_busy) notice(Notice::Kind::busy_over, at, 0, graph().add(wire_node_, Span::busy, at));
    return false;
  }
  wire_base_ = free + bus_.clock().cycles(bus_.params().n_wr);
  return true;
}

void DwmmcData::start_write_block() {
  if (!wire_active_ || wire_finished_ || !card_may_send_ || on_wire_ || card_stopped_) return;
  std::uint64_t need = needed_to_start();
  const std::uint64_t here = fifo_.available();
  if (here < need) {
    if (job_.card_threshold != 0 || here == 0 || !partial_allowed()) return stop_clock(wire_base_);
    need = here;
  }
  clock_runs();
  begin_write_block(in_marks_.when(fifo_.out_reserved + need));
  start_write_quantum();
}

void DwmmcData::start_write_quantum() {
  std::uint32_t n = std::min(quantum_, job_.block_bytes - offset_);
  const std::uint64_t here = fifo_.available();
  if (here < n) {
    if (here == 0 || !partial_allowed()) return stop_clock(data_end_);
    n = static_cast<std::uint32_t>(here);
  }
  clock_runs();
  advance_write(n, in_marks_.when(fifo_.out_reserved + n));
  on_wire_ = true;
  const sc_time now = sc_time_stamp();
  wire_event_.notify(data_end_ > now ? data_end_ - now : sc_core::SC_ZERO_TIME);
}

void DwmmcData::end_write_quantum() {
  offset_ += part_;
  card_bytes_ += part_;
  fifo_.out_done += part_;
  out_marks_.add(fifo_.out_done, data_end_);
  trace_level(sc_time_stamp());
  job_.idmac ? pump_dma() : pio_requests();
  if (offset_ < job_.block_bytes) return start_write_quantum();
  if (end_write_block()) start_write_block();
}

}  // namespace vp
