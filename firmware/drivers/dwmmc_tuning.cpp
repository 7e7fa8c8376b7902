// HS200 tuning by software: this host has no procedure of its own. CMD21 is read and compared with the standard's block;
// the sampling phase is good when several in a row come right. Phases: without and with ENABLE_SHIFT (2.40a and later).
#include <algorithm>

#include "firmware/drivers/dwmmc.hpp"
#include "firmware/hal/hal.hpp"
#include "models/emmc/tuning_block.hpp"

namespace fw {

namespace {
constexpr std::uint32_t kRun = 4;  ///< good blocks in a row that make a phase good
}  // namespace

/// A block that fails costs a recovery (MmcHost::send), so the next one starts from a clean host.
bool DwMmc::tuning_block_good(std::uint8_t opcode) {
  const std::span<const std::uint8_t> want = lines_ == 8 ? std::span<const std::uint8_t>(vp::kTuningBlock8)
                                                         : std::span<const std::uint8_t>(vp::kTuningBlock4);
  const Segment segment{config_.scratch_address, static_cast<std::uint32_t>(want.size())};
  auto* got = static_cast<std::uint8_t*>(hal::ram(segment.address, segment.bytes));
  std::fill_n(got, want.size(), std::uint8_t{0});
  MmcData data;
  data.segments = {&segment, 1};
  data.block_bytes = segment.bytes;
  MmcCommand c;
  c.index = opcode;
  c.data = &data;
  return send(c) == MmcError::none && std::equal(want.begin(), want.end(), got);
}

bool DwMmc::phase_good(std::uint8_t opcode, std::uint32_t tries) {
  std::uint32_t run = 0;
  while (tries-- && run < kRun) run = tuning_block_good(opcode) ? run + 1 : 0;
  return run == kRun;
}

bool DwMmc::execute_tuning(std::uint8_t opcode) {
  if (!config_.scratch_address || lines_ == 1) return false;
  if (!late_registers()) return phase_good(opcode, config_.tuning_loops);
  for (const std::uint32_t phase : {0u, dw::kPhaseShift}) {
    update(dw::kEnableShift, phase, shadow_.shift);
    if (phase_good(opcode, config_.tuning_loops / 2)) return true;
  }
  update(dw::kEnableShift, 0, shadow_.shift);
  return false;
}

}  // namespace fw
