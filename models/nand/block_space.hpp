// Physical space: erase blocks per die, open rows, free lists. A "block" here is one block of every plane of
// a die and a "row" one page of every plane: they are read, programmed and erased together. Bookkeeping only,
// no time.
//
// Each die has native blocks (logical share x (1 + over-provisioning) + a fixed slack) and, when the part has
// a static SLC buffer, blocks of the same size in SLC mode, which hold pages_per_block / bits_per_cell rows.
#pragma once

#include <deque>
#include <vector>

#include "models/nand/l2p.hpp"
#include "models/nand/nand_params.hpp"

namespace vp {

/// Where a mapping unit is: unit `unit` of a row.
struct Place {
  unsigned die = 0;
  std::uint32_t block = 0;
  std::uint32_t row = 0;
  std::uint32_t unit = 0;
};

/// A row being filled in RAM. Its units are already mapped.
struct OpenRow {
  bool open = false;
  unsigned die = 0;
  std::uint32_t block = 0, row = 0, filled = 0;
};

class BlockSpace {
 public:
  /// Blocks a die keeps beyond its share: open blocks, the garbage collector's reserve, and room for unequal
  /// dies.
  static constexpr std::uint64_t kSlackBlocks = 8;
  enum class Kind : std::uint8_t { native, slc };

  BlockSpace(const NandParams& params, std::uint64_t logical_units);

  std::uint64_t units_per_row() const { return units_per_row_; }
  std::uint64_t rows(std::uint32_t block) const { return is_slc(block) ? slc_rows_ : native_rows_; }
  bool is_slc(std::uint32_t block) const { return block >= native_blocks_; }
  std::uint64_t native_blocks() const { return native_blocks_; }
  std::uint64_t slc_blocks() const { return slc_blocks_; }

  std::uint32_t slot(const Place& p) const {
    return static_cast<std::uint32_t>(
        ((p.die * blocks_per_die_ + p.block) * native_rows_ + p.row) * units_per_row_ + p.unit);
  }
  Place place(std::uint32_t slot) const;
  std::uint32_t row_id(std::uint32_t slot) const { return static_cast<std::uint32_t>(slot / units_per_row_); }
  std::uint32_t row_id(const OpenRow& r) const { return row_id(slot({r.die, r.block, r.row, 0})); }

  /// The next row for new data: SLC while it has room, dies in turn. For `Kind::native` rows the die must
  /// have room.
  OpenRow next_host_row();
  /// The next row of the collector's own open block on `die`.
  OpenRow next_gc_row(unsigned die);
  void record(std::uint32_t slot, Lpn lpn);
  void invalidate(std::uint32_t slot);
  /// The unit at a slot, or kNoLpn when it is stale.
  static constexpr Lpn kNoLpn = 0xFFFFFFFF;
  Lpn lpn_at(unsigned die, std::uint32_t block, std::uint32_t index) const {
    return dies_[die].blocks[block].lpns[index];
  }
  std::uint32_t valid(unsigned die, std::uint32_t block) const { return dies_[die].blocks[block].valid; }
  std::uint64_t free_native(unsigned die) const { return dies_[die].free_native.size(); }
  std::uint64_t free_slc(unsigned die) const { return dies_[die].free_slc.size(); }
  /// The next host row on this die would open a new native block.
  bool at_block_end(unsigned die) const;
  /// The full native block with the fewest valid units (the lowest number on a tie), or -1 when none would
  /// gain room.
  std::int64_t victim(unsigned die) const;
  /// The full SLC block filled longest ago that the die's native space can take, or -1.
  std::int64_t fold_victim(unsigned die) const;
  void free_block(unsigned die, std::uint32_t block);
  unsigned next_die() const { return next_die_; }

 private:
  enum class State : std::uint8_t { free, open, full };
  struct Block {
    State state = State::free;
    std::uint32_t valid = 0;
    std::vector<std::uint32_t> lpns;
  };
  struct Stream {
    std::int64_t block = -1;
    std::uint32_t row = 0;
  };
  struct Die {
    std::vector<Block> blocks;  // native first, then SLC
    std::deque<std::uint32_t> free_native, free_slc, full_slc;
    Stream host, slc, gc;
    std::uint64_t valid_native = 0;
  };

  // A stream keeps its block until the next row is asked for: the last row may still be filling in RAM.
  bool used_up(const Stream& s) const {
    return s.block < 0 || s.row == rows(static_cast<std::uint32_t>(s.block));
  }
  bool slc_room(const Die& d) const { return !used_up(d.slc) || !d.free_slc.empty(); }
  bool native_room(const Die& d) const { return d.valid_native + units_per_row_ <= native_limit_; }
  OpenRow take_row(unsigned die, Stream& stream, std::deque<std::uint32_t>& pool);

  std::uint64_t units_per_row_, native_rows_, slc_rows_, native_blocks_, slc_blocks_, blocks_per_die_,
      native_limit_;
  std::vector<Die> dies_;
  unsigned next_die_ = 0;
};

}  // namespace vp
