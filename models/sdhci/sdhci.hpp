// SDHCI 4.20 host controller in the Synopsys DWC MSHC flavour.
//
// Modelled: the standard register area and vendor area 1; software resets, clock and bus power handshakes; PIO, SDMA with
// boundary interrupt, ADMA2 in its three descriptor sizes; Auto CMD12, Auto CMD23, Auto CMD Auto Select; 16- and 32-bit
// block counts; status and signal enables, every error interrupt, ADMA error state and address; the data timeout
// counter; stop at block gap; tuning by CMD21; DWC rules (128 MiB windows, MBIU bursts, CMD reset keeps Command Complete).
// Not modelled: ADMA3, SD card UHS-II, suspend/resume, boot, analogue PHY settings (the PHY area reads as undefined).
// Sources: SDHCI 4.20; choices where the IP's databook is not public are parameters (params.hpp).
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <systemc>

#include "models/core/context.hpp"
#include "models/core/irq.hpp"
#include "models/core/register_bank.hpp"
#include "models/mmc_bus/mmc_bus.hpp"
#include "models/sdhci/data_engine.hpp"
#include "models/sdhci/dwcmshc_regs.hpp"
#include "models/sdhci/params.hpp"
#include "models/sdhci/queue_engine.hpp"
#include "models/sdhci/sdhci_regs.hpp"

namespace vp {

class Sdhci : public sc_core::sc_module, private MmcBus::Host, private DataEngine::Client {
 public:
  tlm_utils::simple_target_socket<Sdhci> socket;
  IrqLine irq;

  SC_HAS_PROCESS(Sdhci);
  /// `axi_clock` times register accesses and the DMA port. The bus is attached to `card` here.
  Sdhci(sc_core::sc_module_name name, Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
        const SdhciParams& params);

  AxiMasterPort& dma_port() { return data_.port(); }
  const DataEngine& data() const { return data_; }
  const SdhciParams& params() const { return params_; }
  RegisterBank& registers() { return bank_; }

  // --- for a queue engine beside (models/cqhci) ---
  /// Its registers appear at VENDOR2_POINTER while the internal clock is enabled.
  void attach(QueueEngine& engine) { queue_ = &engine; }
  ClockDomain& core_clock() { return core_; }
  MmcBus& bus() { return bus_; }
  DataEngine& data_engine() { return data_; }
  /// Format of transfer descriptors as the host is set up, and where it is not set up for a queue.
  AdmaFormat queue_format() const;
  bool adma2_selected() const;
  std::uint32_t block_bytes() const;
  std::uint32_t emmc_control() const {
    return static_cast<std::uint32_t>(vendor_.get(reg_offset(dwcmshc::kRegs, "EMMC_CTRL")));
  }
  sc_time data_timeout() const;
  /// No command of the host's own is on the line or about to be.
  bool command_line_free() const { return stage_ == Stage::idle && !bus_.command_line_busy(); }
  bool data_line_free() const { return !dat_line_owned_ && !data_.active(); }
  bool command_complete_latched() const {
    return bank_.get(reg_offset(sdhci::kRegs, "NORMAL_INT_STATUS")) & sdhci::kIntCommandComplete;
  }
  bool buffer_read_enabled() const { return data_.pio_can_read(); }
  /// Level of the engine's interrupt: NORMAL_INT_STATUS.CQE follows it and cannot be cleared while it is high.
  void queue_interrupt(bool level);
  /// Interrupt status bits the engine raises here.
  void raise(std::uint32_t bits);
  void queue_descriptor_error(std::uint64_t descriptor);
  /// COMMAND and BLOCK_COUNT show what the engine sends (seen in register dumps of real hosts).
  void show_queue_command(unsigned index, bool data, std::uint32_t blocks);

  struct Counters {
    std::uint64_t interrupts_raised = 0, commands = 0, auto_commands = 0, errors = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  enum class Stage : std::uint8_t { idle, waiting_start, auto_cmd23, main, auto_cmd12 };

  // register side (sdhci_registers.cpp)
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  std::uint64_t read(std::uint32_t offset, unsigned bytes);
  void write(std::uint32_t offset, unsigned bytes, std::uint64_t value);
  void hook_registers();
  void hook_interrupt_registers();
  void software_reset(std::uint32_t bits);
  void reset_dat();
  void update_clock();
  void update_lines();
  void update_bursts();
  std::uint64_t present_state();
  bool v4() const;
  bool tuned() const;
  std::uint32_t block_count() const;

  // interrupts
  void update_irq();
  bool queue_allows(std::uint16_t command, bool uses_dat);
  bool in_queue_window(std::uint32_t offset) const;

  // commands (sdhci_commands.cpp)
  void command_written(std::uint16_t command);
  void start_command();
  void send_main();
  bool wants_auto_cmd23() const;
  bool wants_auto_cmd12() const;
  DataEngine::Job data_job();
  void command_sent(const CommandOutcome& outcome) override;
  void response_received(const CommandOutcome& outcome) override;
  void send_auto_cmd12();
  void auto_cmd_response(const CommandOutcome& outcome, bool is_cmd12);
  void line_is_free();
  void on_command_complete();
  void store_response(const CommandOutcome& outcome);
  std::uint32_t response_errors(const CommandOutcome& outcome) const;
  void finish_busy(sc_time from, sc_time until, NodeId node);
  void schedule_transfer_complete(sc_time end, NodeId node, Span span);
  void on_transfer_complete();
  void end_hardware(unsigned tag, NodeId node, bool more = false);
  CauseGraph& graph(unsigned tag);

  // whose time a command takes, for the spans (sdhci_spans.cpp)
  unsigned tag_of(unsigned index, std::uint32_t argument) const;
  void begin_spans(sc_time now);
  void end_command_spans(NodeId node, bool good);
  void tasks_seen_ready(std::uint32_t status, sc_time now);

  // data callbacks
  void data_complete(NodeId last) override;
  void data_error(std::uint32_t bits) override;
  void adma_error(DataEngine::AdmaState state, bool length_mismatch, std::uint64_t descriptor) override;
  void data_interrupt(std::uint32_t bits) override;
  void tuning_block(bool good) override;
  bool sampling_good() override;
  void block_moved() override;

  Context& ctx_;
  SdhciParams params_;
  ClockDomain core_;
  ClockDomain& axi_;
  MmcBus& bus_;
  RegisterBank bank_, vendor_;
  DataEngine data_;
  QueueEngine* queue_ = nullptr;
  bool queue_level_ = false;
  Counters counters_;

  sc_time access_time_;  // when the register access under way takes effect
  sc_time clock_stable_at_, reset_done_at_;
  std::uint64_t reset_pending_ = 0;
  Stage stage_ = Stage::idle;
  std::uint16_t command_ = 0, mode_ = 0;            // the command under way
  std::uint8_t dat_index_ = 0;                      // of the command whose data or busy the DAT lines carry
  std::uint16_t data_command_ = 0, data_mode_ = 0;  // the one that owns the data engine
  std::optional<std::uint16_t> deferred_;           // written while Auto CMD12 has the line
  bool auto_cmd12_due_ = false;                     // waits for another command to leave the line
  NodeId auto_cmd12_node_ = kRootNode;
  bool dat_line_owned_ = false;  // a data or busy command holds DAT inhibit
  CommandOutcome outcome_;
  CauseGraph no_graph_;
  unsigned command_tag_ = SpanRecorder::kLegacyTag, dat_tag_ = SpanRecorder::kLegacyTag,
           pair_tag_ =
               SpanRecorder::kLegacyTag;  // of the command under way, of the DAT line's owner, of CMD44
  NodeId first_node_ = kRootNode;         // what the command under way starts after
  std::array<NodeId, 32> queued_node_{};  // per task queued by software: its last known cause
  std::uint32_t queued_unseen_ = 0;       // of these: QSR has not shown them ready
  sc_time tc_time_;
  NodeId tc_node_ = kRootNode;
  Span tc_span_ = Span::busy;
  bool transfer_ended_ = false;  // data and busy are over, Transfer Complete is latched next
  bool busy_timeout_ = false;
  bool tc_pending_ = false;  // Transfer Complete or the busy timeout stands at tc_time_
  bool not_issued_ = false;  // a command was dropped because Auto CMD12 failed

  bool tuning_ = false;
  std::uint64_t tap_ = 0, window_first_ = 0, window_length_ = 0, best_first_ = 0, best_length_ = 0;

  sc_core::sc_event start_event_, cc_event_, tc_event_;
  SignalId t_irq_;
};

}  // namespace vp
