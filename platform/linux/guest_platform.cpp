#include "platform/linux/guest_platform.hpp"

#include <fmt/format.h>

namespace vp::guest {
namespace {

constexpr std::uint64_t kHost = memory_map::kSdhci;
constexpr std::uint32_t kHs400Capability = 1U << 31;  // bit 63 of the 64-bit capabilities, as sdhci-pci's eMMC hosts have it

}  // namespace

void GuestParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".identity", identity, {"auto", "generic", "emmc", "cqhci"},
        "PCI function the guest sees; auto: cqhci with --queue=cqe, else generic");
  r.add(at + ".memory_bytes", memory_bytes, "B", 64 << 20, kHost, "memory of the guest");
  r.add(at + ".console", console, {}, "file for the guest kernel's log; empty: stderr");
  bridge.declare(r, at);
}

PciIdentity choose_identity(const GuestParams& guest, const PlatformConfig& config, bool queue) {
  if (queue && !config.cqe_present)
    throw InputError("emmc-vp linux: --queue=cqe: this host has no queue engine (cqhci.present): use --queue=none");
  if (queue && guest.identity != "auto" && guest.identity != "cqhci")
    throw InputError(fmt::format("emmc-vp linux: guest.identity={}: its driver has no queue: leave it out, or use "
                                 "--queue=none", guest.identity));
  if (queue || guest.identity == "cqhci") return sdhci_cqhci();
  return guest.identity == "emmc" ? sdhci_emmc() : sdhci_generic();
}

void fit_to_identity(PlatformConfig& config, const PciIdentity& identity) {
  if (identity.name == sdhci_generic().name) return;
  config.sdhci.vendor2_pointer = kCqhciOffset;
  config.sdhci.capabilities2 |= kHs400Capability;
}

GuestPlatform::GuestPlatform(sc_core::sc_module_name module, Context& ctx, const PlatformConfig& c,
                             const GuestParams& guest, const PciIdentity& identity)
    : sc_module(module),
      axi_clock("axi", c.axi_clock_hz),
      interconnect("axi", ctx, axi_clock, c.interconnect),
      memory("dram", axi_clock, c.dram, {{0, guest.memory_bytes}}),
      mmc_bus("mmc_bus", ctx, c.mmc_bus),
      emmc("emmc", ctx, c.emmc, c.nand),
      sdhci("sdhci", ctx, axi_clock, mmc_bus, emmc, c.sdhci),
      cqhci(c.cqe_present ? std::make_unique<Cqhci>("cqhci", ctx, sdhci, c.cqhci) : nullptr),
      bridge("guest", ctx, identity, kHost, memory.memory(), guest.bridge) {
  bridge.socket.bind(interconnect.master_socket(interconnect.add_master("guest", 0, true)));
  sdhci.dma_port().socket.bind(interconnect.master_socket(interconnect.add_master("sdhci", 0)));
  interconnect.target_socket(interconnect.add_target("dram", 0, guest.memory_bytes, AxiAddress::absolute))
      .bind(memory.socket);
  interconnect.target_socket(interconnect.add_target("sdhci", kHost, memory_map::kPeripheralBytes)).bind(sdhci.socket);
  sdhci.irq.connect(bridge, 0);
}

}  // namespace vp::guest
