// Native core: the firmware, compiled for the host, runs as an SC_THREAD; its HAL calls cost annotated time.
// Modelled: MMIO through the socket at the right time, one level-sensitive interrupt input, WFI, priced CPU
// work, DMI to RAM. Not modelled: instructions, caches, more than one interrupt level, nested handlers.
//
// Time. local_time() runs ahead of the kernel and is brought in step (one wait) before every register access,
// sleep and delay, and whenever an interrupt could be taken. A register is accessed at local time +
// mmio_*_ns; the delay that b_transport returns is spent after it. Interrupts. The handler starts between
// instructions: at once in priced work, delays, poll turns and WFI (the rest of the work is done after it),
// after the end of a register access that is under way, after the end of another handler. It costs irq_entry
// before its first instruction and irq_exit after its last. While interrupts are disabled or a handler runs,
// nothing is taken; irq_enable(true) takes what waits. See hal.hpp for the calls.
#pragma once

#include <functional>
#include <vector>

#include "models/axi/register_payload.hpp"
#include "models/cpu/cpu.hpp"

namespace vp {

class NativeCore : public Cpu {
 public:
  /// The firmware; its return value is the exit status, as with hal::halt().
  using Entry = std::function<int()>;
  /// Exit status of a core that stopped because its firmware asked for memory that is not RAM.
  static constexpr int kStatusBadRam = 3;

  NativeCore(sc_core::sc_module_name name, Context& ctx, const CpuParams& params, Entry entry);
  ~NativeCore() override;

  void set_observer(CpuObserver* observer) override { observer_ = observer; }
  const CpuCounters& counters() const override { return counters_; }
  bool halted() const override { return halted_; }
  int exit_status() const override { return exit_status_; }
  const sc_core::sc_event& halted_event() const override { return halted_event_; }
  /// Line 0 is the external interrupt. Called at the kernel time it speaks of.
  void set_irq(unsigned line, bool level) override;

  // --- what native_hal.cpp calls, from the firmware's thread ---
  /// The core whose firmware runs at this instant. Throws std::logic_error outside a core's thread.
  static NativeCore& active();
  std::uint64_t read(std::uint64_t address, unsigned bytes);
  void write(std::uint64_t address, unsigned bytes, std::uint64_t value);
  void* ram(std::uint64_t address, std::size_t bytes);
  void set_irq_handler(hal::IrqHandler handler, void* context);
  void irq_enable(bool on);
  bool irq_enabled() const { return irq_enabled_; }
  /// Sleeps until the line is high or `deadline` is reached; false on the deadline.
  bool wait_for_interrupt(sc_time deadline);
  void delay(sc_time d);
  void relax();
  void cost(hal::Cost what, std::uint64_t times);
  void event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c);
  [[noreturn]] void halt(int status);
  sc_time local_time() const { return local_; }

 private:
  struct Region {
    std::uint64_t first, last;
    unsigned char* data;
  };
  enum class State : std::uint8_t { run, irq, wfi };

  SC_HAS_PROCESS(NativeCore);
  void thread();
  // suspension: every wait goes through these, so that active() is right after each
  void suspend(sc_time d);
  void suspend_for_irq(sc_time d);
  void sleep_until(sc_time deadline, sc_time now);
  // time
  bool can_take() const { return irq_enabled_ && !in_handler_ && handler_; }
  void spend(sc_time d);
  void sync();
  void run_handler();
  void pass_until(sc_time deadline);
  void charge_work();
  // bus
  std::uint64_t transport(tlm::tlm_command command, std::uint64_t address, unsigned bytes,
                          std::uint64_t value);
  void invalidate_dmi(sc_dt::uint64 first, sc_dt::uint64 last) override;
  void enter(State state, sc_time at);

  Context& ctx_;
  Entry entry_;
  CpuObserver* observer_ = nullptr;
  CpuCounters counters_;

  sc_time mmio_read_, mmio_write_, irq_entry_, irq_exit_, wfi_wake_, relax_;
  std::array<std::uint64_t, static_cast<std::size_t>(hal::Cost::count)> cost_ps_{};

  sc_time local_;  ///< the firmware's time, at or after the kernel's
  sc_time hold_;   ///< no interrupt is taken before this instant (register access or handler under way)
  bool work_is_mmio_ = false;  ///< whether the time up to local_ is spent on a register access

  hal::IrqHandler handler_ = nullptr;
  void* handler_context_ = nullptr;
  bool irq_enabled_ = false;
  bool in_handler_ = false;
  bool line_ = false;
  bool sleeping_ = false;  ///< in a wait that irq_event_ ends
  sc_core::sc_event alarm_;
  sc_time alarm_at_;  ///< when alarm_ is set for; not after the kernel's time: it is not set
  sc_core::sc_event irq_event_, never_, halted_event_;
  bool halted_ = false;
  int exit_status_ = 0;

  RegisterPayload payload_;
  std::vector<Region> regions_;  ///< RAM seen so far, few
  SignalId state_signal_, irq_signal_;
};

}  // namespace vp
