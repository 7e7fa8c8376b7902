// Tuning (SDHCI 4.20 2.2.27 and figure 2-29): CMD21 until the host clears Execute Tuning; Sampling Clock
// Select tells.
#include "firmware/drivers/sdhci.hpp"
#include "firmware/drivers/sdhci_hw.hpp"
#include "firmware/drivers/wait.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kBlockLimitNs = 50'000'000;  // 50 ms per CMD21, as Linux waits
constexpr std::uint64_t kInhibitLimitNs = 10'000'000;
constexpr std::uint32_t kTuningBytes4 = 64, kTuningBytes8 = 128;  // JESD84-B51 6.6.5.1
constexpr std::uint32_t kBoundary512K = 7;
constexpr std::uint32_t kResponse48 = 2;
}  // namespace

bool Sdhci::execute_tuning(std::uint8_t opcode) {
  const std::uint32_t interrupts = interrupts_;
  write_interrupts(hw::kIntBufferReadReady);
  tuning_ = true;
  write_hc2(hc2_ | hw::kHc2Tune);
  const bool ok = tuning_loop(opcode, (hc1_ & hw::kHc1Width8) ? kTuningBytes8 : kTuningBytes4);
  if (!ok) {
    write16(hw::kHostControl2, hc2_ &= ~(hw::kHc2Tune | hw::kHc2Tuned));
    reset(hw::kResetCmd);
  }
  // A tuning block left in the buffer would keep Buffer Read Enable set.
  reset(hw::kResetDat);
  if (const std::uint32_t left = read32(hw::kIntStatus)) write32(hw::kIntStatus, left);
  tuning_ = false;
  write_interrupts(interrupts);
  return ok;
}

bool Sdhci::tuning_loop(std::uint8_t opcode, std::uint32_t block_bytes) {
  for (std::uint32_t i = 0; i < config_.tuning_loops; ++i) {
    if (!tuning_step(opcode, block_bytes)) return false;
    const std::uint32_t now = read16(hw::kHostControl2);
    if (now & hw::kHc2Tune) continue;
    hc2_ = now;
    return now & hw::kHc2Tuned;
  }
  return false;
}

bool Sdhci::tuning_step(std::uint8_t opcode, std::uint32_t block_bytes) {
  tuning_ready_ = false;
  if (!poll_until(
          [&] { return !(read32(hw::kPresentState) & (hw::kStateCmdInhibit | hw::kStateDatInhibit)); }, 0,
          kInhibitLimitNs))
    return false;
  write16(hw::kBlockSize, kBoundary512K << hw::kBoundaryLsb | block_bytes);
  write_command(opcode, 0, hw::kModeRead, kResponse48 | hw::kCmdCrc | hw::kCmdIndexCheck | hw::kCmdData);
  return wait_until([&] { return tuning_ready_; }, hal::now_ns() + kBlockLimitNs);
}

}  // namespace fw
