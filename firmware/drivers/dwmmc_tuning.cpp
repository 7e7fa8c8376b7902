// HS200 tuning by software: this host has no procedure of its own. CMD21 is read and compared with the standard's block
// at sixteen sampling phases (JESD84-B51 6.6.5.2 allows 40 blocks: two each); the middle of the longest run of good ones,
// round the circle, is taken. Versions before 2.40a have no phase register: blocks must simply come right.
#include <algorithm>

#include "firmware/drivers/dwmmc.hpp"
#include "firmware/hal/hal.hpp"
#include "models/emmc/tuning_block.hpp"

namespace fw {

namespace {
constexpr std::uint32_t kRun = 4;      ///< good blocks in a row that make a fixed phase good
constexpr std::uint32_t kPoints = 16;  ///< phases tried

struct GoodRun {
  std::uint32_t start = 0, length = 0;
};

/// The longest run of set bits on a circle of kPoints.
GoodRun longest_run(std::uint32_t good) {
  GoodRun best;
  for (std::uint32_t start = 0; start < kPoints; ++start) {
    std::uint32_t n = 0;
    while (n < kPoints && (good >> (start + n) % kPoints & 1)) ++n;
    if (n > best.length) best = {start, n};
  }
  return best;
}
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

bool DwMmc::tune_fixed(std::uint8_t opcode) {
  std::uint32_t run = 0;
  for (std::uint32_t i = 0; i < config_.tuning_loops && run < kRun; ++i)
    run = tuning_block_good(opcode) ? run + 1 : 0;
  return run == kRun;
}

void DwMmc::set_phase(std::uint32_t point) {
  update(dw::kUhsRegExt, point * (dw::kSamplePhases / kPoints) << dw::kSamplePhaseLsb, shadow_.phase);
}

bool DwMmc::point_good(std::uint8_t opcode, std::uint32_t point) {
  set_phase(point);
  for (std::uint32_t i = 0; i < config_.tuning_loops / kPoints; ++i)
    if (!tuning_block_good(opcode)) return false;
  return true;
}

bool DwMmc::execute_tuning(std::uint8_t opcode) {
  if (!config_.scratch_address || lines_ == 1) return false;
  tuning_ = true;
  const bool found = late_registers() ? tune_phase(opcode) : tune_fixed(opcode);
  tuning_ = false;
  return found;
}

bool DwMmc::tune_phase(std::uint8_t opcode) {
  std::uint32_t good = 0;
  for (std::uint32_t point = 0; point < kPoints; ++point)
    if (point_good(opcode, point)) good |= 1u << point;
  const GoodRun run = longest_run(good);
  // Every phase good: the phase has no effect here, or does not matter.
  set_phase(run.length == 0 || run.length == kPoints ? 0 : (run.start + run.length / 2) % kPoints);
  return run.length != 0;
}

}  // namespace fw
