#include "platform/linux/guest_platform.hpp"

#include <fmt/format.h>

#include "models/dwmmc/dwmmc_regs.hpp"

namespace vp::guest {
namespace {

constexpr std::uint64_t kHost = memory_map::kHost;
// What dw_mmc-pci tells the driver of its board: no register does.
constexpr double kDwMmcClockHz = 33e6;
constexpr std::uint64_t kDwMmcFifoDepth = 32;  // words
constexpr std::uint64_t kCardIsEmmc = 1;       // EMMC_CTRL, strapped where the host is made for an eMMC

}  // namespace

void GuestParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".identity", identity, {"auto", "generic", "gl9763e", "intel"},
        "PCI function the guest sees; auto: gl9763e");
  r.add(at + ".memory_bytes", memory_bytes, "B", 64 << 20, kHost, "memory of the guest");
  r.add(at + ".console", console, {}, "file for the guest kernel's log; empty: stderr");
  bridge.declare(r, at);
}

PciIdentity choose_identity(const GuestParams& guest, const PlatformConfig& config, bool queue) {
  if (config.host == "dwmmc") {
    if (queue)
      throw InputError("emmc-vp linux: --queue=cqe: a DW-MMC host has no queue engine: use --queue=none");
    if (guest.identity != "auto")
      throw InputError("emmc-vp linux: guest.identity is for SDHCI hosts: leave it out");
    PciIdentity identity = dw_mmc();
    identity.idmac_status = dwmmc::idmac_offsets(config.dwmmc.hcon).status;
    return identity;
  }
  if (config.host != "sdhci")
    throw InputError("emmc-vp linux: platform.host=" + config.host + ": the guest has no PCI driver for it");
  if (queue && !config.cqe_present)
    throw InputError(
        "emmc-vp linux: --queue=cqe: this host has no queue engine (cqhci.present): use --queue=none");
  if (queue && guest.identity == "generic")
    throw InputError(
        "emmc-vp linux: guest.identity=generic: its driver knows no queue engine: use --queue=none");
  const bool any_card =
      guest.identity == "auto" && config.card != "emmc";  // the others are for a soldered eMMC
  if (guest.identity == "generic" || any_card) return sdhci_generic();
  if (guest.identity != "intel") return sdhci_gl9763e(queue);
  if (!queue)
    throw InputError(
        "emmc-vp linux: guest.identity=intel: its driver always uses the queue: use --queue=cqe");
  return sdhci_intel();
}

void fit_to_identity(PlatformConfig& config, const PciIdentity& identity) {
  if (identity.name == "generic") return;
  if (identity.name == "dw_mmc") {
    config.dwmmc.ciu_clock_hz = kDwMmcClockHz;
    config.dwmmc.fifo_depth = kDwMmcFifoDepth;
    return;
  }
  config.sdhci.vendor2_pointer = kCqhciOffset;
  if (identity.name == "gl9763e") config.sdhci.emmc_ctrl_reset |= kCardIsEmmc;
  if (identity.name == "intel") config.cqhci.short_transfer_descriptors = true;
}

GuestPlatform::GuestPlatform(sc_core::sc_module_name module, Context& ctx, const PlatformConfig& c,
                             const GuestParams& guest, const PciIdentity& identity)
    : sc_module(module),
      axi_clock("axi", c.axi_clock_hz),
      interconnect("axi", ctx, axi_clock, c.interconnect),
      memory("dram", axi_clock, c.dram, {{0, guest.memory_bytes}}),
      mmc_bus("mmc_bus", ctx, c.mmc_bus),
      card(make_card(ctx, c)),
      host(make_host(ctx, axi_clock, mmc_bus, card->card(), c)),
      bridge("guest", ctx, identity, kHost, memory.memory(), guest.bridge) {
  bridge.socket.bind(interconnect.master_socket(interconnect.add_master("guest", 0, true)));
  interconnect.target_socket(interconnect.add_target("dram", 0, guest.memory_bytes, AxiAddress::absolute))
      .bind(memory.socket);
  host->attach(interconnect, bridge);
}

}  // namespace vp::guest
