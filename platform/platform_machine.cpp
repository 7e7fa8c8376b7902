// The program's machine: a Platform behind the front ends' interface, with the payload check and the books of a run.
#include <fmt/format.h>

#include "firmware/block/queue.hpp"
#include "platform/builder.hpp"
#include "platform/embedded.hpp"
#include "platform/payload_checker.hpp"
#include "platform/queue_choice.hpp"
#include "platform/session.hpp"

namespace vp {
namespace {

/// Busy times of every resource at one instant, in ps.
struct BusyBook {
  sc_time at;
  std::uint64_t cmd = 0, dat = 0, axi_read = 0, axi_write = 0, dram = 0, cpu = 0, cpu_user = 0;
  std::vector<CardUnit::Busy> card;
  std::uint64_t interrupts = 0, dma_interrupts = 0;
};

std::string embedded_text(const std::string& file) {
  for (unsigned i = 0; i < kEmbeddedFileCount; ++i) {
    const std::string_view name = kEmbeddedFiles[i].name;
    if (name.size() > file.size() && name.substr(name.size() - file.size() - 1) == "/" + file)
      return std::string(kEmbeddedFiles[i].text);
  }
  return {};
}

/// What a driver says when it gives a request up.
std::string driver_line(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                        sc_time at) {
  const std::string who = fmt::format("{} ns driver: CMD{}", at.value() / 1000, id & 0xFF);
  if (what == hal::Event::driver_refusal)
    return fmt::format("{} is refused: it needs {} descriptors, the ring has {}", who, a, b);
  std::string things;
  for (const auto& [bit, name] : {std::pair{hal::kWaitsResponse, "CMD_DONE"},
                                  {hal::kWaitsData, "DATA_OVER"},
                                  {hal::kWaitsDma, "the IDMAC"},
                                  {hal::kWaitsBusy, "the card's busy"}})
    if (a & bit) things += (things.empty() ? "" : ", ") + std::string(name);
  return fmt::format("{} still waits for {} at its time-out: RINTSTS 0x{:x}, IDSTS 0x{:x}, STATUS 0x{:x}",
                     who, things.empty() ? "an interrupt" : things, a >> 32, b, c);
}

class PlatformMachine : public Machine, private CpuObserver {
 public:
  void declare(ParamRegistry& registry) override { config_.declare(registry); }

  void build(const Options& options) override {
    context_.timing = options.timing;
    choose_queue(options, config_);
    if (options.cpu != "native")
      throw InputError("--cpu=" + options.cpu + ": this version has only --cpu=native");
    config_.emmc.ext_csd_text = embedded_text(config_.emmc.ext_csd);
    context_.trace.set_root("platform");
    platform_ = std::make_unique<Platform>("platform", context_, config_);
    check_queue(config_, platform_->card->queue_depth());
    image_ = options.image;
    if (image_) load_image();
    checker_ = std::make_unique<PayloadChecker>(
        platform_->card->medium(),
        [this](std::uint64_t address, std::uint64_t bytes) { return platform_->memory(address, bytes); });
    platform_->cpu.set_observer(this);
  }

  Context& context() override { return context_; }
  fw::JobTable& job_table() override { return platform_->job_table(); }
  std::uint64_t device_bytes() const override { return platform_->card->medium().blocks() * 512; }
  unsigned max_iodepth() const override { return fw::kMaxIos; }
  void set_observer(CpuObserver* observer) override { observer_ = observer; }

  void run() override {
    Platform& p = *platform_;
    stopper_ = std::make_unique<Stopper>(p.cpu);
    sc_core::sc_start();
    end_ = book();
  }

  sc_time now() const override { return sc_core::sc_time_stamp(); }
  int exit_status() const override { return platform_->cpu.halted() ? platform_->cpu.exit_status() : -1; }
  std::uint64_t data_errors() const override { return checker_->wrong_blocks(); }
  std::uint64_t first_data_error() const override { return checker_->first_wrong_lba() * 512; }

  CpuUsage cpu_usage() const override {
    CpuUsage u;
    u.user_ns = static_cast<double>(end_.cpu_user - start_.cpu_user) / 1e3;
    u.system_ns = static_cast<double>(end_.cpu - start_.cpu) / 1e3 - u.user_ns;
    u.context_switches = platform_->cpu.counters().wakes;
    return u;
  }

  std::vector<StallRow> stalls() const override;
  std::vector<UtilisationRow> utilisation() const override;
  std::vector<CounterRow> counters() const override;
  void save_image() override {
    if (image_) platform_->card->medium().save_image(*image_);
  }

 private:
  /// Ends the simulation when the CPU has halted.
  struct Stopper : sc_core::sc_module {
    SC_HAS_PROCESS(Stopper);
    explicit Stopper(Cpu& cpu) : sc_module(sc_core::sc_module_name("stopper")) {
      SC_METHOD(stop);
      sensitive << cpu.halted_event();
      dont_initialize();
    }
    void stop() { sc_core::sc_stop(); }
  };

  void load_image() {
    std::FILE* f = std::fopen(image_->c_str(), "rb");
    if (!f) return;  // a new image: it is written at the end
    std::fclose(f);
    platform_->card->medium().load_image(*image_);
  }

  void cpu_event(hal::Event what, std::uint32_t id, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                 sc_time at) override {
    if (what == hal::Event::ready) start_ = book();
    if (what == hal::Event::driver_wait || what == hal::Event::driver_refusal)
      context_.log(driver_line(what, id, a, b, c, at));
    if (config_.check.payload) checker_->event(what, id, a, b, c);
    if (observer_) observer_->cpu_event(what, id, a, b, c, at);
  }

  BusyBook book() const {
    const Platform& p = *platform_;
    BusyBook b;
    b.at = sc_core::sc_time_stamp();
    b.cmd = p.mmc_bus.counters().cmd_busy.value();
    b.dat = p.mmc_bus.counters().dat_busy.value();
    const AxiCounters& axi = p.host->dma_counters();
    const std::uint64_t period = p.axi_clock.period().value();
    b.axi_read = axi.read_beats * period;
    b.axi_write = axi.write_beats * period;
    b.dram = p.dram.counters().busy_ps;
    b.cpu = p.cpu.counters().busy.value();
    for (const hal::Cost user : {hal::Cost::io_user, hal::Cost::copy_record})
      b.cpu_user += p.cpu.counters().cost_time[static_cast<std::size_t>(user)].value();
    b.card = p.card->busy();
    b.interrupts = p.host->interrupts();
    b.dma_interrupts = p.host->dma_interrupts();
    return b;
  }

  PlatformConfig config_;
  Context context_;
  std::unique_ptr<Platform> platform_;
  std::unique_ptr<Stopper> stopper_;
  std::unique_ptr<PayloadChecker> checker_;
  CpuObserver* observer_ = nullptr;
  std::optional<std::string> image_;
  BusyBook start_, end_;
};

std::vector<StallRow> PlatformMachine::stalls() const {
  std::vector<StallRow> rows;
  platform_->host->stalls(rows, platform_->axi_clock.period().value());
  return rows;
}

std::vector<UtilisationRow> PlatformMachine::utilisation() const {
  const double span = static_cast<double>((end_.at - start_.at).value());
  std::vector<UtilisationRow> rows;
  const auto add = [&](std::string name, std::uint64_t from, std::uint64_t to) {
    rows.push_back({std::move(name), span > 0 ? 100.0 * static_cast<double>(to - from) / span : 0.0});
  };
  add("CMD", start_.cmd, end_.cmd);
  add("DAT", start_.dat, end_.dat);
  add("AXI R", start_.axi_read, end_.axi_read);
  add("AXI W", start_.axi_write, end_.axi_write);
  add("DRAM", start_.dram, end_.dram);
  for (std::size_t i = 0; i < end_.card.size(); ++i)
    add(end_.card[i].name, i < start_.card.size() ? start_.card[i].ps : 0, end_.card[i].ps);
  add("CPU", start_.cpu, end_.cpu);
  return rows;
}

std::vector<CounterRow> PlatformMachine::counters() const {
  const Platform& p = *platform_;
  const AxiCounters& axi = p.host->dma_counters();
  const MmcBus::Counters& bus = p.mmc_bus.counters();
  const DramCounters& dram = p.dram.counters();
  std::vector<CounterRow> rows = {
      {"mmc_bus.commands", bus.commands},
      {"mmc_bus.blocks_read", bus.blocks_read},
      {"mmc_bus.blocks_written", bus.blocks_written},
      {"mmc_bus.faults_struck", bus.faults_struck},
  };
  p.host->counters(rows);
  rows.insert(rows.end(), {
                              {"axi.read_bursts", axi.read_bursts},
                              {"axi.write_bursts", axi.write_bursts},
                              {"axi.read_bytes", axi.read_bytes},
                              {"axi.write_bytes", axi.write_bytes},
                              {"dram.row_hits", dram.row_hits},
                              {"dram.row_misses", dram.row_misses},
                              {"dram.row_conflicts", dram.row_conflicts},
                              {"cpu.interrupts", p.cpu.counters().interrupts},
                              {"cpu.mmio_reads", p.cpu.counters().mmio_reads},
                              {"cpu.mmio_writes", p.cpu.counters().mmio_writes},
                              {"check.payload_bytes", checker_->checked_bytes()},
                              {"check.raced_bytes", checker_->raced_bytes()},
                          });
  p.card->counters(rows);
  // since the end of card set-up, as a board's /proc/interrupts would show for a benchmark
  rows.push_back({"run.host_interrupts", end_.interrupts - start_.interrupts});
  rows.push_back({"run.dma_interrupts", end_.dma_interrupts - start_.dma_interrupts});
  for (std::size_t i = 0; i < static_cast<std::size_t>(hal::Cost::count); ++i)
    rows.push_back({"cpu_time_ns." + cost_name(static_cast<hal::Cost>(i)),
                    p.cpu.counters().cost_time[i].value() / 1000});
  for (unsigned i = 0; i < bus.by_index.size(); ++i)
    if (bus.by_index[i] != 0) rows.push_back({fmt::format("mmc_bus.cmd{}", i), bus.by_index[i]});
  return rows;
}

}  // namespace

std::unique_ptr<Machine> make_machine() { return std::make_unique<PlatformMachine>(); }

}  // namespace vp
