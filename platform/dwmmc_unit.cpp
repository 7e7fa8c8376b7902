// DW-MMC with its IDMAC as a platform's host.
#include "models/dwmmc/dwmmc.hpp"
#include "platform/builder.hpp"
#include "platform/host_unit.hpp"

namespace vp {

void DwmmcDriverParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".ring_bytes", ring_bytes, "B", 0, 1 << 20,
        "the driver's descriptor ring, multiple of 32; 0: one page");
  r.add(at + ".max_seg_size", max_seg_size, "B", 0, 64 << 20,
        "longest segment the driver takes, multiple of 512; 0: 4096");
  r.add(at + ".poll_busy", poll_busy, "the driver polls busy even where the host has a busy-clear interrupt");
  r.add(at + ".software_stop", software_stop,
        "CMD12 of an open-ended transfer by the driver, not by the host");
}

namespace {

class DwmmcUnit final : public HostUnit {
 public:
  DwmmcUnit(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card, const PlatformConfig& c)
      : driver_(c.dwmmc_driver), dwmmc_("dwmmc", ctx, axi_clock, bus, card, c.dwmmc) {}

  void attach(AxiInterconnect& axi, IrqSink& interrupts) override {
    dwmmc_.dma_port().socket.bind(axi.master_socket(axi.add_master("dwmmc", 0)));
    const unsigned target = axi.add_target("dwmmc", memory_map::kHost, memory_map::kPeripheralBytes);
    axi.target_socket(target).bind(dwmmc_.socket);
    dwmmc_.irq.connect(interrupts, memory_map::kHostIrq);
  }

  void describe(fw::JobTable& table) const override {
    const DwmmcParams& p = dwmmc_.params();
    table.host_kind = fw::HostKind::dwmmc;
    table.host_base = memory_map::kHost;
    table.host_irq = memory_map::kHostIrq;
    table.base_clock_hz = static_cast<std::uint32_t>(p.ciu_clock_hz);  // no register tells it
    table.dw_ring_bytes = static_cast<std::uint32_t>(driver_.ring_bytes);
    table.dw_max_seg_bytes = static_cast<std::uint32_t>(driver_.max_seg_size);
    table.dw_fifo64_32 = p.fifo64_32;
    table.dw_extended_tmout = dwmmc::version_of(static_cast<std::uint32_t>(p.verid)) >= p.tmout_extended_from;
    table.dw_poll_busy = driver_.poll_busy;
    table.dw_software_stop = driver_.software_stop;
  }

  std::uint64_t interrupts() const override { return dwmmc_.counters().interrupts_raised; }
  const AxiCounters& dma_counters() const override { return dwmmc_.data().port().counters(); }

  void stalls(std::vector<StallRow>& rows, std::uint64_t period) const override {
    add_port_stalls(rows, "dwmmc.dma", dma_counters(), period);
    const DwmmcData::Counters d = dwmmc_.data().counters();
    const auto time = [&](const char* cause, sc_time t) {
      rows.push_back({"dwmmc.dma", cause, t.value() / period, t.value()});
    };
    time("no FIFO room (card clock stopped)", d.clock_stopped);
    time("no FIFO data (wire waits)", d.wire_wait_for_data);
    time("descriptor not here", d.descriptor_wait);
  }

  void counters(std::vector<CounterRow>& rows) const override {
    const DwmmcData::Counters d = dwmmc_.data().counters();
    const Dwmmc::Counters& c = dwmmc_.counters();
    rows.insert(rows.end(), {{"dwmmc.interrupts", c.interrupts_raised},
                             {"dwmmc.auto_commands", c.auto_commands},
                             {"dwmmc.error_interrupts", c.errors},
                             {"dwmmc.clock_updates", c.clock_updates},
                             {"dwmmc.locked_writes", c.locked_writes},
                             {"dwmmc.descriptors_fetched", d.descriptors},
                             {"dwmmc.descriptors_closed", d.closes},
                             {"dwmmc.descriptors_unavailable", d.unavailable},
                             {"dwmmc.dma_bursts", d.bursts},
                             {"dwmmc.card_clock_stops", d.clock_stops}});
  }

 private:
  DwmmcDriverParams driver_;
  Dwmmc dwmmc_;
};

}  // namespace

std::unique_ptr<HostUnit> make_dwmmc_unit(Context& ctx, ClockDomain& axi_clock, MmcBus& bus, MmcCard& card,
                                          const PlatformConfig& config) {
  if (config.driver.cqe) throw InputError("--cqe=on: a DW-MMC has no command queue engine; use --cqe=off");
  if (config.dwmmc_driver.ring_bytes % dwmmc::kDes64Bytes != 0)
    throw InputError("dwmmc.ring_bytes is not a multiple of 32");
  if (config.dwmmc_driver.max_seg_size % 512 != 0)
    throw InputError("dwmmc.max_seg_size is not a multiple of 512");
  return std::make_unique<DwmmcUnit>(ctx, axi_clock, bus, card, config);
}

}  // namespace vp
