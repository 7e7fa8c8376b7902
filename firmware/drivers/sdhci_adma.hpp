// ADMA2 descriptor tables (SDHCI 4.20 1.13): three formats, length 0 for 65536, the 128 MiB window of a DWC
// MSHC. Form: TRAN entries, then one terminator NOP | END | VALID (0x03), as Linux writes them.
#pragma once

#include <cstdint>
#include <span>

#include "firmware/mmc/host.hpp"

namespace fw {

enum class AdmaFormat : std::uint8_t {
  bits32,     ///< 8 bytes
  bits64_v3,  ///< 12 bytes
  bits64_v4,  ///< 16 bytes
};
std::uint32_t adma_entry_bytes(AdmaFormat format);

class AdmaTable {
 public:
  AdmaTable() = default;
  /// `memory` holds `entries` descriptors of `format`.
  AdmaTable(void* memory, std::uint32_t entries, AdmaFormat format, bool split_128m)
      : memory_(static_cast<unsigned char*>(memory)),
        entries_(entries),
        format_(format),
        split_(split_128m) {}

  /// Writes the whole list. Returns the number of descriptors with the terminator; 0 when the table is too
  /// short, or a segment is empty, misaligned or beyond the format's addresses.
  std::uint32_t build(std::span<const Segment> segments);

 private:
  bool add(std::uint64_t address, std::uint64_t bytes);
  bool put(std::uint64_t address, std::uint32_t bytes, std::uint32_t attributes);

  unsigned char* memory_ = nullptr;
  std::uint32_t entries_ = 0;
  AdmaFormat format_ = AdmaFormat::bits32;
  bool split_ = false;
  std::uint32_t used_ = 0;
};

/// Descriptors that `max_segs` segments of `max_seg_bytes` can need, every one crossing a window, plus the
/// terminator.
std::uint32_t adma_entries_needed(std::uint32_t max_segs, std::uint32_t max_seg_bytes);

}  // namespace fw
