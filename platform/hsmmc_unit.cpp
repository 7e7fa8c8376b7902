// The OMAP-HSMMC-like host with its system DMA as a platform's host.
#include <algorithm>

#include "models/dma/system_dma.hpp"
#include "models/hsmmc/hsmmc.hpp"
#include "platform/builder.hpp"
#include "platform/host_unit.hpp"

namespace vp {

void HsmmcDriverParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".max_segs", max_segs, "segments", 1, 4096,
        "segments per request (in place of driver.max_segs)");
  r.add(at + ".max_linked", max_linked, "sets", 1, 128, "parameter sets the driver links at once");
  r.add(at + ".linked_list", linked_list,
        "the DMA fetches the whole list from memory; else linked sets and reloads");
  r.add(at + ".rx_channel", rx_channel, "", 0, 31, "DMA request line of reads");
  r.add(at + ".tx_channel", tx_channel, "", 0, 31, "DMA request line of writes");
}

namespace {

constexpr std::uint64_t kDma = memory_map::kHost + 0x10'0000;
constexpr unsigned kDmaIrq = memory_map::kHostIrq + 2, kDmaErrorIrq = memory_map::kHostIrq + 3;

class HsmmcUnit final : public HostUnit {
 public:
  HsmmcUnit(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card, const PlatformConfig& c)
      : hsmmc_("hsmmc", ctx, axi_clock, bus, card, c.hsmmc),
        dma_("dma", ctx, axi_clock, c.dma),
        driver_(c.hsmmc_driver),
        functional_hz_(c.hsmmc.functional_clock_hz) {}

  void attach(AxiInterconnect& axi, IrqSink& interrupts) override {
    dma_.dma_port().socket.bind(axi.master_socket(axi.add_master("dma", 0)));
    axi.target_socket(axi.add_target("hsmmc", memory_map::kHost, memory_map::kPeripheralBytes))
        .bind(hsmmc_.socket);
    axi.target_socket(axi.add_target("dma", kDma, edma::kWindowBytes)).bind(dma_.socket);
    hsmmc_.irq.connect(interrupts, memory_map::kHostIrq);
    dma_.irq.connect(interrupts, kDmaIrq);
    dma_.error_irq.connect(interrupts, kDmaErrorIrq);
    const auto rx = static_cast<unsigned>(driver_.rx_channel), tx = static_cast<unsigned>(driver_.tx_channel);
    hsmmc_.dma_rx.connect(dma_, rx);
    hsmmc_.dma_tx.connect(dma_, tx);
    dma_.attach(hsmmc_, rx);
    hsmmc_.expect_acknowledge();
  }

  void describe(fw::JobTable& t) const override {
    const auto u32 = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
    t.host_kind = fw::HostKind::hsmmc;
    t.host_base = memory_map::kHost;
    t.host_irq = memory_map::kHostIrq;
    if (t.base_clock_hz == 0) t.base_clock_hz = u32(static_cast<std::uint64_t>(functional_hz_));
    t.max_segs = u32(driver_.max_segs);
    t.hs_dma_base = kDma;
    t.hs_dma_irq = kDmaIrq;
    t.hs_dma_error_irq = kDmaErrorIrq;
    t.hs_rx_channel = u32(driver_.rx_channel);
    t.hs_tx_channel = u32(driver_.tx_channel);
    t.hs_max_linked = u32(driver_.max_linked);
    t.hs_linked_list = driver_.linked_list;
  }

  std::uint64_t interrupts() const override { return hsmmc_.counters().interrupts; }
  std::uint64_t dma_interrupts() const override { return dma_.counters().interrupts; }
  const AxiCounters& dma_counters() const override { return dma_.dma_port().counters(); }

  void stalls(std::vector<StallRow>& rows, std::uint64_t period) const override {
    add_port_stalls(rows, "dma", dma_counters(), period);
    const auto time = [&](const char* master, const char* cause, sc_time t) {
      rows.push_back({master, cause, t.value() / period, t.value()});
    };
    const SystemDma::Counters& d = dma_.counters();
    time("dma", "event waits for the transfer before it", d.wait_controller);
    time("dma", "descriptor not here", d.wait_descriptor);
    const HsmmcDataPath::Counters& h = hsmmc_.data().counters();
    time("hsmmc", "no buffer room (card clock stopped)", h.clock_stopped);
    time("hsmmc", "no buffer data (wire waits)", h.wire_wait_for_data);
  }

  void counters(std::vector<CounterRow>& rows) const override {
    const SystemDma::Counters& d = dma_.counters();
    rows.insert(rows.end(), {{"hsmmc.interrupts", hsmmc_.counters().interrupts},
                             {"hsmmc.command_complete", hsmmc_.counters().cc},
                             {"hsmmc.transfer_complete", hsmmc_.counters().tc},
                             {"hsmmc.auto_commands", hsmmc_.counters().auto_commands},
                             {"hsmmc.error_interrupts", hsmmc_.counters().errors},
                             {"hsmmc.dma_requests", hsmmc_.data().counters().requests},
                             {"hsmmc.card_clock_stops", hsmmc_.data().counters().clock_stops},
                             {"dma.interrupts", d.interrupts},
                             {"dma.error_interrupts", d.error_interrupts},
                             {"dma.transfers", dma_.transfer_counters().transfers},
                             {"dma.links", d.links},
                             {"dma.missed_events", d.missed},
                             {"dma.descriptors_fetched", d.descriptors_fetched}});
  }

 private:
  Hsmmc hsmmc_;
  SystemDma dma_;
  HsmmcDriverParams driver_;
  double functional_hz_;
};

}  // namespace

std::unique_ptr<HostUnit> make_hsmmc_unit(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
                                          const PlatformConfig& config) {
  if (config.driver.cqe)
    throw InputError("--cqe=on: platform.host=hsmmc has no command queue engine; use --cqe=off");
  return std::make_unique<HsmmcUnit>(ctx, axi_clock, bus, card, config);
}

}  // namespace vp
