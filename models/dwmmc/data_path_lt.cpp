// The data path in `lt` style: the recurrences of wire_side.cpp and dma_side.cpp computed ahead by reservation for up to
// 64 KiB at a time. A list that cannot go on (OWN = 0, bus error) stops the wire when the FIFO is full or empty, as in
// `at` style; poll demand goes on from there.
#include <algorithm>

#include "models/dwmmc/data_path.hpp"

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

namespace {
constexpr std::uint32_t kChunkBytes = 64 * 1024;  // one event each
constexpr std::uint32_t kRunBytes = 4096;         // one b_transport each
}  // namespace

void DwmmcData::run_lt() {
  const sc_time now = sc_time_stamp();
  lt_blocked_ = false;
  const GraphScope scope(*this);
  if (lt_stage_.size() < kRunBytes + job_.burst_bytes) lt_stage_.resize(kRunBytes + job_.burst_bytes);
  pump_lt(std::max(now, lt_start_));
  if (wire_active_ && !wire_finished_ && card_may_send_) {
    lt_chunk_end_ = block_ + std::max<std::uint64_t>(1, kChunkBytes / job_.block_bytes);
    while (block_ < lt_chunk_end_ && !wire_finished_ && !lt_blocked_)
      job_.direction == DataDir::read ? read_block_lt() : write_block_lt();
  }
  flush_lt();
  if (!wire_active_ || wire_finished_ || lt_blocked_ || !card_may_send_) return;
  const sc_time next = data_end_;
  wire_event_.notify(next > now ? next - now : sc_core::SC_ZERO_TIME);
}

// --- read ---

/// Since when `bytes` more have had room. False: the IDMAC has not taken what is in their place.
bool DwmmcData::room_lt(std::uint64_t bytes, sc_time& when) {
  when = sc_time();
  const std::uint64_t filled = fifo_.in_reserved + bytes;
  if (filled <= fifo_.capacity()) return true;
  const std::uint64_t place = filled - fifo_.capacity();
  if (fifo_.out_reserved < place) return false;
  if (fifo_.out_done < place) flush_lt();
  if (fifo_.out_done < place) return false;
  when = out_marks_.when(place);
  return true;
}

void DwmmcData::read_block_lt() {
  sc_time room_at;
  if (!in_block_) {
    if (!bus_.card().transfer_running()) {
      lt_blocked_ = true;
      return arm_timeout(wire_base_, kIntDataReadTimeout);
    }
    if (!room_lt(needed_to_start(), room_at)) {
      const std::uint64_t room = fifo_.capacity() - (fifo_.in_reserved - fifo_.out_reserved);
      if (job_.card_threshold != 0 || room == 0 || !room_lt(room, room_at)) {
        lt_blocked_ = true;
        return stop_clock(wire_base_);
      }
    }
    clock_runs();
    if (!begin_read_block(room_at)) {
      lt_blocked_ = true;
      return;
    }
  }
  while (offset_ < job_.block_bytes && !stream_read_lt()) {
    std::uint32_t n = std::min(quantum_, job_.block_bytes - offset_);
    if (!room_lt(n, room_at)) {
      n = static_cast<std::uint32_t>(fifo_.capacity() - (fifo_.in_reserved - fifo_.out_reserved));
      if (n == 0 || !room_lt(n, room_at)) {
        lt_blocked_ = true;
        return stop_clock(data_end_);
      }
    }
    clock_runs();
    advance_read(n, offset_ > 0 ? room_at : sc_time());
    fifo_.push(block_data_.data() + offset_, n);
    offset_ += n;
    card_bytes_ += n;
    pump_lt(core_.align(data_end_) + core_.cycles(params_.fifo_latency));
  }
  if (read_errors() != 0) flush_lt();
  end_read_block(core_.align(frame_end()) + core_.cycles(params_.crc_check));
}

/// The rest of a block whose quanta are bursts of one buffer and find the FIFO empty of others, and blocks in step with
/// it: the same steps with nothing left to ask. False: not such a block.
bool DwmmcData::stream_read_lt() {
  const std::uint32_t rest = job_.block_bytes - offset_, n = quantum_;
  const Entry* const in_use = list_.in_use();
  if (!in_use || !in_use->checked || in_use->bytes < rest || n != job_.burst_bytes || rest % n != 0 ||
      fifo_.in_done != fifo_.out_reserved || (job_.rx_watermark + 1) * word_bytes_ > n || no_requests_ ||
      list_dead_ || dma_failed_ || !dma_active_ || clock_stopped_)
    return false;
  const sc_time first_end = data_end_ + data_time(n) + bus_.clock().cycles(offset_ == 0 ? 1 : 0);
  if (!direct_lt(*in_use, rest, core_.align(first_end) + core_.cycles(params_.fifo_latency))) return false;
  Entry& e = *list_.current_lt(data_end_);
  std::memcpy(lt_memory_.at(e.data), block_data_.data() + offset_, rest);
  sc_time ready;
  unsigned blocks = in_step_lt(e, n, rest / n, ready);
  if (blocks == 0) {
    blocks = 1;
    const std::uint64_t capacity = fifo_.capacity();
    for (; offset_ < job_.block_bytes; offset_ += n) {
      const std::uint64_t filled = fifo_.in_reserved + n;
      advance_read(n, offset_ > 0 && filled > capacity ? out_marks_.when(filled - capacity) : sc_time());
      ready = core_.align(data_end_) + core_.cycles(params_.fifo_latency);
      LtPiece piece{n, ready, {}, {}};
      port_.time_lt(lt_memory_, true, e.data, piece);
      buffer_address_ = e.data;
      e.data += n;
      out_marks_.add(filled, params_.posted_drain ? piece.left : piece.done);
      lt_last_done_ = std::max(lt_last_done_, piece.done);
    }
  }
  const std::uint32_t moved = blocks * rest;
  fifo_.in_done = fifo_.out_reserved = fifo_.out_done = fifo_.in_reserved;
  counters_.bursts += moved / n;
  card_bytes_ += moved;
  host_bytes_ += moved;
  e.bytes -= moved;
  dma_end_ = lt_last_done_;
  if (e.used_up() || fifo_.out_done == total_) end_of_buffer_lt(e, ready, fifo_.out_done);
  pump_lt(ready);
  return true;
}

/// As the loop of stream_read_lt() where nothing waits: the wire never for room, no burst for the one before it. A
/// quantum and its bursts are then the first ones, shifted, and blocks that stand ready in the card follow the first one
/// alike. How many blocks that were, the last one's frame still to be ended; 0: something may wait; nothing has been done.
unsigned DwmmcData::in_step_lt(Entry& e, std::uint32_t bytes, unsigned quanta, sc_time& ready) {
  const std::uint64_t capacity = fifo_.capacity(), block = std::uint64_t{quanta} * bytes;
  if (offset_ != 0 || block > capacity) return 0;
  const sc_time step = data_time(bytes), first_end = data_end_ + step + bus_.clock().cycles(1);
  if (fifo_.in_reserved + block > capacity && out_marks_.last() > first_end) return 0;
  if (step.value() % core_.period().value() != 0) return 0;
  ready = core_.align(first_end) + core_.cycles(params_.fifo_latency);
  AxiRhythm rhythm = rhythm_lt(e, bytes, quanta, ready);
  LtPiece first{bytes, ready, {}, {}};
  while (!port_.time_pieces_lt(lt_memory_, true, e.data, rhythm, first)) {
    if (rhythm.rounds == 1) return 0;
    rhythm.rounds = (rhythm.rounds + 1) / 2;  // a train has to fit the memory's write buffer
    if (rhythm.rounds == 1) rhythm.round_ps = 0, rhythm.over_ps = AxiRhythm{}.over_ps;
  }
  const std::uint64_t end = fifo_.in_reserved + rhythm.rounds * block;
  rhythm.each([&](std::uint64_t shift) {
    fifo_.in_reserved += bytes;
    if (fifo_.in_reserved + capacity > end)  // nobody asks for earlier ones any more
      out_marks_.add(fifo_.in_reserved, (params_.posted_drain ? first.left : first.done) + from_ps(shift));
  });
  part_ = bytes;
  data_end_ = first_end + from_ps((quanta - 1) * step.value());
  graph().extend(wire_node_, data_end_);
  blocks_in_step_lt(e, rhythm.rounds);
  const sc_time behind = from_ps(rhythm.span());
  ready += behind;
  lt_last_done_ = std::max(lt_last_done_, first.done + behind);
  e.data += rhythm.rounds * block;
  buffer_address_ = e.data - bytes;
  offset_ = job_.block_bytes;
  return rhythm.rounds;
}

/// When the quanta of the block on the wire are in the FIFO, the first at `ready`, and of the blocks that may follow it
/// without a wait.
AxiRhythm DwmmcData::rhythm_lt(const Entry& e, std::uint32_t bytes, unsigned quanta, sc_time ready) {
  const std::uint64_t step = data_time(bytes).value(), block = std::uint64_t{quanta} * bytes;
  AxiRhythm rhythm{quanta, step};
  const sc_time start = block_start_, first_end = data_end_ + from_ps(step) + bus_.clock().cycles(1);
  const sc_time next =
      first_end + from_ps((quanta - 1) * step) + bus_.clock().cycles(kFrameTail) + block_gap();
  const sc_time round = next - start;
  // Not in this event's chunk, this buffer, or this page of the card; not known by now to be good.
  const std::uint64_t blocks = std::min<std::uint64_t>(
      {lt_chunk_end_ - block_, e.bytes / block, bus_.ready_with(static_cast<std::uint32_t>(block_))});
  if (blocks < 2 || out_marks_.last() > first_end || round.value() % core_.period().value() != 0 ||
      read_errors() != 0 || !client_.sampling_good())
    return rhythm;
  // The next block starts when there is room for what it needs, and its later quanta need the room of this one's last.
  const std::uint64_t need = needed_to_start(), capacity = fifo_.capacity();
  const sc_time last_ready = ready + from_ps((quanta - 1) * step);
  if (last_ready > next + (first_end - start)) return rhythm;
  std::uint64_t over = (next + (first_end - start) - last_ready).value();
  if (block + need > capacity) {
    const std::uint64_t waits_for = (block + need - capacity - 1) / bytes;  // this one's quantum
    const sc_time its = ready + from_ps(waits_for * step);
    if (its > next) return rhythm;
    over = std::min<std::uint64_t>(over, (next - its).value());
  }
  rhythm.rounds = static_cast<unsigned>(blocks);
  rhythm.round_ps = round.value();
  rhythm.over_ps = over;
  return rhythm;
}

/// The wire's side of the blocks behind the first.
void DwmmcData::blocks_in_step_lt(const Entry& e, unsigned blocks) {
  const sc_time data = data_end_ - block_start_, frame = bus_.frame_time(job_.block_bytes);
  for (unsigned i = 1; i < blocks; ++i) {
    end_read_block(sc_core::SC_ZERO_TIME);
    block_start_ = wire_base_;
    data_end_ = block_start_ + data;
    std::byte* const to = lt_memory_.at(e.data + std::uint64_t{i} * job_.block_bytes);
    check_ = bus_.receive(static_cast<std::uint32_t>(block_), {to, job_.block_bytes}, block_start_,
                          block_start_ + frame);
    graph().extend(wire_node_, data_end_);
  }
}

// --- write ---

/// Since when `bytes` more have been in the FIFO. False: the IDMAC has not asked for them.
bool DwmmcData::have_lt(std::uint64_t bytes, sc_time& when) {
  const std::uint64_t place = fifo_.out_reserved + bytes;
  if (fifo_.in_reserved < place) return false;
  if (fifo_.in_done < place) flush_lt();
  if (fifo_.in_done < place) return false;
  when = in_marks_.when(place);
  return true;
}

void DwmmcData::write_block_lt() {
  sc_time have;
  if (!in_block_) {
    if (!have_lt(needed_to_start(), have)) {
      const std::uint64_t here = fifo_.in_reserved - fifo_.out_reserved;
      if (job_.card_threshold != 0 || here == 0 || !have_lt(here, have)) {
        lt_blocked_ = true;
        return stop_clock(wire_base_);
      }
    }
    clock_runs();
    begin_write_block(have);
  }
  while (offset_ < job_.block_bytes) {
    std::uint32_t n = std::min(quantum_, job_.block_bytes - offset_);
    if (!have_lt(n, have)) {
      n = static_cast<std::uint32_t>(fifo_.in_reserved - fifo_.out_reserved);
      if (n == 0 || !have_lt(n, have)) {
        lt_blocked_ = true;
        return stop_clock(data_end_);
      }
    }
    clock_runs();
    advance_write(n, have);
    offset_ += n;
    card_bytes_ += n;
    fifo_.out_done += n;
    out_marks_.add(fifo_.out_done, data_end_);
    pump_lt(data_end_);
  }
  end_write_block();
}

// --- the IDMAC ---

/// Starts the bursts that the FIFO lets go, seen at `at`.
void DwmmcData::pump_lt(sc_time at) {
  if (!dma_active_ || dma_failed_ || list_dead_ || no_requests_) return;
  // Most looks find a buffer in use and a FIFO that does not let its next burst go.
  if (const Entry* e = list_.in_use();
      e && e->checked && e->bytes > 0 && !dma_finished_ && !all_moved() && !fifo_lets(burst_of(*e)))
    return;
  while (!dma_finished_ && !list_dead_ && !all_moved()) {
    Entry* e = list_.current_lt(at);
    if (!e) return;
    if (!e->checked && !entry_has_data(*e, std::max(at, e->at))) return;
    if (e->bytes == 0 && e->used_up()) {  // an empty descriptor
      const sc_time from = std::max(at, e->at);
      const std::uint64_t address = e->address;
      const std::uint32_t des0 = e->d.des0;
      if (list_.setup().depth > 0) list_.pop(from);
      close_descriptor(address, des0, false, from);
      continue;
    }
    if (!e->checked && !entry_has_data(*e, std::max(at, e->at))) return;  // buffer 2
    const std::uint32_t n = burst_of(*e);
    if (!fifo_lets(n)) return;
    sc_time ready = at;
    if (job_.direction == DataDir::write) {
      const std::uint64_t cap = fifo_.capacity(), mark = std::uint64_t{job_.tx_watermark} * word_bytes_;
      const std::uint64_t place = std::max(fifo_.in_reserved + n > cap ? fifo_.in_reserved + n - cap : 0,
                                           fifo_.in_reserved > mark ? fifo_.in_reserved - mark : 0);
      ready = std::max(lt_start_, out_marks_.when(place));
    }
    if (e->at > ready) {
      if (lt_last_done_ < e->at) counters_.descriptor_wait += e->at - std::max(ready, lt_last_done_);
      descriptor_wait_until_ = e->at;
    }
    direct_lt(*e, n, ready) ? move_lt(*e, n, ready) : gather_lt(*e, n, std::max(ready, e->at));
  }
}

/// May a burst be timed and moved where it stands, without a run? Reads ahead of the list want their place among the
/// bursts as runs give it, and what waits for a descriptor is counted against the last run.
bool DwmmcData::direct_lt(const Entry& e, std::uint32_t bytes, sc_time ready) {
  if (run_.count > 0 || list_.setup().depth > 0 || e.at > ready) return false;
  if (lt_memory_.holds(e.data, bytes)) return true;
  lt_memory_ = port_.memory_lt(e.data);
  return lt_memory_.holds(e.data, bytes);
}

void DwmmcData::move_lt(Entry& e, std::uint32_t bytes, sc_time ready) {
  LtPiece piece{bytes, ready, {}, {}};
  const bool to_memory = job_.direction == DataDir::read;
  port_.time_lt(lt_memory_, to_memory, e.data, piece);
  std::byte* const at = lt_memory_.at(e.data);
  std::uint64_t end;
  if (to_memory) {
    fifo_.pull(at, bytes);
    end = fifo_.out_done = fifo_.out_reserved;
    out_marks_.add(end, params_.posted_drain ? piece.left : piece.done);
  } else {
    end = fifo_.in_reserved += bytes;
    fifo_.push(at, bytes);
    in_marks_.add(end, piece.done);
  }
  lt_last_done_ = std::max(lt_last_done_, piece.done);
  dma_end_ = lt_last_done_;
  host_bytes_ += bytes;
  ++counters_.bursts;
  buffer_address_ = e.data;
  e.data += bytes;
  e.bytes -= bytes;
  if (e.used_up() || end == total_) end_of_buffer_lt(e, ready, end);
}

/// Adds one burst to the run under way, and ends the run where the descriptor ends.
void DwmmcData::gather_lt(Entry& e, std::uint32_t bytes, sc_time ready) {
  const bool joins = run_.count > 0 && run_.count < run_.pieces.size() &&
                     e.data == run_.address + run_.bytes && run_.bytes + bytes <= kRunBytes;
  if (!joins && !flush_lt()) return;
  if (run_.count == 0) {
    run_.address = buffer_address_ = e.data;
    run_.bytes = 0;
  }
  if (job_.direction == DataDir::read) {
    fifo_.pull(lt_stage_.data() + run_.bytes, bytes);
    run_.end[run_.count] = fifo_.out_reserved;
  } else {
    fifo_.in_reserved += bytes;
    run_.end[run_.count] = fifo_.in_reserved;
  }
  const std::uint64_t end = run_.end[run_.count];
  run_.pieces[run_.count++] = LtPiece{bytes, ready, {}, {}};
  run_.bytes += bytes;
  ++counters_.bursts;
  e.data += bytes;
  e.bytes -= bytes;
  if (e.used_up() || end == total_) end_of_buffer_lt(e, ready, end);
}

void DwmmcData::end_of_buffer_lt(Entry& e, sc_time ready, std::uint64_t end) {
  const std::uint64_t address = e.address;
  const std::uint32_t des0 = e.d.des0;
  if (list_.setup().depth > 0) list_.pop(ready);
  if (flush_lt()) close_descriptor(address, des0, end == total_, lt_last_done_);
}

/// Moves the gathered run. False: a bus error has ended the IDMAC's work.
bool DwmmcData::flush_lt() {
  if (run_.count == 0) return !list_dead_;
  const unsigned count = run_.count;
  run_.count = 0;
  const bool to_memory = job_.direction == DataDir::read;
  std::uint64_t error_address = run_.address;
  const bool good =
      port_.run_lt(to_memory, run_.address, lt_stage_.data(), {run_.pieces.data(), count}, &error_address);
  lt_last_done_ = std::max(lt_last_done_, run_.pieces[count - 1].done);
  if (!good) {
    bus_error(lt_last_done_, error_address);
    return false;
  }
  dma_end_ = lt_last_done_;
  host_bytes_ += run_.bytes;
  const std::byte* data = lt_stage_.data();
  for (unsigned i = 0; i < count; ++i) {
    const LtPiece& p = run_.pieces[i];
    if (to_memory) {
      fifo_.out_done = run_.end[i];
      out_marks_.add(run_.end[i], params_.posted_drain ? p.left : p.done);
    } else {
      fifo_.push(data, p.bytes);
      in_marks_.add(run_.end[i], p.done);
      data += p.bytes;
    }
  }
  return true;
}

}  // namespace vp
