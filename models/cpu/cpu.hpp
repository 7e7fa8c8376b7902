// The CPU as the platform sees it: one initiator socket, one external interrupt input, instruments. Two cores
// share this interface: native (the firmware compiled for the host runs as an SC_THREAD) and, later, rv64.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <array>
#include <cstdint>
#include <string>
#include <systemc>

#include "firmware/hal/hal.hpp"
#include "models/core/context.hpp"
#include "models/core/irq.hpp"
#include "models/core/params.hpp"

namespace vp {

/// Receives the firmware's marks (hal::event) with the CPU's time.
struct CpuObserver {
  virtual ~CpuObserver() = default;
  virtual void cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                         sc_time now) = 0;
};

/// Costs of the native core, in ns; one parameter per hal::Cost plus those of the core itself.
struct CpuParams {
  double mmio_read_ns = 20;   ///< core side of an uncached load, beside its AXI path
  double mmio_write_ns = 10;  ///< core side of an uncached store
  double irq_entry_ns = 1000;
  double irq_exit_ns = 300;
  double wfi_wake_ns = 500;  ///< from the interrupt line to the first instruction after WFI
  double relax_ns = 50;      ///< one turn of a poll loop
  std::array<double, static_cast<std::size_t>(hal::Cost::count)>
      cost_ns{};  ///< defaults set by the constructor
  CpuParams();
  void declare(ParamRegistry& r, const std::string& at);  ///< keys <at>.mmio_read_ns … <at>.io_user_ns …
};

/// "copy_byte": what a cost is called in parameters and reports, without its unit.
std::string cost_name(hal::Cost what);

struct CpuCounters {
  sc_time busy;  ///< not waiting for an interrupt and not in delay_ns
  std::array<sc_time, static_cast<std::size_t>(hal::Cost::count)> cost_time{};
  std::uint64_t mmio_reads = 0, mmio_writes = 0, interrupts = 0, wakes = 0;
  sc_time mmio_time;
};

class Cpu : public sc_core::sc_module, public IrqSink {
 public:
  tlm_utils::simple_initiator_socket<Cpu> socket;

  explicit Cpu(sc_core::sc_module_name name) : sc_module(name), socket("socket") {
    socket.register_invalidate_direct_mem_ptr(this, &Cpu::invalidate_dmi);
  }
  virtual void set_observer(CpuObserver* observer) = 0;
  virtual const CpuCounters& counters() const = 0;
  virtual bool halted() const = 0;
  /// What the firmware gave to hal::halt().
  virtual int exit_status() const = 0;
  /// Notified when the firmware has ended, at its local time. halted() stays true from then on.
  virtual const sc_core::sc_event& halted_event() const = 0;

 protected:
  /// Pointers obtained by DMI in this range are no longer valid.
  virtual void invalidate_dmi(sc_dt::uint64 first, sc_dt::uint64 last) = 0;
};

}  // namespace vp
