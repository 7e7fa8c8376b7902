// The queue engine's memory (CQHCI, JESD84-B51 annex B): 32 slots of one task descriptor and one link
// descriptor each, and a table of transfer descriptors per data tag. Three shapes of a slot are in use (task
// + link): 8 + 8 with 32-bit DMA addresses, 16 + 16 and 8 + 16 with 64-bit ones; transfer descriptors are as
// wide as links, or 12 bytes apart where a host wants that. Every table has its own bounds: a request that
// needs more descriptors than a table holds is refused, never written into the next tag's table.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/mmc/host.hpp"

namespace fw {

struct CqShape {
  bool dma64 = false;        ///< 64-bit addresses in links and transfer descriptors
  bool task128 = false;      ///< CQCFG.8
  bool short_trans = false;  ///< 64-bit transfer descriptors without their reserved word

  constexpr std::uint32_t task_bytes() const { return task128 ? 16 : 8; }
  constexpr std::uint32_t link_bytes() const { return dma64 ? 16 : 8; }
  constexpr std::uint32_t slot_bytes() const { return task_bytes() + link_bytes(); }
  constexpr std::uint32_t trans_bytes() const { return !dma64 ? 8 : short_trans ? 12 : 16; }
};

struct CqTask {
  bool read = true;
  bool interrupt = true;  ///< raise TCC at once; false: counted by the coalescing counter
  std::uint32_t blocks = 0;
  std::uint32_t address = 0;  ///< as a command argument: in sectors on cards above 2 GiB
};

/// Transfer descriptors one tag needs at most: every segment in pieces of 64 KiB, and one more for each of
/// the `boundaries` 128 MiB multiples a segment can lie across (the segments of a request are disjoint).
std::uint32_t cq_entries_needed(std::uint32_t max_segs, std::uint32_t max_seg_bytes,
                                std::uint32_t boundaries);

/// 128 MiB multiples strictly inside [base, base + bytes).
std::uint32_t dma_boundaries(std::uint64_t base, std::uint64_t bytes);

class CqTables {
 public:
  struct Place {
    std::uint64_t list = 0;     ///< multiple of 1024; 32 slots
    std::uint64_t tables = 0;   ///< multiple of 16
    std::uint32_t tags = 0;     ///< data tags that have a table
    std::uint32_t entries = 0;  ///< transfer descriptors per tag
  };
  static std::uint64_t list_bytes(const CqShape& shape);
  static std::uint64_t table_bytes(const CqShape& shape, std::uint32_t tags, std::uint32_t entries);

  /// Clears the list and links every tag to its table. False when the shape's addresses do not reach the
  /// place.
  bool init(const CqShape& shape, const Place& place, bool split_128m);

  /// Writes a data task. Returns its transfer descriptors; 0: it does not fit (alignment, count, address,
  /// table).
  std::uint32_t put_data(unsigned tag, const CqTask& task, std::span<const Segment> segments);
  /// Writes a direct command with an R1b response and the barrier bit.
  void put_direct(unsigned slot, std::uint8_t index, std::uint32_t arg);

  const CqShape& shape() const { return shape_; }
  std::uint64_t list() const { return place_.list; }

 private:
  void put_task(unsigned slot, std::uint32_t word0, std::uint32_t word1);
  void put_link(unsigned slot, std::uint32_t attributes, std::uint64_t address);
  void put_words(unsigned char* at, std::uint32_t bytes, std::uint32_t word0, std::uint64_t address);
  std::uint64_t table_address(unsigned tag) const;

  CqShape shape_;
  Place place_;
  bool split_ = false;
  unsigned char* list_ = nullptr;
  unsigned char* tables_ = nullptr;
};

}  // namespace fw
