#include "platform/builder.hpp"

#include <fmt/format.h>

#include <cmath>
#include <new>

#include "firmware/app/main.hpp"

namespace vp {

using namespace memory_map;

void DriverParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".max_segs", max_segs, "segments", 1, 4096, "segments per request");
  r.add(at + ".max_seg_bytes", max_seg_bytes, "B", 512, 64 << 20, "bytes per segment");
  r.add(at + ".max_req_bytes", max_req_bytes, "B", 512, 64 << 20, "bytes per request");
  r.add(at + ".max_blk_count", max_blk_count, "blocks", 1, 65535, "blocks per request");
  r.add(at + ".split_128m", split_128m, "the driver splits descriptors at 128 MiB multiples");
  r.add(at + ".dma", dma, {"pio", "sdma", "adma2"}, "how the driver moves data");
  r.add(at + ".auto_cmd23", auto_cmd23, "Auto CMD23 when the host can; else CMD23 by software");
  r.add(at + ".v4_mode", v4_mode, {"never", "auto", "always"},
        "host version 4 mode; auto: capability bit 27");
  r.add(at + ".request_timeout_ms", request_timeout_ms, "ms", 1, 600000, "driver's limit for one request");
  r.add(at + ".device_cache", device_cache, "switch the device's write cache on");
  r.add(at + ".max_mode", max_mode, {"legacy", "hs52", "ddr52", "hs200", "hs400", "hs400es"},
        "fastest mode to try");
  r.add(at + ".max_clock_hz", max_clock_hz, "Hz", 400000, 200000000, "highest card clock of the board");
  r.add(at + ".base_clock_hz", base_clock_hz, "Hz", 0, 400000000,
        "clock the SoC gives the host; 0: from the capabilities");
  r.add(at + ".bus_width", bus_width, "lines", 0, 8,
        "data lines the board wires: 1, 4, 8; 0: as the capabilities say");
  r.add(at + ".cqe", cqe, "use the command queue engine; set by --cqe");
  r.add(at + ".queue", queue, {"none", "software", "cqe", "hsq"}, "queueing the driver uses; set by --queue");
  r.add(at + ".swq_depth", swq_depth, "tasks", 0, 32,
        "software queueing: tasks in the device; 0: as many as it holds");
  r.add(at + ".swq_poll_us", swq_poll_us, "us", 0, 10000,
        "software queueing: from a QSR that shows nothing to the next");
  r.add(at + ".hsq_depth", hsq_depth, "requests", 1, 8, "hsq: requests at the host");
  r.add(at + ".hsq_write_depth", hsq_write_depth, "requests", 1, 8,
        "hsq: as many once two are writes of 4 KiB");
  r.add(at + ".cqe_cit", cqe_cit, "timer clocks", 0, 65535,
        "queue status poll interval the driver sets; 0: reset value");
  r.add(at + ".cqe_coalesce_count", cqe_coalesce_count, "tasks", 0, 31,
        "completions per interrupt; 0: each its own");
  r.add(at + ".cqe_coalesce_timeout", cqe_coalesce_timeout, "1024 timer clocks", 0, 127,
        "coalescing timeout");
  r.add(at + ".cqe_dcmd", cqe_dcmd, "flush as a direct command in slot 31");
  r.add(at + ".page_bytes", page_bytes, "B", 4096, 65536, "memory page: 4K, 16K or 64K");
  r.add(at + ".contiguity_pages", contiguity_pages, "pages", 0, 1 << 20,
        "physically contiguous pages before the next jump; 0: all");
  r.add(at + ".run_stride", run_stride, "B", 0, std::uint64_t{1} << 32,
        "from one contiguous run to the next, multiple of page_bytes; 0: one page between them");
  r.add(at + ".buffer_base", buffer_base, "address", 0x4000'0000, 0x17F00'0000,
        "first address of I/O buffers");
  r.add(at + ".buffer_bytes", buffer_bytes, "B", 1 << 20, std::uint64_t{1} << 32, "memory for I/O buffers");
  r.add(at + ".buffer_byte_offset", buffer_byte_offset, "B", 0, 65535,
        "first byte of a buffer in its page, multiple of 4");
}

void CheckParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".payload", payload, "compare every request's memory with the medium");
}

void PlatformConfig::declare(ParamRegistry& r) {
  r.add("platform.host", host, {"sdhci", "dwmmc", "hsmmc"}, "host controller");
  r.add("axi.clock_hz", axi_clock_hz, "Hz", 1e6, 2e9, "AXI clock");
  interconnect.declare(r, "axi");
  dram.declare(r, "dram");
  sram.declare(r, "sram");
  mmc_bus.declare(r, "mmc_bus");
  sdhci.declare(r, "sdhci");
  dwmmc.declare(r, "dwmmc");
  dwmmc_driver.declare(r, "dwmmc");
  r.add("cqhci.present", cqe_present, "the host has a command queue engine");
  cqhci.declare(r, "cqhci");
  hsmmc.declare(r, "hsmmc");
  hsmmc_driver.declare(r, "hsmmc");
  dma.declare(r, "dma");
  r.add("platform.card", card, {"emmc", "sd"}, "the device: an eMMC or an SD memory card");
  sd_card.declare(r, "sd_card");
  emmc.declare(r, "emmc");
  nand.declare(r, "nand");
  cpu.declare(r, "cpu");
  intc.declare(r, "intc");
  timer.declare(r, "timer");
  driver.declare(r, "driver");
  os.declare(r, "os");
  check.declare(r, "check");
}

Platform::Platform(sc_core::sc_module_name module_name, Context& ctx, const PlatformConfig& c)
    : sc_module(module_name),
      axi_clock("axi", c.axi_clock_hz),
      interconnect("axi", ctx, axi_clock, c.interconnect),
      dram("dram", axi_clock, c.dram),
      sram("sram", axi_clock, c.sram),
      mmc_bus("mmc_bus", ctx, c.mmc_bus),
      card(make_card(ctx, c)),
      host(make_host(ctx, axi_clock, mmc_bus, card->card(), c)),
      cpu("cpu", ctx, c.cpu, [] { return fw::main(); }),
      intc("intc", ctx, axi_clock, c.intc),
      timer("timer", ctx, axi_clock, c.timer) {
  wire(c.sram.size);
  fill_job_table(c.driver);
  c.os.fill(table_->os, c.driver.page_bytes);
}

void Platform::wire(std::uint64_t sram_bytes) {
  const unsigned cpu_master = interconnect.add_master("cpu", 0, true);
  cpu.socket.bind(interconnect.master_socket(cpu_master));
  host->attach(interconnect, intc);

  const std::vector<MemoryBank> banks = Dram::default_banks(dram.params());
  const unsigned to_dram =
      interconnect.add_target("dram", banks.front().base, banks.front().size, AxiAddress::absolute);
  for (std::size_t i = 1; i < banks.size(); ++i)
    interconnect.add_range(to_dram, banks[i].base, banks[i].size);
  interconnect.target_socket(to_dram).bind(dram.socket);
  const auto peripheral = [this](const char* target, std::uint64_t base, auto& socket) {
    interconnect.target_socket(interconnect.add_target(target, base, kPeripheralBytes)).bind(socket);
  };
  interconnect.target_socket(interconnect.add_target("sram", kSram, sram_bytes)).bind(sram.socket);
  peripheral("intc", kIntc, intc.socket);
  peripheral("timer", kTimer, timer.socket);

  timer.irq.connect(intc, kTimerIrq);
  intc.output.connect(cpu, 0);
}

void Platform::fill_job_table(const DriverParams& d) {
  const auto choice = [](const std::string& value, std::initializer_list<const char*> names) {
    std::uint32_t i = 0;
    for (const char* n : names) {
      if (value == n) return i;
      ++i;
    }
    return std::uint32_t{0};
  };
  const auto u32 = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  std::byte* at = memory(fw::kJobTableAddress, sizeof(fw::JobTable));
  const std::uint64_t pool = kDramBase + (1 << 20), pool_bytes = 16 << 20;
  if (!memory(d.buffer_base, d.buffer_bytes) || d.buffer_base < pool + pool_bytes)
    throw InputError(
        "driver.buffer_base and driver.buffer_bytes do not lie in one bank of DRAM above the driver's "
        "pool: lower buffer_bytes or move buffer_base");
  if (d.run_stride && (d.contiguity_pages == 0 || d.run_stride % d.page_bytes ||
                       d.run_stride <= d.contiguity_pages * d.page_bytes))
    throw InputError(
        "driver.run_stride: needs contiguity_pages, a multiple of page_bytes and more than a run has");
  if (d.page_bytes & (d.page_bytes - 1))
    throw InputError(
        fmt::format("driver.page_bytes={}: must be a power of two: 4K, 16K or 64K", d.page_bytes));
  table_ = new (at) fw::JobTable{};
  fw::JobTable& t = *table_;
  t.magic = fw::kJobTableMagic;
  t.card_kind = card->kind();
  t.intc_base = kIntc;
  t.timer_base = kTimer;
  t.max_mode = choice(d.max_mode, {"legacy", "hs52", "ddr52", "hs200", "hs400", "hs400es"});
  t.max_clock_hz = u32(d.max_clock_hz);
  if (d.base_clock_hz != 0) t.base_clock_hz = u32(d.base_clock_hz);
  t.bus_width = u32(d.bus_width);
  t.use_cqe = d.cqe;
  t.soft_queue = d.queue == "software" ? fw::SoftQueue::software
                 : d.queue == "hsq"    ? fw::SoftQueue::hsq
                                       : fw::SoftQueue::none;
  t.swq_depth = u32(d.swq_depth);
  t.swq_poll_ns = static_cast<std::uint32_t>(std::lround(d.swq_poll_us * 1000));
  t.hsq_depth = u32(d.hsq_depth);
  t.hsq_write_depth = u32(d.hsq_write_depth);
  t.cqe_cit = u32(d.cqe_cit);
  t.cq_coalesce_count = u32(d.cqe_coalesce_count);
  t.cq_coalesce_timeout = u32(d.cqe_coalesce_timeout);
  t.cq_dcmd = d.cqe_dcmd;
  t.max_segs = u32(d.max_segs);
  t.max_seg_bytes = u32(d.max_seg_bytes);
  t.max_req_bytes = u32(d.max_req_bytes);
  t.max_blk_count = u32(d.max_blk_count);
  t.split_128m = d.split_128m;
  t.use_dma = choice(d.dma, {"pio", "sdma", "adma2"});
  t.auto_cmd23 = d.auto_cmd23;
  t.v4_mode = choice(d.v4_mode, {"never", "auto", "always"});
  t.request_timeout_ms = u32(d.request_timeout_ms);
  t.enable_cache = d.device_cache;
  t.pool_base = pool;
  t.pool_bytes = pool_bytes;
  t.buffer_base = d.buffer_base;
  t.buffer_bytes = d.buffer_bytes;
  t.page_bytes = u32(d.page_bytes);
  t.contiguity_pages = u32(d.contiguity_pages);
  t.run_stride = d.run_stride;
  t.buffer_byte_offset = u32(d.buffer_byte_offset);
  host->describe(t);  // last: what this host alone knows replaces what was said of hosts in general
}

}  // namespace vp
