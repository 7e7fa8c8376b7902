#include "models/hsmmc/data_path.hpp"

#include <algorithm>
#include <cstring>

namespace vp {

using namespace hsmmc;
using sc_core::sc_time_stamp;

HsmmcDataPath::HsmmcDataPath(sc_core::sc_module_name name, Context& ctx, ClockDomain& core, MmcBus& bus,
                             const HsmmcParams& params, Client& client)
    : sc_module(name), ctx_(ctx), core_(core), bus_(bus), params_(params), client_(client) {
  SC_METHOD(on_wire);
  sensitive << wire_event_;
  dont_initialize();
  SC_METHOD(on_request);
  sensitive << request_event_;
  dont_initialize();
  SC_METHOD(on_finish);
  sensitive << finish_event_;
  dont_initialize();
  SC_METHOD(on_timeout);
  sensitive << timeout_event_;
  dont_initialize();
  t_level_ = ctx_.trace.add_vector("hsmmc.buffer_level", 12);
}

std::uint32_t HsmmcDataPath::capacity() const { return job_.block_bytes * 2 <= params_.buffer_bytes ? 2 : 1; }

void HsmmcDataPath::prepare(const Job& job) {
  abort();
  job_ = job;
  active_ = true;
  reading_ = job.direction == DataDir::read;
}

void HsmmcDataPath::abort() {
  active_ = card_may_send_ = frame_on_wire_ = card_stopped_ = waiting_for_room_ = waiting_for_data_ =
      finishing_ = request_open_ = extendable_ = false;
  wire_event_.cancel();
  request_event_.cancel();
  finish_event_.cancel();
  timeout_event_.cancel();
  used_ = port_offset_ = 0;
  wire_block_ = port_block_ = 0;
  wire_node_ = last_node_ = kRootNode;
  room_at_ = port_until_ = sc_core::SC_ZERO_TIME;
  ctx_.trace.change(t_level_, sc_time_stamp(), 0);
}

void HsmmcDataPath::fail(std::uint32_t bits) {
  const std::uint64_t done = wire_block_;
  abort();
  wire_block_ = done;
  client_.data_error(bits);
}

void HsmmcDataPath::complete_at(sc_time at, NodeId last) {
  finishing_ = true;
  last_node_ = last;
  const sc_time now = sc_time_stamp();
  finish_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void HsmmcDataPath::on_finish() {
  const NodeId last = last_node_;
  const std::uint64_t done = wire_block_;
  abort();
  wire_block_ = done;
  client_.data_complete(last);
}

void HsmmcDataPath::arm_timeout(sc_time from) {
  const sc_time at = from + timeout_, now = sc_time_stamp();
  timeout_event_.cancel();
  if (timeout_ == sc_core::sc_max_time()) return;
  timeout_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void HsmmcDataPath::on_timeout() {
  if (active_) fail(kIntDto);
}

void HsmmcDataPath::command_sent(const CommandOutcome& o) {
  if (!reading()) return;
  card_may_send_ = o.effect.data == DataDir::read;
  wire_base_ = o.command_end + bus_.clock().cycles(bus_.params().n_ac);
  wire_node_ = o.sent_node;
  if (card_may_send_)
    start_read_frame();
  else if (o.effect.response)
    arm_timeout(o.command_end);  // answered, yet no data will come
}

void HsmmcDataPath::response_ended(const CommandOutcome& o) {
  if (!writing() || o.timeout || o.effect.data != DataDir::write) return;
  card_may_send_ = true;
  wire_base_ = o.response_end + bus_.clock().cycles(bus_.params().n_wr);
  wire_node_ = o.response_node;
  start_write_frame();
}

void HsmmcDataPath::card_stopped(sc_time at) {
  if (!active_ || finishing_) return;
  card_stopped_ = true;
  timeout_event_.cancel();
  // Data end N_ST after the end bit; a frame that would end later is cut off.
  if (frame_on_wire_ && frame_end_ > at + bus_.clock().cycles(bus_.params().n_st)) {
    wire_event_.cancel();
    frame_on_wire_ = false;
  }
  if (frame_on_wire_ || (reading_ && used_ > 0)) return;
  complete_at(std::max(at, port_until_), wire_node_);
}

// --- the port ---

/// One block's worth of service is asked for, at `at` at the earliest.
void HsmmcDataPath::ask(sc_time at) {
  if (request_open_ || !active_) return;
  if (!(reading_ ? can_read() : can_write())) return;
  request_open_ = true;
  ++counters_.requests;
  const sc_time now = sc_time_stamp();
  request_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void HsmmcDataPath::on_request() {
  if (active_) client_.port_request(reading_);
}

bool HsmmcDataPath::take(std::span<std::byte> out, sc_time until) {
  while (!out.empty()) {
    if (!can_read()) {
      std::fill(out.begin(), out.end(), std::byte{0});
      return false;
    }
    const std::size_t n = std::min<std::size_t>(out.size(), job_.block_bytes - port_offset_);
    std::memcpy(out.data(), place(port_block_).data.data() + port_offset_, n);
    out = out.subspan(n);
    port_offset_ += static_cast<std::uint32_t>(n);
    port_until_ = std::max(port_until_, until);
    if (port_offset_ < job_.block_bytes) continue;
    port_offset_ = 0;
    ++port_block_;
    --used_;
    request_open_ = false;
    trace_level(until);
    room_at_ = until;
    if ((all_given() || card_stopped_) && used_ == 0 && !frame_on_wire_) {
      NodeId last = wire_node_;
      if (until > graph().end(last)) last = graph().add(last, Span::axi_write, until);
      complete_at(until, last);
      return out.empty();
    }
    ask(until);
    if (!waiting_for_room_) continue;
    waiting_for_room_ = false;
    start_read_frame();
  }
  return true;
}

bool HsmmcDataPath::give(std::span<const std::byte> in, sc_time until) {
  while (!in.empty()) {
    if (!active_ || reading_ || all_given() || (port_offset_ == 0 && free_places() == 0)) return false;
    Place& p = place(port_block_);
    const std::size_t n = std::min<std::size_t>(in.size(), job_.block_bytes - port_offset_);
    std::memcpy(p.data.data() + port_offset_, in.data(), n);
    in = in.subspan(n);
    port_offset_ += static_cast<std::uint32_t>(n);
    if (port_offset_ < job_.block_bytes) continue;
    port_offset_ = 0;
    p.ready = until;
    ++port_block_;
    ++used_;
    request_open_ = false;
    trace_level(until);
    ask(until);
    if (waiting_for_data_) start_write_frame();
  }
  return true;
}

// --- read: card to host ---

NodeId HsmmcDataPath::read_cause(const BlockReady& ready, sc_time end) {
  CauseGraph& g = graph();
  if (room_at_ > wire_base_ && room_at_ >= ready.at)
    return g.add(g.add(wire_node_, Span::clock_stop_fifo_full, room_at_), Span::wire, end);
  if (ready.at > wire_base_) {
    const NodeId why = ready.why == kRootNode ? g.add(wire_node_, Span::device_buffer, ready.at) : ready.why;
    return g.add(why, Span::wire, end);
  }
  if (!extendable_) return g.add(wire_node_, Span::wire, end);
  g.extend(wire_node_, end);
  return wire_node_;
}

void HsmmcDataPath::start_read_frame() {
  if (!active_ || !card_may_send_ || frame_on_wire_ || waiting_for_room_ || card_stopped_ || finishing_)
    return;
  if (job_.blocks != 0 && wire_block_ == job_.blocks) return;
  if (!bus_.card().transfer_running()) return arm_timeout(wire_base_);  // the device has no more
  if (used_ >= capacity()) {
    waiting_for_room_ = true;
    return;
  }
  const BlockReady ready = bus_.read_ready(static_cast<std::uint32_t>(wire_block_), graph());
  if (timeout_ != sc_core::sc_max_time() && ready.at > wire_base_ + timeout_) return arm_timeout(wire_base_);
  if (room_at_ > wire_base_) {
    ++counters_.clock_stops;
    counters_.clock_stopped += room_at_ - wire_base_;
  }
  frame_start_ = bus_.clock().align(std::max({wire_base_, ready.at, room_at_}));
  frame_end_ = frame_start_ + bus_.frame_time(job_.block_bytes);
  wire_node_ = read_cause(ready, frame_end_);
  extendable_ = frame_on_wire_ = true;
  wire_event_.notify(available_at(frame_end_) - sc_time_stamp());
}

void HsmmcDataPath::end_read_frame() {
  frame_on_wire_ = false;
  Place& p = place(wire_block_);
  const MmcBus::FrameCheck check = bus_.receive(static_cast<std::uint32_t>(wire_block_),
                                                {p.data.data(), job_.block_bytes}, frame_start_, frame_end_);
  p.ready = sc_time_stamp();
  ++wire_block_;
  ++used_;
  ++counters_.blocks_read;
  trace_level(frame_end_);
  client_.block_moved();
  if (check.crc_error || check.end_bit_error)
    return fail((check.crc_error ? std::uint32_t{kIntDcrc} : 0u) |
                (check.end_bit_error ? std::uint32_t{kIntDeb} : 0u));
  wire_base_ = frame_end_ + bus_.clock().cycles(bus_.card().block_gap_clocks(bus_.clock().frequency_hz()));
  ask(sc_time_stamp());
  start_read_frame();
}

// --- write: host to card ---

NodeId HsmmcDataPath::write_cause(sc_time have, sc_time end) {
  CauseGraph& g = graph();
  NodeId n = wire_node_;
  if (have > wire_base_) {
    n = g.add(n, job_.dma ? Span::axi_read : Span::driver_submit, have);
    counters_.wire_wait_for_data += have - wire_base_;
  }
  return g.add(n, Span::wire, end);
}

void HsmmcDataPath::start_write_frame() {
  if (!active_ || !card_may_send_ || frame_on_wire_ || card_stopped_ || finishing_) return;
  if (job_.blocks != 0 && wire_block_ == job_.blocks) return;
  waiting_for_data_ = used_ == 0;
  if (waiting_for_data_) return;
  const sc_time have = place(wire_block_).ready;
  frame_start_ = bus_.clock().align(std::max(wire_base_, have));
  frame_end_ = frame_start_ + bus_.frame_time(job_.block_bytes);
  const sc_time token = bus_.token_end(frame_end_);
  wire_node_ = write_cause(have, token);
  frame_on_wire_ = true;
  wire_event_.notify(token - sc_time_stamp());
}

void HsmmcDataPath::end_write_frame() {
  frame_on_wire_ = false;
  const sc_time token = sc_time_stamp();
  const WriteEffect effect =
      bus_.send(static_cast<std::uint32_t>(wire_block_), {place(wire_block_).data.data(), job_.block_bytes},
                frame_start_, frame_end_, graph(), wire_node_);
  ++wire_block_;
  --used_;
  ++counters_.blocks_written;
  trace_level(token);
  client_.block_moved();
  if (effect.status == CrcStatus::crc_error) return fail(kIntDcrc);
  if (effect.status == CrcStatus::none) return arm_timeout(token);
  const sc_time free = std::max(token, effect.busy_until);
  if (free > token)
    wire_node_ = effect.why == kRootNode ? graph().add(wire_node_, Span::busy, free) : effect.why;
  if (timeout_ != sc_core::sc_max_time() && free > token + timeout_) return arm_timeout(token);
  wire_base_ = free + bus_.clock().cycles(bus_.params().n_wr);
  if (card_stopped_ || (job_.blocks != 0 && wire_block_ == job_.blocks)) return complete_at(free, wire_node_);
  ask(token);
  start_write_frame();
}

void HsmmcDataPath::on_wire() { reading_ ? end_read_frame() : end_write_frame(); }

}  // namespace vp
