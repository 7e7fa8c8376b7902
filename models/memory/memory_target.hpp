// What SRAM and DRAM share: a TLM-2.0 target socket over a HostMemory. The derived model answers one
// question, when a burst ends (AxiTimingTarget); the rest is data. Base protocol: BEGIN_REQ is answered by
// TLM_COMPLETED with annotated delay (early completion), so no events are needed. Data move when the request
// is granted, not at its last beat. b_transport: with pieces (`lt`) no delay is added and the timing is
// handed out; otherwise the delay of one burst. Errors: beyond the banks TLM_ADDRESS_ERROR_RESPONSE; byte
// enables TLM_BYTE_ENABLE_ERROR_RESPONSE.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "models/axi/axi_extension.hpp"
#include "models/core/clock.hpp"
#include "models/memory/host_memory.hpp"

namespace vp {

class MemoryTarget : public sc_core::sc_module, public AxiTimingTarget {
 public:
  tlm_utils::simple_target_socket<MemoryTarget> socket;

  MemoryTarget(sc_core::sc_module_name name, ClockDomain& clock, const std::vector<MemoryBank>& banks);

  /// For loaders and checkers; null unless the whole range is backed.
  std::byte* ptr(std::uint64_t address, std::uint64_t bytes) const { return memory_.ptr(address, bytes); }
  const HostMemory& memory() const { return memory_; }
  HostMemory& memory() { return memory_; }

 protected:
  std::uint64_t period() const { return clock_.period().value(); }
  std::uint64_t align(std::uint64_t ps) const { return clock_.align(from_ps(ps)).value(); }

 private:
  bool move(tlm::tlm_generic_payload& trans);
  std::uint64_t end_of(tlm::tlm_generic_payload& trans, AxiExtension* axi, std::uint64_t at);
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase, sc_time& delay);
  void b_transport(tlm::tlm_generic_payload& trans, sc_time& delay);
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& trans, tlm::tlm_dmi& dmi);
  unsigned transport_dbg(tlm::tlm_generic_payload& trans);

  ClockDomain& clock_;
  HostMemory memory_;
};

}  // namespace vp
