// A core on a small bus: interrupt controller, timer, RAM with DMI and one device whose accesses are
// recorded.
#pragma once

#include <tlm_utils/multi_passthrough_target_socket.h>

#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "models/cpu/intc.hpp"
#include "models/cpu/native_core.hpp"
#include "models/cpu/timer.hpp"
#include "sc_tests/catch.hpp"

namespace bench {

using namespace vp;

inline sc_time ns(std::uint64_t n) { return sc_time::from_value(n * 1000); }

inline constexpr std::uint64_t kDevice = 0x1000, kIntcBase = 0x10000, kTimerBase = 0x20000,
                               kRam = 0x4000'0000;
inline constexpr std::uint64_t kRamBytes = 0x1000;

struct Seen {
  std::uint64_t time_ns, address, bytes, value;
  bool is_write;
};

class Bus : public sc_core::sc_module {
 public:
  tlm_utils::multi_passthrough_target_socket<Bus> in{"in"};
  tlm_utils::simple_initiator_socket<Bus> to_intc{"to_intc"}, to_timer{"to_timer"};
  sc_time device_delay;                        ///< answered with every device access
  std::uint64_t device_value = 0;              ///< what a read of the device gives
  std::function<void(const Seen&)> on_device;  ///< called inside the access
  std::vector<Seen> seen;
  alignas(8) unsigned char ram[kRamBytes] = {};
  unsigned dmi_requests = 0;

  explicit Bus(sc_core::sc_module_name n) : sc_module(n) {
    in.register_b_transport(this, &Bus::transport);
    in.register_get_direct_mem_ptr(this, &Bus::dmi);
  }

 private:
  void transport(int, tlm::tlm_generic_payload& p, sc_time& delay) {
    const std::uint64_t a = p.get_address();
    if (a >= kTimerBase && a < kTimerBase + 0x1000) return forward(to_timer, kTimerBase, p, delay);
    if (a >= kIntcBase && a < kIntcBase + 0x1000) return forward(to_intc, kIntcBase, p, delay);
    if (a >= kDevice && a < kDevice + 0x1000) return device(p, delay);
    p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  }
  void forward(tlm_utils::simple_initiator_socket<Bus>& to, std::uint64_t base, tlm::tlm_generic_payload& p,
               sc_time& delay) {
    p.set_address(p.get_address() - base);
    to->b_transport(p, delay);
  }
  void device(tlm::tlm_generic_payload& p, sc_time& delay) {
    Seen s{sc_core::sc_time_stamp().value() / 1000, p.get_address(), p.get_data_length(), 0, p.is_write()};
    if (p.is_write())
      std::memcpy(&s.value, p.get_data_ptr(), s.bytes);
    else
      std::memcpy(p.get_data_ptr(), &device_value, s.bytes);
    delay += device_delay;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    seen.push_back(s);
    if (on_device) on_device(s);
  }
  bool dmi(int, tlm::tlm_generic_payload& p, tlm::tlm_dmi& d) {
    ++dmi_requests;
    if (p.get_address() < kRam || p.get_address() >= kRam + kRamBytes) return false;
    d.set_start_address(kRam);
    d.set_end_address(kRam + kRamBytes - 1);
    d.set_dmi_ptr(ram);
    d.allow_read_write();
    return true;
  }
};

/// Round numbers unless a test changes them: read 20, write 10, entry 1000, exit 300, wake 500, relax 50 ns;
/// bus clock 100 MHz, 2 cycles per access of the interrupt controller and the timer.
struct Platform {
  Context ctx;
  ClockDomain clock{"bus", 100e6};
  CpuParams params;
  Bus bus{"bus"};
  Intc intc{"intc", ctx, clock, IntcParams{}};
  std::unique_ptr<Timer> timer;
  std::vector<std::unique_ptr<NativeCore>> cores;

  explicit Platform(TimerParams timer_params = {})
      : timer(std::make_unique<Timer>("timer", ctx, clock, timer_params)) {
    bus.to_intc.bind(intc.socket);
    bus.to_timer.bind(timer->socket);
    params.mmio_read_ns = 20, params.mmio_write_ns = 10;
    params.irq_entry_ns = 1000, params.irq_exit_ns = 300, params.wfi_wake_ns = 500, params.relax_ns = 50;
    params.cost_ns[static_cast<std::size_t>(hal::Cost::request_prep)] = 8000;
    params.cost_ns[static_cast<std::size_t>(hal::Cost::irq_handler)] = 1500;
  }
  NativeCore& core(NativeCore::Entry firmware, const char* name = "cpu") {
    cores.push_back(std::make_unique<NativeCore>(name, ctx, params, std::move(firmware)));
    cores.back()->socket.bind(bus.in);
    return *cores.back();
  }
  /// Does something at an instant, from a process of its own, as a device would.
  void at(std::uint64_t time_ns, std::function<void()> what) {
    sc_core::sc_spawn([time_ns, what] {
      sc_core::wait(ns(time_ns));
      what();
    });
  }
  void raise_at(std::uint64_t time_ns, unsigned core_index = 0) {
    at(time_ns, [this, core_index] { cores[core_index]->set_irq(0, true); });
  }
  /// Any write to the device lowers core 0's line, inside the access.
  void acknowledge_by_write() {
    bus.on_device = [this](const Seen& s) {
      if (s.is_write) cores[0]->set_irq(0, false);
    };
  }
};

/// A handler that notes its first instruction's time and acknowledges the device.
struct Handler {
  std::vector<std::uint64_t> entered_ns;
  static void run(void* self) {
    static_cast<Handler*>(self)->entered_ns.push_back(hal::now_ns());
    hal::write32(kDevice, 1);
  }
  void install() { hal::set_irq_handler(&Handler::run, this); }
};

}  // namespace bench
