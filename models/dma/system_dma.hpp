// System DMA: a channel controller in the manner of TI's EDMA3 and its transfer controller.
//
// Modelled: 32 channels with a hardware request line each, events by line, software and chaining, latched while they
// wait, a missed one when another comes on top or meets an empty set; parameter sets in a RAM of limited size, A-sync
// and AB-sync, address steps, FIFO sides, reload counts, static sets, links between sets (the CPU must write new sets
// before the last linked one is used up); linked-list mode, where a channel's next set comes from memory by itself;
// normal and early completion codes, completion and error interrupts (levels); bus errors. All data, and the
// descriptors, are AXI bursts of one master port. Not modelled: QDMA, more than one queue and transfer controller,
// shadow regions and memory protection, queue watermarks.
// Source: AM335x TRM chapter 11 (EDMA3); linked-list mode after OMAP's system DMA (type 2 descriptors), format ours.
// Time: event at t: t aligned + event_cycles (+ link_cycles after a link) is the first address; one transfer at a time,
// the lowest channel first. One event per request here, the rest is the port's.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "models/core/context.hpp"
#include "models/core/irq.hpp"
#include "models/core/register_bank.hpp"
#include "models/dma/edma_regs.hpp"
#include "models/dma/params.hpp"
#include "models/dma/request_line.hpp"
#include "models/dma/transfer_controller.hpp"

namespace vp {

class SystemDma : public sc_core::sc_module, public DmaRequestSink, private TransferController::Client {
 public:
  tlm_utils::simple_target_socket<SystemDma> socket;
  IrqLine irq;        ///< level: IPR & IER
  IrqLine error_irq;  ///< level: EMR, CCERR or TC_ERROR

  SC_HAS_PROCESS(SystemDma);
  SystemDma(sc_core::sc_module_name name, Context& ctx, ClockDomain& axi_clock,
            const SystemDmaParams& params);

  AxiMasterPort& dma_port() { return controller_.port(); }
  const AxiMasterPort& dma_port() const { return controller_.port(); }
  RegisterBank& registers() { return bank_; }
  /// The peripheral on request line `line` hears of each transfer's end.
  void attach(DmaPeripheral& peripheral, unsigned line) { peripherals_.at(line) = &peripheral; }

  void dma_request(unsigned line) override;

  struct Counters {
    std::uint64_t requests = 0;  ///< edges on the lines
    std::uint64_t missed = 0;    ///< events lost (EMR)
    std::uint64_t links = 0, descriptors_fetched = 0;
    std::uint64_t interrupts = 0, error_interrupts = 0;  ///< rises of the lines
    sc_time wait_controller;                             ///< events waited for the transfer before theirs
    sc_time wait_descriptor;                             ///< events waited for a set from memory
  };
  const Counters& counters() const { return counters_; }
  const TransferController::Counters& transfer_counters() const { return controller_.counters(); }

 private:
  struct Channel {
    sc_time waiting_since;  // of the latched event
    sc_time ready_from;     // after a link
  };
  // system_dma_registers.cpp
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay);
  void hook_registers();
  std::uint64_t access_param(std::uint32_t offset, unsigned bytes, bool write, std::uint64_t value);
  void hook_list(unsigned channel);

  // system_dma.cpp
  std::uint32_t get(std::uint16_t reg) const { return static_cast<std::uint32_t>(bank_.get(reg)); }
  void update_irq();
  void miss(std::uint32_t channels);
  std::uint32_t pending() const;
  void schedule(sc_time from);
  void on_start();
  bool take_event(unsigned channel);
  DmaTransfer describe(unsigned channel, const edma::ParamSet& set) const;
  /// Advances the channel's set by one event; true when it is exhausted.
  static bool advance(edma::ParamSet& set);
  void exhausted(unsigned channel);
  void transfer_done(const DmaTransfer& transfer, bool error, std::uint64_t error_address) override;
  void descriptor_here(bool error) override;
  void complete(const DmaTransfer& transfer);
  void fetch_next();
  unsigned set_index(unsigned channel) const;
  edma::ParamSet& set_of(unsigned channel) { return sets_[set_index(channel)]; }

  Context& ctx_;
  ClockDomain& axi_;
  SystemDmaParams params_;
  RegisterBank bank_;
  TransferController controller_;
  std::vector<edma::ParamSet> sets_;
  std::array<Channel, edma::kChannels> channels_{};
  std::array<DmaPeripheral*, edma::kChannels> peripherals_{};
  std::uint32_t fetching_ = 0;                // channels whose set is not here yet
  unsigned fetch_channel_ = edma::kChannels;  // the one at the port; kChannels: none
  std::array<std::byte, edma::kDescriptorBytes> descriptor_{};
  sc_time access_time_, last_busy_from_;
  sc_time start_at_;
  bool start_scheduled_ = false;
  sc_core::sc_event start_event_;
  Counters counters_;
  SignalId t_irq_, t_error_, t_pending_, t_state_;
};

}  // namespace vp
