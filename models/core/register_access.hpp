// A bus access to registers: what every block with a register window does before its own registers come into play.
#pragma once

#include <cstdint>
#include <tlm>

namespace vp {

/// Serves an access of 1, 2, 4 or 8 bytes, little-endian whatever the host is.
/// @param read   std::uint64_t(), called for a read  @param write  void(std::uint64_t), called for a write
/// Others, streaming and byte enables are answered with an error and do nothing.
template <class Read, class Write>
void serve_register_access(tlm::tlm_generic_payload& payload, Read&& read, Write&& write) {
  const unsigned bytes = payload.get_data_length();
  if (payload.get_byte_enable_ptr()) return payload.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
  if (bytes == 0 || bytes > 8 || (bytes & (bytes - 1)) != 0 || payload.get_streaming_width() < bytes)
    return payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
  unsigned char* data = payload.get_data_ptr();
  if (payload.is_read()) {
    const std::uint64_t value = read();
    for (unsigned b = 0; b < bytes; ++b) data[b] = static_cast<unsigned char>(value >> (8 * b));
  } else if (payload.is_write()) {
    std::uint64_t value = 0;
    for (unsigned b = 0; b < bytes; ++b) value |= std::uint64_t{data[b]} << (8 * b);
    write(value);
  }
  payload.set_response_status(tlm::TLM_OK_RESPONSE);
}

}  // namespace vp
