// The eMMC 5.1 device behind the bus lines (JESD84-B51).
//
// Modelled: identification and transfer mode as one command table and the standard's states; CID, CSD,
// EXT_CSD; CMD6 with its errors and busy times; bus widths and timings up to HS400 with enhanced strobe;
// single, open-ended and counted transfers, reliable and forced writes; erase, trim, discard; write cache and
// flush; user and boot partitions; the task queue (task_queue.hpp); resets. Not modelled: boot operation, RPMB
// and GP partitions, write protection (CMD28 to 31), locking, HPI, packed commands. Their commands are
// answered as illegal. The device has no process: a change of state that lies in the future (end of busy) is seen when the next command or query
// arrives after it. Bytes live in SparseMedium, time in Ftl; they share nothing but addresses.
#pragma once

#include <memory>
#include <optional>
#include <systemc>

#include "models/core/context.hpp"
#include "models/emmc/card_status.hpp"
#include "models/emmc/emmc_params.hpp"
#include "models/emmc/ext_csd.hpp"
#include "models/emmc/sparse_medium.hpp"
#include "models/emmc/task_queue.hpp"
#include "models/mmc_bus/card.hpp"
#include "models/nand/ftl.hpp"

namespace vp {

/// CURRENT_STATE of the card status; `ina` has no code of its own.
enum class CardState : std::uint8_t { idle, ready, ident, stby, tran, data, rcv, prg, dis, btst, slp, ina };
const char* to_string(CardState s);

class Emmc : public sc_core::sc_module, public MmcCard {
 public:
  /// Throws InputError when a register text is wrong.
  Emmc(sc_core::sc_module_name name, Context& context, const EmmcParams& params, const NandParams& nand);
  ~Emmc() override;

  // --- MmcCard ---
  CommandEffect command(const MmcCommand& command, CauseGraph& graph, NodeId after) override;
  void corrupted_command() override { status_ |= status::kComCrcError; }
  BlockReady read_ready(std::uint32_t k, CauseGraph& graph) override;
  std::uint32_t ready_with(std::uint32_t k) const override;
  void read_block(std::uint32_t k, std::span<std::byte> out, sc_time frame_end) override;
  WriteEffect write_block(std::uint32_t k, std::span<const std::byte> in, bool crc_good, sc_time token_end,
                          CauseGraph& graph, NodeId after) override;
  bool transfer_running() const override { return transfer_.running; }
  BlockReady queue_ready(unsigned tag, CauseGraph& graph, NodeId after) override;
  unsigned block_gap_clocks(double card_clock_hz) const override;
  LineMode line_mode() const override;
  double max_clock_hz() const override;
  const char* mode_name() const override;
  unsigned response_delay_clocks(double card_clock_hz) const override;
  void hardware_reset() override;

  // --- platform and checkers ---
  SparseMedium& user_medium() { return *partitions_[0].medium; }
  SparseMedium& boot_medium(unsigned n) { return *partitions_[n].medium; }  ///< n = 1 or 2
  Ftl& ftl() { return *ftl_; }
  const Ftl& ftl() const { return *ftl_; }
  const ExtCsd& ext_csd() const { return ext_csd_; }
  const QueueCounters& queue_counters() const { return queue_.counters; }
  /// For instruments (hosts see QSR): when a queued task is or was ready for execution; sc_max_time() while it waits
  /// to be prepared and for an empty id.
  sc_time ready_at(unsigned task) const;
  /// The state at the kernel's time.
  CardState state();
  std::uint64_t user_blocks() const { return partitions_[0].medium->blocks(); }

  // --- the command table ---
  struct Spec;
  /// The row of a command, or null when this device does not know it.
  static const Spec* spec(unsigned index);
  /// Is the command in the table for that state (modes and arguments aside)?
  static bool legal_in(unsigned index, CardState state);

 private:
  struct Partition {
    std::unique_ptr<SparseMedium> medium;
    std::uint64_t first_lba = 0;  // in the translation layer
  };
  enum class Source : std::uint8_t { medium, ext_csd, tuning };
  struct Transfer {
    bool running = false;
    bool writing = false;
    Source source = Source::medium;
    Partition* partition = nullptr;
    std::uint64_t lba = 0;
    std::uint32_t blocks = 0;  // 0: open-ended
    std::uint32_t moved = 0;
    bool single = false;    // CMD24: no CMD12 after a rejected block
    bool rejected = false;  // a block with a bad CRC: the rest is ignored
    BlockReady register_ready;
    ReadPlan read;  // of a transfer without a queue
    WritePlan write;
    ReadPlan* reading = nullptr;  // the one in use: above, or the executing task's
    WritePlan* write_plan = nullptr;
  };
  struct Mode {
    std::uint8_t timing = 0, width = 0;  // HS_TIMING, BUS_WIDTH in force
  };
  /// One command on its way through its handler.
  struct Call {
    const MmcCommand& cmd;
    CauseGraph& graph;
    NodeId after;
    sc_time now;
    CommandEffect effect;
    bool silent = false;   // executed without a response
    bool illegal = false;  // not legal for a reason the table does not know
  };

  // emmc.cpp: time, response, resets
  void settle(sc_time now);
  void enter(CardState s, sc_time at);
  void busy(Call& c, CardState then, sc_time until, NodeId why);
  void respond(Call& c, const Spec& spec, CardState at_reception);
  void reject(const MmcCommand& cmd);
  void reset(bool power, double busy_us);
  Mode mode(sc_time now) const;
  bool rca_matches(std::uint32_t argument) const { return argument >> 16 == rca_; }

  // commands.cpp: handlers of the command table
  void go_idle(Call& c);
  void send_op_cond(Call& c);
  void all_send_cid(Call& c);
  void set_relative_addr(Call& c);
  void sleep_awake(Call& c);
  void switch_byte(Call& c);
  void select(Call& c);
  void send_ext_csd(Call& c);
  void send_csd(Call& c);
  void send_cid(Call& c);
  void stop(Call& c);
  void send_status(Call& c);
  void go_inactive(Call& c);
  void set_blocklen(Call& c);
  void read_single(Call& c);
  void read_multiple(Call& c);
  void send_tuning_block(Call& c);
  void set_block_count(Call& c);
  void write_single(Call& c);
  void write_multiple(Call& c);
  void erase_group_start(Call& c);
  void erase_group_end(Call& c);
  void erase(Call& c);

  // transfer.cpp: data
  std::optional<std::uint64_t> block_address(std::uint32_t argument);
  void begin_read(Call& c, std::uint32_t blocks);
  void begin_write(Call& c, std::uint32_t blocks, bool through, bool single);
  void begin_register_read(Call& c, Source source, std::uint32_t bytes);
  void end_write(sc_time at, const Accepted& accepted);
  std::uint64_t erase_group_blocks() const;

  // task_queue.cpp: CMD44 to CMD48
  bool queue_on(sc_time now) const;
  unsigned queue_depth() const;
  bool queue_allows(unsigned index, sc_time now) const;
  void queue_parameters(Call& c);
  void queue_address(Call& c);
  void execute_read(Call& c);
  void execute_write(Call& c);
  void execute(Call& c, bool write);
  void manage_tasks(Call& c);
  void prepare_tasks(sc_time at);
  void prepare(QueueTask& t, sc_time from);
  void prepare_write(QueueTask& t, sc_time from, NodeId taken);
  void hand_over(QueueTask& t, CauseGraph& graph, NodeId after);
  void begin_execution(Call& c, QueueTask& t);
  bool uncorrectable(const QueueTask& t) const;
  void end_task(sc_time at);
  void settle_queue(sc_time now);
  void drop_tasks(std::uint32_t which, sc_time now);
  void show_queue(sc_time now);

  // switch.cpp: CMD6
  bool switch_allowed(unsigned index, std::uint8_t value) const;
  bool mode_allowed(std::uint8_t timing, std::uint8_t width) const;
  Accepted apply_switch(Call& c, unsigned index, std::uint8_t value);

  Context& context_;
  EmmcParams params_;
  ExtCsd ext_csd_;
  std::array<std::uint8_t, 16> cid_, csd_;
  std::array<Partition, 3> partitions_;  // user, boot 1, boot 2
  std::unique_ptr<Ftl> ftl_;
  bool sector_addressing_ = true;

  CardState state_ = CardState::idle;
  sc_time ready_at_;    // end of power-up
  sc_time busy_until_;  // prg, dis: end of programming
  sc_time data_end_;    // data: end of the last frame
  bool data_done_ = false;
  std::uint32_t status_ = 0;
  std::uint32_t deferred_status_ = 0;  // found while executing: joins status_ after this command's response
  std::uint16_t rca_ = 1;
  std::uint32_t block_count_ = 0;  // CMD23's argument for the next command
  bool block_count_set_ = false;
  Mode old_mode_, new_mode_;
  sc_time new_mode_from_;
  Transfer transfer_;
  struct {
    bool start_set = false, end_set = false;
    std::uint64_t start = 0, end = 0;
  } erase_;
  TaskQueue queue_;
  QueueTask* executing_ = nullptr;  // or ending
  sc_time queue_from_;              // CMDQ_MODE_EN is in force
  bool writes_wait_for_firmware_ = false;
  std::uint32_t block_length_ = kBlockBytes;  // CMD16's argument
  SignalId state_signal_ = 0, tasks_signal_ = 0, qsr_signal_ = 0;
};

/// A row of the command table. The handler runs only when state and RCA fit; it may still call the command
/// illegal.
struct Emmc::Spec {
  std::uint8_t index;
  const char* name;
  const char* type;      ///< bc, bcr, ac, adtc
  RespType response;     ///< r1b: busy may follow
  std::uint16_t states;  ///< one bit per CardState
  bool rca;              ///< the argument carries the RCA; another's command is ignored
  void (Emmc::*run)(Call&);
};

}  // namespace vp
