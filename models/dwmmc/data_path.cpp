#include "models/dwmmc/data_path.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

namespace {

AxiMasterParams with_width(AxiMasterParams p, unsigned bytes) {
  p.data_width_bits = std::max(32u, 8 * bytes);
  return p;
}

}  // namespace

DwmmcData::DwmmcData(sc_core::sc_module_name name, Context& ctx, ClockDomain& core_clock,
                     ClockDomain& axi_clock, MmcBus& bus, const DwmmcParams& params, Client& client)
    : sc_module(name),
      ctx_(ctx),
      core_(core_clock),
      bus_(bus),
      params_(params),
      client_(client),
      port_("axi", ctx, axi_clock,
            with_width(params.axi, data_width_bytes(static_cast<std::uint32_t>(params.hcon)))),
      list_(ctx, port_, "dwmmc.dma"),
      word_bytes_(data_width_bytes(static_cast<std::uint32_t>(params.hcon))) {
  port_.set_client(*this);
  fifo_.set_capacity(params.fifo_depth * word_bytes_);
  SC_METHOD(on_wire);
  sensitive << wire_event_;
  dont_initialize();
  SC_METHOD(on_notice);
  sensitive << notice_event_;
  dont_initialize();
  SC_METHOD(on_timeout);
  sensitive << timeout_event_;
  dont_initialize();
  t_level_ = ctx_.trace.add_vector("dwmmc.fifo_level", 16);
  t_state_ = ctx_.trace.add_state("dwmmc.dma.state", "IDLE");
  t_address_ = ctx_.trace.add_vector("dwmmc.dma.address", 64);
}

DwmmcData::Counters DwmmcData::counters() const {
  Counters c = counters_;
  c.descriptors = list_.descriptors_fetched();
  return c;
}

void DwmmcData::set_fsm(Fsm fsm, sc_time at) {
  if (fsm == fsm_) return;
  fsm_ = fsm;
  static constexpr const char* kNames[] = {"IDLE",        "SUSPEND", "DESC_RD", "DESC_CHK",  "RD_REQ_WAIT",
                                           "WR_REQ_WAIT", "RD",      "WR",      "DESC_CLOSE"};
  ctx_.trace.change_state(t_state_, at, kNames[static_cast<unsigned>(fsm)]);
}

// --- a transfer begins ---

void DwmmcData::prepare(const Job& job) {
  const bool prefilled = !job.idmac && job.direction == DataDir::write && fifo_.count() > 0;
  std::vector<std::byte> left;
  if (prefilled) {  // the CPU may fill the FIFO before it sends the command
    left.resize(fifo_.available());
    fifo_.pull(left.data(), static_cast<std::uint32_t>(left.size()));
  } else if (fifo_.count() > 0) {
    ctx_.finding(
        "dwmmc.fifo_not_empty", name(), {},
        fmt::format(
            "a transfer starts with {} bytes of an earlier one in the FIFO: reset the FIFO first (they are "
            "dropped here)",
            fifo_.count()));
  }
  if (dma_active_ && !list_dead_ && fsm_ != Fsm::suspend)
    ctx_.finding(
        "dwmmc.idmac_still_busy", name(), {buffer_address_},
        "a data command starts while the IDMAC has not closed the last descriptor of the one before");
  reset_dma();
  reset_wire();
  fifo_.clear();
  in_marks_.clear();
  out_marks_.clear();
  job_ = job;
  total_ = job.blocks == 0 ? kEndless : job.blocks * job.block_bytes;
  quantum_ = quantum_bytes();
  const LineMode lines = bus_.line_mode();
  bits_shift_ = static_cast<unsigned>(std::countr_zero(lines.width * (lines.ddr ? 2u : 1u)));
  blocks_data_.resize((fifo_.capacity() / job.block_bytes + 2) * job.block_bytes);
  block_data_ = {blocks_data_.data(), job.block_bytes};
  block_ = offset_ = 0;
  card_bytes_ = host_bytes_ = 0;
  wire_node_ = kRootNode;
  wire_finished_ = dma_finished_ = dma_failed_ = card_stopped_ = list_dead_ = false;
  wire_active_ = true;
  dma_active_ = job.idmac;
  descriptor_wait_from_ = descriptor_wait_until_ = dma_end_ = sc_core::SC_ZERO_TIME;
  if (prefilled) {
    fifo_.in_reserved = left.size();
    fifo_.push(left.data(), static_cast<std::uint32_t>(left.size()));
  }
  const std::uint64_t cap = fifo_.capacity();
  if (job.card_threshold > cap)
    ctx_.finding("dwmmc.threshold_over_fifo", name(), {},
                 fmt::format("card threshold {} B is more than the FIFO's {} B: no block ever starts",
                             job.card_threshold, cap));
  no_requests_ = !job.dma_requests;
  if (job.idmac && job.burst_bytes > cap) {
    no_requests_ = true;
    ctx_.finding(
        "dwmmc.burst_over_fifo", name(), {},
        fmt::format("a burst of {} B does not fit the FIFO of {} B: no burst ever starts; lower FIFOTH.MSIZE",
                    job.burst_bytes, cap));
  }
  if (job.idmac && job.direction == DataDir::read && job.rx_watermark == 0) {
    no_requests_ = true;
    ctx_.finding("dwmmc.no_dma_request", name(), {},
                 "IDMAC read with FIFOTH.RX_WMARK = 0: the FIFO never raises a DMA request; set FIFOTH");
  }
  // How far an open-ended transfer goes is not known ahead: it runs by events in both styles.
  reservation_ = ctx_.timing == TimingStyle::lt && job.idmac && job.blocks != 0;
  lt_blocked_ = false;
  run_.count = 0;
  lt_start_ = lt_last_done_ = sc_time_stamp();
  if (!job.idmac) return pio_requests();
  DescriptorList::Setup setup = job.list;
  setup.depth = static_cast<unsigned>(params_.prefetch_depth);
  setup.style = by_reservation() ? TimingStyle::lt : TimingStyle::at;
  set_fsm(Fsm::descriptor_read, sc_time_stamp());
  list_.start(setup, [this] { descriptor_arrived(); });
}

void DwmmcData::command_sent(const CommandOutcome& outcome) {
  if (!wire_active_ || job_.direction != DataDir::read) return;
  wire_base_ = outcome.command_end + bus_.clock().cycles(bus_.params().n_ac);
  wire_node_ = outcome.sent_node;
  card_may_send_ = outcome.effect.data == DataDir::read;
  if (!card_may_send_) {
    arm_timeout(outcome.command_end, kIntDataReadTimeout);
    return;
  }
  by_reservation() ? run_lt() : start_read_block();
}

void DwmmcData::response_ended(const CommandOutcome& outcome) {
  if (!wire_active_ || job_.direction != DataDir::write) return;
  card_may_send_ = true;  // the host sends whether the card listens or not
  wire_base_ = outcome.response_end + bus_.clock().cycles(bus_.params().n_wr);
  wire_node_ = outcome.response_node;
  by_reservation() ? run_lt() : start_write_block();
}

void DwmmcData::cancel() {
  reset_wire();
  reset_dma();
  fifo_.clear();
}

// --- the wire's end ---

void DwmmcData::wire_over(sc_time checked, std::uint32_t errors) {
  wire_finished_ = true;
  in_block_ = on_wire_ = clock_stopped_ = false;
  wire_event_.cancel();
  timeout_bits_ = 0;
  const sc_time at = core_.align(checked) + core_.cycles(params_.dto_latch);
  notice(Notice::Kind::over, at, errors, graph().add(wire_node_, Span::wire, at));
}

void DwmmcData::fail(std::uint32_t errors, sc_time at) {
  wire_over(at, errors);
  stop_dma_on_error(at);
}

std::uint32_t DwmmcData::read_errors() const {
  std::uint32_t errors = 0;
  // Lines the card does not drive stay high: their start bit is missing.
  if (check_.crc_error && bus_.line_mode().width > bus_.card().line_mode().width)
    errors |= kIntStartBit;
  else if (check_.crc_error)
    errors |= kIntDataCrc;
  if (check_.end_bit_error) errors |= kIntEndBit;
  return errors;
}

/// A stop command reached the card at `at`: a frame on the wire is cut off N_ST later (JESD84-B51 6.15), its rest is lost.
void DwmmcData::card_stopped(sc_time) {
  if (!wire_active_ || wire_finished_) return;
  card_stopped_ = true;
  withdraw_ahead();
  tell_end();
  ahead_.next = ahead_.count = 0;
  if (on_wire_ && !tail_ && job_.direction == DataDir::read) fifo_.in_reserved = fifo_.in_done;
  wire_event_.cancel();
  on_wire_ = tail_ = false;
  finish_stopped();
}

/// After a stop what has come in is all there is; the IDMAC moves it and closes its descriptor.
void DwmmcData::finish_stopped() {
  wire_over(sc_time_stamp() + bus_.clock().cycles(bus_.params().n_st), 0);
  if (!dma_active_) return;
  if (job_.direction == DataDir::write) {
    total_ = fifo_.in_reserved;
  } else {
    total_ = fifo_.in_done;
    by_reservation() ? pump_lt(sc_time_stamp()) : pump_dma();
  }
  if (by_reservation()) flush_lt();
  if (pieces_open_ == 0 && closes_open_ == 0 && all_moved()) close_rest(sc_time_stamp());
}

// --- instants to come ---

void DwmmcData::notice(Notice::Kind kind, sc_time at, std::uint32_t bits, NodeId node) {
  const sc_time now = sc_time_stamp();
  const Notice n{kind, std::max(at, now), bits, node};
  const auto behind = std::upper_bound(notices_.begin(), notices_.end(), n,
                                       [](const Notice& a, const Notice& b) { return a.at < b.at; });
  const bool first = behind == notices_.begin();
  notices_.insert(behind, n);
  if (!first) return;
  notice_event_.cancel();
  notice_event_.notify(n.at - now);
}

void DwmmcData::on_notice() {
  const sc_time now = sc_time_stamp();
  while (!notices_.empty() && notices_.front().at <= now) {
    const Notice n = notices_.front();
    notices_.erase(notices_.begin());
    deliver(n);
  }
  if (!notices_.empty()) notice_event_.notify(notices_.front().at - now);
}

void DwmmcData::deliver(const Notice& n) {
  switch (n.kind) {
    case Notice::Kind::over:
      wire_active_ = false;
      client_.data_over(n.bits, n.node);
      break;
    case Notice::Kind::busy_over:
      client_.write_busy_over(n.node);
      break;
    case Notice::Kind::idmac:
      client_.idmac_event(n.bits & 0xFFFF, n.bits >> 16);
      break;
    case Notice::Kind::idmac_over:
      dma_active_ = false;
      set_fsm(Fsm::idle, n.at);
      client_.idmac_over(dma_cause(n.at));
      break;
  }
}

/// Most deadlines are never reached, and a cancelled event stays in the kernel's heap until its time: so the timer is left
/// where it is and looks again when it comes.
void DwmmcData::arm_timeout(sc_time from, std::uint32_t bits) {
  const sc_time now = sc_time_stamp();
  timeout_bits_ = bits;
  deadline_ = std::max(from + timeout_, now);
  if (timer_set_ && timer_at_ <= deadline_) return;
  timer_set_ = true;
  timer_at_ = deadline_;
  timeout_event_.cancel();
  timeout_event_.notify(deadline_ - now);
}

void DwmmcData::on_timeout() {
  timer_set_ = false;
  settle();
  if (timeout_bits_ == 0 || !wire_active_ || wire_finished_) return;
  const sc_time now = sc_time_stamp();
  if (now < deadline_) return arm_timeout(deadline_ - timeout_, timeout_bits_);
  const std::uint32_t bits = timeout_bits_;
  timeout_bits_ = 0;
  if (bits == kIntDataReadTimeout)
    fail(bits, now);
  else
    client_.data_status(bits);  // the clock stays stopped: the FIFO may still move
}

/// `at` style: an error that is known by now, at the end of its frame.
void DwmmcData::fail_when_due(std::uint32_t errors, sc_time at) {
  pending_errors_ = errors;
  tail_ = on_wire_ = true;
  const sc_time now = sc_time_stamp();
  wire_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

/// The wire waits for the FIFO: the card clock stands still from `from`.
void DwmmcData::stop_clock(sc_time from) {
  if (clock_stopped_) return;
  tell_room();
  clock_stopped_ = true;
  arm_timeout(from, kIntHostTimeout);
}

void DwmmcData::clock_runs() {
  if (!clock_stopped_) return;
  clock_stopped_ = false;
  timeout_bits_ = 0;
}

void DwmmcData::count_stop(sc_time from, sc_time until) {
  if (until <= from) return;
  if (job_.direction == DataDir::write) {
    counters_.wire_wait_for_data += until - from;
    return;
  }
  ++counters_.clock_stops;
  counters_.clock_stopped += until - from;
}

/// What crosses between looks at the FIFO.
std::uint32_t DwmmcData::quantum_bytes() const {
  if (job_.idmac)
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>({job_.burst_bytes, job_.block_bytes, fifo_.capacity()}));
  // PIO: as much as the FIFO takes without the CPU being called (read), or surely holds when it was not (write).
  const std::uint64_t depth = params_.fifo_depth;
  const std::uint64_t words =
      job_.direction == DataDir::read
          ? std::min<std::uint64_t>(job_.rx_watermark + 1,
                                    depth - std::min<std::uint64_t>(job_.rx_watermark, depth - 1))
          : std::min<std::uint64_t>(job_.tx_watermark + 1, depth);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(words * word_bytes_, job_.block_bytes));
}

/// Less than a quantum may cross the wire when the IDMAC waits for the wire and not for its bus.
bool DwmmcData::partial_allowed() const {
  return job_.idmac && pieces_open_ == 0 && closes_open_ == 0 && !list_.fetching();
}

// --- resets ---

void DwmmcData::reset_wire() {
  withdraw_ahead();
  ahead_.next = ahead_.count = 0;
  wire_event_.cancel();
  timeout_bits_ = 0;
  wire_active_ = on_wire_ = in_block_ = tail_ = clock_stopped_ = card_may_send_ = false;
  wire_finished_ = true;
  std::erase_if(notices_, [](const Notice& n) {
    return n.kind == Notice::Kind::over || n.kind == Notice::Kind::busy_over;
  });
}

void DwmmcData::reset_fifo() {
  // Bytes under way on either side belong to a transfer that this ends.
  if (wire_active_ && !wire_finished_) reset_wire();
  if (dma_active_) reset_dma();
  fifo_.clear();
  in_marks_.clear();
  out_marks_.clear();
  trace_level(sc_time_stamp());
}

void DwmmcData::reset_dma() {
  withdraw_ahead();
  if (pieces_open_ > 0 || closes_open_ > 0 || list_.fetching()) port_.abort();
  list_.stop();
  dma_active_ = closing_ = waiting_for_descriptor_ = false;
  dma_finished_ = true;
  pieces_open_ = closes_open_ = 0;
  run_.count = 0;
  quiet_.clear();
  // What is still at the port ends silently: it is never handed back, so the stores start again.
  piece_free_.clear();
  for (Piece& p : piece_store_) piece_free_.push_back(&p);
  close_free_.clear();
  for (Close& c : close_store_) close_free_.push_back(&c);
  std::erase_if(notices_, [](const Notice& n) {
    return n.kind == Notice::Kind::idmac || n.kind == Notice::Kind::idmac_over;
  });
  set_fsm(Fsm::idle, sc_time_stamp());
}

void DwmmcData::poll_demand() {
  if (!dma_active_ || dma_failed_ || list_dead_) return;
  list_.resume(sc_time_stamp());
  if (fsm_ == Fsm::suspend) set_fsm(Fsm::descriptor_read, sc_time_stamp());
  if (by_reservation()) run_lt();
}

// --- PIO: the CPU is the other side of the FIFO ---

std::uint32_t DwmmcData::requests() const {
  if (job_.idmac || !job_.dma_requests) return 0;
  if (job_.direction == DataDir::read) return fifo_words() > job_.rx_watermark ? std::uint32_t{kIntRxdr} : 0u;
  const bool wants =
      wire_active_ && !wire_finished_ && job_.direction == DataDir::write && fifo_.in_reserved < total_;
  return wants && fifo_words() <= job_.tx_watermark ? std::uint32_t{kIntTxdr} : 0u;
}

void DwmmcData::pio_requests() {
  if (const std::uint32_t bits = requests()) client_.data_status(bits);
}

bool DwmmcData::pio_read(std::uint64_t& word) {
  word = 0;
  if (fifo_.available() == 0 || job_.idmac) return false;
  const auto n = static_cast<std::uint32_t>(std::min<std::uint64_t>(word_bytes_, fifo_.available()));
  std::byte raw[8] = {};
  fifo_.pull(raw, n);
  std::memcpy(&word, raw, 8);
  host_bytes_ += n;
  fifo_.out_done = fifo_.out_reserved;
  trace_level(sc_time_stamp());
  if (job_.direction == DataDir::read) drained(fifo_.out_done, sc_time_stamp());
  return true;
}

bool DwmmcData::pio_write(std::uint64_t word) {
  if (fifo_.room() < word_bytes_ || dma_active_) return false;
  std::uint32_t n = word_bytes_;
  const bool job = wire_active_ && job_.direction == DataDir::write;
  if (job && fifo_.in_reserved < total_)
    n = static_cast<std::uint32_t>(std::min<std::uint64_t>(n, total_ - fifo_.in_reserved));
  std::byte raw[8];
  std::memcpy(raw, &word, 8);
  fifo_.in_reserved += n;
  fifo_.push(raw, n);
  host_bytes_ += n;
  if (!job) return true;
  in_marks_.add(fifo_.in_done, sc_time_stamp());
  trace_level(sc_time_stamp());
  if (clock_stopped_) resume_wire();
  return true;
}

}  // namespace vp
