// What Intc and Timer share: a target socket in front of a RegisterBank. Addresses are offsets into the
// block's window.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include "models/core/register_bank.hpp"

namespace vp {

class RegisterTarget : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<RegisterTarget> socket;

  /// Each access takes `access_cycles` of `bus`.
  RegisterTarget(sc_core::sc_module_name name, Context& ctx, const ClockDomain& bus,
                 std::uint64_t access_cycles, RegisterMap map, std::uint32_t window_bytes);

  RegisterBank& registers() { return bank_; }

 protected:
  /// The instant the access under way reaches the registers: kernel time + the path's delay.
  sc_time access_time() const { return access_time_; }

  Context& ctx_;
  RegisterBank bank_;

 private:
  void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay);

  const ClockDomain& bus_;
  std::uint64_t access_cycles_;
  std::uint32_t window_bytes_;
  sc_time access_time_;
};

}  // namespace vp
