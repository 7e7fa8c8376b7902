#include "models/nand/block_space.hpp"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>

namespace vp {

BlockSpace::BlockSpace(const NandParams& p, std::uint64_t logical_units)
    : units_per_row_(p.planes * p.page_bytes / kUnitBytes),
      native_rows_(p.pages_per_block),
      slc_rows_(std::max<std::uint64_t>(1, p.pages_per_block / p.bits_per_cell)),
      dies_(p.all_dies()) {
  const std::uint64_t per_block = native_rows_ * units_per_row_;
  const double share = static_cast<double>(logical_units) / static_cast<double>(p.all_dies());
  native_blocks_ = static_cast<std::uint64_t>(std::ceil(share * (1 + p.over_provisioning_percent / 100) /
                                                        static_cast<double>(per_block))) +
                   kSlackBlocks + p.gc_free_blocks;
  native_limit_ = (native_blocks_ - p.gc_free_blocks - 4) * per_block;
  const std::uint64_t slc_bytes_per_die = p.slc_buffer_bytes / p.all_dies();
  const std::uint64_t slc_block_bytes = slc_rows_ * units_per_row_ * kUnitBytes;
  slc_blocks_ = (slc_bytes_per_die + slc_block_bytes - 1) / slc_block_bytes;
  blocks_per_die_ = native_blocks_ + slc_blocks_;
  if (p.all_dies() * blocks_per_die_ * per_block >= 0xFFFFFFF0ULL)
    throw InputError(fmt::format("nand: {} dies of {} blocks exceed 32-bit map entries; use a smaller device",
                                 p.all_dies(), blocks_per_die_));
  for (Die& d : dies_) {
    d.blocks.resize(blocks_per_die_);
    for (std::uint32_t b = 0; b < blocks_per_die_; ++b) (is_slc(b) ? d.free_slc : d.free_native).push_back(b);
  }
}

Place BlockSpace::place(std::uint32_t slot) const {
  Place p;
  p.unit = static_cast<std::uint32_t>(slot % units_per_row_);
  const std::uint64_t rows = slot / units_per_row_;
  p.row = static_cast<std::uint32_t>(rows % native_rows_);
  const std::uint64_t blocks = rows / native_rows_;
  p.block = static_cast<std::uint32_t>(blocks % blocks_per_die_);
  p.die = static_cast<unsigned>(blocks / blocks_per_die_);
  return p;
}

OpenRow BlockSpace::take_row(unsigned die, Stream& stream, std::deque<std::uint32_t>& pool) {
  Die& d = dies_[die];
  if (used_up(stream)) {
    if (stream.block >= 0) {
      const auto full = static_cast<std::uint32_t>(stream.block);
      d.blocks[full].state = State::full;
      if (is_slc(full)) d.full_slc.push_back(full);
    }
    if (pool.empty()) throw std::logic_error("nand: no free block; the collector should have run");
    stream = {pool.front(), 0};
    pool.pop_front();
    Block& b = d.blocks[static_cast<std::size_t>(stream.block)];
    b.state = State::open;
    b.lpns.assign(rows(static_cast<std::uint32_t>(stream.block)) * units_per_row_,
                  static_cast<std::uint32_t>(kNoLpn));
  }
  const auto block = static_cast<std::uint32_t>(stream.block);
  return {true, die, block, stream.row++, 0};
}

OpenRow BlockSpace::next_host_row() {
  for (std::size_t tries = 0; tries < dies_.size(); ++tries) {
    const unsigned die = next_die_;
    next_die_ = (next_die_ + 1) % static_cast<unsigned>(dies_.size());
    Die& d = dies_[die];
    if (slc_room(d)) return take_row(die, d.slc, d.free_slc);
    if (native_room(d)) return take_row(die, d.host, d.free_native);
  }
  throw std::logic_error("nand: more valid data than the device has room for");
}

OpenRow BlockSpace::next_gc_row(unsigned die) { return take_row(die, dies_[die].gc, dies_[die].free_native); }

bool BlockSpace::at_block_end(unsigned die) const {
  const Die& d = dies_[die];
  return !slc_room(d) && used_up(d.host);
}

void BlockSpace::record(std::uint32_t s, Lpn lpn) {
  const Place p = place(s);
  Die& d = dies_[p.die];
  Block& b = d.blocks[p.block];
  b.lpns[p.row * units_per_row_ + p.unit] = static_cast<std::uint32_t>(lpn);
  ++b.valid;
  if (!is_slc(p.block)) ++d.valid_native;
}

void BlockSpace::invalidate(std::uint32_t s) {
  const Place p = place(s);
  Die& d = dies_[p.die];
  Block& b = d.blocks[p.block];
  b.lpns[p.row * units_per_row_ + p.unit] = static_cast<std::uint32_t>(kNoLpn);
  --b.valid;
  if (!is_slc(p.block)) --d.valid_native;
}

std::int64_t BlockSpace::victim(unsigned die) const {
  const Die& d = dies_[die];
  std::int64_t best = -1;
  std::uint64_t fewest = native_rows_ * units_per_row_;
  for (std::uint32_t b = 0; b < native_blocks_; ++b)
    if (d.blocks[b].state == State::full && d.blocks[b].valid < fewest) fewest = d.blocks[b].valid, best = b;
  return best;
}

std::int64_t BlockSpace::fold_victim(unsigned die) const {
  const Die& d = dies_[die];
  if (d.full_slc.empty()) return -1;
  const std::uint32_t b = d.full_slc.front();
  return d.valid_native + d.blocks[b].valid <= native_limit_ ? static_cast<std::int64_t>(b) : -1;
}

void BlockSpace::free_block(unsigned die, std::uint32_t block) {
  Die& d = dies_[die];
  d.blocks[block].state = State::free;
  d.blocks[block].valid = 0;
  if (is_slc(block)) {
    std::erase(d.full_slc, block);
    d.free_slc.push_back(block);
  } else {
    d.free_native.push_back(block);
  }
}

}  // namespace vp
