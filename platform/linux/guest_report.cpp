#include "platform/linux/guest_report.hpp"

#include <fmt/format.h>

#include "platform/json_text.hpp"

namespace vp::guest {

std::vector<CounterRow> guest_counters(const GuestPlatform& p) {
  const BridgeCounters& b = p.bridge.counters();
  const Calendar::Counters& c = p.bridge.calendar().counters();
  const MmcBus::Counters& bus = p.mmc_bus.counters();
  std::vector<CounterRow> rows = {
      {"guest.mmio_reads", b.mmio_reads},
      {"guest.mmio_writes", b.mmio_writes},
      {"guest.mmio_ns", b.mmio_time.value() / 1000},
      {"guest.config_reads", b.config_reads},
      {"guest.config_writes", b.config_writes},
      {"guest.interrupts", b.interrupts},
      {"guest.waits", c.waits},
      {"guest.clock_updates", c.updates},
      {"mmc_bus.commands", bus.commands},
      {"mmc_bus.blocks_read", bus.blocks_read},
      {"mmc_bus.blocks_written", bus.blocks_written},
      {"mmc_bus.faults_struck", bus.faults_struck},
  };
  p.host->counters(rows);
  p.card->counters(rows);
  for (unsigned i = 0; i < bus.by_index.size(); ++i)
    if (bus.by_index[i] != 0) rows.push_back({fmt::format("mmc_bus.cmd{}", i), bus.by_index[i]});
  return rows;
}

/// Words that are not 0, by offset into the BAR.
Json image_json(const RegisterImage& image) {
  Json words;
  for (std::size_t i = 0; i < image.words.size(); ++i)
    if (image.words[i] != 0) words[fmt::format("0x{:03x}", 4 * i)] = fmt::format("0x{:08x}", image.words[i]);
  return {{"at_ns", image.at.value() / 1000}, {"rest_ns", image.rest.value() / 1000}, {"words", words}};
}

std::string guest_report(const Options& options, const LoadedPreset& preset, const GuestPlatform& platform,
                         const PciIdentity& identity, const Context& context, const Explain& explain) {
  const std::uint64_t ns = sc_core::sc_time_stamp().value() / 1000;
  ExplainRows rows{{}, {}, guest_counters(platform)};
  platform.host->stalls(rows.stalls, platform.axi_clock.period().value());
  if (options.output_format == OutputFormat::json) {
    Json out;
    out["platform"] = preset.name;
    out["part"] = preset.part;
    out["identity"] = identity.name;
    out["timing"] = options.timing == TimingStyle::at ? "at" : "lt";
    out["simulated_ns"] = ns;
    out["requests"] = explain.all().requests;
    if (const RegisterImage& image = platform.bridge.registers(); !image.words.empty())
      out["registers"] = image_json(image);
    out.update(explain_json(explain, rows, context.findings));
    return json_text(out);
  }
  return fmt::format("guest on {} ({}), {} ns simulated, {} requests that reached the hardware\n",
                     preset.name, identity.name, ns, explain.all().requests) +
         explain_text(explain, rows, context.findings);
}

}  // namespace vp::guest
