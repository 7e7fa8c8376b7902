// The payload of a CPU's single-beat accesses, kept between them: what the native core and the Linux bridge share.
#pragma once

#include <array>
#include <cstdint>
#include <tlm>

#include "models/axi/axi_extension.hpp"

namespace vp {

class RegisterPayload {
 public:
  RegisterPayload() { payload_.set_extension(&axi_); }
  ~RegisterPayload() { payload_.clear_extension(&axi_); }
  RegisterPayload(const RegisterPayload&) = delete;
  RegisterPayload& operator=(const RegisterPayload&) = delete;

  /// A fresh access of 1 to 8 bytes; `value` is what a write carries, little-endian.
  tlm::tlm_generic_payload& prepare(tlm::tlm_command command, std::uint64_t address, unsigned bytes,
                                    std::uint64_t value) {
    for (unsigned b = 0; b < bytes; ++b) data_[b] = static_cast<unsigned char>(value >> (8 * b));
    payload_.set_command(command);
    payload_.set_address(address);
    payload_.set_data_ptr(data_.data());
    payload_.set_data_length(bytes);
    payload_.set_streaming_width(bytes);
    payload_.set_byte_enable_ptr(nullptr);
    payload_.set_dmi_allowed(false);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    axi_.beats = 1;
    axi_.beat_bytes = bytes;
    return payload_;
  }

  /// What came back: all ones when the access ended in an error, as a bus without a slave reads.
  std::uint64_t value() const {
    if (payload_.is_response_error()) return ~std::uint64_t{0} >> (64 - 8 * payload_.get_data_length());
    std::uint64_t result = 0;
    for (unsigned b = 0; b < payload_.get_data_length(); ++b) result |= std::uint64_t{data_[b]} << (8 * b);
    return result;
  }

 private:
  tlm::tlm_generic_payload payload_;
  AxiExtension axi_;
  std::array<unsigned char, 8> data_{};
};

}  // namespace vp
