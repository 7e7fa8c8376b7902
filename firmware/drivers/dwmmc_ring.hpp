// The IDMAC's descriptor ring: chain mode, 16-byte (32-bit addresses) and 32-byte (64-bit) descriptors, at most 4 KiB
// each, linked once by their next pointers, the last to the first with ER. A request starts at the first descriptor;
// only its last one (LD, no DIC) interrupts. A descriptor may be written only after the IDMAC gave it back (OWN = 0).
#pragma once

#include <cstdint>
#include <span>

#include "firmware/drivers/dwmmc_hw.hpp"
#include "firmware/mmc/host.hpp"

namespace fw {

class DwRing {
 public:
  DwRing() = default;
  /// `memory` is the CPU's view of bus address `address`, a multiple of 4, and holds `bytes`.
  DwRing(void* memory, std::uint64_t address, std::uint32_t bytes, bool wide);

  std::uint32_t entries() const { return entries_; }
  /// Gives every descriptor to the CPU and links them. The IDMAC must be stopped.
  void link();
  /// Descriptors a list of segments takes.
  static std::uint64_t needed(std::span<const Segment> segments);
  /// True when the IDMAC has given back the first `n`.
  bool is_free(std::uint32_t n) const;
  /// Writes the list; returns the number of descriptors, 0 (and nothing written) when the ring is shorter.
  std::uint32_t build(std::span<const Segment> segments);

 private:
  std::uint32_t get(std::uint32_t entry, unsigned word) const;
  void put(std::uint32_t entry, unsigned word, std::uint32_t value);
  void put_address(std::uint32_t entry, unsigned word, std::uint64_t address);

  unsigned char* memory_ = nullptr;
  std::uint64_t address_ = 0;
  std::uint32_t stride_ = 0, entries_ = 0;
  dw::DesLayout layout_ = dw::kDes32;
};

}  // namespace fw
