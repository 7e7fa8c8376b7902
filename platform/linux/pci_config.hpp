// Configuration space of the one PCI function the guest sees (PCI Local Bus 3.0, chapter 6): what makes the guest's
// own drivers claim the host controller.
// Modelled: type 0 header, one memory BAR of 32 bits, INTx, the SD slot information register (SD host specification,
// appendix C.1), plain registers of the vendor's. Not modelled: capabilities (no power management, no MSI), expansion ROM, more functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace vp::guest {

/// A function as one of the guest's drivers knows it.
struct PciIdentity {
  /// A register of configuration space beyond the header, 32 bits.
  struct Register {
    std::uint32_t offset, value, writable;
  };
  std::string name;  ///< as guest.identity has it
  std::uint16_t vendor = 0, device = 0;
  std::uint32_t class_code = 0;  ///< 24 bits
  unsigned bar = 0;              ///< number of the BAR with the registers
  std::uint32_t bar_bytes = 0;   ///< a power of two, at least 16
  std::string driver;            ///< module the guest loads
  std::uint32_t queue_at = 0;    ///< offset of the queue engine the driver uses; 0: none
  std::vector<Register> registers;
  std::uint32_t idmac_status = 0;  ///< DW-MMC: offset of IDSTS; 0: an SDHCI
};

/// Any SDHCI: class 08 (system), 05 (SD host), 01 (DMA). Driver sdhci-pci, with what the capabilities register says:
/// four lines, up to HS200.
PciIdentity sdhci_generic();
/// The same driver's entry for an eMMC host made of the IP modelled here (Genesys GL9763E: DWC MSHC): version 4 mode,
/// eight lines, HS400ES; CQHCI at BAR 0 + 0x200 when `queue`.
PciIdentity sdhci_gl9763e(bool queue);
/// The same driver's entry for a host of version 3 with CQHCI at BAR 0 + 0x200 and 12-byte transfer descriptors (Intel
/// Jasper Lake eMMC). Its HS400 is set up by registers of its own, which the model lacks: HS200 is its best.
PciIdentity sdhci_intel();
/// Where both of them expect the queue engine.
inline constexpr std::uint32_t kCqhciOffset = 0x200;
/// dw_mmc-pci: registers in BAR 2.
PciIdentity dw_mmc();

class PciConfig {
 public:
  static constexpr std::uint32_t kBytes = 4096;  ///< the guest decodes the extended space for every function
  explicit PciConfig(const PciIdentity& identity);

  /// Little-endian value of `bytes` (1, 2, 4 or 8) at `offset`; all ones beyond its end.
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
