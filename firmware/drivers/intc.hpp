// The platform's interrupt controller: 32 level lines, claim and complete.
#pragma once

#include "firmware/hal/hal.hpp"
#include "models/cpu/intc_regs.hpp"

namespace fw {

class Intc {
 public:
  explicit Intc(std::uint64_t base = 0) : base_(base) {}
  void enable_only(unsigned line) { hal::write32(base_ + vp::intc::kEnable, 1u << line); }
  /// Lines as bits.
  void enable(std::uint32_t lines) { hal::write32(base_ + vp::intc::kEnable, lines); }
  std::uint32_t claim() { return hal::read32(base_ + vp::intc::kClaim); }
  void complete(std::uint32_t number) { hal::write32(base_ + vp::intc::kComplete, number); }

 private:
  std::uint64_t base_;
};

}  // namespace fw
