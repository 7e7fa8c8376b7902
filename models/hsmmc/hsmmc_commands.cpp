// Command sequencing of the HSMMC host.
#include <fmt/format.h>

#include <algorithm>

#include "models/hsmmc/hsmmc.hpp"

namespace vp {

using namespace hsmmc;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint32_t kDataPresent = field_mask(kRegs, "CMD", "DP"),
                        kMulti = field_mask(kRegs, "CMD", "MSBS"), kCounted = field_mask(kRegs, "CMD", "BCE"),
                        kCheckCrc = field_mask(kRegs, "CMD", "CCCE"),
                        kCheckIndex = field_mask(kRegs, "CMD", "CICE"),
                        kAbort = field_mask(kRegs, "CMD", "CMD_TYPE");
constexpr std::uint32_t kAcenLsb = field_lsb(kRegs, "CMD", "ACEN"),
                        kRspLsb = field_lsb(kRegs, "CMD", "RSP_TYPE");
constexpr std::uint64_t kInitClocks = 80;  // TRM 18.3.3.1.1

constexpr unsigned index_of(std::uint32_t c) { return c >> field_lsb(kRegs, "CMD", "INDX") & 0x3F; }
constexpr bool has_busy(std::uint32_t c) { return (c >> kRspLsb & 3) == 3; }
constexpr bool uses_dat(std::uint32_t c) { return (c & kDataPresent) || has_busy(c); }
constexpr unsigned auto_of(std::uint32_t c) { return c >> kAcenLsb & 3; }

RespType expected_of(std::uint32_t c) {
  constexpr RespType kTypes[] = {RespType::none, RespType::r2, RespType::r1, RespType::r1b};
  return kTypes[c >> kRspLsb & 3];
}

}  // namespace

CauseGraph& Hsmmc::graph() {
  CauseGraph* g = ctx_.spans.graph(SpanRecorder::kLegacyTag);
  return g ? *g : no_graph_;
}

void Hsmmc::command_written(std::uint32_t command) {
  if (stage_ != Stage::idle) {
    ctx_.log(fmt::format("{}: CMD{} written while CMDI is set: ignored", name(), index_of(command)));
    return;
  }
  const bool stops = (command & kAbort) == kAbort || index_of(command) == 12;
  if (uses_dat(command) && dat_owned_ && !stops) {
    ctx_.log(fmt::format("{}: CMD{} written while DATI is set: ignored", name(), index_of(command)));
    return;
  }
  command_ = command;
  stage_ = Stage::waiting_start;
  if (command & kDataPresent) data_command_ = command;
  if (uses_dat(command)) {
    dat_owned_ = true;
    dat_index_ = index_of(command);
    data_ended_ = false;
  }
  if (!bus_.clock_running()) {
    ctx_.finding("hsmmc.command_without_clock", name(), {},
                 fmt::format("CMD{} written with the card clock off: it never leaves", index_of(command)),
                 access_time_);
    return;
  }
  start_event_.notify(access_time_ - sc_time_stamp());
}

HsmmcDataPath::Job Hsmmc::data_job() {
  HsmmcDataPath::Job job;
  const std::uint32_t blk = reg("BLK");
  job.direction = command_ & field_mask(kRegs, "CMD", "DDIR") ? DataDir::read : DataDir::write;
  job.block_bytes = blk & field_mask(kRegs, "BLK", "BLEN");
  job.blocks = !(command_ & kMulti) ? 1 : command_ & kCounted ? blk >> 16 : 0;
  job.dma = command_ & field_mask(kRegs, "CMD", "DE");
  job.graph = &graph();
  return job;
}

void Hsmmc::start_command() {
  const sc_time now = sc_time_stamp();
  if (reg("CON") & field_mask(kRegs, "CON", "INIT")) {
    stage_ = Stage::init_stream;
    outcome_ = CommandOutcome{};
    outcome_.response_end = bus_.clock().align(core_.align(now) + core_.cycles(params_.cmd_issue)) +
                            bus_.clock().cycles(kInitClocks);
    cc_event_.notify(core_.align(outcome_.response_end) + core_.cycles(params_.resp_latch) - now);
    return;
  }
  if (end_waits_) {  // the driver goes on before the data are in memory
    end_waits_ = false;
    release_hardware(waiting_node_);
  }
  ctx_.spans.hardware_begin(SpanRecorder::kLegacyTag, now);
  if ((command_ & kDataPresent) && dat_owned_) {
    bank_.set(reg_offset(kRegs, "AC12"), 0);
    acknowledged_ = 0;
    data_.set_data_timeout(data_timeout());
    const HsmmcDataPath::Job job = data_job();
    const bool nothing =
        job.block_bytes == 0 || ((command_ & kMulti) && (command_ & kCounted) && job.blocks == 0);
    if (nothing) {
      dat_owned_ = false;
    } else {
      data_.prepare(job);
      if (job.dma) data_.open_port();
    }
  }
  if (auto_of(command_) != 2 || !(command_ & kDataPresent)) return send_main();
  stage_ = Stage::auto_cmd23;
  ++counters_.auto_commands;
  bus_.issue({23, reg("SDMASA")}, RespType::r1, core_.align(now) + core_.cycles(params_.cmd_issue), graph(),
             kRootNode);
}

void Hsmmc::send_main() {
  const sc_time now = sc_time_stamp();
  const bool first = stage_ == Stage::waiting_start;
  const sc_time not_before = first ? core_.align(now) + core_.cycles(params_.cmd_issue) : now;
  stage_ = Stage::main;
  ++counters_.commands;
  bus_.issue({static_cast<std::uint8_t>(index_of(command_)), reg("ARG")}, expected_of(command_), not_before,
             graph(), first ? kRootNode : outcome_.response_node);
}

void Hsmmc::command_sent(const CommandOutcome& o) {
  if (o.command.index == 12) data_.card_stopped(o.command_end);
  if (stage_ == Stage::main && (command_ & kDataPresent)) data_.command_sent(o);
}

void Hsmmc::response_received(const CommandOutcome& o) {
  if (stage_ == Stage::auto_cmd23) return auto_response(o, false);
  if (stage_ == Stage::auto_cmd12) return auto_response(o, true);
  if (stage_ != Stage::main) return;
  outcome_ = o;
  cc_event_.notify(core_.align(o.response_end) + core_.cycles(params_.resp_latch) - sc_time_stamp());
  if (command_ & kDataPresent) data_.response_ended(o);
}

std::uint32_t Hsmmc::response_errors(const CommandOutcome& o) const {
  if (o.timeout) return kIntCto;
  std::uint32_t bits = 0;
  if (o.crc_error && (command_ & kCheckCrc)) bits |= kIntCcrc;
  if (o.index_error && (command_ & kCheckIndex)) bits |= kIntCie;
  if (o.end_bit_error) bits |= kIntCeb;
  return bits;
}

/// R2: card bits 127:0 in RSP76 to RSP10, the CRC byte included as it came (TRM 18.4.1.9).
void Hsmmc::store_response(const CommandOutcome& o) {
  if (o.timeout || o.response.type == RespType::none) return;
  if (o.response.type != RespType::r2) {
    bank_.set(reg_offset(kRegs, "RSP10"), o.response.content);
    return;
  }
  for (unsigned word = 0; word < 4; ++word) {
    std::uint32_t v = 0;
    for (unsigned i = 0; i < 4; ++i) v = v << 8 | o.response.reg[12 - 4 * word + i];
    bank_.set(static_cast<std::uint16_t>(reg_offset(kRegs, "RSP10") + 4 * word), v);
  }
}

void Hsmmc::on_command_complete() {
  const sc_time now = sc_time_stamp();
  if (stage_ == Stage::init_stream) {
    stage_ = Stage::idle;
    dat_owned_ = false;
    return raise(kIntCc);
  }
  const CommandOutcome& o = outcome_;
  const bool data = command_ & kDataPresent;
  stage_ = Stage::idle;
  store_response(o);
  const NodeId node = graph().add(o.response_node, Span::command, now);
  if (const std::uint32_t errors = response_errors(o)) {
    if (data && o.timeout) data_.abort();  // no data follow; after other errors they go on until SRD
    raise(errors);
    if (!data || !data_.active()) release_hardware(node);
    if (!data && has_busy(command_)) dat_owned_ = false;
    return;
  }
  raise(kIntCc);
  const bool is_r1 = o.response.type == RespType::r1 || o.response.type == RespType::r1b;
  if (is_r1 && (o.response.content & reg("CSRE"))) raise(kIntCerr);
  if (data) {
    if (!(command_ & field_mask(kRegs, "CMD", "DE"))) data_.open_port();
    if (data_ended_) on_transfer_complete();
  } else if (has_busy(command_) && dat_owned_) {
    finish_busy(o.response_end, o.effect.busy_until, node);
  } else {
    end_hardware(node);
  }
  if (auto_cmd12_due_ && stage_ == Stage::idle) {
    auto_cmd12_due_ = false;
    send_auto_cmd12(auto_cmd12_node_);
  }
}

void Hsmmc::send_auto_cmd12(NodeId after) {
  if (stage_ != Stage::idle) {  // another command is on the line
    auto_cmd12_due_ = true;
    auto_cmd12_node_ = after;
    return;
  }
  stage_ = Stage::auto_cmd12;
  ++counters_.auto_commands;
  bus_.issue({12, 0}, RespType::r1b, sc_time_stamp(), graph(), after);
}

void Hsmmc::auto_response(const CommandOutcome& o, bool is_cmd12) {
  std::uint32_t error = 0;
  if (o.timeout) error |= field_mask(kRegs, "AC12", "ACTO");
  if (o.crc_error) error |= field_mask(kRegs, "AC12", "ACCE");
  if (o.end_bit_error) error |= field_mask(kRegs, "AC12", "ACEB");
  if (o.index_error) error |= field_mask(kRegs, "AC12", "ACIE");
  if (!o.timeout) bank_.set(reg_offset(kRegs, "RSP76"), o.response.content);
  outcome_ = o;
  if (error == 0 && !is_cmd12) return send_main();
  stage_ = Stage::idle;
  if (error == 0) return finish_busy(o.response_end, o.effect.busy_until, o.response_node);
  bank_.set(reg_offset(kRegs, "AC12"), error);
  data_.abort();
  raise(kIntAce);
  release_hardware(graph().add(o.response_node, Span::command, sc_time_stamp()));
}

/// Busy on DAT0 after an R1b: TC at its end, or the data timeout.
void Hsmmc::finish_busy(sc_time from, sc_time until, NodeId node) {
  const sc_time limit = data_timeout();
  if (limit != sc_core::sc_max_time() && until > from + limit) {
    busy_timeout_ = tc_pending_ = true;
    tc_node_ = graph().add(node, Span::busy, from + limit);
    tc_event_.cancel();
    tc_event_.notify(from + limit - sc_time_stamp());
    return;
  }
  const sc_time end = std::max(from, until);
  const NodeId why = outcome_.effect.busy_node;
  const bool told = until > from && why != kRootNode && graph().end(why) == until;
  schedule_tc(end, told ? why : graph().add(node, Span::busy, end));
}

void Hsmmc::schedule_tc(sc_time end, NodeId node) {
  const sc_time at = core_.align(end) + core_.cycles(params_.tc_latch), now = sc_time_stamp();
  tc_node_ = node;
  busy_timeout_ = false;
  tc_pending_ = true;
  tc_event_.cancel();
  tc_event_.notify(at > now ? at - now : sc_core::SC_ZERO_TIME);
}

void Hsmmc::on_transfer_complete() {
  tc_pending_ = false;
  if (busy_timeout_) {
    busy_timeout_ = false;
    raise(kIntDto);
    return release_hardware(tc_node_);
  }
  if (stage_ == Stage::main &&
      (command_ & kDataPresent)) {  // short data end before their response: CC comes first
    data_ended_ = true;
    return;
  }
  if (data_.active()) return;  // the busy of a stop is over before the data are out: data_complete follows
  data_ended_ = false;
  dat_owned_ = stage_ == Stage::waiting_start && uses_dat(command_);  // the next one has it already
  if (!bus_.loses_completion(dat_index_)) raise(kIntTc);
  const bool read = (command_ & kDataPresent) && (command_ & field_mask(kRegs, "CMD", "DDIR"));
  end_hardware(graph().add(tc_node_, read ? Span::axi_write : Span::busy, sc_time_stamp()));
}

void Hsmmc::end_hardware(NodeId node) {
  if (data_.active()) return;  // a command beside a running transfer
  const bool dma_read =
      (data_command_ & field_mask(kRegs, "CMD", "DDIR")) && (data_command_ & field_mask(kRegs, "CMD", "DE"));
  if (acknowledged_dma_ && dma_read && (command_ & kDataPresent) && acknowledged_ < data_.blocks_done()) {
    end_waits_ = true;
    waiting_node_ = node;
    return;
  }
  release_hardware(node);
}

void Hsmmc::release_hardware(NodeId node) { ctx_.spans.hardware_end(SpanRecorder::kLegacyTag, node); }

}  // namespace vp
