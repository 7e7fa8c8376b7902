// The device's translation layer and firmware as far as they cost time.
//
// Modelled: page-mapped translation in units of 4 KiB; a map cache (one map page covers 4 MiB; a miss reads
// one map page in SLC mode); never-written addresses on a computed layout that fills planes, then channels,
// then dies; written ones log-structured over the dies in turn, greedy garbage collection per die, a static
// SLC buffer folded when idle; a RAM write cache drained in whole rows; read-modify-write below 4 KiB;
// read-ahead across commands; firmware as one exclusive resource. Data bytes are not here: see
// models/emmc/sparse_medium.hpp. Not modelled: wear levelling, power loss of the map, read disturb.
// Never-written addresses occupy no block, so a fresh device has all its blocks free. Every time is computed
// when it is asked for, from resources that keep their bookings; there are no events.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "models/mmc_bus/card.hpp"
#include "models/nand/block_space.hpp"
#include "models/nand/l2p.hpp"
#include "models/nand/nand_array.hpp"

namespace vp {

struct FtlCounters {
  std::uint64_t reads = 0, writes = 0;  // commands
  std::uint64_t map_hits = 0, map_misses = 0, map_writes = 0;
  std::uint64_t rows_read = 0, cache_hits = 0, readahead_hits = 0, readahead_rows = 0, unmapped_reads = 0;
  std::uint64_t programs = 0, slc_programs = 0, partial_programs = 0, erases = 0;
  std::uint64_t read_modify_writes = 0, gc_units = 0, gc_blocks = 0, fold_units = 0;
  std::uint64_t cache_stalls = 0;  // units that waited for room
  Ps firmware_busy = 0;
};

class Ftl;

/// Adds to `to` what leads to `node` in `from`: the same time per span, in the order of the timing contract, with
/// `after` in place of the root. Returns the last node.
NodeId copy_causes(const CauseGraph& from, NodeId node, CauseGraph& to, NodeId after);

/// One read in progress. Rows are booked ahead, at most a window of them: row p + W is booked when row p has
/// been delivered (its last frame has ended, or would have been ready). Without a block count the window
/// opens by one row per row delivered, so that a short open-ended read does not fetch what nobody asked for.
/// A read that waits for its execution has a smaller window (Ftl::open_window).
class ReadPlan {
 public:
  /// When block `k` can start on the wire, buffer latency included. k must not go back.
  BlockReady ready(std::uint32_t k, CauseGraph& graph) {
    const std::uint64_t unit = (offset_ + k) / kUnitBlocks;
    if (unit == unit_) return cached_;
    return advance(unit, graph);
  }
  /// How many blocks from `k` on, k included, are ready when k is.
  std::uint32_t ready_with(std::uint32_t k) const {
    return static_cast<std::uint32_t>(kUnitBlocks - (offset_ + k) % kUnitBlocks);
  }
  /// The frame of a block ends then: its buffer is free.
  void delivered(sc_time frame_end) {
    if (frame_end.value() > delivered_) delivered_ = frame_end.value();
  }
  /// From here on `to` is the plan's graph; `after` stands for the root of the graph used so far.
  void move_causes(const CauseGraph& from, CauseGraph& to, NodeId after);
  /// The plan is a queued task's (CMD44, CMD45), for good.
  void set_queued() { queued_ = true; }
  /// The first block, counted as in start_read(), that has not been asked for at the array.
  std::uint64_t fetched_end() const { return next_ * kUnitBlocks; }

 private:
  friend class Ftl;
  struct Group {  // units of one row, delivered one after the other
    Lpn lpn = 0;
    std::uint64_t units = 0;
    std::uint64_t first_unit = 0;  // counted from the plan's first
    Ps first = 0, unit_ps = 0;     // when unit i is in the buffer: first + i * unit_ps ...
    Ps floor = 0;                  // ... but not before this
    NodeId node = kRootNode;
    Span unit_span = Span::nand_channel;
  };
  struct Held {  // the last transfer of this plan from a die: what a later row may wait for
    Ps end = 0;
    NodeId node = kRootNode;
  };
  BlockReady advance(std::uint64_t unit, CauseGraph& graph);
  Group& group(std::uint64_t number) { return groups_[number % groups_.size()]; }

  Ftl* ftl_ = nullptr;
  std::uint64_t lba_ = 0, offset_ = 0;
  Lpn next_ = 0, end_ = 0;    // units still to be booked
  std::uint64_t window_ = 1;  // rows
  bool counted_ = true;
  bool read_ahead_ = false;
  bool queued_ = false;
  Ps base_ = 0;
  NodeId base_node_ = kRootNode;
  std::uint64_t map_page_ = ~0ULL;
  std::vector<Group> groups_;  // a ring
  std::vector<Held> of_die_;
  std::uint64_t booked_ = 0, current_ = 0;
  std::uint64_t unit_ = ~0ULL;
  BlockReady cached_;
  Ps delivered_ = 0;
};

/// One write in progress.
class WritePlan {
 public:
  sc_time firmware_end() const { return from_ps(firmware_end_); }

 private:
  friend class Ftl;
  std::uint64_t lba_ = 0, offset_ = 0;
  bool through_ = false;  // forced programming, reliable write, or cache off
  Ps firmware_end_ = 0;
  Ps merged_ = 0;      // end of the last read-modify-write's read
  Ps programmed_ = 0;  // end of the last program
  Ps loaded_ = 0;      // its data had left over the channel
  std::uint32_t in_unit_ = 0;
  Lpn lpn_ = 0;
};

/// When a write is accepted, and why not earlier.
struct Accepted {
  sc_time at;
  NodeId why = kRootNode;
};

class Ftl {
 public:
  /// `logical_blocks`: 512-byte blocks of all partitions. `cache_bytes`: the part's write cache.
  Ftl(Context& context, const NandParams& params, std::uint64_t logical_blocks, std::uint64_t cache_bytes);

  // --- reads ---
  /// `blocks` = 0: until end_read(); `limit`: the first block that does not exist. `ahead_pages`: pages in the buffer
  /// until open_window(); 0: the window is open.
  void start_read(ReadPlan& plan, std::uint64_t lba, std::uint32_t blocks, std::uint64_t limit, sc_time at,
                  CauseGraph& graph, NodeId after, std::uint64_t ahead_pages = 0);
  /// A read that was prepared goes out now: from here on it has the whole window.
  void open_window(ReadPlan& plan, sc_time at, CauseGraph& graph, NodeId after);
  /// Where the next sequential command would begin, for reads without a count.
  void end_read(ReadPlan& plan, std::uint64_t blocks_sent) { sequential_lba_ = plan.lba_ + blocks_sent; }

  // --- writes ---
  void start_write(WritePlan& plan, std::uint64_t lba, bool through, sc_time at);
  /// Block k has arrived at `arrived`. The result is when the next one may come, or for the last block when
  /// the write is accepted by policy.
  Accepted write_block(WritePlan& plan, std::uint32_t k, bool last, sc_time arrived, CauseGraph& graph,
                       NodeId after);
  /// When one more unit of written data has room in the RAM, as far as known at `at`.
  sc_time room_from(sc_time at) const;
  /// The end of a write without a count.
  Accepted finish_write(WritePlan& plan, sc_time at, CauseGraph& graph, NodeId after);
  void set_cache(bool on) { cache_on_ = on; }
  /// When everything accepted so far is in the array.
  Accepted flush(sc_time at, CauseGraph& graph, NodeId after);
  /// Unmaps a range; units touched in part keep their mapping. Returns when the firmware is done.
  Accepted trim(std::uint64_t lba, std::uint64_t blocks, sc_time at, CauseGraph& graph, NodeId after);
  Accepted erase(std::uint64_t lba, std::uint64_t blocks, std::uint64_t groups, sc_time at, CauseGraph& graph,
                 NodeId after);

  // --- faults ---
  /// The page holding this block cannot be corrected: its read takes all retries.
  void add_ecc_error(std::uint64_t lba) { ecc_lbas_.insert(lba); }
  bool ecc_error(std::uint64_t lba) const { return !ecc_lbas_.empty() && ecc_lbas_.count(lba) != 0; }
  bool ecc_error_in(std::uint64_t lba, std::uint64_t end) const {
    const auto first = ecc_lbas_.lower_bound(lba);
    return first != ecc_lbas_.end() && *first < end;
  }
  bool has_ecc_errors() const { return !ecc_lbas_.empty(); }

  // --- instruments ---
  const FtlCounters& counters() const { return counters_; }
  const NandArray& array() const { return array_; }
  const BlockSpace& space() const { return space_; }
  /// Bytes accepted and not yet in the array at `now`.
  std::uint64_t dirty_bytes(sc_time now);
  /// The largest number of bytes the cache has held.
  std::uint64_t cache_high_water() const { return high_water_; }
  /// Where a unit is, as reads see it; nothing when it has been trimmed.
  std::optional<Place> locate(Lpn lpn) const;
  bool ever_written(Lpn lpn) const { return l2p_.get(lpn) >= L2pTable::kFirstSlot; }
  /// Checks that map and reverse map agree; returns the number of units that do not.
  std::uint64_t inconsistencies() const;

 private:
  friend class ReadPlan;
  using Group = ReadPlan::Group;
  struct Timed {
    Ps at;
    NodeId node;
  };
  struct InFlight {
    Ps end;
    std::uint64_t bytes;
    std::uint32_t row;
  };

  // Reads (ftl_read.cpp)
  void book_ahead(ReadPlan& plan, CauseGraph& graph, Ps issue, NodeId node);
  void book_group(ReadPlan& plan, CauseGraph& graph, Ps issue, NodeId node);
  bool from_read_ahead(ReadPlan& plan, Group& g, Ps issue, NodeId node);
  void fetch(ReadPlan* plan, Group& g, Ps issue, NodeId node, CauseGraph& graph);
  NodeId row_cause(ReadPlan* plan, unsigned die, Ps sense, const NandArray::Read& r, NodeId node,
                   CauseGraph& graph);
  std::uint64_t extent(Lpn lpn, std::uint64_t most) const;
  void read_ahead(ReadPlan& plan, Ps issue);
  void note_sequence(ReadPlan& plan, std::uint64_t lba, std::uint32_t blocks);
  Timed look_up(Lpn lpn, Ps at, CauseGraph& graph, NodeId node);
  void touch_map(Lpn lpn, Ps at);
  void write_back_map(const MapCache::Touch& t, Ps at);
  Place default_place(Lpn lpn) const;
  Ps t_r(const Place& p) const;

  // Writes (ftl_write.cpp)
  Ps firmware(Ps at, Ps duration);
  Ps commit(WritePlan& plan, Ps at);
  std::uint64_t ram_bytes() const;
  Ps make_room(Ps at);
  void append(Lpn lpn, Ps at);
  void unmap(Lpn lpn);
  NandArray::Program program_row(Ps at);
  NandArray::Program program(const OpenRow& row, Ps at);
  Accepted settle(WritePlan& plan, Ps at, CauseGraph& graph, NodeId after);
  void release(Ps now);
  void unmap_range(std::uint64_t lba, std::uint64_t blocks);
  void show_cache(Ps at);
  bool in_ram(std::uint32_t slot, Ps now) const;

  // Space (ftl_space.cpp)
  void collect(unsigned die, Ps at);
  Ps move_block(unsigned die, std::uint32_t block, Ps at, std::uint64_t& moved);
  void fold_while_idle(Ps now);

  Context& context_;
  NandParams params_;
  NandArray array_;
  std::uint64_t logical_units_;
  L2pTable l2p_;
  MapCache map_cache_;
  BlockSpace space_;
  std::uint64_t cache_bytes_;
  std::uint64_t window_rows_;
  Ps t_r_by_kind_[3]{}, t_r_slc_, t_prog_, t_prog_slc_, fw_read_, fw_write_, latency_;
  FtlCounters counters_;

  Ps firmware_free_ = 0;
  bool cache_on_ = false;
  OpenRow host_row_;
  std::vector<OpenRow> gc_rows_;     // per die
  std::vector<InFlight> in_flight_;  // by end
  std::uint64_t used_ = 0;           // bytes in RAM: open row and programs in flight
  std::uint64_t high_water_ = 0;
  Ps gc_programmed_ = 0;  // end of the collector's last program
  SignalId cache_signal_ = 0;

  std::vector<Group> ahead_;  // read-ahead rows, ascending
  Lpn ahead_end_ = 0;
  std::uint64_t sequential_lba_ = ~0ULL;
  std::uint64_t sequential_run_ = 0;
  std::set<std::uint64_t> ecc_lbas_;
};

}  // namespace vp
