#include "models/sdhci/data_engine.hpp"

#include <algorithm>

namespace vp {

using sc_core::sc_time_stamp;

DataEngine::DataEngine(sc_core::sc_module_name name, Context& ctx, ClockDomain& core_clock,
                       ClockDomain& axi_clock, MmcBus& bus, const SdhciParams& params, Client& client)
    : sc_module(name),
      ctx_(ctx),
      core_(core_clock),
      axi_(axi_clock),
      bus_(bus),
      params_(params),
      client_(client),
      port_("axi", ctx, axi_clock, params.axi),
      walker_(ctx, port_, "sdhci.dma") {
  port_.set_client(*this);
  SC_METHOD(on_wire);
  sensitive << wire_event_;
  dont_initialize();
  SC_METHOD(on_finish);
  sensitive << finish_event_;
  dont_initialize();
  SC_METHOD(on_timeout);
  sensitive << timeout_event_;
  dont_initialize();
  SC_METHOD(on_fetch_lt);
  sensitive << fetch_event_;
  dont_initialize();
  fetch_.id = kFetchId;
  t_level_ = ctx_.trace.add_vector("sdhci.fifo_level", 16);
  t_state_ = ctx_.trace.add_state("sdhci.dma.state", "ST_STOP");
  t_address_ = ctx_.trace.add_vector("sdhci.dma.address", 64);
}

DataEngine::Counters DataEngine::counters() const {
  Counters c = counters_;
  c.descriptors = walker_.descriptors_fetched();
  return c;
}

std::uint64_t DataEngine::capacity() const {
  const std::uint64_t unit = std::max<std::uint32_t>(job_.block_bytes, 512);
  return std::max<std::uint64_t>(1, params_.fifo_bytes / unit);
}

void DataEngine::trace_fifo(sc_time at) { ctx_.trace.change(t_level_, at, fifo_used_ * job_.block_bytes); }

void DataEngine::prepare(const Job& job) {
  abort();
  job_ = job;
  blocked_on_ = Span::wire;
  active_ = true;
  last_node_ = wire_node_ = kRootNode;
  // How far an open-ended transfer goes is not known ahead: it runs by events in both styles.
  reservation_ =
      ctx_.timing == TimingStyle::lt && job_.mover == Mover::adma && !job_.tuning && job_.blocks != 0;
  const bool lt = by_reservation();
  if (lt) {
    slot_times_.assign(capacity(), sc_time_stamp());
    lt_fetched_ = 0;
    lt_last_done_ = sc_time_stamp();
  }
  if (job_.mover == Mover::adma) {
    walker_.set_style(lt ? TimingStyle::lt : TimingStyle::at);
    walker_.start(
        job_.address, job_.format, static_cast<unsigned>(params_.prefetch_depth),
        [this] { segment_arrived(); }, job_.buffered, job_.keep_copies);
    ctx_.trace.change_state(t_state_, sc_time_stamp(), "ST_FDS");
  } else if (job_.mover == Mover::sdma) {
    sdma_resume(job_.address);
  }
  if (job_.direction == DataDir::write && !lt) pump_memory();
}

void DataEngine::command_sent(const CommandOutcome& outcome) {
  if (!active_ || job_.direction != DataDir::read) return;
  card_may_send_ = outcome.effect.data == DataDir::read;
  wire_base_ = outcome.command_end + bus_.clock().cycles(bus_.params().n_ac);
  wire_node_ = outcome.sent_node;
  wire_node_extendable_ = false;
  if (!card_may_send_) {
    if (outcome.effect.response) arm_timeout(outcome.command_end);  // answered, yet no data will come
    return;
  }
  if (by_reservation())
    run_lt();
  else
    start_read_frame();
}

void DataEngine::response_ended(const CommandOutcome& outcome) {
  if (!active_ || job_.direction != DataDir::write) return;
  if (outcome.timeout || outcome.effect.data != DataDir::write) return;
  card_may_send_ = true;
  wire_base_ = outcome.response_end + bus_.clock().cycles(bus_.params().n_wr);
  wire_node_ = outcome.response_node;
  wire_node_extendable_ = false;
  if (by_reservation())
    run_lt();
  else
    start_write_frame();
}

void DataEngine::card_stopped(sc_time at) {
  if (!active_) return;
  card_stopped_ = true;
  job_.check_length = false;
  if (!stuck_) timeout_event_.cancel();
  const bool pio_read = job_.mover == Mover::pio && job_.direction == DataDir::read;
  // Data end N_ST after the end bit; a frame that would end later is cut off (JESD84-B51 6.15).
  const sc_time cut = at + bus_.clock().cycles(bus_.params().n_st);
  if (frame_on_wire_ && (frame_end_ > cut || pio_read)) {
    wire_event_.cancel();
    frame_on_wire_ = false;
  }
  if (pio_read) {  // nobody reads the port any more
    for (Slot* s : slots_) free_slot(*s);
    slots_.clear();
    fifo_used_ = 0;
  }
  if (!frame_on_wire_) finish_stopped();
}

/// After a stop the blocks that have crossed the wire are all there are.
void DataEngine::finish_stopped() {
  job_.blocks = next_block_;
  check_complete();
}

/// Takes the job's transfers off the port; a queue engine's fetch goes again.
void DataEngine::drop_transfers() {
  if (pieces_open_ == 0 && !walker_.fetching()) return;
  pieces_open_ = 0;
  port_.abort();
  fetch_dropped_ = false;
  if (fetch_open_ && ctx_.timing == TimingStyle::at) start_fetch();
}

void DataEngine::fetch(std::uint64_t address, std::byte* to, std::uint32_t bytes) {
  fetch_address_ = address;
  fetch_to_ = to;
  fetch_bytes_ = bytes;
  fetch_open_ = true;
  if (ctx_.timing == TimingStyle::at) {
    if (!fetch_dropped_) start_fetch();
    return;
  }
  bool ok = true;
  const sc_time now = sc_time_stamp();
  const sc_time done = port_.access_lt(false, address, to, bytes, now, &ok);
  fetch_.error = !ok;
  fetch_event_.notify(done - now);
}

void DataEngine::start_fetch() {
  fetch_.is_write = fetch_.error = false;
  fetch_.address = fetch_address_;
  fetch_.data = fetch_to_;
  fetch_.bytes = fetch_bytes_;
  port_.start(fetch_);
}

/// Forgets the fetch under way: nothing is reported. The next one goes to the port when it is back.
void DataEngine::drop_fetch() {
  if (fetch_open_ && ctx_.timing == TimingStyle::at) fetch_dropped_ = true;
  fetch_open_ = false;
  fetch_event_.cancel();
}

void DataEngine::on_fetch_lt() {
  fetch_open_ = false;
  fetched_(!fetch_.error);
}

void DataEngine::count_block(sc_time at) {
  counted_at_ = at;
  client_.block_moved();
}

void DataEngine::abort() {
  active_ = frame_on_wire_ = card_may_send_ = waiting_for_room_ = gap_stopped_ = stuck_ = card_stopped_ =
      false;
  waiting_for_segment_ = waiting_for_data_ = finishing_ = sdma_waiting_ = pio_open_ = table_done_ =
      gap_open_ = false;
  wire_event_.cancel();
  finish_event_.cancel();
  timeout_event_.cancel();
  drop_transfers();
  walker_.stop();
  // Pieces still at the port end silently: they are never handed back, so their store starts again.
  piece_free_.clear();
  for (Piece& p : piece_store_) piece_free_.push_back(&p);
  slots_.clear();
  slot_free_.clear();
  for (Slot& s : slot_store_) slot_free_.push_back(&s);
  memory_slot_ = 0;
  next_block_ = fetch_block_ = fifo_used_ = pieces_open_ = 0;
  pio_offset_ = 0;
  lt_error_ = 0;
  room_at_ = segment_wait_from_ = segment_wait_until_ = sc_core::SC_ZERO_TIME;
  ctx_.trace.change_state(t_state_, sc_time_stamp(), "ST_STOP");
  ctx_.trace.change(t_level_, sc_time_stamp(), 0);
}

DataEngine::Slot& DataEngine::new_slot() {
  if (slot_free_.empty()) slot_free_.push_back(&slot_store_.emplace_back());
  Slot& s = *slot_free_.back();
  slot_free_.pop_back();
  s.data.resize(job_.block_bytes);
  s.bytes = job_.block_bytes;
  s.issued = s.open = 0;
  s.complete = false;
  return s;
}

void DataEngine::free_slot(Slot& slot) { slot_free_.push_back(&slot); }

DataEngine::Piece& DataEngine::new_piece() {
  if (piece_free_.empty()) piece_free_.push_back(&piece_store_.emplace_back());
  Piece& p = *piece_free_.back();
  piece_free_.pop_back();
  p.error = p.interrupt = p.ends_segment = false;
  p.id = 0;
  return p;
}

void DataEngine::on_wire() {
  if (by_reservation())
    run_lt();
  else if (job_.direction == DataDir::read)
    end_read_frame();
  else
    end_write_frame();
}

void DataEngine::complete_at(sc_time at, NodeId last) {
  finishing_ = true;
  last_node_ = last;
  const sc_time now = sc_time_stamp();
  finish_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void DataEngine::on_finish() {
  const NodeId last = last_node_;
  abort();
  client_.data_complete(last);
}

void DataEngine::arm_timeout(sc_time from) {
  const sc_time at = from + timeout_;
  const sc_time now = sc_time_stamp();
  timeout_event_.cancel();
  timeout_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void DataEngine::on_timeout() {
  if (active_) fail(sdhci::kIntDataTimeout);
}

void DataEngine::fail(std::uint32_t bits) {
  // The wire and the engine stop; what is already in the FIFO stays until the driver resets the DAT line.
  active_ = false;
  wire_event_.cancel();
  finish_event_.cancel();
  timeout_event_.cancel();
  drop_transfers();
  walker_.stop();
  ctx_.trace.change_state(t_state_, sc_time_stamp(), "ST_STOP");
  client_.data_error(bits);
}

void DataEngine::fail_adma(AdmaState state, bool mismatch, std::uint64_t descriptor) {
  // By reservation an error is found ahead of its time; it is raised when that comes, as the other style does.
  if (by_reservation() && lt_error_ == 0 && lt_at_ > sc_time_stamp()) {
    lt_error_ = sdhci::kIntAdma;
    lt_error_at_ = lt_at_;
    lt_adma_ = {state, mismatch, descriptor};
    wire_event_.notify(lt_error_at_ - sc_time_stamp());
    return;
  }
  active_ = false;
  wire_event_.cancel();
  finish_event_.cancel();
  timeout_event_.cancel();
  drop_transfers();
  walker_.stop();
  ctx_.trace.change_state(t_state_, sc_time_stamp(), "ST_STOP");
  client_.adma_error(state, mismatch, descriptor);
}

// --- PIO: the CPU is the mover ---

bool DataEngine::pio_can_write() const {
  return active_ && pio_open_ && job_.mover == Mover::pio && job_.direction == DataDir::write &&
         fifo_used_ < capacity() && (job_.blocks == 0 || fetch_block_ < job_.blocks);
}

void DataEngine::open_buffer() {
  if (!active_ || job_.mover != Mover::pio || job_.direction != DataDir::write) return;
  pio_open_ = true;
  client_.data_interrupt(sdhci::kIntBufferWriteReady);
}

std::uint32_t DataEngine::pio_read(unsigned bytes) {
  if (!pio_can_read()) return 0;
  Slot& slot = *slots_.front();
  std::uint32_t value = 0;
  for (unsigned i = 0; i < bytes && pio_offset_ < slot.bytes; ++i)
    value |= std::to_integer<std::uint32_t>(slot.data[pio_offset_++]) << (8 * i);
  if (pio_offset_ < slot.bytes) return value;
  pio_offset_ = 0;
  slots_.pop_front();
  piece_drained(slot);
  if (!slots_.empty()) client_.data_interrupt(sdhci::kIntBufferReadReady);
  return value;
}

void DataEngine::pio_write(unsigned bytes, std::uint32_t value) {
  if (!pio_can_write()) return;
  if (pio_offset_ == 0) slots_.push_back(&new_slot());
  Slot& slot = *slots_.back();
  for (unsigned i = 0; i < bytes && pio_offset_ < slot.bytes; ++i)
    slot.data[pio_offset_++] = static_cast<std::byte>(value >> (8 * i));
  if (pio_offset_ < slot.bytes) return;
  pio_offset_ = 0;
  slot.block = fetch_block_++;
  slot.complete = true;
  slot.ready = sc_time_stamp();
  ++fifo_used_;
  trace_fifo(slot.ready);
  if (pio_can_write()) client_.data_interrupt(sdhci::kIntBufferWriteReady);
  if (waiting_for_data_) start_write_frame();
}

}  // namespace vp
