#include "models/cpu/register_target.hpp"

#include "models/core/register_access.hpp"

namespace vp {

RegisterTarget::RegisterTarget(sc_core::sc_module_name module, Context& ctx, const ClockDomain& bus,
                               std::uint64_t access_cycles, RegisterMap map, std::uint32_t window_bytes)
    : sc_module(module),
      socket("socket"),
      ctx_(ctx),
      bank_(ctx, name(), map, window_bytes),
      bus_(bus),
      access_cycles_(access_cycles),
      window_bytes_(window_bytes) {
  socket.register_b_transport(this, &RegisterTarget::b_transport);
}

void RegisterTarget::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
  const std::uint64_t offset = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  access_time_ = sc_core::sc_time_stamp() + delay;
  delay += bus_.cycles(access_cycles_);
  if (offset >= window_bytes_ || bytes > window_bytes_ - offset)
    return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  const auto at = static_cast<std::uint32_t>(offset);
  serve_register_access(
      payload, [&] { return bank_.read(at, bytes); },
      [&](std::uint64_t value) { bank_.write(at, bytes, value); });
}

}  // namespace vp
