// SDHCI (DWC MSHC) with or without CQHCI as a platform's host.
#include "models/cqhci/cqhci.hpp"
#include "models/sdhci/sdhci.hpp"
#include "platform/builder.hpp"
#include "platform/host_unit.hpp"

namespace vp {
namespace {

class SdhciUnit final : public HostUnit {
 public:
  SdhciUnit(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card, const PlatformConfig& c)
      : sdhci_("sdhci", ctx, axi_clock, bus, card, c.sdhci),
        cqhci_(c.cqe_present ? std::make_unique<Cqhci>("cqhci", ctx, sdhci_, c.cqhci) : nullptr) {}

  void attach(AxiInterconnect& axi, IrqSink& interrupts) override {
    sdhci_.dma_port().socket.bind(axi.master_socket(axi.add_master("sdhci", 0)));
    const unsigned target = axi.add_target("sdhci", memory_map::kHost, memory_map::kPeripheralBytes);
    axi.target_socket(target).bind(sdhci_.socket);
    sdhci_.irq.connect(interrupts, memory_map::kHostIrq);
  }

  void describe(fw::JobTable& table) const override {
    table.host_kind = fw::HostKind::sdhci;
    table.host_base = memory_map::kHost;
    table.host_irq = memory_map::kHostIrq;
  }

  std::uint64_t interrupts() const override { return sdhci_.counters().interrupts_raised; }
  const AxiCounters& dma_counters() const override { return sdhci_.data().port().counters(); }

  void stalls(std::vector<StallRow>& rows, std::uint64_t period) const override {
    add_port_stalls(rows, "sdhci.dma", dma_counters(), period);
    const DataEngine::Counters d = sdhci_.data().counters();
    const auto time = [&](const char* cause, sc_time t) {
      rows.push_back({"sdhci.dma", cause, t.value() / period, t.value()});
    };
    time("no FIFO room (card clock stopped)", d.clock_stopped);
    time("no FIFO data (wire waits)", d.wire_wait_for_data);
    time("descriptor not here", d.descriptor_wait);
  }

  void counters(std::vector<CounterRow>& rows) const override {
    const DataEngine::Counters d = sdhci_.data().counters();
    rows.insert(rows.end(), {{"sdhci.interrupts", sdhci_.counters().interrupts_raised},
                             {"sdhci.auto_commands", sdhci_.counters().auto_commands},
                             {"sdhci.error_interrupts", sdhci_.counters().errors},
                             {"sdhci.descriptors_fetched", d.descriptors},
                             {"sdhci.card_clock_stops", d.clock_stops},
                             {"sdhci.boundary_crossings", d.boundary_crossings}});
    if (!cqhci_) return;
    const Cqhci::Counters& q = cqhci_->counters();
    rows.insert(rows.end(), {{"cqhci.tasks", q.tasks},
                             {"cqhci.status_queries", q.status_queries},
                             {"cqhci.interrupts", q.interrupts},
                             {"cqhci.coalesced", q.coalesced},
                             {"cqhci.descriptor_fetches", q.descriptor_fetches},
                             {"cqhci.poll_wait_ns", q.poll_wait.value() / 1000}});
  }

 private:
  Sdhci sdhci_;
  std::unique_ptr<Cqhci> cqhci_;
};

}  // namespace

std::unique_ptr<HostUnit> make_sdhci_unit(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
                                          const PlatformConfig& config) {
  if (config.driver.cqe && !config.cqe_present)
    throw InputError(
        "--cqe=on: this platform's host has no command queue engine (cqhci.present); use --cqe=off");
  return std::make_unique<SdhciUnit>(ctx, axi_clock, bus, card, config);
}

}  // namespace vp
