// Command sequencing of the SDHCI model: a register write becomes commands on the line, responses, interrupts.
#include <fmt/format.h>

#include "models/sdhci/sdhci.hpp"

namespace vp {

using namespace sdhci;
using sc_core::sc_time_stamp;

namespace {

constexpr std::uint32_t kDataPresent = field_mask(kRegs, "COMMAND", "DATA_PRESENT");
constexpr std::uint32_t kCheckCrc = field_mask(kRegs, "COMMAND", "CRC_CHECK");
constexpr std::uint32_t kCheckIndex = field_mask(kRegs, "COMMAND", "INDEX_CHECK");
constexpr std::uint32_t kAbortType = 3u << field_lsb(kRegs, "COMMAND", "TYPE");

bool uses_dat_line(std::uint16_t command) { return (command & kDataPresent) || (command & 3) == 3; }

unsigned index_of(std::uint16_t command) { return command >> field_lsb(kRegs, "COMMAND", "INDEX") & 0x3F; }

RespType expected_of(std::uint16_t command) {
  switch (command & 3) {
    case 1:
      return RespType::r2;
    case 2:
      return RespType::r1;
    case 3:
      return RespType::r1b;
    default:
      return RespType::none;
  }
}

/// R1 bits the host's response checker examines: OUT_OF_RANGE, ADDRESS, BLOCK_LEN, WP, LOCKED, COM_CRC, ECC, CC, ERROR.
constexpr std::uint32_t kCheckedR1 =
    1u << 31 | 1u << 30 | 1u << 29 | 1u << 26 | 1u << 25 | 1u << 23 | 1u << 21 | 1u << 20 | 1u << 19;

}  // namespace

void Sdhci::command_written(std::uint16_t command) {
  if (stage_ == Stage::auto_cmd12 && !deferred_) {
    deferred_ = command;
    return;
  }
  if (stage_ != Stage::idle) {
    ctx_.log(fmt::format("{}: CMD{} written while CMD inhibit is set: ignored", name(), index_of(command)));
    return;
  }
  const bool uses_dat = uses_dat_line(command);
  const bool stops = (command & kAbortType) == kAbortType || index_of(command) == 12;
  if (uses_dat && dat_line_owned_ && !stops) {
    ctx_.log(fmt::format("{}: CMD{} written while DAT inhibit is set: ignored", name(), index_of(command)));
    return;
  }
  if (queue_ && !queue_allows(command, uses_dat)) return;
  command_ = command;
  mode_ = static_cast<std::uint16_t>(bank_.get(reg_offset(kRegs, "TRANSFER_MODE")));
  if (command & kDataPresent) {
    data_command_ = command;
    data_mode_ = mode_;
  }
  stage_ = Stage::waiting_start;
  not_issued_ = false;
  if (uses_dat) {
    dat_line_owned_ = true;
    transfer_ended_ = false;
  }
  if (!bus_.clock_running()) {
    ctx_.finding("sdhci.command_without_clock", name(), {},
                 fmt::format("CMD{} written with the card clock off: it "
                             "never leaves",
                             index_of(command)),
                 access_time_);
    return;
  }
  start_event_.notify(access_time_ - sc_time_stamp());
}

/// A command of the host's own beside a queue engine. False: the engine has the lines, the command is lost.
bool Sdhci::queue_allows(std::uint16_t command, bool uses_dat) {
  if ((command & kDataPresent) && (bank_.get(reg_offset(kRegs, "NORMAL_INT_STATUS")) & kIntTransferComplete))
    ctx_.finding(
        "sdhci.stale_transfer_complete", name(), {},
        fmt::format("CMD{} with data starts while Transfer Complete of an earlier transfer is still set: it "
                    "will be taken for this one's; clear it first",
                    index_of(command)),
        access_time_);
  if (!queue_->enabled() || queue_->halted()) return true;
  ctx_.finding(
      "cqe.legacy_command", name(), {},
      fmt::format("CMD{} written while command queueing is enabled and not halted; set CQCTL.HALT first",
                  index_of(command)),
      access_time_);
  return !queue_->has_tasks() && !queue_->owns_line() && !(uses_dat && queue_->owns_data());
}

void Sdhci::show_queue_command(unsigned index, bool data, std::uint32_t blocks) {
  // Response 48 bit, CRC and index check; data present, or the sub-command flag for all others.
  bank_.set(reg_offset(kRegs, "COMMAND"),
            index << field_lsb(kRegs, "COMMAND", "INDEX") | (data ? 0x3A : 0x1E));
  if (data) bank_.set(reg_offset(kRegs, "BLOCK_COUNT"), blocks);
}

bool Sdhci::adma2_selected() const {
  return bank_.get(reg_offset(kRegs, "HOST_CONTROL1")) &
         2u << field_lsb(kRegs, "HOST_CONTROL1", "DMA_SELECT");
}

std::uint32_t Sdhci::block_bytes() const {
  return bank_.get(reg_offset(kRegs, "BLOCK_SIZE")) & field_mask(kRegs, "BLOCK_SIZE", "TRANSFER_BLOCK_SIZE");
}

AdmaFormat Sdhci::queue_format() const {
  const std::uint64_t hc2 = bank_.get(reg_offset(kRegs, "HOST_CONTROL2"));
  // Version 4 says it in HOST_CONTROL2, version 3 by the choice of ADMA2 with 64-bit addresses (SDHCI 4.20 2.2.11).
  const unsigned select =
      bank_.get(reg_offset(kRegs, "HOST_CONTROL1")) >> field_lsb(kRegs, "HOST_CONTROL1", "DMA_SELECT") & 3;
  const bool wide = v4() ? (hc2 & field_mask(kRegs, "HOST_CONTROL2", "ADDRESSING_64")) != 0 : select == 3;
  return {wide ? kAdma128Bytes : kAdma32Bytes,
          v4() && (hc2 & field_mask(kRegs, "HOST_CONTROL2", "ADMA2_LENGTH_26"))};
}

bool Sdhci::wants_auto_cmd23() const {
  if (!(command_ & kDataPresent)) return false;
  const unsigned field = mode_ >> field_lsb(kRegs, "TRANSFER_MODE", "AUTO_CMD") & 3;
  if (field == 3)
    return bank_.get(reg_offset(kRegs, "HOST_CONTROL2")) & field_mask(kRegs, "HOST_CONTROL2", "CMD23_ENABLE");
  return field == 2;
}

bool Sdhci::wants_auto_cmd12() const {
  // An open-ended transfer has no last block to send it after: the driver stops it.
  constexpr std::uint32_t finite = field_mask(kRegs, "TRANSFER_MODE", "MULTI_BLOCK") |
                                   field_mask(kRegs, "TRANSFER_MODE", "BLOCK_COUNT_ENABLE");
  if ((data_mode_ & finite) != finite) return false;
  const unsigned field = data_mode_ >> field_lsb(kRegs, "TRANSFER_MODE", "AUTO_CMD") & 3;
  if (field == 3)
    return !(bank_.get(reg_offset(kRegs, "HOST_CONTROL2")) &
             field_mask(kRegs, "HOST_CONTROL2", "CMD23_ENABLE"));
  return field == 1;
}

DataEngine::Job Sdhci::data_job() {
  DataEngine::Job job;
  const std::uint64_t hc1 = bank_.get(reg_offset(kRegs, "HOST_CONTROL1"));
  const std::uint64_t hc2 = bank_.get(reg_offset(kRegs, "HOST_CONTROL2"));
  const unsigned select = hc1 >> field_lsb(kRegs, "HOST_CONTROL1", "DMA_SELECT") & 3;
  const bool wide = hc2 & field_mask(kRegs, "HOST_CONTROL2", "ADDRESSING_64");
  const std::uint64_t size = bank_.get(reg_offset(kRegs, "BLOCK_SIZE"));
  job.direction =
      mode_ & field_mask(kRegs, "TRANSFER_MODE", "DIRECTION_READ") ? DataDir::read : DataDir::write;
  job.block_bytes = size & field_mask(kRegs, "BLOCK_SIZE", "TRANSFER_BLOCK_SIZE");
  if (job.block_bytes == 0) job.block_bytes = 512;
  const bool multi = mode_ & field_mask(kRegs, "TRANSFER_MODE", "MULTI_BLOCK");
  const bool counted = mode_ & field_mask(kRegs, "TRANSFER_MODE", "BLOCK_COUNT_ENABLE");
  job.blocks = !multi ? 1 : counted ? block_count() : 0;
  job.check_length = !multi || counted;
  job.sdma_boundary = 4096u << (size >> field_lsb(kRegs, "BLOCK_SIZE", "SDMA_BOUNDARY") & 7);
  job.tuning = tuning_ && (index_of(command_) == 21 || index_of(command_) == 19);
  const std::uint64_t adma = bank_.get(reg_offset(kRegs, "ADMA_ADDRESS_LOW")) |
                             bank_.get(reg_offset(kRegs, "ADMA_ADDRESS_HIGH")) << 32;
  if (job.tuning || !(mode_ & field_mask(kRegs, "TRANSFER_MODE", "DMA_ENABLE"))) {
    job.mover = DataEngine::Mover::pio;
  } else if (select == 0) {
    job.mover = DataEngine::Mover::sdma;
    job.address = !v4() ? bank_.get(reg_offset(kRegs, "SDMA_ADDRESS")) : wide ? adma : adma & 0xFFFFFFFF;
  } else {
    job.mover = DataEngine::Mover::adma;
    const bool v3_wide = !v4() && select == 3;
    const bool v4_wide = v4() && wide;
    job.format.bytes = v4_wide ? kAdma128Bytes : v3_wide ? kAdma96Bytes : kAdma32Bytes;
    job.format.length26 = v4() && (hc2 & field_mask(kRegs, "HOST_CONTROL2", "ADMA2_LENGTH_26"));
    // The low bits of a table address are not decoded: 4-byte alignment, 8-byte for 128-bit descriptors.
    const std::uint64_t table = v4_wide || v3_wide ? adma : adma & 0xFFFFFFFF;
    job.address = table & ~std::uint64_t{v4_wide ? 7u : 3u};
  }
  job.graph = &graph(dat_tag_);
  return job;
}

void Sdhci::start_command() {
  const sc_time now = sc_time_stamp();
  begin_spans(now);
  if ((command_ & kDataPresent) && dat_line_owned_) {  // not when a DAT reset came in between
    bank_.set(reg_offset(kRegs, "AUTO_CMD_ERROR"), 0);
    data_.set_data_timeout(data_timeout());
    const DataEngine::Job job = data_job();
    if (job.blocks == 0 && job.check_length) {  // finite transfer of nothing: the command goes, no data move
      dat_line_owned_ = false;
    } else {
      data_.prepare(job);
    }
  }
  if (!wants_auto_cmd23()) return send_main();
  stage_ = Stage::auto_cmd23;
  ++counters_.auto_commands;
  // On a DWC MSHC 0x00 is the 32-bit block count in every mode; it is CMD23's argument as it stands.
  const auto argument = static_cast<std::uint32_t>(bank_.get(reg_offset(kRegs, "SDMA_ADDRESS")));
  bus_.issue({23, argument}, RespType::r1, core_.align(now) + core_.cycles(params_.cmd_issue),
             graph(command_tag_), kRootNode);
}

void Sdhci::send_main() {
  const sc_time now = sc_time_stamp();
  const bool first = stage_ == Stage::waiting_start;
  const sc_time not_before = first ? core_.align(now) + core_.cycles(params_.cmd_issue) : now;
  stage_ = Stage::main;
  ++counters_.commands;
  const auto argument = static_cast<std::uint32_t>(bank_.get(reg_offset(kRegs, "ARGUMENT")));
  bus_.issue({static_cast<std::uint8_t>(index_of(command_)), argument}, expected_of(command_), not_before,
             graph(command_tag_), first ? first_node_ : outcome_.response_node);
}

void Sdhci::command_sent(const CommandOutcome& outcome) {
  if (queue_ && queue_->owns_line()) return queue_->command_sent(outcome);
  if (outcome.command.index == 12) data_.card_stopped(outcome.command_end);
  if (stage_ == Stage::main && (command_ & kDataPresent)) data_.command_sent(outcome);
}

void Sdhci::response_received(const CommandOutcome& outcome) {
  if (queue_ && queue_->owns_line()) return queue_->response_received(outcome);
  if (stage_ == Stage::auto_cmd23) {
    auto_cmd_response(outcome, false);
  } else if (stage_ == Stage::auto_cmd12) {
    auto_cmd_response(outcome, true);
  } else if (stage_ == Stage::main) {
    outcome_ = outcome;
    const sc_time at = core_.align(outcome.response_end) + core_.cycles(params_.resp_latch);
    cc_event_.notify(at - sc_time_stamp());
    if (command_ & kDataPresent) data_.response_ended(outcome);
  }
}

std::uint32_t Sdhci::response_errors(const CommandOutcome& o) const {
  std::uint32_t bits = 0;
  if (o.timeout) return kIntCommandTimeout;
  if (o.crc_error && (command_ & kCheckCrc)) bits |= kIntCommandCrc;
  if (o.index_error && (command_ & kCheckIndex)) bits |= kIntCommandIndex;
  if (o.end_bit_error) bits |= kIntCommandEndBit;
  const bool check = mode_ & field_mask(kRegs, "TRANSFER_MODE", "RESPONSE_ERROR_CHECK");
  const bool is_r1 = o.response.type == RespType::r1 || o.response.type == RespType::r1b;
  if (bits == 0 && check && is_r1 && (o.response.content & kCheckedR1)) bits |= kIntResponse;
  return bits;
}

void Sdhci::store_response(const CommandOutcome& o) {
  if (o.timeout || o.response.type == RespType::none) return;
  const std::uint16_t r0 = reg_offset(kRegs, "RESPONSE0"), r1 = reg_offset(kRegs, "RESPONSE1"),
                      r2 = reg_offset(kRegs, "RESPONSE2"), r3 = reg_offset(kRegs, "RESPONSE3");
  if (o.response.type != RespType::r2) {
    bank_.set(r0, o.response.content);
    return;
  }
  // Card bits 127:8 go to RESPONSE3[23:0] .. RESPONSE0: the CRC byte is stripped.
  const auto byte = [&o](unsigned i) { return std::uint32_t{o.response.reg[i]}; };
  const auto word = [&byte](unsigned i) {
    return byte(i) << 24 | byte(i + 1) << 16 | byte(i + 2) << 8 | byte(i + 3);
  };
  bank_.set(r0, word(11));
  bank_.set(r1, word(7));
  bank_.set(r2, word(3));
  bank_.set(r3, byte(0) << 16 | byte(1) << 8 | byte(2));
}

void Sdhci::on_command_complete() {
  const CommandOutcome& o = outcome_;
  const sc_time now = sc_time_stamp();
  const bool data = command_ & kDataPresent;
  const bool busy = (command_ & 3) == 3;
  stage_ = stage_ == Stage::main ? Stage::idle : stage_;
  store_response(o);
  const std::uint32_t errors = response_errors(o);
  const NodeId node = graph(command_tag_).add(o.response_node, Span::command, now);
  if (errors != 0) {
    raise(errors);
    // Without a response there is no data phase; after any other error the data go on until the driver resets DAT.
    if (data && o.timeout) data_.abort();
    if (!data || !data_.active() || o.timeout) end_hardware(command_tag_, node);
    if (!data && busy) dat_line_owned_ = false;
    line_is_free();
    return;
  }
  const bool quiet = mode_ & field_mask(kRegs, "TRANSFER_MODE", "RESPONSE_INT_DISABLE");
  if (!quiet && !tuning_) raise(kIntCommandComplete);
  if (data) data_.open_buffer();
  if (!data && busy && dat_line_owned_) {  // a DAT reset ends the interest in its busy
    finish_busy(o.response_end, o.effect.busy_until, node);
  } else if (!data) {
    end_command_spans(node, errors == 0);
  } else if (transfer_ended_) {
    on_transfer_complete();
  }
  line_is_free();
}

/// What waited for the CMD line goes next: Auto CMD12 before a command the driver wrote meanwhile.
void Sdhci::line_is_free() {
  if (stage_ != Stage::idle) return;
  if (auto_cmd12_due_) {
    auto_cmd12_due_ = false;
    send_auto_cmd12();
  } else if (deferred_) {
    const std::uint16_t command = *deferred_;
    deferred_.reset();
    access_time_ = sc_time_stamp();
    command_written(command);
  } else if (queue_) {
    queue_->lines_free();
  }
}

void Sdhci::send_auto_cmd12() {
  stage_ = Stage::auto_cmd12;
  ++counters_.auto_commands;
  // Stuff bits: the RCA in CMD12 means something only with HPI (JESD84-B51 6.10.4).
  bus_.issue({12, 0}, RespType::r1b, sc_time_stamp(), graph(dat_tag_), auto_cmd12_node_);
}

/// Busy on DAT0 after an R1b: Transfer Complete at its end, or the data timeout (SDHCI 4.20 2.2.18).
void Sdhci::finish_busy(sc_time from, sc_time until, NodeId node) {
  const sc_time limit = from + data_timeout();
  busy_timeout_ = until > limit;
  if (busy_timeout_) {
    tc_node_ = graph(dat_tag_).add(node, Span::busy, limit);
    tc_time_ = limit;
    tc_span_ = Span::busy;
    transfer_ended_ = false;
    tc_pending_ = true;
    tc_event_.cancel();
    tc_event_.notify(limit - sc_time_stamp());
    return;
  }
  const sc_time end = until > from ? until : from;
  const NodeId why = outcome_.effect.busy_node;
  const bool told = until > from && why != kRootNode && graph(dat_tag_).end(why) == until;
  schedule_transfer_complete(end, told ? why : graph(dat_tag_).add(node, Span::busy, end), Span::busy);
}

void Sdhci::schedule_transfer_complete(sc_time end, NodeId node, Span span) {
  const sc_time now = sc_time_stamp();
  tc_time_ = core_.align(end) + core_.cycles(params_.tc_latch);
  tc_node_ = node;
  tc_span_ = span;
  transfer_ended_ = false;
  busy_timeout_ = false;
  tc_pending_ = true;
  tc_event_.cancel();  // the later of data and busy counts
  tc_event_.notify(tc_time_ > now ? tc_time_ - now : sc_core::SC_ZERO_TIME);
}

void Sdhci::on_transfer_complete() {
  tc_pending_ = false;
  if (busy_timeout_) {
    busy_timeout_ = false;
    raise(kIntDataTimeout);
    end_hardware(dat_tag_, tc_node_);
    return;
  }
  // Data can be in memory before the response has ended (short reads); the command completes first.
  if (stage_ == Stage::main && ((command_ & kDataPresent) || (command_ & 3) == 3)) {
    transfer_ended_ = true;
    return;
  }
  // The busy of a stop command is over before what came in has reached memory: data_complete reports.
  if (data_.active() && !(queue_ && queue_->owns_data())) return;
  transfer_ended_ = false;
  dat_line_owned_ = stage_ == Stage::waiting_start && uses_dat_line(command_);  // the next one has it already
  if (!bus_.loses_completion(dat_index_)) raise(kIntTransferComplete);
  end_hardware(dat_tag_, graph(dat_tag_).add(tc_node_, tc_span_, sc_time_stamp()));
  if (queue_) queue_->lines_free();
}

void Sdhci::auto_cmd_response(const CommandOutcome& o, bool is_cmd12) {
  std::uint32_t error = 0;
  if (o.timeout) error |= field_mask(kRegs, "AUTO_CMD_ERROR", "TIMEOUT");
  if (o.crc_error) error |= field_mask(kRegs, "AUTO_CMD_ERROR", "CRC");
  if (o.end_bit_error) error |= field_mask(kRegs, "AUTO_CMD_ERROR", "END_BIT");
  if (o.index_error) error |= field_mask(kRegs, "AUTO_CMD_ERROR", "INDEX");
  const bool check = data_mode_ & field_mask(kRegs, "TRANSFER_MODE", "RESPONSE_ERROR_CHECK");
  if (check && error == 0 && (o.response.content & kCheckedR1))
    error |= field_mask(kRegs, "AUTO_CMD_ERROR", "RESPONSE");
  if (!o.timeout) bank_.set(reg_offset(kRegs, "RESPONSE3"), o.response.content);
  if (error != 0) {
    if (deferred_) {  // what the driver wrote meanwhile is not sent (SDHCI 4.20 2.2.23)
      deferred_.reset();
      not_issued_ = true;
      error |= field_mask(kRegs, "AUTO_CMD_ERROR", "NOT_ISSUED");
    }
    bank_.set(reg_offset(kRegs, "AUTO_CMD_ERROR"), error);
    stage_ = Stage::idle;
    data_.abort();
    raise(kIntAutoCmd);
    end_hardware(dat_tag_, graph(dat_tag_).add(o.response_node, Span::command, sc_time_stamp()));
    return;
  }
  if (!is_cmd12) {
    outcome_ = o;
    send_main();
    return;
  }
  stage_ = Stage::idle;
  outcome_ = o;
  if (dat_line_owned_)
    finish_busy(o.response_end, o.effect.busy_until, o.response_node);
  else
    end_hardware(dat_tag_, o.response_node);
  line_is_free();
}

}  // namespace vp
