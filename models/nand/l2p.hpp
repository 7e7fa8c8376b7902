// The logical-to-physical map and the part of it the controller holds in RAM.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace vp {

/// Logical page number: a mapping unit of 4 KiB.
using Lpn = std::uint64_t;
inline constexpr std::uint64_t kUnitBytes = 4096;
inline constexpr std::uint64_t kUnitBlocks = kUnitBytes / 512;
inline constexpr std::uint64_t kUnitsPerMapPage = 1024;  // 4-byte entries in 4 KiB

/// One 32-bit entry per mapping unit, stored only for map pages that have been changed; a trimmed map page
/// without any data costs one byte.
class L2pTable {
 public:
  static constexpr std::uint32_t kUntouched = 0, kTrimmed = 1, kFirstSlot = 2;

  explicit L2pTable(std::uint64_t units)
      : pages_((units + kUnitsPerMapPage - 1) / kUnitsPerMapPage), all_trimmed_(pages_.size(), 0) {}

  std::uint32_t get(Lpn lpn) const {
    const std::uint64_t p = lpn / kUnitsPerMapPage;
    if (pages_[p]) return (*pages_[p])[lpn % kUnitsPerMapPage];
    return all_trimmed_[p] != 0 ? kTrimmed : kUntouched;
  }
  void set(Lpn lpn, std::uint32_t entry) {
    const std::uint64_t p = lpn / kUnitsPerMapPage;
    if (!pages_[p]) {
      pages_[p] = std::make_unique<Page>();
      pages_[p]->fill(all_trimmed_[p] != 0 ? kTrimmed : kUntouched);
    }
    (*pages_[p])[lpn % kUnitsPerMapPage] = entry;
  }
  /// Nothing in this map page has ever been written or trimmed.
  bool untouched(std::uint64_t map_page) const { return !pages_[map_page] && all_trimmed_[map_page] == 0; }
  bool stored(std::uint64_t map_page) const { return pages_[map_page] != nullptr; }
  void trim_page(std::uint64_t map_page) {
    pages_[map_page].reset();
    all_trimmed_[map_page] = 1;
  }
  std::uint64_t map_pages() const { return pages_.size(); }

 private:
  using Page = std::array<std::uint32_t, kUnitsPerMapPage>;
  std::vector<std::unique_ptr<Page>> pages_;
  std::vector<std::uint8_t> all_trimmed_;
};

/// Which map pages are in RAM: least recently used first out. Constant time, fixed memory.
class MapCache {
 public:
  MapCache(std::uint64_t map_pages, std::uint64_t capacity)
      : where_(map_pages, kNone), nodes_(capacity == 0 ? 1 : capacity) {}

  /// What touching a map page did.
  struct Touch {
    bool hit = false;
    bool wrote_back = false;  ///< a changed page had to make room
    std::uint64_t evicted = 0;
  };
  Touch touch(std::uint64_t page, bool change) {
    Touch t;
    std::uint32_t n = where_[page];
    t.hit = n != kNone;
    if (!t.hit)
      n = take(page, t);
    else if (n != newest_)
      unlink(n), link_newest(n);
    nodes_[n].changed = nodes_[n].changed || change;
    return t;
  }
  std::uint64_t resident() const { return used_; }

 private:
  static constexpr std::uint32_t kNone = ~0U;
  struct Node {
    std::uint64_t page = 0;
    std::uint32_t older = kNone, newer = kNone;
    bool changed = false;
  };

  std::uint32_t take(std::uint64_t page, Touch& t) {
    std::uint32_t n;
    if (used_ < nodes_.size()) {
      n = static_cast<std::uint32_t>(used_++);
    } else {
      n = oldest_;
      unlink(n);
      t.wrote_back = nodes_[n].changed, t.evicted = nodes_[n].page;
      where_[nodes_[n].page] = kNone;
    }
    nodes_[n].page = page, nodes_[n].changed = false;
    where_[page] = n;
    link_newest(n);
    return n;
  }
  void unlink(std::uint32_t n) {
    Node& x = nodes_[n];
    (x.older == kNone ? oldest_ : nodes_[x.older].newer) = x.newer;
    (x.newer == kNone ? newest_ : nodes_[x.newer].older) = x.older;
  }
  void link_newest(std::uint32_t n) {
    nodes_[n].older = newest_, nodes_[n].newer = kNone;
    (newest_ == kNone ? oldest_ : nodes_[newest_].newer) = n;
    newest_ = n;
  }

  std::vector<std::uint32_t> where_;
  std::vector<Node> nodes_;
  std::uint64_t used_ = 0;
  std::uint32_t oldest_ = kNone, newest_ = kNone;
};

}  // namespace vp
