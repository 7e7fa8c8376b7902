// The CMD and DAT lines between one host and one eMMC (JESD84-B51 chapters 6.10 to 6.12 and 10).
//
// Modelled: 48- and 136-bit frames with CRC7, N_CR, N_RC, N_CC, N_ID, the 64-clock response timeout; DAT frames of 1, 4
// and 8 bits in SDR and DDR with start, CRC16 and end clocks, the CRC status token, busy on DAT0; commands while data
// moves; a host and a device that disagree about width, edges or clock see CRC errors; faults put on the wire on demand.
// Not modelled: single bits as events, analogue margins, open-drain collisions (one device), the boot modes.
// Time: a command costs two events (its end bit, the end of its response); a block costs none here, its times are
// computed by the host's data engine from frame_clocks().
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <systemc>
#include <vector>

#include "models/core/context.hpp"
#include "models/core/params.hpp"
#include "models/mmc_bus/card.hpp"
#include "models/mmc_bus/faults.hpp"

namespace vp {

/// Cycle parameters of the bus in card clocks, with the standard's symbols.
struct MmcBusParams {
  std::uint64_t n_rc = 8;               ///< response end to next command
  std::uint64_t n_cc = 8;               ///< command without response to next command
  std::uint64_t n_id = 5;               ///< CMD1 and CMD2: command end to response
  std::uint64_t n_ac = 2;               ///< command end to read data, minimum
  std::uint64_t n_wr = 2;               ///< response end or busy end to write data
  std::uint64_t n_crc = 2;              ///< write data end to CRC status
  std::uint64_t crc_token = 5;          ///< CRC status token: start, three bits, end
  std::uint64_t n_st = 2;               ///< CMD12 end bit to the last valid data
  std::uint64_t response_timeout = 64;  ///< command end to "no response"
  std::string faults;                   ///< faults on the wire from the start, see faults.hpp; empty: none
  void declare(ParamRegistry& r, const std::string& at);
};

inline constexpr unsigned kCommandFrameClocks = 48;
inline constexpr unsigned kLongResponseClocks = 136;

/// Clocks of one DAT frame: start, data, CRC16, end. `width` is 1, 4 or 8.
constexpr unsigned frame_clocks(unsigned bytes, LineMode mode) {
  const unsigned data = 8 * bytes / mode.width / (mode.ddr ? 2 : 1);
  return 1 + data + 16 + 1;
}

/// What the host learns of a command at the end of its response (or when none came in time).
struct CommandOutcome {
  MmcCommand command;
  RespType expected = RespType::none;
  MmcResponse response;
  bool timeout = false, crc_error = false, end_bit_error = false, index_error = false;
  sc_time start, command_end, response_end;
  CommandEffect effect;              ///< what the device does now
  NodeId sent_node = kRootNode;      ///< the command's end bit
  NodeId response_node = kRootNode;  ///< the response's end bit
};

class MmcBus : public sc_core::sc_module {
 public:
  struct Host {
    virtual ~Host() = default;
    /// The command's end bit has left; a read's data may follow from here.
    virtual void command_sent(const CommandOutcome& outcome) = 0;
    /// The response has ended, or 64 clocks without one; at that kernel time.
    virtual void response_received(const CommandOutcome& outcome) = 0;
  };

  SC_HAS_PROCESS(MmcBus);
  MmcBus(sc_core::sc_module_name name, Context& ctx, const MmcBusParams& params);
  void attach(Host& host, MmcCard& card);

  // --- clock and lines, as the host drives them ---
  /// 0 Hz stops the clock.
  void set_clock(double hz);
  void set_line_mode(LineMode mode) { host_mode_ = mode; }
  LineMode line_mode() const { return host_mode_; }
  bool clock_running() const { return running_; }
  ClockDomain& clock() { return clock_; }
  const MmcBusParams& params() const { return params_; }
  MmcCard& card() { return *card_; }

  // --- CMD ---
  /// Sends a command on the first edge at or after `not_before` at which the line is free. One at a time.
  void issue(const MmcCommand& command, RespType expected, sc_time not_before, CauseGraph& graph,
             NodeId after);
  bool command_line_busy() const { return state_ != CmdState::idle; }
  /// Forgets the command under way (host reset of the CMD line); the device may have seen it.
  void abandon_command();

  // --- DAT ---
  /// Frame length in time for `bytes` as the host has set the lines.
  sc_time frame_time(unsigned bytes) const { return clock_.cycles(frame_clocks(bytes, host_mode_)); }
  struct FrameCheck {
    bool crc_error = false, end_bit_error = false;
  };
  /// When block k of the running read can start, as the device says.
  BlockReady read_ready(std::uint32_t k, CauseGraph& graph);
  /// MmcCard::ready_with(); 1 where a frame may be spoilt on the way.
  std::uint32_t ready_with(std::uint32_t k) const;
  /// Takes block k of the running read off the lines; the frame stood from `start` to `end`.
  FrameCheck receive(std::uint32_t k, std::span<std::byte> out, sc_time start, sc_time end);
  /// Puts block k of the running write on the lines; `after` is the frame's node. Returns the token and the busy.
  WriteEffect send(std::uint32_t k, std::span<const std::byte> in, sc_time start, sc_time end,
                   CauseGraph& graph, NodeId after);
  sc_time token_end(sc_time frame_end) const {
    return frame_end + clock_.cycles(params_.n_crc + params_.crc_token);
  }
  /// DAT0 held low by the device from `from` until `until`.
  void hold_busy(sc_time from, sc_time until);
  bool busy(sc_time at) const { return at < busy_until_; }
  /// Levels of CMD and DAT[7:0] now, for the host's Present State.
  bool cmd_level() const { return true; }
  unsigned dat_levels(sc_time at) const { return busy(at) ? 0xFE : 0xFF; }

  // --- faults ---
  void inject(const BusFault& fault) { faults_.add(fault); }
  /// Hosts ask when they would report the end of `command`'s data or busy: true when a fault keeps them from it.
  bool loses_completion(unsigned command) {
    return !faults_.empty() && strike(BusFault::Kind::lost_completion, command) != nullptr;
  }

  // --- instruments ---
  struct Counters {
    std::uint64_t commands = 0, responses = 0, blocks_read = 0, blocks_written = 0, faults_struck = 0;
    sc_time cmd_busy, dat_busy, dat0_busy;
    std::array<std::uint64_t, 64> by_index{};
  };
  const Counters& counters() const { return counters_; }

 private:
  enum class CmdState : std::uint8_t { idle, sending, waiting };
  void on_event();
  void end_of_command();
  void end_of_response();
  void apply_response_faults();
  const BusFault* strike(BusFault::Kind kind, unsigned command, std::int64_t block = -1);
  void log_command(const CommandOutcome& c) const;
  bool lines_agree() const;
  void check_clock();
  void trace_frame(sc_time start, sc_time end, const char* what);

  Context& ctx_;
  MmcBusParams params_;
  ClockDomain clock_{"card", 400e3};
  bool running_ = false;
  Host* host_ = nullptr;
  MmcCard* card_ = nullptr;
  LineMode host_mode_;
  CmdState state_ = CmdState::idle;
  CommandOutcome current_;
  CauseGraph* graph_ = nullptr;
  sc_time cmd_free_;
  sc_core::sc_event event_;
  sc_time busy_until_;
  FaultPlan faults_;
  std::uint8_t data_command_ = 0;
  Counters counters_;
  double checked_hz_ = 0;
  const char* checked_mode_ = nullptr;
  SignalId t_cmd_, t_index_, t_dat_, t_busy_, t_clock_;
};

}  // namespace vp
