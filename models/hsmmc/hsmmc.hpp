// The OMAP-HSMMC-like host: an SDHCI relative without a DMA of its own, beside a system DMA.
//
// Modelled: registers of the block in OMAP3's layout; clock divider and stable bit, bus power; resets SOFTRESET,
// SRA, SRC, SRD; the 80-clock initialisation stream; commands with and without data, Auto CMD12, Auto CMD23; a double buffer
// with a DMA request, or BRR/BWR, per block; DATA as a 4-byte port for the CPU and for FIXED bursts of a DMA; block
// counter; status and signal enables; interrupts CC, TC, BWR, BRR, CTO, CCRC, CEB, CIE, DTO, DCRC, DEB, ACE, CERR, BADA.
// Not modelled: ADMA (drivers do not use it), stop at block gap, SDIO card interrupt, boot, CE-ATA, wake-up, SYSTEST.
// TC of a read: its last byte has left the buffer, though not yet reached memory: a driver needs the DMA's end too.
// Sources: AM335x TRM chapter 18; SDHCI 4.20 where the TRM follows it; cycles of delays are choices (params.hpp).
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

#include "models/axi/axi_extension.hpp"
#include "models/core/context.hpp"
#include "models/core/irq.hpp"
#include "models/core/register_bank.hpp"
#include "models/dma/request_line.hpp"
#include "models/hsmmc/data_path.hpp"
#include "models/hsmmc/hsmmc_regs.hpp"
#include "models/hsmmc/params.hpp"
#include "models/mmc_bus/mmc_bus.hpp"

namespace vp {

class Hsmmc : public sc_core::sc_module,
              public AxiTimingTarget,
              public DmaPeripheral,
              private MmcBus::Host,
              private HsmmcDataPath::Client {
 public:
  tlm_utils::simple_target_socket<Hsmmc> socket;
  IrqLine irq;
  DmaRequestLine dma_rx, dma_tx;

  SC_HAS_PROCESS(Hsmmc);
  /// `axi_clock` times register accesses and bursts at DATA. The bus is attached to `card` here.
  Hsmmc(sc_core::sc_module_name name, Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
        const HsmmcParams& params);

  RegisterBank& registers() { return bank_; }
  const HsmmcDataPath& data() const { return data_; }
  /// With a DMA that acknowledges, a read's hardware phase lasts until its data are in memory (spans only).
  void expect_acknowledge() { acknowledged_dma_ = true; }
  void dma_acknowledged() override;

  // --- bursts at DATA by reservation (lt) ---
  void time_burst(AxiBurstTiming& burst) override;

  struct Counters {
    std::uint64_t interrupts = 0, commands = 0, auto_commands = 0, errors = 0;
    std::uint64_t cc = 0, tc = 0;  ///< times the bit was set
  };
  const Counters& counters() const { return counters_; }

 private:
  enum class Stage : std::uint8_t { idle, waiting_start, init_stream, auto_cmd23, main, auto_cmd12 };

  // hsmmc_registers.cpp
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                     sc_time& delay);
  void burst_at_data(tlm::tlm_generic_payload& payload, sc_time until);
  void port_access(tlm::tlm_generic_payload& payload, unsigned bytes, sc_time until);
  bool is_port(std::uint64_t address) const {
    return address >= hsmmc::kData && address < hsmmc::kData + hsmmc::kDataBytes;
  }
  void hook_registers();
  void system_control_written(std::uint32_t value, std::uint32_t old_value);
  void reset(std::uint32_t which);
  void reset_command_line();
  void reset_data_lines();
  void update_clock();
  void update_lines();
  std::uint64_t present_state();
  sc_time data_timeout() const;
  std::uint32_t reg(const char* name) const {
    return static_cast<std::uint32_t>(bank_.get(find_register(hsmmc::kRegs, name)->offset));
  }

  // hsmmc.cpp
  void raise(std::uint32_t bits);
  void update_irq();
  void data_complete(NodeId last) override;
  void data_error(std::uint32_t bits) override;
  void port_request(bool read) override;
  void block_moved() override;

  // hsmmc_commands.cpp
  void command_written(std::uint32_t command);
  void start_command();
  void send_main();
  HsmmcDataPath::Job data_job();
  void command_sent(const CommandOutcome& outcome) override;
  void response_received(const CommandOutcome& outcome) override;
  void auto_response(const CommandOutcome& outcome, bool is_cmd12);
  void send_auto_cmd12(NodeId after);
  std::uint32_t response_errors(const CommandOutcome& outcome) const;
  void store_response(const CommandOutcome& outcome);
  void on_command_complete();
  void finish_busy(sc_time from, sc_time until, NodeId node);
  void schedule_tc(sc_time end, NodeId node);
  void on_transfer_complete();
  void end_hardware(NodeId node);
  void release_hardware(NodeId node);
  CauseGraph& graph();

  Context& ctx_;
  HsmmcParams params_;
  ClockDomain core_;
  ClockDomain& axi_;
  MmcBus& bus_;
  RegisterBank bank_;
  HsmmcDataPath data_;
  Counters counters_;

  std::uint64_t read_beats_free_ = 0;  // the port's R channel carries one burst at a time
  sc_time access_time_, clock_stable_at_, reset_done_at_;
  std::uint32_t reset_pending_ = 0;
  Stage stage_ = Stage::idle;
  std::uint32_t command_ = 0;       // CMD register of the command under way
  unsigned dat_index_ = 0;  // of the command whose data or busy the DAT lines carry
  std::uint32_t data_command_ = 0;  // of the one that owns the data path
  bool dat_owned_ = false;          // a data or busy command holds DATI
  bool data_ended_ = false;         // its data are over before its response: TC follows CC
  bool busy_timeout_ = false, tc_pending_ = false, auto_cmd12_due_ = false;
  NodeId auto_cmd12_node_ = kRootNode;
  CommandOutcome outcome_;
  CauseGraph no_graph_;
  sc_time tc_time_;
  NodeId tc_node_ = kRootNode;
  std::uint32_t blocks_given_ = 0;  // NBLK when the transfer started
  // spans of a DMA read: blocks in memory
  bool acknowledged_dma_ = false, end_waits_ = false;
  std::uint64_t acknowledged_ = 0;
  NodeId waiting_node_ = kRootNode;

  sc_core::sc_event start_event_, cc_event_, tc_event_;
  SignalId t_irq_, t_request_;
};

}  // namespace vp
