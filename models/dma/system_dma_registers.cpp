// Register behaviour of the system DMA: what a bus access does.
#include <bit>
#include <cstring>

#include "models/core/register_access.hpp"
#include "models/dma/system_dma.hpp"

namespace vp {

using namespace edma;
using sc_core::sc_time_stamp;

void SystemDma::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
  delay += axi_.cycles(params_.register_cycles);
  access_time_ = sc_time_stamp() + delay;
  const auto offset = static_cast<std::uint32_t>(payload.get_address());
  const unsigned bytes = payload.get_data_length();
  const bool in_sets = offset >= kParamBase;
  serve_register_access(
      payload,
      [&] {
        return in_sets ? access_param(offset - kParamBase, bytes, false, 0) : bank_.read(offset, bytes);
      },
      [&](std::uint64_t value) {
        if (in_sets)
          access_param(offset - kParamBase, bytes, true, value);
        else
          bank_.write(offset, bytes, value);
      });
}

/// Parameter RAM; beyond its end reads give 0 and writes are lost.
std::uint64_t SystemDma::access_param(std::uint32_t offset, unsigned bytes, bool write, std::uint64_t value) {
  if (offset + bytes > sets_.size() * kSetBytes) return 0;
  auto* at = reinterpret_cast<std::byte*>(sets_.data()) + offset;
  if (write)
    std::memcpy(at, &value, bytes);
  else
    std::memcpy(&value, at, bytes);
  return value;
}

void SystemDma::hook_registers() {
  const auto number = static_cast<std::uint64_t>(std::bit_width(sets_.size() / 16) - 1);
  const std::uint64_t config = find_register(kRegs, "CCCFG")->reset;
  bank_.set_reset(reg_offset(kRegs, "CCCFG"), config | number << field_lsb(kRegs, "CCCFG", "NUM_PAENTRY"));
  const auto hook = [this](const char* reg, auto action) {
    bank_.on_write(find_register(kRegs, reg)->offset, [this, action](const RegisterBank::WriteEvent& e) {
      action(static_cast<std::uint32_t>(e.written));
      update_irq();
      schedule(access_time_);
    });
  };
  const auto clears = [this](std::uint16_t reg) {
    return [this, reg](std::uint32_t v) { bank_.clear_bits(reg, v); };
  };
  const auto sets = [this](std::uint16_t reg) {
    return [this, reg](std::uint32_t v) { bank_.set_bits(reg, v); };
  };
  hook("EMCR", clears(reg_offset(kRegs, "EMR")));
  hook("CCERRCLR", clears(reg_offset(kRegs, "CCERR")));
  hook("ECR", clears(reg_offset(kRegs, "ER")));
  hook("EECR", clears(reg_offset(kRegs, "EER")));
  hook("EESR", sets(reg_offset(kRegs, "EER")));
  hook("SECR", clears(reg_offset(kRegs, "SER")));
  hook("IECR", clears(reg_offset(kRegs, "IER")));
  hook("IESR", sets(reg_offset(kRegs, "IER")));
  hook("ICR", clears(reg_offset(kRegs, "IPR")));
  hook("TC_ERROR", [](std::uint32_t) {});
  hook("EEVAL", [](std::uint32_t) {});
  hook("IEVAL", [](std::uint32_t) {});
  hook("ESR", [this](std::uint32_t v) {
    for (unsigned n = 0; n < kChannels; ++n)
      if (v >> n & 1) channels_[n].waiting_since = access_time_;
  });
  for (unsigned n = 0; n < kChannels; ++n) hook_list(n);
}

void SystemDma::hook_list(unsigned channel) {
  const auto reg = static_cast<std::uint16_t>(reg_offset(kRegs, "LL_CONTROL0") + 16 * channel);
  const auto next = static_cast<std::uint16_t>(reg_offset(kRegs, "LL_NEXT0") + 16 * channel);
  bank_.on_write(reg, [this, channel, next](const RegisterBank::WriteEvent& e) {
    constexpr std::uint32_t kEnable = field_mask(kRegs, "LL_CONTROL0", "ENABLE");
    const std::uint32_t bit = 1u << channel;
    if (!(e.value & kEnable)) {
      fetching_ &= ~bit;
    } else if (!(e.old_value & kEnable) && bank_.get(next) != 0) {
      fetching_ |= bit;
      fetch_next();
    }
    schedule(access_time_);
  });
}

}  // namespace vp
