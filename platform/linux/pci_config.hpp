// Configuration space of the one PCI function the guest sees (PCI Local Bus 3.0, chapter 6): what makes the guest's
// own drivers claim the host controller.
// Modelled: type 0 header, one memory BAR of 32 bits, INTx, the SD slot information register (SD host specification,
// appendix C.1). Not modelled: capabilities (no power management, no MSI), expansion ROM, more functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace vp::guest {

/// A function as one of the guest's drivers knows it.
struct PciIdentity {
  std::string name;           ///< in `linux.identity`
  std::uint16_t vendor = 0, device = 0;
  std::uint32_t class_code = 0;  ///< 24 bits
  unsigned bar = 0;              ///< number of the BAR with the registers
  std::uint32_t bar_bytes = 0;   ///< a power of two, at least 16
  std::string driver;            ///< module the guest loads
};

/// Any SDHCI: class 08 (system), 05 (SD host), 01 (DMA). Driver sdhci-pci with what the capabilities register says.
PciIdentity sdhci_generic();
/// The same driver's entry for a host on a soldered eMMC, eight lines and HS400, no queue engine (Broxton eMMC).
PciIdentity sdhci_emmc();
/// The same driver's entry with a CQHCI engine at BAR 0 + 0x200 (Jasper Lake eMMC).
PciIdentity sdhci_cqhci();
inline constexpr std::uint32_t kCqhciOffset = 0x200;
/// dw_mmc-pci: registers in BAR 2.
PciIdentity dw_mmc();

class PciConfig {
 public:
  static constexpr std::uint32_t kBytes = 256;
  explicit PciConfig(const PciIdentity& identity);

  /// Little-endian value of `bytes` (1, 2, 4 or 8) at `offset`; all ones beyond the header.
  std::uint64_t read(std::uint64_t offset, std::uint32_t bytes) const;
  /// Bits that are not writable keep their value.
  void write(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value);

  bool memory_enabled() const;
  bool bus_master() const;
  bool interrupt_disabled() const;
  std::uint32_t bar_address() const;

 private:
  void set(std::uint32_t offset, unsigned bytes, std::uint64_t value);
  void writable(std::uint32_t offset, unsigned bytes, std::uint64_t mask);
  std::array<std::uint8_t, kBytes> value_{}, mask_{};
  std::uint32_t bar_at_;
};

}  // namespace vp::guest
