// What the benches of the hosts and the system DMA have in common: a bus master that is the test, an interrupt line that
// remembers, clocks of 200 MHz, so that every expected instant is a whole number of 5 ns cycles.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <vector>

#include "models/core/context.hpp"
#include "models/core/irq.hpp"
#include "models/memory/sram.hpp"
#include "sc_tests/catch.hpp"

namespace vp::test {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

inline constexpr std::uint64_t kCycle = 5000;  // ps
inline sc_time cycles(std::uint64_t n) { return sc_time::from_value(n * kCycle); }

struct RegisterDriver : sc_core::sc_module {
  tlm_utils::simple_initiator_socket<RegisterDriver> socket;
  explicit RegisterDriver(sc_core::sc_module_name n) : sc_module(n), socket("socket") {}

  /// Returns the instant the access takes effect. `must`: an error response fails the test.
  sc_time access(bool is_write, std::uint64_t offset, unsigned bytes, std::uint64_t& value,
                 bool must = true) {
    tlm::tlm_generic_payload p;
    p.set_command(is_write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
    p.set_address(offset);
    p.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    p.set_data_length(bytes);
    p.set_streaming_width(bytes);
    sc_time delay;
    socket->b_transport(p, delay);
    if (must) REQUIRE(p.get_response_status() == tlm::TLM_OK_RESPONSE);
    return sc_time_stamp() + delay;
  }
  std::uint64_t read(std::uint64_t offset, unsigned bytes = 4) {
    std::uint64_t v = 0;
    access(false, offset, bytes, v);
    return v;
  }
  sc_time write(std::uint64_t offset, std::uint64_t v, unsigned bytes = 4) {
    return access(true, offset, bytes, v);
  }
};

struct IrqProbe : IrqSink {
  std::vector<sc_time> rises;
  bool level = false;
  void set_irq(unsigned, bool l) override {
    if (l && !level) rises.push_back(sc_time_stamp());
    level = l;
  }
};

inline Context& with_style(Context& c, TimingStyle style) {
  c.timing = style;
  return c;
}

inline SramParams ram_of(std::uint64_t bytes) {
  SramParams p;
  p.size = bytes;
  return p;
}

/// Runs for `d`, and through the deltas at its end.
inline void run_for(sc_time d) {
  sc_core::sc_start(d);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
}

}  // namespace vp::test
