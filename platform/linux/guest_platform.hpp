// The platform with the guest in the CPU's place: guest -> interconnect -> {guest memory, host controller} -> lines ->
// eMMC. The models, their parameters and their wiring are those of the bare-metal platform; the guest's memory stands
// behind the DRAM model.
#pragma once

#include <memory>
#include <string>
#include <systemc>

#include "platform/builder.hpp"
#include "platform/linux/bridge.hpp"

namespace vp::guest {

struct GuestParams {
  std::string identity = "auto";  ///< the PCI function the guest sees
  std::uint64_t memory_bytes = 192 << 20;
  std::string console;  ///< file for the kernel's log; empty: stderr
  BridgeParams bridge;
  void declare(ParamRegistry& r, const std::string& at);
};

/// The function for a configuration: by name, or for "auto" the one whose driver uses what the host has.
PciIdentity choose_identity(const GuestParams& guest, const PlatformConfig& config, bool queue);
/// Facts of the integration that the guest's driver for this function relies on, as parameters of the models: where the
/// queue engine's registers are, the stride of its descriptors, straps.
void fit_to_identity(PlatformConfig& config, const PciIdentity& identity);

class GuestPlatform : public sc_core::sc_module {
 public:
  GuestPlatform(sc_core::sc_module_name name, Context& ctx, const PlatformConfig& config,
                const GuestParams& guest, const PciIdentity& identity);

  ClockDomain axi_clock;
  AxiInterconnect interconnect;
  Dram memory;
  MmcBus mmc_bus;
  std::unique_ptr<CardUnit> card;
  std::unique_ptr<HostUnit> host;
  Bridge bridge;
};

}  // namespace vp::guest
