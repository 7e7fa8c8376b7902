#include "platform/linux/pci_config.hpp"

#include <linux/pci_regs.h>

namespace vp::guest {
namespace {

constexpr std::uint32_t kSdhciClass = 0x080501;
constexpr std::uint32_t kOtherSystemClass = 0x088000;
constexpr std::uint32_t kSlotInformation = 0x40;  // one slot, first BAR 0: reads 0
constexpr std::uint32_t kRegisterBytes = 0x1000;

}  // namespace

PciIdentity sdhci_generic() {
  return {"generic", 0x1b36, 0x0007, kSdhciClass, 0, kRegisterBytes, "sdhci-pci", 0, {}};
}

PciIdentity sdhci_gl9763e(bool queue) {
  // Names and meaning as in the guest's driver: the strap register MB tells whether queueing was licensed and not
  // switched off; the others tune the PCIe side and are storage here.
  constexpr std::uint32_t kVhs = 0x884, kMb = 0x888, kCfg = 0x8A0, kCfg2 = 0x8A4, kScr = 0x8E0,
                          kClockDelay = 0x934, kMmcControl = 0x960;
  constexpr std::uint32_t kMbQueueOff = 1 << 19, kMbQueueLicensed = 1 << 7, kAll = 0xFFFF'FFFF;
  return {"gl9763e",
          0x17a0,
          0xe763,
          kSdhciClass,
          0,
          kRegisterBytes,
          "sdhci-pci",
          queue ? kCqhciOffset : 0,
          {{kMb, kMbQueueLicensed | (queue ? 0 : kMbQueueOff), 0},
           {kVhs, 0, kAll},
           {kCfg, 0, kAll},
           {kCfg2, 0, kAll},
           {kScr, 0, kAll},
           {kClockDelay, 0, kAll},
           {kMmcControl, 0, kAll}}};
}

PciIdentity sdhci_intel() {
  return {"intel", 0x8086, 0x4dc4, kSdhciClass, 0, kRegisterBytes, "sdhci-pci", kCqhciOffset, {}};
}

PciIdentity dw_mmc() {
  return {"dw_mmc", 0x0700, 0x1107, kOtherSystemClass, 2, kRegisterBytes, "dw_mmc-pci", 0, {}};
}

PciConfig::PciConfig(const PciIdentity& identity) : bar_at_(PCI_BASE_ADDRESS_0 + 4 * identity.bar) {
  set(PCI_VENDOR_ID, 2, identity.vendor);
  set(PCI_DEVICE_ID, 2, identity.device);
  set(PCI_CLASS_REVISION, 4, identity.class_code << 8 | 0x01);
  set(PCI_SUBSYSTEM_VENDOR_ID, 2, identity.vendor);
  set(PCI_SUBSYSTEM_ID, 2, identity.device);
  set(PCI_INTERRUPT_PIN, 1, 1);  // INTA
  set(kSlotInformation, 1, 0);
  writable(PCI_COMMAND, 2,
           PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR |
               PCI_COMMAND_INTX_DISABLE);
  writable(PCI_CACHE_LINE_SIZE, 1, 0xFF);
  writable(PCI_LATENCY_TIMER, 1, 0xFF);
  writable(PCI_INTERRUPT_LINE, 1, 0xFF);
  for (const PciIdentity::Register& r : identity.registers) {
    set(r.offset, 4, r.value);
    writable(r.offset, 4, r.writable);
  }
  writable(bar_at_, 4, ~(identity.bar_bytes - 1));  // the low bits are 0: a 32-bit memory BAR
}

void PciConfig::set(std::uint32_t offset, unsigned bytes, std::uint64_t value) {
  for (unsigned i = 0; i < bytes; ++i) value_[offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
}

void PciConfig::writable(std::uint32_t offset, unsigned bytes, std::uint64_t mask) {
  for (unsigned i = 0; i < bytes; ++i) mask_[offset + i] = static_cast<std::uint8_t>(mask >> (8 * i));
}

std::uint64_t PciConfig::read(std::uint64_t offset, std::uint32_t bytes) const {
  std::uint64_t v = 0;
  for (std::uint32_t i = 0; i < bytes && i < 8; ++i) {
    const std::uint64_t at = offset + i;
    v |= std::uint64_t{at < kBytes ? value_[at] : std::uint8_t{0xFF}} << (8 * i);
  }
  return v;
}

void PciConfig::write(std::uint64_t offset, std::uint32_t bytes, std::uint64_t value) {
  for (std::uint32_t i = 0; i < bytes && i < 8 && offset + i < kBytes; ++i) {
    const std::size_t at = offset + i;
    const auto written = static_cast<std::uint8_t>(value >> (8 * i));
    value_[at] = static_cast<std::uint8_t>((value_[at] & ~mask_[at]) | (written & mask_[at]));
  }
}

bool PciConfig::memory_enabled() const { return read(PCI_COMMAND, 2) & PCI_COMMAND_MEMORY; }
bool PciConfig::bus_master() const { return read(PCI_COMMAND, 2) & PCI_COMMAND_MASTER; }
bool PciConfig::interrupt_disabled() const { return read(PCI_COMMAND, 2) & PCI_COMMAND_INTX_DISABLE; }
std::uint32_t PciConfig::bar_address() const { return static_cast<std::uint32_t>(read(bar_at_, 4)); }

}  // namespace vp::guest
