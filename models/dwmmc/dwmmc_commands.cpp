// Command sequencing of the DW-MMC model: CMD.START becomes a clock update or a command on the line.
#include <fmt/format.h>

#include <algorithm>

#include "models/dwmmc/dwmmc.hpp"

namespace vp {

using namespace dwmmc;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint32_t kStart = mask("CMD", "START");
constexpr std::uint32_t kData = mask("CMD", "DATA");
constexpr std::uint32_t kWrite = mask("CMD", "WRITE");
constexpr std::uint32_t kUpdateClock = mask("CMD", "UPDATE_CLOCK");
constexpr std::uint32_t kResponse = mask("CMD", "RESPONSE");
constexpr std::uint32_t kLong = mask("CMD", "LONG_RESPONSE");
constexpr std::uint32_t kUnmodelled = mask("CMD", "STREAM") | mask("CMD", "CEATA_READ") |
                                      mask("CMD", "CCS_EXPECTED") | mask("CMD", "BOOT_ENABLE") |
                                      mask("CMD", "VOLTAGE_SWITCH");
constexpr unsigned kInitClocks = 80;

std::uint8_t index_of(std::uint32_t command) {
  return static_cast<std::uint8_t>(command & mask("CMD", "INDEX"));
}

}  // namespace

// --- START: the command waits in the registers until the card interface unit takes it ---

void Dwmmc::start_written() {
  start_ = true;
  start_at_ = core_.align(access_time_) + core_.cycles(params_.cmd_issue);
  start_event_.cancel();
  start_event_.notify(start_at_ - sc_time_stamp());
}

/// A command with data, or with WAIT_DATA, is taken when the data phase before it is over.
bool Dwmmc::must_wait() const {
  if (stage_ != Stage::idle || auto_stop_due_) return true;
  const std::uint32_t command = get(reg("CMD"));
  if (!data_.wire_active()) return false;
  return command & (kData | mask("CMD", "WAIT_DATA") | kUpdateClock);
}

void Dwmmc::try_load() {
  if (!start_ || sc_time_stamp() < start_at_ || must_wait()) return;
  if (!(get(reg("CMD")) & kUpdateClock) && !bus_.clock_running()) {
    ctx_.finding(
        "dwmmc.command_without_clock", name(), {},
        fmt::format("CMD{} started with the card clock off: START never clears", index_of(get(reg("CMD")))));
    return;
  }
  load();
}

void Dwmmc::load() {
  start_ = false;
  bank_.clear_bits(reg("CMD"), kStart);
  const std::uint32_t command = get(reg("CMD"));
  if (command & kUpdateClock) return load_clock();
  command_ = command;
  if (command & kUnmodelled)
    ctx_.log(fmt::format("{}: CMD 0x{:08x} asks for stream, CE-ATA, boot or voltage switch: not modelled",
                         name(), command));
  if (command & mask("CMD", "CARD"))
    ctx_.finding("dwmmc.no_such_slot", name(), {},
                 fmt::format("CMD{} names slot {}: there is only slot 0", index_of(command),
                             (command & mask("CMD", "CARD")) >> lsb("CMD", "CARD")));
  send();
}

/// CLKDIV, CLKSRC and CLKENA take effect; nothing goes over the bus and no interrupt tells.
void Dwmmc::load_clock() {
  ++counters_.clock_updates;
  const bool on = get(reg("CLKENA")) & 1;
  const unsigned source = get(reg("CLKSRC")) & 3;
  const unsigned dividers =
      (static_cast<std::uint32_t>(params_.hcon) >> lsb("HCON", "CLOCK_DIVIDERS") & 3) + 1;
  if (source >= dividers)
    ctx_.log(fmt::format("{}: CLKSRC names divider {}, there are {}: it counts as bypass", name(), source,
                         dividers));
  const unsigned n = source >= dividers ? 0 : get(reg("CLKDIV")) >> (8 * source) & 0xFF;
  const double hz = !on ? 0 : n == 0 ? params_.ciu_clock_hz : params_.ciu_clock_hz / (2.0 * n);
  if (hz == 0) {
    if (bus_.clock_running()) bus_.set_clock(0);
  } else if (!bus_.clock_running() || bus_.clock().frequency_hz() != hz) {
    bus_.set_clock(hz);
  }
}

void Dwmmc::update_lines() {
  const std::uint32_t ctype = get(reg("CTYPE"));
  LineMode mode;
  mode.width = ctype & 1u << 16 ? 8 : ctype & 1u ? 4 : 1;
  mode.ddr = get(reg("UHS_REG")) & 1u << 16;
  if (version_of(static_cast<std::uint32_t>(params_.verid)) >= kVersion240)
    mode.ddr = mode.ddr || (get(reg("EMMC_DDR_REG")) & mask("EMMC_DDR_REG", "HS400"));
  bus_.set_line_mode(mode);
}

sc_time Dwmmc::data_timeout(std::uint32_t tmout) const {
  const bool extended = version_of(static_cast<std::uint32_t>(params_.verid)) >= params_.tmout_extended_from;
  return bus_.clock().cycles(data_timeout_clocks(tmout, extended));
}

DwmmcData::Job Dwmmc::data_job(std::uint32_t command) {
  DwmmcData::Job job;
  const auto hcon = static_cast<std::uint32_t>(params_.hcon);
  const std::uint32_t version = version_of(static_cast<std::uint32_t>(params_.verid));
  const std::uint32_t ctrl = get(reg("CTRL")), bmod = get(reg("BMOD")), fifoth = get(reg("FIFOTH"));
  const std::uint32_t bytes = get(reg("BYTCNT"));
  job.direction = command & kWrite ? DataDir::write : DataDir::read;
  job.block_bytes = get(reg("BLKSIZ")) & 0xFFFF;
  if (job.block_bytes == 0) job.block_bytes = 512;
  if (bytes % job.block_bytes != 0)
    ctx_.finding("dwmmc.byte_count", name(), {},
                 fmt::format("BYTCNT {} is not a multiple of BLKSIZ {}", bytes, job.block_bytes));
  job.blocks = (std::uint64_t{bytes} + job.block_bytes - 1) / job.block_bytes;
  job.idmac = (ctrl & mask("CTRL", "USE_IDMAC")) && (bmod & mask("BMOD", "DE"));
  job.dma_requests = job.idmac || !(ctrl & mask("CTRL", "DMA_ENABLE"));
  job.list.base = get(idmac_.base_low) & ~3u;
  if (idmac_.wide) job.list.base |= std::uint64_t{get(idmac_.base_high)} << 32;
  job.list.wide = has_address64(hcon);
  job.list.skip = (bmod & mask("BMOD", "DSL")) >> lsb("BMOD", "DSL");
  job.burst_bytes = msize_beats(fifoth >> lsb("FIFOTH", "MSIZE")) * data_.word_bytes();
  job.rx_watermark = (fifoth & mask("FIFOTH", "RX_WMARK")) >> lsb("FIFOTH", "RX_WMARK");
  job.tx_watermark = fifoth & mask("FIFOTH", "TX_WMARK");
  if (version < kVersion240) return job;
  const std::uint32_t thr = get(reg("CARDTHRCTL"));
  const bool use = job.direction == DataDir::read
                       ? thr & mask("CARDTHRCTL", "READ_ENABLE")
                       : version >= kVersion280 && (thr & mask("CARDTHRCTL", "WRITE_ENABLE"));
  if (use) job.card_threshold = (thr & mask("CARDTHRCTL", "THRESHOLD")) >> lsb("CARDTHRCTL", "THRESHOLD");
  job.reports_busy = job.direction == DataDir::write && (thr & mask("CARDTHRCTL", "BUSY_CLEAR"));
  return job;
}

void Dwmmc::send() {
  const sc_time now = sc_time_stamp();
  update_lines();
  stage_ = Stage::main;
  ++counters_.commands;
  const std::uint32_t tmout = get(reg("TMOUT"));
  response_timeout_ = tmout & mask("TMOUT", "RESPONSE");
  owns_graph_ = (command_ & kData) || (!data_.wire_active() && !data_.dma_active());
  if (owns_graph_) {
    ctx_.spans.hardware_begin(SpanRecorder::kLegacyTag, now);
    waits_ = wait_command;
    last_node_ = kRootNode;
  }
  if (command_ & kData) {
    data_command_ = command_;
    data_.set_data_timeout(data_timeout(tmout));
    const DwmmcData::Job job = data_job(command_);
    waits_ = wait_command | wait_data | (job.idmac ? wait_idmac : 0u) | (job.reports_busy ? wait_busy : 0u);
    if ((command_ & mask("CMD", "AUTO_STOP")) && job.blocks != 0) waits_ |= wait_auto;
    data_.prepare(job);
  }
  const sc_time init = command_ & mask("CMD", "SEND_INIT") ? bus_.clock().cycles(kInitClocks) : sc_time();
  const RespType expected = !(command_ & kResponse) ? RespType::none
                            : command_ & kLong      ? RespType::r2
                                                    : RespType::r1;
  bus_.issue({index_of(command_), get(reg("CMDARG"))}, expected, now + init, graph(), kRootNode);
}

// --- the line answers ---

void Dwmmc::command_sent(const CommandOutcome& outcome) {
  if (stage_ == Stage::main && (command_ & mask("CMD", "STOP_ABORT")))
    data_.card_stopped(outcome.command_end);
  if (stage_ == Stage::main && (command_ & kData)) data_.command_sent(outcome);
}

void Dwmmc::response_received(const CommandOutcome& outcome) {
  outcome_ = outcome;
  sc_time end = outcome.response_end;
  // The line gives up after 64 clocks; the register may say longer.
  if (outcome.timeout) end = std::max(end, outcome.command_end + bus_.clock().cycles(response_timeout_));
  const sc_time at = core_.align(end) + core_.cycles(params_.resp_latch);
  response_event_.notify(at - sc_time_stamp());
  if (stage_ != Stage::main || !(command_ & kData)) return;
  // Without a response there is no data phase; after a bad one a read goes on, a write does not start.
  const std::uint32_t errors = response_errors(outcome, command_);
  if (outcome.timeout || (errors != 0 && (command_ & kWrite))) {
    data_.cancel();
    waits_ = wait_command;
  } else {
    data_.response_ended(outcome);
  }
}

std::uint32_t Dwmmc::response_errors(const CommandOutcome& o, std::uint32_t command) const {
  if (o.expected == RespType::none) return 0;
  if (o.timeout) return kIntResponseTimeout;
  std::uint32_t bits = 0;
  if (o.crc_error && (command & mask("CMD", "CHECK_CRC"))) bits |= kIntResponseCrc;
  const bool is_long = o.response.type == RespType::r2;
  if (o.index_error || o.end_bit_error || is_long != (o.expected == RespType::r2)) bits |= kIntResponseError;
  return bits;
}

/// R2: card bits 127:96 in RESP3 down to 31:0 in RESP0, CRC byte included.
void Dwmmc::store_response(const CommandOutcome& o) {
  if (o.timeout || o.response.type == RespType::none) return;
  if (o.response.type != RespType::r2) {
    bank_.set(reg("RESP0"), o.response.content);
    return;
  }
  const auto word = [&o](unsigned i) {
    const auto byte = [&o](unsigned k) { return std::uint32_t{o.response.reg[k]}; };
    return byte(i) << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3);
  };
  bank_.set(reg("RESP3"), word(0));
  bank_.set(reg("RESP2"), word(4));
  bank_.set(reg("RESP1"), word(8));
  bank_.set(reg("RESP0"), word(12));
}

void Dwmmc::on_response() {
  const CommandOutcome o = outcome_;
  const NodeId node = graph().add(o.response_node, Span::command, sc_time_stamp());
  if (stage_ == Stage::auto_stop) {
    stage_ = Stage::idle;
    if (!o.timeout) bank_.set(reg("RESP1"), o.response.content);
    raise(kIntAutoCommandDone | response_errors(o, mask("CMD", "CHECK_CRC")));
    done_waiting_for(wait_auto, node);
    return try_load();
  }
  stage_ = Stage::idle;
  store_response(o);
  command_done(response_errors(o, command_), node);
  if (auto_stop_due_ && stage_ == Stage::idle) return send_auto_stop();
  try_load();
}

/// CMD_DONE comes with every command, good or bad; the busy of an R1b is the driver's to watch (STATUS, busy clear).
void Dwmmc::command_done(std::uint32_t errors, NodeId node) {
  const CommandOutcome& o = outcome_;
  const bool tells_busy = version_of(static_cast<std::uint32_t>(params_.verid)) >= kVersion240 &&
                          (get(reg("CARDTHRCTL")) & mask("CARDTHRCTL", "BUSY_CLEAR"));
  if (!(command_ & kData) && tells_busy && !o.timeout && o.effect.busy_until > o.command_end) {
    const sc_time end = std::max(o.effect.busy_until, o.response_end);
    const NodeId why = o.effect.busy_node;
    const bool told = why != kRootNode && graph().end(why) == end;
    busy_node_ = told ? why : graph().add(node, Span::busy, end);
    if (owns_graph_) waits_ |= wait_busy;
    const sc_time at = std::max(core_.align(end), sc_time_stamp()) + core_.cycles(params_.dto_latch);
    busy_event_.cancel();
    busy_event_.notify(at - sc_time_stamp());
  }
  raise(kIntCommandDone | errors);
  if (owns_graph_) done_waiting_for(wait_command, node);
}

void Dwmmc::on_busy_over() {
  raise(kIntBusyClear);
  if (waits_ & wait_busy) done_waiting_for(wait_busy, graph().add(busy_node_, Span::busy, sc_time_stamp()));
}

void Dwmmc::send_auto_stop() {
  auto_stop_due_ = false;
  stage_ = Stage::auto_stop;
  ++counters_.auto_commands;
  bus_.issue({12, 0}, RespType::r1, sc_time_stamp(), graph(), last_node_);
}

/// Ends the hardware's part of the request when nothing is left that the driver waits for.
void Dwmmc::done_waiting_for(unsigned what, NodeId node) {
  if (!(waits_ & what)) return;
  waits_ &= ~what;
  last_node_ = graph().later(last_node_, node);
  if (waits_ == 0) ctx_.spans.hardware_end(SpanRecorder::kLegacyTag, last_node_);
}

}  // namespace vp
