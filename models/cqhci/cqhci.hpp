// CQHCI: the command queueing engine beside an SDHCI host, in the Synopsys DWC MSHC flavour (JESD84-B51 annex B).
//
// Modelled: every register; 64- and 128-bit task descriptors, link and transfer descriptors of 8, 12 and 16 bytes;
// 32 slots, direct commands in slot 31; queue barriers; CMD44/45 while another task's data move; queue status polls
// under CIT and CBC on a timer clock of their own; CMD46/47; both orders of execution; coalescing; halt, clear, task
// clear; response error mask; errors that stop the engine until recovery; descriptor prefetch. Checked: descriptors
// that run into another table or change while in use, stray bits, doorbells that lead nowhere, stale host status.
// Not modelled: encryption (a task that asks for it ends with GCE or ICCE), fetching a write's data ahead of CMD47.
// Data go through the host's DataEngine one task at a time: CMD46/47 follows when the task before it has all its data
// in memory. One event per register action, command end and response; none while idle. Choices are in params.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <systemc>
#include <vector>

#include "models/core/context.hpp"
#include "models/core/register_bank.hpp"
#include "models/cqhci/cqhci_regs.hpp"
#include "models/cqhci/params.hpp"
#include "models/cqhci/task_descriptor.hpp"
#include "models/sdhci/sdhci.hpp"

namespace vp {

class Cqhci : public sc_core::sc_module, private QueueEngine {
 public:
  SC_HAS_PROCESS(Cqhci);
  /// Attaches itself to `host`, which must outlive it. Throws InputError on a parameter out of range.
  Cqhci(sc_core::sc_module_name name, Context& ctx, Sdhci& host, const CqhciParams& params);

  struct Counters {
    std::uint64_t tasks = 0;               ///< completed, direct commands included
    std::uint64_t status_queries = 0;      ///< CMD13 sent by the engine
    std::uint64_t interrupts = 0;          ///< rises of the engine's interrupt
    std::uint64_t coalesced = 0;           ///< completions that raised no interrupt of their own
    std::uint64_t descriptor_fetches = 0;  ///< AXI reads of task slots and prefetched transfer descriptors
    std::uint64_t errors = 0;
    sc_time
        poll_wait;  ///< sum over tasks: from ready (or queued, when the device does not tell) and the data lines free
                    ///< to the QSR that shows it
    sc_time halt_wait;  ///< longest time from HALT written to halted
  };
  const Counters& counters() const { return counters_; }
  RegisterBank& registers() { return bank_; }
  const CqhciParams& params() const { return params_; }

 private:
  enum class Stage : std::uint8_t {
    empty,  ///< no doorbell
    rung,   ///< waits for its slot to be fetched
    fetching,
    bad,        ///< its descriptors are wrong: an error when its turn comes
    ready,      ///< decoded, waits for the CMD line
    queueing,   ///< CMD44 and CMD45 under way
    queued,     ///< in the device
    executing,  ///< CMD46/47 and data
    direct,     ///< direct command under way
    done,       ///< completion is being latched
    failed,
  };
  struct Task {
    Stage stage = Stage::empty;
    TaskDescriptor descriptor;
    std::array<std::byte, 32> raw{};  // the slot as fetched
    std::uint64_t slot_address = 0;
    std::uint64_t bad_address = 0;  // stage bad: the descriptor
    std::uint32_t bad_crypto = 0;   // stage bad: GCE or ICCE instead of an ADMA error
    std::uint32_t slot_bytes = 0, task_bytes = 0;
    std::uint64_t table = 0;  // first transfer descriptor
    bool table_known = false;
    bool direct_transfer = false;   // the slot holds a transfer descriptor instead of a link
    std::uint64_t order = 0;        // of the doorbells
    std::uint64_t ready_order = 0;  // of the QSR that showed it
    NodeId node = kRootNode;        // last in its graph
    sc_time queued_at;
    std::array<std::byte, 256> ahead{};
    std::uint32_t ahead_bytes = 0;  // fetched
    bool ahead_wanted = false;
  };
  enum class Sending : std::uint8_t { nothing, params, address, execute, status, direct };
  struct Action {
    enum class Kind : std::uint8_t { doorbell, control } kind;
    sc_time at;
    std::uint32_t bits;
  };
  struct Completion {
    sc_time at;
    unsigned tag;
    NodeId node;
    Span latch;
    bool timed_out;  // busy beyond the data timeout
  };

  // QueueEngine
  std::uint32_t window_bytes() const override { return cqhci::kWindowBytes; }
  std::uint64_t read_register(std::uint32_t offset, unsigned bytes, sc_time at) override;
  void write_register(std::uint32_t offset, unsigned bytes, std::uint64_t value, sc_time at) override;
  bool enabled() const override;
  bool halted() const override { return halted_; }
  bool has_tasks() const override;
  bool owns_line() const override { return sending_ != Sending::nothing; }
  bool owns_data() const override { return data_tag_ >= 0; }
  void command_sent(const CommandOutcome& outcome) override;
  void response_received(const CommandOutcome& outcome) override;
  void data_complete(NodeId last) override;
  void data_failed() override;
  void block_counted(sc_time at) override;
  void lines_free() override { pump(); }
  void reset_line() override;
  void reset_data() override;
  void reset_all() override;

  // registers (cqhci_registers.cpp)
  void hook_registers();
  void hook_interrupt_registers();
  void config_written(const RegisterBank::WriteEvent& e);
  void check_host_status();
  void control_written(const RegisterBank::WriteEvent& e);
  void coalescing_written(const RegisterBank::WriteEvent& e);
  void doorbell_written(const RegisterBank::WriteEvent& e);
  void act_at(Action::Kind kind, std::uint32_t bits);
  void on_action();
  void ring(std::uint32_t bits);
  void drop_tasks(std::uint32_t tags);
  void drop_everything();
  bool quiescent() const {
    return sending_ == Sending::nothing && pair_tag_ < 0 && data_tag_ < 0 && completions_.empty();
  }
  void check_halt();
  void on_clear();

  // interrupts (cqhci.cpp)
  void raise(std::uint32_t bits);
  void update_interrupt();
  void task_interrupt();
  void count_completion(unsigned tag, NodeId node);
  void reset_coalescing();
  void on_coalescing_timer();
  void release_waiting(std::uint32_t tags);

  // scheduling (scheduler.cpp)
  void pump();
  bool send_next();
  bool dat_free() const;
  sc_time dat_free_from() const;
  int best_ready() const;
  bool may_leave(unsigned tag) const;
  void on_cbc();
  void leave_queue(unsigned tag);
  void check_host_settings(unsigned tag);
  bool poll_due(sc_time now);
  void send_params(unsigned tag);
  void send_address(unsigned tag);
  void send_direct(unsigned tag);
  void send_execute(unsigned tag);
  void send_status();
  void issue(Sending what, int tag, std::uint8_t index, std::uint32_t argument, RespType expected,
             NodeId after);
  void queue_status(const CommandOutcome& outcome);
  void task_queued(const CommandOutcome& outcome);
  void on_wake() { pump(); }
  bool prefetch_off() const;
  void trace_state();

  // tasks (tasks.cpp)
  void pump_fetches();
  int next_slot_to_fetch() const;
  void fetched(bool ok);
  void slot_fetched(unsigned tag, bool ok);
  bool decode_slot(unsigned tag);
  void bad_slot(unsigned tag, std::uint64_t address, std::uint32_t crypto = 0);
  void descriptor_error(unsigned tag);
  std::uint32_t task_bytes() const;
  std::uint32_t link_bytes() const;
  std::uint32_t transfer_bytes() const;
  std::uint64_t list_base() const;
  DataEngine::Job job(unsigned tag);
  bool response_good(const CommandOutcome& outcome);
  void fail_response(unsigned index, unsigned tag, std::uint32_t host_bits, bool red);
  void fail_data(unsigned tag);
  void stop_on_error(int tag);
  void complete_at(const Completion& c);
  void direct_answered(const CommandOutcome& outcome);
  void on_complete();
  void complete(const Completion& c);
  void end_hardware(unsigned tag, NodeId node);
  void check_descriptors(unsigned tag);
  void check_tables(unsigned tag);
  bool same_in_memory(std::uint64_t address, const std::byte* copy, std::uint32_t bytes);
  CauseGraph& graph(unsigned tag);
  bool is_direct(unsigned tag) const;
  void wait_ends(unsigned tag, Span what, sc_time at);

  std::uint32_t reg(std::uint16_t r) const { return static_cast<std::uint32_t>(bank_.get(r)); }

  Context& ctx_;
  CqhciParams params_;
  Sdhci& host_;
  ClockDomain& core_;
  MmcBus& bus_;
  DataEngine& data_;
  ClockDomain timer_;  // cqetmclk
  RegisterBank bank_;
  Counters counters_;

  sc_time access_time_;
  std::deque<Action> actions_;
  bool halt_wanted_ = false, halted_ = false, clearing_ = false, error_ = false, irq_level_ = false;
  sc_time halt_from_;
  std::uint32_t clear_tags_ = 0;

  std::array<Task, cqhci::kSlots> tasks_;
  std::vector<std::uint8_t> waiting_;  // doorbell order: not yet on its way to the device
  std::uint64_t next_order_ = 0, next_ready_order_ = 0;
  std::uint32_t in_flight_ = 0;  // left waiting_, not complete
  int barrier_ = -1;             // the QBR task under way
  std::uint32_t queued_ = 0;     // in the device, not executing
  std::uint32_t ready_ = 0;      // of these, shown ready
  std::uint32_t asked_ = 0;      // queued_ when the status query left

  Sending sending_ = Sending::nothing;
  int line_tag_ = -1;
  int pair_tag_ = -1;  // CMD44 has gone, CMD45 not yet answered
  NodeId params_node_ = kRootNode;
  int data_tag_ = -1;
  std::uint32_t blocks_left_ = 0;
  bool cbc_open_ = false, cbc_polled_ = false;
  sc_time poll_not_before_, data_end_, dat_busy_until_, not_before_;

  int fetch_tag_ = -1;
  bool fetch_is_slot_ = false;
  std::uint32_t fetch_bytes_ = 0;

  std::vector<Completion> completions_;  // in order of time
  std::uint32_t coalesce_count_ = 0;
  bool coalesce_timer_ran_ = false, coalesce_seen_ = false;
  std::uint32_t waiting_interrupt_ = 0;  // complete, their interrupt still to come
  std::array<NodeId, cqhci::kSlots> waiting_node_{};

  std::array<std::byte, 256> compare_{};
  CauseGraph no_graph_;
  sc_core::sc_event action_event_, wake_event_, cbc_event_, complete_event_, coalesce_event_, clear_event_;
  SignalId t_doorbell_, t_pending_, t_qsr_, t_tag_, t_state_;
};

}  // namespace vp
