#include "platform/card_unit.hpp"

#include <fmt/format.h>

#include "models/emmc/emmc.hpp"
#include "models/sd_card/sd_card.hpp"
#include "platform/builder.hpp"

namespace vp {
namespace {

class EmmcUnit final : public CardUnit {
 public:
  EmmcUnit(Context& ctx, const PlatformConfig& c)
      : emmc_("emmc", ctx, c.emmc, c.nand), channels_(c.nand.channels) {}

  MmcCard& card() override { return emmc_; }
  SparseMedium& medium() override { return emmc_.user_medium(); }
  fw::CardKind kind() const override { return fw::CardKind::emmc; }

  std::vector<Busy> busy() const override {
    const NandArray& nand = emmc_.ftl().array();
    std::vector<Busy> rows = {{"device firmware", emmc_.ftl().counters().firmware_busy}};
    for (unsigned i = 0; i < channels_; ++i)
      rows.push_back({fmt::format("NAND channel {}", i), nand.channel_use(i)});
    for (unsigned i = 0; i < nand.dies(); ++i)
      rows.push_back({fmt::format("NAND die {}", i), nand.die_use(i).busy()});
    return rows;
  }

  void counters(std::vector<CounterRow>& rows) const override {
    const FtlCounters& ftl = emmc_.ftl().counters();
    const QueueCounters& queue = emmc_.queue_counters();
    rows.insert(rows.end(), {{"nand.map_hits", ftl.map_hits},
                             {"nand.map_misses", ftl.map_misses},
                             {"nand.rows_read", ftl.rows_read},
                             {"nand.cache_hits", ftl.cache_hits},
                             {"nand.readahead_hits", ftl.readahead_hits},
                             {"nand.programs", ftl.programs + ftl.slc_programs},
                             {"nand.erases", ftl.erases},
                             {"emmc.tasks_executed", queue.executed},
                             {"emmc.tasks_discarded", queue.discarded},
                             {"emmc.tasks_most", queue.most}});
  }

 private:
  Emmc emmc_;
  std::uint64_t channels_;
};

class SdCardUnit final : public CardUnit {
 public:
  SdCardUnit(Context& ctx, const PlatformConfig& c) : sd_("sd_card", ctx, c.sd_card) {}

  MmcCard& card() override { return sd_; }
  SparseMedium& medium() override { return sd_.user_medium(); }
  fw::CardKind kind() const override { return fw::CardKind::sd; }

  std::vector<Busy> busy() const override {
    return {{"device firmware", sd_.counters().firmware_busy.value()},
            {"device array", sd_.counters().array_busy.value()}};
  }

  void counters(std::vector<CounterRow>& rows) const override {
    rows.insert(rows.end(), {{"sd_card.read_commands", sd_.counters().read_commands},
                             {"sd_card.write_commands", sd_.counters().write_commands}});
  }

 private:
  SdCard sd_;
};

}  // namespace

std::unique_ptr<CardUnit> make_card(Context& ctx, const PlatformConfig& config) {
  if (config.card == "sd") return std::make_unique<SdCardUnit>(ctx, config);
  return std::make_unique<EmmcUnit>(ctx, config);
}

}  // namespace vp
