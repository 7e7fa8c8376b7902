#include "models/mmc_bus/mmc_bus.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/mmc_bus/crc.hpp"
#include "models/mmc_bus/frames.hpp"

namespace vp {

using sc_core::sc_time_stamp;

namespace {
constexpr std::uint64_t kPsPerNs = 1000, kNsPerSecond = 1'000'000'000;

/// As the kernel's log writes them, to the nanosecond.
std::string seconds(sc_time at) {
  const std::uint64_t ns = at.value() / kPsPerNs;
  return fmt::format("{}.{:09}", ns / kNsPerSecond, ns % kNsPerSecond);
}
}  // namespace

void MmcBusParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".n_rc", n_rc, "clk", 8, 1024, "N_RC: response end to next command");
  r.add(at + ".n_cc", n_cc, "clk", 8, 1024, "N_CC: command without response to next command");
  r.add(at + ".n_id", n_id, "clk", 5, 64, "N_ID: CMD1/CMD2 end to response");
  r.add(at + ".n_ac", n_ac, "clk", 2, 1024, "N_AC minimum: command end to read data");
  r.add(at + ".n_wr", n_wr, "clk", 2, 1024, "N_WR: response or busy end to write data");
  r.add(at + ".n_crc", n_crc, "clk", 2, 8, "N_CRC: write data end to CRC status");
  r.add(at + ".crc_token", crc_token, "clk", 5, 5, "length of the CRC status token");
  r.add(at + ".n_st", n_st, "clk", 2, 2, "N_ST: CMD12 end to last valid data");
  r.add(at + ".faults", faults, {}, "faults on the wire, e.g. read_crc:cmd=18:block=3:skip=1:count=2");
  r.add(at + ".response_timeout", response_timeout, "clk", 64, 1024, "command end to no response");
}

MmcBus::MmcBus(sc_core::sc_module_name name, Context& ctx, const MmcBusParams& params)
    : sc_module(name), ctx_(ctx), params_(params) {
  for (const BusFault& f : parse_faults(params_.faults, "mmc_bus.faults")) faults_.add(f);
  SC_METHOD(on_event);
  sensitive << event_;
  dont_initialize();
  t_cmd_ = ctx_.trace.add_state("mmc_bus.cmd", "idle");
  t_index_ = ctx_.trace.add_vector("mmc_bus.cmd_index", 6);
  t_dat_ = ctx_.trace.add_state("mmc_bus.dat", "idle");
  t_busy_ = ctx_.trace.add_vector("mmc_bus.busy", 1);
  t_clock_ = ctx_.trace.add_real("mmc_bus.clock_mhz");
}

void MmcBus::attach(Host& host, MmcCard& card) {
  host_ = &host;
  card_ = &card;
}

void MmcBus::set_clock(double hz) {
  const bool was_stopped = !running_;
  running_ = hz > 0;
  if (running_) clock_.set_frequency(hz, sc_time_stamp());
  if (running_ && was_stopped) clock_.restart_at(sc_time_stamp());
  ctx_.trace.change_real(t_clock_, sc_time_stamp(), hz / 1e6);
}

void MmcBus::issue(const MmcCommand& command, RespType expected, sc_time not_before, CauseGraph& graph,
                   NodeId after) {
  if (state_ != CmdState::idle) SC_REPORT_FATAL("mmc_bus", "two commands on the line at once");
  check_clock();
  const sc_time free = std::max({not_before, cmd_free_, sc_time_stamp()});
  current_ = CommandOutcome{};
  current_.command = command;
  current_.expected = expected;
  current_.start = clock_.align(free);
  current_.command_end = current_.start + clock_.cycles(kCommandFrameClocks);
  graph_ = &graph;
  current_.sent_node = graph.add(after, Span::command, current_.command_end);
  state_ = CmdState::sending;
  ++counters_.commands;
  ++counters_.by_index[command.index & 63];
  counters_.cmd_busy += clock_.cycles(kCommandFrameClocks);
  ctx_.trace.change(t_index_, current_.start, command.index);
  ctx_.trace.change_state(t_cmd_, current_.start, "command");
  ctx_.trace.change_state(t_cmd_, current_.command_end, expected == RespType::none ? "idle" : "N_CR");
  event_.notify(current_.command_end - sc_time_stamp());
}

void MmcBus::abandon_command() {
  event_.cancel();
  if (state_ != CmdState::idle) {
    ctx_.trace.change_state(t_cmd_, sc_time_stamp(), "idle");
    cmd_free_ = sc_time_stamp() + clock_.cycles(params_.n_rc);
  }
  state_ = CmdState::idle;
}

void MmcBus::on_event() {
  if (state_ == CmdState::sending) {
    end_of_command();
  } else if (state_ == CmdState::waiting) {
    end_of_response();
  }
}

void MmcBus::end_of_command() {
  CommandOutcome& c = current_;
  // The 40 protected bits and their CRC7 really go over the line, so that a flipped bit is seen as one.
  CommandFrame frame = encode_command(c.command);
  if (strike(BusFault::Kind::command_crc, c.command.index)) frame[2] ^= 0x10;
  if (frame_crc_good(frame)) {
    c.effect = card_->command(decode_command(frame), *graph_, c.sent_node);
  } else {
    card_->corrupted_command();
  }
  if (c.effect.data != DataDir::none) data_command_ = c.command.index;
  if (c.effect.response && strike(BusFault::Kind::no_response, c.command.index)) c.effect.response.reset();

  const bool answered = c.effect.response.has_value();
  if (answered) {
    c.response = *c.effect.response;
    const bool long_frame = c.response.type == RespType::r2;
    const std::uint64_t n_cr = c.command.index == 1 || c.command.index == 2
                                   ? params_.n_id
                                   : card_->response_delay_clocks(clock_.frequency_hz());
    const unsigned clocks = long_frame ? kLongResponseClocks : kCommandFrameClocks;
    c.response_end = c.command_end + clock_.cycles(n_cr + clocks);
    cmd_free_ = c.response_end + clock_.cycles(params_.n_rc);
    counters_.cmd_busy += clock_.cycles(clocks);
    ++counters_.responses;
    if (ctx_.trace.on()) {
      ctx_.trace.change_state(t_cmd_, c.command_end + clock_.cycles(n_cr), "response");
      ctx_.trace.change_state(t_cmd_, c.response_end, "idle");
    }
    apply_response_faults();
  } else if (c.expected == RespType::none) {
    c.response_end = c.command_end;
    cmd_free_ = c.command_end + clock_.cycles(params_.n_cc);
  } else {
    c.timeout = true;
    c.response_end = c.command_end + clock_.cycles(params_.response_timeout);
    cmd_free_ = c.response_end;
    ctx_.trace.change_state(t_cmd_, c.response_end, "idle");
  }
  c.response_node = graph_->add(c.sent_node, Span::command, c.response_end);
  if (c.effect.busy_until > c.command_end) {
    if (const BusFault* f = strike(BusFault::Kind::stuck_busy, c.command.index))
      c.effect.busy_until += f->extra;
    hold_busy(c.response_end, c.effect.busy_until);
  }
  state_ = CmdState::waiting;
  host_->command_sent(c);
  if (state_ == CmdState::waiting) event_.notify(c.response_end - sc_time_stamp());
}

void MmcBus::apply_response_faults() {
  if (faults_.empty()) return;
  CommandOutcome& c = current_;
  const unsigned index = c.command.index;
  if (strike(BusFault::Kind::response_crc, index)) c.crc_error = true;
  if (strike(BusFault::Kind::response_end_bit, index)) c.end_bit_error = true;
  if (strike(BusFault::Kind::response_index, index)) c.response.index ^= 1;
}

/// The fault that strikes this chance, or null: counted, and a line of the log.
const BusFault* MmcBus::strike(BusFault::Kind kind, unsigned command, std::int64_t block) {
  const BusFault* f = faults_.strike(kind, command, block);
  if (!f) return nullptr;
  ++counters_.faults_struck;
  if (ctx_.bus_log)
    ctx_.bus_log(fmt::format("{}: mmc_fault: {} cmd={}{}", seconds(sc_time_stamp()), fault_name(kind),
                             command, block < 0 ? "" : fmt::format(" block={}", block)));
  return f;
}

void MmcBus::log_command(const CommandOutcome& c) const {
  std::string line = fmt::format("{}: mmc_command: cmd={} arg=0x{:08x}", seconds(c.response_end),
                                 c.command.index, c.command.argument);
  if (!c.timeout && c.response.type != RespType::none)
    line += fmt::format(" response=0x{:08x}", c.response.content);
  if (c.timeout) line += " error=timeout";
  if (c.crc_error) line += " error=crc";
  if (c.end_bit_error) line += " error=end_bit";
  if (c.index_error) line += " error=index";
  if (c.effect.data != DataDir::none)
    line += fmt::format(" data={}", c.effect.data == DataDir::read ? "read" : "write");
  line += fmt::format(" ns={}", (c.response_end - c.start).value() / kPsPerNs);
  if (c.effect.busy_until > c.response_end)
    line += fmt::format(" busy_ns={}", (c.effect.busy_until - c.response_end).value() / kPsPerNs);
  ctx_.bus_log(line);
}

void MmcBus::end_of_response() {
  state_ = CmdState::idle;
  CommandOutcome& c = current_;
  if (!c.timeout && c.response.type != RespType::none) {
    const bool fixed_index = c.response.type == RespType::r2 || c.response.type == RespType::r3;
    c.index_error = c.response.index != (fixed_index ? 0x3F : c.command.index);
  }
  const CommandOutcome outcome = c;
  if (ctx_.bus_log) log_command(outcome);
  host_->response_received(outcome);
}

void MmcBus::check_clock() {
  const double hz = clock_.frequency_hz();
  const char* mode = card_->mode_name();
  if (hz == checked_hz_ && mode == checked_mode_) return;
  checked_hz_ = hz;
  checked_mode_ = mode;
  // 0.1 %: a divider of a base clock that is slightly off its nominal value is no fault.
  if (hz > card_->max_clock_hz() * 1.001)
    ctx_.finding("mmc.clock_outside_mode", name(), {},
                 fmt::format("card clock {:.3f} MHz is above the {:.3f} MHz of mode {}", hz / 1e6,
                             card_->max_clock_hz() / 1e6, mode));
}

bool MmcBus::lines_agree() const {
  return host_mode_ == card_->line_mode() && clock_.frequency_hz() <= card_->max_clock_hz() * 1.001;
}

void MmcBus::trace_frame(sc_time start, sc_time end, const char* what) {
  counters_.dat_busy += end - start;
  if (!ctx_.trace.on()) return;
  ctx_.trace.change_state(t_dat_, start, what);
  ctx_.trace.change_state(t_dat_, end, "idle");
}

BlockReady MmcBus::read_ready(std::uint32_t k, CauseGraph& graph) {
  BlockReady ready = card_->read_ready(k, graph);
  if (faults_.empty()) return ready;
  if (const BusFault* f = strike(BusFault::Kind::late_data, data_command_, k)) {
    ready.at += f->extra;
    ready.why = graph.add(ready.why, Span::device_buffer, ready.at);
  }
  return ready;
}

std::uint32_t MmcBus::ready_with(std::uint32_t k) const {
  return faults_.empty() && lines_agree() ? card_->ready_with(k) : 1;
}

MmcBus::FrameCheck MmcBus::receive(std::uint32_t k, std::span<std::byte> out, sc_time start, sc_time end) {
  ++counters_.blocks_read;
  trace_frame(start, end, "read");
  card_->read_block(k, out, end);
  FrameCheck check;
  if (!lines_agree()) {
    for (std::byte& b : out) b = ~b;  // what is sampled at the wrong edges or lines is not the data
    check.crc_error = true;
    return check;
  }
  if (faults_.empty()) return check;
  if (strike(BusFault::Kind::read_end_bit, data_command_, k)) check.end_bit_error = true;
  if (strike(BusFault::Kind::read_crc, data_command_, k)) {
    const std::uint16_t sent = crc16(out);
    out[out.size() / 2] ^= std::byte{0x01};
    check.crc_error = crc16(out) != sent;
  }
  return check;
}

WriteEffect MmcBus::send(std::uint32_t k, std::span<const std::byte> in, sc_time start, sc_time end,
                         CauseGraph& graph, NodeId after) {
  ++counters_.blocks_written;
  trace_frame(start, end, "write");
  const sc_time token = token_end(end);
  bool good = lines_agree();
  if (!faults_.empty() && strike(BusFault::Kind::write_crc, data_command_, k)) good = false;
  WriteEffect effect = card_->write_block(k, in, good, token, graph, after);
  if (!faults_.empty()) {
    if (strike(BusFault::Kind::write_no_status, data_command_, k)) effect.status = CrcStatus::none;
    if (const BusFault* f = strike(BusFault::Kind::stuck_busy, data_command_, k)) {
      const sc_time from = effect.busy_until > token ? effect.busy_until : token;
      effect.busy_until = from + f->extra;
      effect.why = graph.add(effect.why == kRootNode ? after : effect.why, Span::busy, effect.busy_until);
    }
  }
  if (ctx_.trace.on()) {
    ctx_.trace.change_state(t_dat_, end + clock_.cycles(params_.n_crc), "crc_status");
    ctx_.trace.change_state(t_dat_, token, "idle");
  }
  hold_busy(token, effect.busy_until);
  return effect;
}

void MmcBus::hold_busy(sc_time from, sc_time until) {
  if (until <= from) return;
  counters_.dat0_busy += until - from;
  if (until > busy_until_) busy_until_ = until;
  if (!ctx_.trace.on()) return;
  ctx_.trace.change(t_busy_, from, 1);
  ctx_.trace.change(t_busy_, until, 0);
}

}  // namespace vp
