// DW-MMC host controller (Synopsys DesignWare Mobile Storage Host) with its internal DMA controller (IDMAC).
//
// Modelled: every register of both IDMAC layouts (HCON), the START handshake with shadow registers and HLE, clock updates
// without a command, CLKDIV/CLKSRC/CLKENA, CTYPE, UHS and HS400 registers, card thresholds and busy clear, timeouts, the
// streaming FIFO with watermarks and bursts, PIO of HCON's width, auto stop, wait-previous-data, stop and abort, every
// RINTSTS bit, IDMAC descriptors (16 and 32 bytes, chained and ring), suspend and poll demand, bus errors, resets.
// Not modelled: CE-ATA, SDIO interrupts, the boot modes, voltage switch (CMD11), more than one slot, external DMA.
// Choices where the IP's data book is not public are said where they are made, or are parameters (params.hpp).
// Sources: the public register pages of SoCs with this IP, and what public drivers rely on.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>

#include "models/core/context.hpp"
#include "models/core/irq.hpp"
#include "models/core/register_bank.hpp"
#include "models/dwmmc/data_path.hpp"
#include "models/dwmmc/dwmmc_regs.hpp"
#include "models/dwmmc/params.hpp"
#include "models/mmc_bus/mmc_bus.hpp"

namespace vp {

class Dwmmc : public sc_core::sc_module, private MmcBus::Host, private DwmmcData::Client {
 public:
  tlm_utils::simple_target_socket<Dwmmc> socket;
  IrqLine irq;

  SC_HAS_PROCESS(Dwmmc);
  /// `axi_clock` times register accesses and the DMA port. The bus is attached to `card` here.
  /// Throws InputError when HCON names what the model has not (external DMA, more than 64 bits).
  Dwmmc(sc_core::sc_module_name name, Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
        const DwmmcParams& params);

  AxiMasterPort& dma_port() { return data_.port(); }
  const DwmmcData& data() const { return data_; }
  const DwmmcParams& params() const { return params_; }
  RegisterBank& registers() { return bank_; }

  struct Counters {
    std::uint64_t interrupts_raised = 0, commands = 0, auto_commands = 0, errors = 0, clock_updates = 0,
                  locked_writes = 0;
  };
  const Counters& counters() const { return counters_; }

 private:
  enum class Stage : std::uint8_t { idle, main, auto_stop };
  /// What the request under way still waits for before the driver is to be told.
  enum Wait : unsigned { wait_command = 1, wait_data = 2, wait_idmac = 4, wait_auto = 8, wait_busy = 16 };

  // register side (dwmmc_registers.cpp)
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& payload);
  std::uint64_t read(std::uint32_t offset, unsigned bytes);
  void write(std::uint32_t offset, unsigned bytes, std::uint64_t value);
  std::uint64_t fifo_read(std::uint32_t offset, unsigned bytes);
  void fifo_write(std::uint32_t offset, unsigned bytes, std::uint64_t value);
  bool fifo_access_fits(unsigned bytes, bool is_write);
  void hook_registers();
  void hook_identity();
  void hook_idmac();
  void control_written(std::uint32_t bits);
  void bus_mode_written(std::uint64_t value);
  void begin_reset(std::uint32_t bits);
  void update_bursts();
  std::uint64_t status();
  std::uint32_t get(std::uint16_t reg) const { return static_cast<std::uint32_t>(bank_.get(reg)); }

  // interrupts (dwmmc.cpp)
  void raise(std::uint32_t bits);
  void update_irq();
  void update_summary();
  std::uint32_t idsts() const;

  // commands (dwmmc_commands.cpp)
  void start_written();
  void try_load();
  bool must_wait() const;
  void load();
  void load_clock();
  void update_lines();
  void send();
  DwmmcData::Job data_job(std::uint32_t command);
  sc_time data_timeout(std::uint32_t tmout) const;
  void command_sent(const CommandOutcome& outcome) override;
  void response_received(const CommandOutcome& outcome) override;
  void on_response();
  std::uint32_t response_errors(const CommandOutcome& outcome, std::uint32_t command) const;
  void store_response(const CommandOutcome& outcome);
  void send_auto_stop();
  void command_done(std::uint32_t errors, NodeId node);
  void on_busy_over();
  void done_waiting_for(unsigned what, NodeId node);

  // data callbacks
  void data_over(std::uint32_t errors, NodeId last) override;
  void data_status(std::uint32_t bits) override;
  void write_busy_over(NodeId last) override;
  void idmac_event(std::uint32_t bits, std::uint32_t eb) override;
  void idmac_over(NodeId last) override;
  bool sampling_good() override;
  CauseGraph& graph() override;

  Context& ctx_;
  DwmmcParams params_;
  ClockDomain core_;
  ClockDomain& axi_;
  MmcBus& bus_;
  RegisterBank bank_;
  const dwmmc::IdmacOffsets& idmac_;
  DwmmcData data_;
  Counters counters_;

  sc_time access_time_;  // when the register access under way takes effect
  sc_time reset_done_at_, bmod_reset_done_at_;
  sc_time start_at_;  // START written: not taken before
  std::uint32_t reset_pending_ = 0;
  Stage stage_ = Stage::idle;
  bool start_ = false;              // CMD.START stands
  std::uint32_t command_ = 0;       // shadow of CMD: the command under way
  std::uint32_t data_command_ = 0;  // the one that owns the data path
  std::uint32_t response_timeout_ = 64;
  bool auto_stop_due_ = false;
  bool owns_graph_ = false;  // the command under way began the request's hardware phase
  unsigned waits_ = 0;
  std::uint32_t eb_ = 0;
  std::uint32_t fifo_low_ = 0, fifo_high_ = 0;  // halves of a 64-bit FIFO word
  CommandOutcome outcome_;
  CauseGraph no_graph_;
  NodeId last_node_ = kRootNode, busy_node_ = kRootNode;

  sc_core::sc_event start_event_, response_event_, busy_event_;
  SignalId t_irq_;
};

}  // namespace vp
