#include "platform/host_unit.hpp"

#include <stdexcept>

#include "platform/builder.hpp"

namespace vp {

// One maker per host family, each beside its unit (sdhci_unit.cpp …).
std::unique_ptr<HostUnit> make_sdhci_unit(Context&, ClockDomain&, MmcBus&, MmcCard&, const PlatformConfig&);
std::unique_ptr<HostUnit> make_dwmmc_unit(Context&, ClockDomain&, MmcBus&, MmcCard&, const PlatformConfig&);
std::unique_ptr<HostUnit> make_hsmmc_unit(Context&, ClockDomain&, MmcBus&, MmcCard&, const PlatformConfig&);

void add_port_stalls(std::vector<StallRow>& rows, const std::string& master, const AxiCounters& c,
                     std::uint64_t axi_period_ps) {
  const auto add = [&](const char* cause, std::uint64_t cycles) {
    rows.push_back({master, cause, cycles, cycles * axi_period_ps});
  };
  add("no grant", c.wait_grant);
  add("outstanding limit", c.limited_outstanding);
  add("waiting for first beat", c.wait_first_beat);
  add("W back-pressure", c.w_back_pressure);
  add("waiting for B", c.wait_b);
}

std::unique_ptr<HostUnit> make_host(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
                                    const PlatformConfig& config) {
  if (config.host == "sdhci") return make_sdhci_unit(ctx, axi_clock, bus, card, config);
  if (config.host == "dwmmc") return make_dwmmc_unit(ctx, axi_clock, bus, card, config);
  if (config.host == "hsmmc") return make_hsmmc_unit(ctx, axi_clock, bus, card, config);
  throw std::logic_error("platform.host=" + config.host + " has no unit");
}

}  // namespace vp
