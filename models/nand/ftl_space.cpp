// Garbage collection and the folding of the SLC buffer.
#include <algorithm>

#include "models/nand/ftl.hpp"

namespace vp {

/// Copies what is valid in a block to the collector's open rows of the same die and erases it. Returns the
/// erase's end.
Ps Ftl::move_block(unsigned die, std::uint32_t block, Ps at, std::uint64_t& moved) {
  const std::uint64_t per_row = space_.units_per_row();
  for (std::uint32_t row = 0; row < space_.rows(block) && space_.valid(die, block) > 0; ++row) {
    std::uint64_t valid = 0;
    for (std::uint32_t u = 0; u < per_row; ++u)
      valid += space_.lpn_at(die, block, static_cast<std::uint32_t>(row * per_row + u)) != BlockSpace::kNoLpn;
    if (valid == 0) continue;
    const Place p{die, block, row, 0};
    const auto r = array_.read(die, space_.is_slc(block) ? t_r_slc_ : t_r(p), valid * kUnitBytes, at);
    for (std::uint32_t u = 0; u < per_row; ++u) {
      const Lpn lpn = space_.lpn_at(die, block, static_cast<std::uint32_t>(row * per_row + u));
      if (lpn == BlockSpace::kNoLpn) continue;
      OpenRow& to = gc_rows_[die];
      if (!to.open) to = space_.next_gc_row(die);
      unmap(lpn);
      const std::uint32_t slot = space_.slot({die, to.block, to.row, to.filled++});
      l2p_.set(lpn, slot + L2pTable::kFirstSlot);
      space_.record(slot, lpn);
      ++moved;
      if (to.filled < per_row) continue;
      gc_programmed_ = std::max(gc_programmed_, program(to, r.transfer_end).array_end);
      to = {};
    }
  }
  space_.free_block(die, block);
  ++counters_.erases;
  return array_.erase(die, at);
}

void Ftl::collect(unsigned die, Ps at) {
  while (space_.free_native(die) <= params_.gc_free_blocks) {
    const std::int64_t victim = space_.victim(die);
    if (victim < 0) return;
    move_block(die, static_cast<std::uint32_t>(victim), at, counters_.gc_units);
    ++counters_.gc_blocks;
  }
}

/// Moves SLC data to native blocks in the idle time before `now`: all dies at once, block by block. The last
/// block of each die may end after `now`; what comes then waits for it.
void Ftl::fold_while_idle(Ps now) {
  if (space_.slc_blocks() == 0) return;
  const Ps start = std::max(array_.idle_from(), firmware_free_) + NandParams::us(params_.fold_idle_us);
  if (now <= start) return;
  for (unsigned die = 0; die < array_.dies(); ++die) {
    Ps t = start;
    while (t < now) {
      const std::int64_t victim = space_.fold_victim(die);
      if (victim < 0) break;
      if (space_.free_native(die) <= params_.gc_free_blocks) collect(die, t);
      t = move_block(die, static_cast<std::uint32_t>(victim), t, counters_.fold_units);
    }
  }
}

std::uint64_t Ftl::inconsistencies() const {
  std::uint64_t wrong = 0, mapped = 0, valid = 0;
  for (Lpn lpn = 0; lpn < logical_units_; ++lpn) {
    const std::uint32_t entry = l2p_.get(lpn);
    if (entry < L2pTable::kFirstSlot) continue;
    ++mapped;
    const Place p = space_.place(entry - L2pTable::kFirstSlot);
    const auto index = static_cast<std::uint32_t>(p.row * space_.units_per_row() + p.unit);
    if (space_.lpn_at(p.die, p.block, index) != lpn) ++wrong;
  }
  for (unsigned d = 0; d < array_.dies(); ++d)
    for (std::uint32_t b = 0; b < space_.native_blocks() + space_.slc_blocks(); ++b)
      valid += space_.valid(d, b);
  return wrong + (valid > mapped ? valid - mapped : mapped - valid);
}

}  // namespace vp
