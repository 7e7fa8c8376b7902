#include "models/memory/memory_target.hpp"

#include <cstring>

namespace vp {
namespace {

constexpr std::uint32_t kPlainBeatBytes = 8;  // a master without AXI attributes (CPU): 64-bit beats (choice)

}  // namespace

MemoryTarget::MemoryTarget(sc_core::sc_module_name name, ClockDomain& clock,
                           const std::vector<MemoryBank>& banks)
    : sc_module(name), socket("socket"), clock_(clock), memory_(banks) {
  socket.register_nb_transport_fw(this, &MemoryTarget::nb_transport_fw);
  socket.register_b_transport(this, &MemoryTarget::b_transport);
  socket.register_get_direct_mem_ptr(this, &MemoryTarget::get_direct_mem_ptr);
  socket.register_transport_dbg(this, &MemoryTarget::transport_dbg);
}

bool MemoryTarget::move(tlm::tlm_generic_payload& trans) {
  std::byte* const host = memory_.ptr(trans.get_address(), trans.get_data_length());
  if (!host) {
    trans.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    return false;
  }
  if (trans.get_byte_enable_ptr()) {
    trans.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return false;
  }
  if (trans.is_write())
    std::memcpy(host, trans.get_data_ptr(), trans.get_data_length());
  else
    std::memcpy(trans.get_data_ptr(), host, trans.get_data_length());
  trans.set_response_status(tlm::TLM_OK_RESPONSE);
  return true;
}

/// When the one burst that `trans` is ends at this port; its address arrives at `at`.
std::uint64_t MemoryTarget::end_of(tlm::tlm_generic_payload& trans, AxiExtension* axi, std::uint64_t at) {
  const std::uint32_t plain = (trans.get_data_length() + kPlainBeatBytes - 1) / kPlainBeatBytes;
  AxiBurstTiming burst{.address = trans.get_address(),
                       .bytes = trans.get_data_length(),
                       .beats = axi ? axi->beats : plain,
                       .is_write = trans.is_write(),
                       .issued_ps = at};
  burst.last_ps = at + burst.beats * period();
  if (axi && burst.is_write && axi->last_beat.value() > at) burst.last_ps = axi->last_beat.value();
  time_burst(burst);
  if (axi) {
    axi->first_beat = from_ps(burst.first_ps);
    axi->last_beat = from_ps(burst.last_ps);
  }
  return burst.done_ps;
}

tlm::tlm_sync_enum MemoryTarget::nb_transport_fw(tlm::tlm_generic_payload& trans, tlm::tlm_phase& phase,
                                                 sc_time& delay) {
  if (phase != tlm::BEGIN_REQ) return tlm::TLM_COMPLETED;
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  move(trans);
  delay = from_ps(end_of(trans, trans.get_extension<AxiExtension>(), now + delay.value()) - now);
  return tlm::TLM_COMPLETED;
}

void MemoryTarget::b_transport(tlm::tlm_generic_payload& trans, sc_time& delay) {
  auto* axi = trans.get_extension<AxiExtension>();
  if (!move(trans)) return;
  if (axi && !axi->pieces.empty()) {
    axi->timing = this;
    return;
  }
  const std::uint64_t now = sc_core::sc_time_stamp().value();
  delay = from_ps(end_of(trans, nullptr, align(now + delay.value())) - now);
}

bool MemoryTarget::get_direct_mem_ptr(tlm::tlm_generic_payload& trans, tlm::tlm_dmi& dmi) {
  const MemoryBank* bank = memory_.bank(trans.get_address());
  if (!bank) {
    dmi.allow_none();
    return false;
  }
  dmi.set_dmi_ptr(reinterpret_cast<unsigned char*>(memory_.ptr(bank->base, bank->size)));
  dmi.set_start_address(bank->base);
  dmi.set_end_address(bank->base + bank->size - 1);
  dmi.allow_read_write();
  if (auto* axi = trans.get_extension<AxiExtension>()) axi->timing = this;
  return true;
}

unsigned MemoryTarget::transport_dbg(tlm::tlm_generic_payload& trans) {
  return move(trans) ? trans.get_data_length() : 0;
}

}  // namespace vp
