// The host controller of a platform behind one interface: what the builder wires and the reports count. One
// implementation per host family (sdhci_unit.cpp is one), chosen by the parameter `platform.host`.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "firmware/app/job_table.hpp"
#include "models/axi/interconnect.hpp"
#include "models/axi/master_port.hpp"
#include "models/core/irq.hpp"
#include "models/mmc_bus/mmc_bus.hpp"
#include "platform/session.hpp"

namespace vp {

struct PlatformConfig;

class HostUnit {
 public:
  HostUnit() = default;
  HostUnit(const HostUnit&) = delete;
  HostUnit& operator=(const HostUnit&) = delete;
  virtual ~HostUnit() = default;

  /// Registers on the interconnect (memory_map::kHost onwards), DMA masters, interrupt line kHostIrq.
  virtual void attach(AxiInterconnect& axi, IrqSink& interrupts) = 0;
  /// What the driver must be told: kind, base, and values this host alone has.
  virtual void describe(fw::JobTable& table) const = 0;
  /// Beats and bursts of the port that moves data.
  virtual const AxiCounters& dma_counters() const = 0;
  /// Adds the data path's lost time by cause; `axi_period_ps` turns cycles into time.
  virtual void stalls(std::vector<StallRow>& rows, std::uint64_t axi_period_ps) const = 0;
  virtual void counters(std::vector<CounterRow>& rows) const = 0;
  /// Times the host's own interrupt line has risen, and a separate DMA's.
  virtual std::uint64_t interrupts() const { return 0; }
  virtual std::uint64_t dma_interrupts() const { return 0; }
};

/// The five stall causes every AXI master port counts.
void add_port_stalls(std::vector<StallRow>& rows, const std::string& master, const AxiCounters& c,
                     std::uint64_t axi_period_ps);

/// The host the configuration names, attached to the card's lines. Throws InputError for a queue engine that
/// this host does not have.
std::unique_ptr<HostUnit> make_host(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
                                    const PlatformConfig& config);

}  // namespace vp
