// An SD memory card of high capacity behind the bus lines (SD Physical Layer Simplified Specification 6.00; clauses in
// parentheses).
//
// Modelled: identification and data transfer mode as two command tables (standard and application) and the standard's
// states (4.1, 4.2, 4.3); CMD8 and ACMD41 with power-up busy, voltage window and host capacity bit; CID, CSD version 2,
// SCR, SD Status, card status; ACMD6 bus width; CMD6 check and switch of the access mode group: default, High Speed and,
// after CMD11, SDR50, SDR104, DDR50 with CMD19 tuning; single, open-ended and counted transfers; erase; R1 error bits.
// Not modelled: standard capacity cards, write protection, locking, SDIO, SPI, command queueing, caches (SD 6.0 video
// and application classes), drive strength and power groups of CMD6 (only function 0 there).
// Time is four numbers, not a NAND: a read's access and rate, a write command's cost and rate; written data wait in a
// small RAM. The device has no process: changes that lie in the future are seen when the next command comes after them.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "models/core/context.hpp"
#include "models/emmc/sparse_medium.hpp"
#include "models/mmc_bus/card.hpp"
#include "models/sd_card/sd_card_params.hpp"

namespace vp {

/// CURRENT_STATE of the card status; `ina` has no code of its own.
enum class SdState : std::uint8_t { idle, ready, ident, stby, tran, data, rcv, prg, dis, ina };
const char* to_string(SdState s);

/// Card status bits (4.10.1) beyond those an eMMC has at the same place.
namespace sd_status {
inline constexpr std::uint32_t kOutOfRange = 1U << 31, kAddressError = 1U << 30, kBlockLenError = 1U << 29,
                               kEraseSeqError = 1U << 28, kEraseParam = 1U << 27, kComCrcError = 1U << 23,
                               kIllegalCommand = 1U << 22, kCardEccFailed = 1U << 21, kError = 1U << 19,
                               kEraseReset = 1U << 13, kReadyForData = 1U << 8, kAppCmd = 1U << 5;
inline constexpr unsigned kStateShift = 9;
/// Cleared by the next valid command, and by being read.
inline constexpr std::uint32_t kTypeB = kComCrcError | kIllegalCommand;
inline constexpr std::uint32_t kTypeC = kOutOfRange | kAddressError | kBlockLenError | kEraseSeqError |
                                        kEraseParam | kCardEccFailed | kError | kEraseReset;
}  // namespace sd_status

class SdCard : public sc_core::sc_module, public MmcCard {
 public:
  /// Throws InputError when a parameter does not make a card.
  SdCard(sc_core::sc_module_name name, Context& context, const SdCardParams& params);
  ~SdCard() override;

  // --- MmcCard ---
  CommandEffect command(const MmcCommand& command, CauseGraph& graph, NodeId after) override;
  void corrupted_command() override;
  BlockReady read_ready(std::uint32_t k, CauseGraph& graph) override;
  void read_block(std::uint32_t k, std::span<std::byte> out, sc_time frame_end) override;
  WriteEffect write_block(std::uint32_t k, std::span<const std::byte> in, bool crc_good, sc_time token_end,
                          CauseGraph& graph, NodeId after) override;
  bool transfer_running() const override { return transfer_.running; }
  unsigned block_gap_clocks(double) const override { return static_cast<unsigned>(params_.gap_clocks); }
  LineMode line_mode() const override;
  double max_clock_hz() const override;
  const char* mode_name() const override;
  unsigned response_delay_clocks(double) const override { return static_cast<unsigned>(params_.n_cr); }
  /// SD cards have no reset line.
  void hardware_reset() override {}

  // --- platform and checkers ---
  SparseMedium& user_medium() { return *medium_; }
  std::uint64_t user_blocks() const { return medium_->blocks(); }
  SdState state();
  struct Counters {
    std::uint64_t read_commands = 0, write_commands = 0;
    sc_time firmware_busy;  ///< at the ends of write commands
    sc_time array_busy;     ///< reading and writing the array
  };
  const Counters& counters() const { return counters_; }

  // --- the command tables ---
  struct Spec;
  /// The row of a command (`app`: of an application command), or null when this card does not know it.
  static const Spec* spec(unsigned index, bool app);
  static bool legal_in(unsigned index, bool app, SdState state);

 private:
  enum class Source : std::uint8_t { medium, bytes };
  struct Transfer {
    bool running = false, writing = false, single = false, rejected = false;
    Source source = Source::medium;
    std::uint64_t lba = 0;
    std::uint32_t blocks = 0;  // 0: open-ended
    std::uint32_t moved = 0;   // blocks that were good
    sc_time base;              // read: first block
    NodeId base_node = kRootNode;
  };
  struct Call {
    const MmcCommand& cmd;
    CauseGraph& graph;
    NodeId after;
    sc_time now;
    CommandEffect effect;
    bool silent = false, illegal = false;
  };

  // sd_card.cpp
  void settle(sc_time now);
  void enter(SdState s, sc_time at);
  void busy(Call& c, SdState then, sc_time until, NodeId why);
  void respond(Call& c, const Spec& spec, SdState at_reception, bool app);
  void reject(const MmcCommand& cmd, bool app);
  void reset();
  void make_registers();
  unsigned function() const;
  bool rca_matches(std::uint32_t argument) const { return argument >> 16 == rca_; }

  // sd_commands.cpp
  void go_idle(Call& c);
  void all_send_cid(Call& c);
  void send_relative_addr(Call& c);
  void switch_function(Call& c);
  void select(Call& c);
  void send_if_cond(Call& c);
  void send_csd(Call& c);
  void send_cid(Call& c);
  void voltage_switch(Call& c);
  void stop(Call& c);
  void send_status(Call&) {}
  void go_inactive(Call& c);
  void set_blocklen(Call& c);
  void read_single(Call& c);
  void read_multiple(Call& c);
  void tuning_block(Call& c);
  void set_block_count(Call& c);
  void write_single(Call& c);
  void write_multiple(Call& c);
  void erase_start(Call& c);
  void erase_end(Call& c);
  void erase(Call& c);
  void app_cmd(Call& c);
  void set_bus_width(Call& c);
  void sd_status_register(Call& c);
  void send_num_wr_blocks(Call& c);
  void set_wr_blk_erase_count(Call&) {}  // advice: pre-erased blocks make this card no faster
  void op_cond(Call& c);
  void set_clr_card_detect(Call&) {}  // the pull-up on DAT3 is not modelled
  void send_scr(Call& c);

  // sd_transfer.cpp
  bool in_range(std::uint32_t lba);
  void begin_read(Call& c, std::uint32_t blocks);
  void begin_write(Call& c, std::uint32_t blocks, bool single);
  void send_bytes(Call& c, std::span<const std::uint8_t> bytes);
  BlockReady end_of_write(sc_time at, CauseGraph& graph, NodeId after);
  void end_write(sc_time at, sc_time busy_until);

  Context& context_;
  SdCardParams params_;
  std::array<std::uint8_t, 16> cid_{}, csd_{};
  std::array<std::uint8_t, 8> scr_{};
  std::unique_ptr<SparseMedium> medium_;
  std::vector<std::uint64_t> ecc_errors_;  // ascending
  sc_time read_block_time_, write_block_time_;

  SdState state_ = SdState::idle;
  sc_time ready_at_, busy_until_, data_end_;
  bool data_done_ = false;
  std::uint32_t status_ = 0;
  bool app_ = false;      // the next command is an application command
  bool if_cond_ = false;  // CMD8 was answered since the last reset
  bool low_voltage_ = false, switched_voltage_ = false;
  std::uint16_t rca_ = 0, next_rca_ = 1;
  std::uint32_t block_count_ = 0;
  bool block_count_set_ = false;
  unsigned width_ = 1;
  unsigned old_function_ = 0, new_function_ = 0;
  sc_time new_function_from_;
  bool switching_ = false;  // the running register read ends in a switch
  Transfer transfer_;
  std::array<std::byte, 64> bytes_{};
  std::uint32_t well_written_ = 0;
  struct {
    bool start_set = false, end_set = false;
    std::uint32_t start = 0, end = 0;
  } erase_;
  sc_time programmed_;  // everything accepted so far is in the array
  Counters counters_;
  SignalId state_signal_ = 0;
};

struct SdCard::Spec {
  std::uint8_t index;
  const char* name;
  RespType response;     ///< r1b: busy may follow; R6 and R7 have R1's form
  std::uint16_t states;  ///< one bit per SdState
  bool rca;              ///< the argument carries the RCA; another's command is ignored
  void (SdCard::*run)(Call&);
};

}  // namespace vp
