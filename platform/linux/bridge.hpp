// The guest's CPU as this platform sees it: one initiator socket, one interrupt input, guest memory shared with it.
//
// The guest kernel runs in a process of its own (User-mode Linux) and reaches the platform by PCI over virtio; this
// module serves it. One SC_THREAD: while the guest computes, simulated time stands still (infinitely fast CPU) and the
// thread blocks on the guest's sockets; while the guest waits, the thread waits in SystemC for the guest's next timer or
// for the interrupt line. Nothing polls.
// Modelled: configuration space, BAR accesses as blocking TLM transactions with the time they take, level INTx (sent
// when the line rises, and again when a register write left it high). Not modelled: posted writes that overlap (each
// access takes its whole time), the time of the guest's instructions, MSI.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>

#include "models/axi/register_payload.hpp"
#include "models/core/context.hpp"
#include "models/core/irq.hpp"
#include "models/core/params.hpp"
#include "models/memory/host_memory.hpp"
#include "platform/linux/calendar.hpp"
#include "platform/linux/pci_config.hpp"
#include "platform/linux/pcidev.hpp"
#include "platform/linux/request_watch.hpp"
#include "platform/linux/vhost_user.hpp"

namespace vp::guest {

struct BridgeParams {
  double simulated_limit_s = 900;       ///< the run ends with an error when the guest has not ended by then
  std::uint64_t silence_limit_s = 300;  ///< wall clock: the guest computes without a word
  double register_rest_s = 1;           ///< see RegisterImage
  void declare(ParamRegistry& r, const std::string& at);
};

/// The host's registers as they stood when the guest touched them again after a long rest, read past the bus: what a
/// driver's dump after a time-out must show.
struct RegisterImage {
  sc_time at;                        ///< of the access that ended the rest
  sc_time rest;                      ///< how long no register had been touched
  std::vector<std::uint32_t> words;  ///< from the BAR's start; empty: there was no such rest
};

struct BridgeCounters {
  std::uint64_t config_reads = 0, config_writes = 0;
  std::uint64_t mmio_reads = 0, mmio_writes = 0, interrupts = 0, kicks = 0;
  sc_time mmio_time;  ///< of all register accesses together
};

class Bridge : public sc_core::sc_module, public IrqSink {
 public:
  tlm_utils::simple_initiator_socket<Bridge> socket;

  SC_HAS_PROCESS(Bridge);
  /// `host_base`: where the function's BAR is on the interconnect. `memory` becomes the guest's own when it connects.
  Bridge(sc_core::sc_module_name name, Context& ctx, const PciIdentity& identity, std::uint64_t host_base,
         HostMemory& memory, const BridgeParams& params);

  /// Sockets on which the guest will connect; before the simulation starts.
  void listen(const Listener& device, const Listener& calendar);
  void set_irq(unsigned line, bool level) override;

  const BridgeCounters& counters() const { return counters_; }
  const Calendar& calendar() const { return calendar_; }
  /// Of the last rest of register_rest_s or more.
  const RegisterImage& registers() const { return registers_; }
  /// Why the run ended early; empty: the guest went down by itself.
  const std::string& failure() const { return failure_; }

 private:
  // the two halves of the guest's life (bridge.cpp)
  void thread();
  void guest_computes();
  void guest_waits();
  // register accesses
  void serve_accesses();
  void perform(PciAccess& access);
  void touch_registers();
  std::uint64_t transport(tlm::tlm_command command, std::uint64_t address, std::uint32_t bytes,
                          std::uint64_t value);
  // interrupts
  /// The guest is inside a read: its interrupt handler would read through the same buffer and spoil the value (Linux 6.1
  /// has one per CPU), so what it is to hear waits.
  bool reading() const;
  bool interrupt_due() const { return level_ && due_ && !config_.interrupt_disabled(); }
  bool deliver_interrupt();
  void call(unsigned queue);
  // calendar
  void calendar_message();
  void send(const um_timetravel_msg& message);
  void let_run();
  void shorten_free_run();
  void advance(std::uint64_t ns);
  std::uint64_t next_event_ns() const;
  void check_limit() const;
  std::string where() const;

  Context& ctx_;
  PciIdentity identity_;
  std::uint64_t host_base_;
  HostMemory& memory_;
  BridgeParams params_;
  PciConfig config_;
  Calendar calendar_;
  VhostUser device_;
  RequestWatch watch_;
  const Listener* device_listener_ = nullptr;
  const Listener* calendar_listener_ = nullptr;
  Stream device_stream_, calendar_stream_;

  bool level_ = false;  ///< of the interrupt line
  bool due_ = false;    ///< the guest is to hear of the level
  std::uint64_t reading_until_ns_ = 0;
  sc_core::sc_event line_event_;
  RegisterPayload payload_;
  BridgeCounters counters_;
  sc_time last_touch_;
  RegisterImage registers_;
  std::string failure_;
  SignalId state_signal_, irq_signal_;
};

}  // namespace vp::guest
