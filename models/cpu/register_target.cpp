#include "models/cpu/register_target.hpp"

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
  if (payload.get_byte_enable_ptr()) {
    payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  } else if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0 || payload.get_streaming_width() < bytes) {
    payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  } else if (offset >= window_bytes_ || bytes > window_bytes_ - offset) {
    payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  } else {
    unsigned char* data = payload.get_data_ptr();
    std::uint64_t value = 0;
    if (payload.is_read()) {
      value = bank_.read(static_cast<std::uint32_t>(offset), bytes);
      for (unsigned b = 0; b < bytes; ++b) data[b] = static_cast<unsigned char>(value >> (8 * b));
    } else if (payload.is_write()) {
      for (unsigned b = 0; b < bytes; ++b) value |= static_cast<std::uint64_t>(data[b]) << (8 * b);
      bank_.write(static_cast<std::uint32_t>(offset), bytes, value);
    }
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
  }
}

}  // namespace vp
