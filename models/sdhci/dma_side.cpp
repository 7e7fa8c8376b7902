// The memory side of the data engine: segments, the 128 MiB rule, AXI transfers, FIFO room.
#include <fmt/format.h>

#include <algorithm>

#include "models/sdhci/data_engine.hpp"

namespace vp {

using sc_core::sc_time_stamp;

void DataEngine::sdma_resume(std::uint64_t address) {
  if (job_.mover != Mover::sdma) return;
  sdma_ = Segment{};
  sdma_.address = address;
  const std::uint64_t next = (address / job_.sdma_boundary + 1) * job_.sdma_boundary;
  sdma_.bytes = static_cast<std::uint32_t>(next - address);
  sdma_.interrupt = true;
  sdma_waiting_ = false;
  if (active_ && (fetch_block_ || next_block_ || !slots_.empty())) segment_arrived();
}

std::uint64_t DataEngine::memory_address() const { return sdma_.address; }

void DataEngine::segment_arrived() {
  if (!active_) return;
  if (waiting_for_segment_) {
    waiting_for_segment_ = false;
    segment_wait_until_ = sc_time_stamp();
    if (segment_wait_until_ > segment_wait_from_)
      counters_.descriptor_wait += segment_wait_until_ - segment_wait_from_;
  }
  pump_memory();
  check_complete();
}

DataEngine::Segment* DataEngine::segment(sc_time now) {
  if (job_.mover == Mover::sdma) return sdma_waiting_ ? nullptr : &sdma_;
  return by_reservation() ? walker_.current_lt(now) : walker_.current();
}

/// Looks at a segment when it comes into use. False: the engine has stopped with an error.
bool DataEngine::check_segment(Segment& s) {
  switch (s.kind) {
    case Segment::Kind::invalid:
    case Segment::Kind::bus_error:
      fail_adma(AdmaState::fetch, false, s.descriptor);
      return false;
    case Segment::Kind::end:
      if (!job_.check_length) {
        end_with_table(s);
        return false;
      }
      fail_adma(AdmaState::transfer, true, s.descriptor);
      return false;
    case Segment::Kind::data:
      break;
  }
  if (s.checked) return true;
  s.checked = true;
  if (s.address % job_.alignment != 0) {
    fail_adma(AdmaState::fetch, false, s.descriptor);
    return false;
  }
  const std::uint64_t window = (s.address / sdhci::kDmaWindowBytes + 1) * sdhci::kDmaWindowBytes;
  if (s.bytes > 0 && s.address + s.bytes > window) {
    s.window_end = window;
    report_crossing(s);
  }
  return true;
}

void DataEngine::report_crossing(Segment& s) {
  ++counters_.boundary_crossings;
  ctx_.finding(
      "dma.crosses_128m", name(), {s.descriptor, s.address, s.window_end},
      fmt::format(
          "{}descriptor {} at 0x{:x}: data 0x{:x} to 0x{:x} cross the 128 MiB boundary at byte 0x{:x}; "
          "split it there",
          job_.tag < 0 ? std::string() : fmt::format("tag {}, ", job_.tag), s.index, s.descriptor, s.address,
          s.address + s.bytes - 1, s.window_end));
}

/// Without a block count the table's end is the transfer's (SDHCI 4.20 2.2.5); it must be a block's end for a write.
void DataEngine::end_with_table(const Segment& end) {
  if (job_.direction == DataDir::write) {
    Slot& slot = *slots_.back();
    if (slot.issued != 0) {
      fail_adma(AdmaState::transfer, true, end.descriptor);
      return;
    }
    slots_.pop_back();
    free_slot(slot);
    --fifo_used_;
    job_.blocks = --fetch_block_;
  }
  table_done_ = true;
  check_complete();
}

/// How many of `wanted` bytes may go as one piece at the segment's present address. 0: stopped at the boundary.
std::uint32_t DataEngine::piece_limit(Segment& s, std::uint32_t wanted) {
  std::uint32_t n = std::min(wanted, s.bytes);
  if (s.window_end == 0 || params_.boundary_128m == "ok") return n;
  if (s.address < s.window_end)
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(n, s.window_end - s.address));
  if (params_.boundary_128m == "wrap") {  // the address counter has 27 bits
    s.address -= sdhci::kDmaWindowBytes;
    s.window_end = 0;
    return n;
  }
  if (params_.boundary_128m == "adma_error") {
    fail_adma(AdmaState::transfer, false, s.descriptor + job_.format.bytes);
    return 0;
  }
  stuck_ = true;  // "stall": nothing moves again; the data timeout tells
  blocked_on_ = job_.direction == DataDir::read ? Span::axi_write : Span::axi_read;
  arm_timeout(sc_time_stamp());
  return 0;
}

/// Takes `bytes` off the segment. True when that used it up.
bool DataEngine::use_segment(Segment& s, std::uint32_t bytes) {
  s.address += bytes;
  s.bytes -= bytes;
  return s.bytes == 0;
}

void DataEngine::next_segment(sc_time now) {
  if (job_.mover == Mover::sdma)
    sdma_waiting_ = true;
  else
    walker_.advance(now);
}

/// Starts the transfers of a slot as far as segments are here.
void DataEngine::issue_slot(Slot& slot) {
  while (active_ && !stuck_ && slot.issued < slot.bytes) {
    Segment* s = segment(sc_time_stamp());
    // At prefetch depth 0 a used-up segment stays in front until its last burst has been issued.
    if (!s || (s->kind == Segment::Kind::data && s->bytes == 0)) {
      if (!waiting_for_segment_ && job_.mover == Mover::adma) {
        waiting_for_segment_ = true;
        segment_wait_from_ = sc_time_stamp();
      }
      return;
    }
    if (!check_segment(*s)) return;
    const std::uint32_t n = piece_limit(*s, slot.bytes - slot.issued);
    if (n == 0) return;
    Piece& p = new_piece();
    p.is_write = job_.direction == DataDir::read;
    p.address = s->address;
    p.data = slot.data.data() + slot.issued;
    p.bytes = n;
    p.slot = &slot;
    slot.issued += n;
    ++slot.open;
    ++pieces_open_;
    p.ends_segment = use_segment(*s, n);
    // No DMA interrupt from what ends the transfer (SDHCI 4.20 2.2.18).
    const bool ends_transfer = job_.blocks != 0 && slot.block + 1 == job_.blocks && slot.issued == slot.bytes;
    p.interrupt = p.ends_segment && s->interrupt && !ends_transfer;
    p.next_descriptor = job_.mover == Mover::sdma ? p.address : s->descriptor + job_.format.bytes;
    ctx_.trace.change(t_address_, sc_time_stamp(), p.address);
    ctx_.trace.change_state(t_state_, sc_time_stamp(), "ST_TFR");
    const bool advance_now = p.ends_segment && (job_.mover == Mover::sdma || walker_.depth() > 0);
    port_.start(p);
    if (advance_now) next_segment(sc_time_stamp());
  }
}

void DataEngine::pump_memory() {
  if (!active_ || stuck_ || job_.mover == Mover::pio) return;
  if (job_.direction == DataDir::read) {
    while (active_ && !table_done_ && memory_slot_ < slots_.size()) {
      Slot& slot = *slots_[memory_slot_];
      issue_slot(slot);
      if (slot.issued < slot.bytes) return;
      ++memory_slot_;
    }
    return;
  }
  while (active_ && !table_done_) {
    if (memory_slot_ == slots_.size()) {
      const bool more = job_.blocks == 0 || fetch_block_ < job_.blocks;
      if (!more || card_stopped_ || fifo_used_ >= capacity()) return;
      Slot& slot = new_slot();
      slot.block = fetch_block_++;
      slots_.push_back(&slot);
      ++fifo_used_;
    }
    Slot& slot = *slots_[memory_slot_];
    issue_slot(slot);
    if (!active_ || table_done_ || slot.issued < slot.bytes) return;
    ++memory_slot_;
  }
}

void DataEngine::axi_issued(AxiMasterPort::Transfer& transfer) {
  if (!active_ || transfer.id != 0) return;
  Piece& p = static_cast<Piece&>(transfer);
  if (!p.ends_segment || job_.mover != Mover::adma || walker_.depth() > 0) return;
  next_segment(sc_time_stamp());
  pump_memory();
}

void DataEngine::axi_left(AxiMasterPort::Transfer& transfer) {
  if (!active_ || !params_.posted_drain || transfer.id != 0) return;
  Piece& p = static_cast<Piece&>(transfer);
  --p.slot->open;
  if (p.slot->open == 0 && p.slot->issued == p.slot->bytes) piece_drained(*p.slot);
}

void DataEngine::axi_done(AxiMasterPort::Transfer& transfer) {
  if (transfer.id == kFetchId) {
    if (fetch_dropped_) {
      fetch_dropped_ = false;
      if (fetch_open_) start_fetch();
      return;
    }
    fetch_open_ = false;
    fetched_(!transfer.error);
    return;
  }
  if (transfer.id == DescriptorWalker::kTransferId) {
    if (active_) walker_.fetched(transfer);
    return;
  }
  Piece& p = static_cast<Piece&>(transfer);
  if (!active_) return;
  Slot& slot = *p.slot;
  const bool error = p.error, interrupt = p.interrupt;
  --pieces_open_;
  piece_free_.push_back(&p);
  if (error) {
    fail_adma(AdmaState::transfer, false, p.next_descriptor);
    return;
  }
  if (job_.direction == DataDir::write) {
    if (--slot.open == 0 && slot.issued == slot.bytes) {
      slot.complete = true;
      slot.ready = sc_time_stamp();
      trace_fifo(slot.ready);
      if (waiting_for_data_) start_write_frame();
    }
  } else if (!params_.posted_drain) {
    if (--slot.open == 0 && slot.issued == slot.bytes) piece_drained(slot);
  }
  if (interrupt) client_.data_interrupt(sdhci::kIntDma);
  check_complete();
}

/// A read's block has left the FIFO.
void DataEngine::piece_drained(Slot& slot) {
  if (job_.mover != Mover::pio) {
    slots_.erase(std::find(slots_.begin(), slots_.end(), &slot));
    --memory_slot_;
  }
  free_slot(slot);
  --fifo_used_;
  const sc_time now = sc_time_stamp();
  trace_fifo(now);
  if (waiting_for_room_) {
    waiting_for_room_ = false;
    room_at_ = now;
    ++counters_.clock_stops;
    if (now > stopped_since_) counters_.clock_stopped += now - stopped_since_;
    start_read_frame();
  }
  check_complete();
}

/// Does the descriptor table end where the data end? `waiting`: the next descriptor is still to come.
bool DataEngine::table_has_ended(bool& waiting) {
  waiting = false;
  if (job_.mover != Mover::adma || !job_.check_length) return true;
  Segment* s = segment(sc_time_stamp());
  if (!s) {
    waiting = true;
    return false;
  }
  if (s->kind == Segment::Kind::end) return true;
  if (s->kind == Segment::Kind::data && s->bytes == 0 && s->last) return true;  // depth 0, not yet advanced
  if (s->kind == Segment::Kind::data && s->bytes == 0) {
    waiting = true;
    return false;
  }
  if (s->kind == Segment::Kind::data)
    fail_adma(AdmaState::transfer, true, s->descriptor + job_.format.bytes);
  else
    fail_adma(AdmaState::fetch, false, s->descriptor);
  return false;
}

void DataEngine::check_complete() {
  if (!active_ || finishing_ || job_.tuning) return;
  gap_reached();
  const bool by_table = table_done_ && job_.direction == DataDir::read;  // blocks beyond it are dropped
  if (job_.blocks == 0 && !card_stopped_ && !table_done_) return;
  if (!by_table && (next_block_ < job_.blocks || frame_on_wire_)) return;
  if (by_table && pieces_open_ > 0) return;
  if (job_.direction == DataDir::read && !by_table && (pieces_open_ > 0 || fifo_used_ > 0)) return;
  if (job_.direction == DataDir::write && job_.blocks > 0 && bus_.busy(sc_time_stamp()) && !card_stopped_)
    return;
  bool waiting = false;
  if (!table_has_ended(waiting)) return;
  const sc_time now = sc_time_stamp();
  NodeId last = wire_node_;
  if (job_.direction == DataDir::read && job_.mover != Mover::pio) {
    if (segment_wait_until_ > graph().end(last))
      last = graph().add(last, Span::descriptor_fetch, segment_wait_until_);
    last = graph().add(last, Span::axi_write, now);
  } else if (segment_wait_until_ > graph().end(last)) {
    last = graph().add(last, Span::descriptor_fetch, now);
  }
  complete_at(now, last);
}

}  // namespace vp
