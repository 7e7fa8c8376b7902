// The DAT side of the data engine in `at` style: one event per block.
#include <algorithm>

#include "models/sdhci/data_engine.hpp"

namespace vp {

using sc_core::sc_time_stamp;

bool DataEngine::stopped_by_gap(std::uint64_t block) {
  if (!stop_at_gap_ || block == 0 || gap_stopped_) return gap_stopped_;
  gap_stopped_ = true;
  client_.data_interrupt(sdhci::kIntBlockGap);
  gap_open_ = true;
  gap_reached();
  return true;
}

/// Transfer Complete of a stop: when what has come in is in memory (SDHCI 4.20 2.2.13).
void DataEngine::gap_reached() {
  if (!gap_open_ || (job_.direction == DataDir::read && (pieces_open_ > 0 || fifo_used_ > 0))) return;
  gap_open_ = false;
  client_.data_interrupt(sdhci::kIntTransferComplete);
}

void DataEngine::continue_after_gap() {
  if (!gap_stopped_) return;
  gap_stopped_ = gap_open_ = false;
  wire_base_ = std::max(wire_base_, sc_time_stamp());
  if (by_reservation())
    run_lt();
  else if (job_.direction == DataDir::read)
    start_read_frame();
  else
    start_write_frame();
}

bool DataEngine::bad_sampling() { return !client_.sampling_good(); }

// --- read: card to host ---

NodeId DataEngine::read_cause(sc_time base, const BlockReady& ready, sc_time end) {
  CauseGraph& g = graph();
  if (room_at_ > base && room_at_ >= ready.at) {
    const NodeId stop = g.add(wire_node_, Span::clock_stop_fifo_full, room_at_);
    return g.add(stop, Span::wire, end);
  }
  if (ready.at > base) {
    const NodeId why = ready.why == kRootNode ? g.add(wire_node_, Span::device_buffer, ready.at) : ready.why;
    return g.add(why, Span::wire, end);
  }
  if (wire_node_extendable_) {
    g.extend(wire_node_, end);
    return wire_node_;
  }
  return g.add(wire_node_, Span::wire, end);
}

void DataEngine::start_read_frame() {
  if (!active_ || frame_on_wire_ || waiting_for_room_ || card_stopped_ || stuck_ || finishing_) return;
  if (job_.blocks != 0 && next_block_ == job_.blocks) return;
  if (stopped_by_gap(next_block_)) return;
  if (!bus_.card()
           .transfer_running()) {  // the device has no more: it ran over its end, or counts fewer blocks
    arm_timeout(wire_base_);
    return;
  }
  if (fifo_used_ >= capacity()) {
    waiting_for_room_ = true;
    stopped_since_ = wire_base_;
    return;
  }
  const BlockReady ready = bus_.read_ready(static_cast<std::uint32_t>(next_block_), graph());
  if (ready.at > wire_base_ + timeout_) {
    arm_timeout(wire_base_);
    return;
  }
  const sc_time start = bus_.clock().align(std::max({wire_base_, ready.at, room_at_}));
  frame_start_ = start;
  frame_end_ = start + bus_.frame_time(job_.block_bytes);
  wire_node_ = read_cause(wire_base_, ready, frame_end_);
  wire_node_extendable_ = true;
  frame_on_wire_ = true;
  const sc_time at = available_at(frame_end_);
  wire_event_.notify(at - sc_time_stamp());
}

void DataEngine::end_read_frame() {
  frame_on_wire_ = false;
  Slot& slot = new_slot();
  slot.block = next_block_;
  slot.ready = sc_time_stamp();
  MmcBus::FrameCheck check =
      bus_.receive(static_cast<std::uint32_t>(next_block_), slot.data, frame_start_, frame_end_);
  if (bad_sampling()) {
    slot.data[0] ^= std::byte{0xFF};
    check.crc_error = true;
  }
  ++counters_.blocks_read;
  ++next_block_;
  ++fifo_used_;
  slots_.push_back(&slot);
  trace_fifo(frame_end_);
  count_block(sc_time_stamp());
  if (job_.tuning) {
    client_.tuning_block(!check.crc_error);
    return;
  }
  if (check.crc_error || check.end_bit_error) {
    fail((check.crc_error ? sdhci::kIntDataCrc : 0u) | (check.end_bit_error ? sdhci::kIntDataEndBit : 0u));
    return;
  }
  const double hz = bus_.clock().frequency_hz();
  wire_base_ = frame_end_ + bus_.clock().cycles(bus_.card().block_gap_clocks(hz));
  if (job_.mover == Mover::pio) {
    if (slots_.size() == 1) client_.data_interrupt(sdhci::kIntBufferReadReady);
  } else {
    pump_memory();
  }
  if (active_ && card_stopped_) return finish_stopped();
  if (active_) start_read_frame();
}

// --- write: host to card ---

NodeId DataEngine::write_cause(sc_time base, sc_time have, sc_time end) {
  CauseGraph& g = graph();
  NodeId n = wire_node_;
  if (have > base) {
    if (segment_wait_until_ > g.end(n) && segment_wait_until_ <= have)
      n = g.add(n, Span::descriptor_fetch, segment_wait_until_);
    n = g.add(n, job_.mover == Mover::pio ? Span::driver_submit : Span::axi_read, have);
    counters_.wire_wait_for_data += have - base;
  }
  return g.add(n, Span::wire, end);
}

void DataEngine::start_write_frame() {
  if (!active_ || !card_may_send_ || frame_on_wire_ || card_stopped_ || finishing_) return;
  if (job_.blocks != 0 && next_block_ == job_.blocks) return;
  if (stopped_by_gap(next_block_)) return;
  waiting_for_data_ = slots_.empty() || !slots_.front()->complete;
  if (waiting_for_data_) return;
  Slot& slot = *slots_.front();
  const sc_time start = bus_.clock().align(std::max(wire_base_, slot.ready));
  frame_start_ = start;
  frame_end_ = start + bus_.frame_time(job_.block_bytes);
  const sc_time token = bus_.token_end(frame_end_);
  wire_node_ = write_cause(wire_base_, slot.ready, token);
  frame_on_wire_ = true;
  wire_event_.notify(token - sc_time_stamp());
}

void DataEngine::end_write_frame() {
  frame_on_wire_ = false;
  const sc_time token = sc_time_stamp();
  Slot& slot = *slots_.front();
  const WriteEffect effect = bus_.send(static_cast<std::uint32_t>(next_block_), slot.data, frame_start_,
                                       frame_end_, graph(), wire_node_);
  slots_.pop_front();
  if (memory_slot_ > 0) --memory_slot_;
  free_slot(slot);
  --fifo_used_;
  trace_fifo(token);
  ++counters_.blocks_written;
  ++next_block_;
  count_block(token);
  if (effect.status == CrcStatus::crc_error) {
    fail(sdhci::kIntDataCrc);
    return;
  }
  if (effect.status == CrcStatus::none) {
    arm_timeout(token);
    return;
  }
  const sc_time free = std::max(token, effect.busy_until);
  if (free > token) {
    wire_node_ = effect.why == kRootNode ? graph().add(wire_node_, Span::busy, free) : effect.why;
    if (free > token + timeout_) {
      arm_timeout(token);
      return;
    }
  }
  wire_base_ = free + bus_.clock().cycles(bus_.params().n_wr);
  if (card_stopped_) return finish_stopped();
  if (job_.blocks != 0 && next_block_ == job_.blocks) {
    bool waiting = false;
    if (table_has_ended(waiting) || waiting) complete_at(free, wire_node_);
    return;
  }
  if (job_.mover == Mover::pio) {
    if (pio_can_write()) client_.data_interrupt(sdhci::kIntBufferWriteReady);
  } else {
    pump_memory();
  }
  if (active_) start_write_frame();
}

}  // namespace vp
