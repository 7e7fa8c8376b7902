#include "firmware/app/main.hpp"

#include <algorithm>
#include <bit>

#include "firmware/app/pool.hpp"
#include "firmware/app/workload.hpp"
#include "firmware/block/cqe_disk.hpp"
#include "firmware/block/hsq_disk.hpp"
#include "firmware/block/swq_disk.hpp"
#include "firmware/drivers/cqhci_hw.hpp"
#include "firmware/drivers/dwmmc.hpp"
#include "firmware/drivers/hsmmc.hpp"
#include "firmware/drivers/intc.hpp"
#include "firmware/drivers/sdhci.hpp"
#include "firmware/hal/hal.hpp"
#include "firmware/os/copier.hpp"

namespace fw {

namespace {

constexpr std::uint32_t kDefaultTimeoutMs = 10'000;
constexpr std::uint32_t kDefaultMaxHz = 200'000'000;

constexpr std::uint32_t kNoLine = 0xFF;

/// Everything the program holds; static, because it has no heap.
struct Machine {
  Intc intc;
  std::uint32_t host_line = 0;
  std::uint32_t dma_line = kNoLine, dma_error_line = kNoLine;  ///< of a system DMA
  Sdhci sdhci;
  Hsmmc hsmmc;
  DwMmc dwmmc;
  MmcHost* host = nullptr;  ///< the one in use
  Card card;
  MmcDisk disk;
  Cqhci engine;
  CqeDisk queued_disk;
  SwqDisk software_queue;
  HsqDisk host_queue;
  RequestQueue queue;
  OsLayer os;
  Workload workload;
  Copier copier;
};
Machine machine;

void on_interrupt(void* context) {
  auto& m = *static_cast<Machine*>(context);
  const std::uint32_t number = m.intc.claim();
  if (number == 0) return;
  if (number == m.host_line + 1) m.host->irq();
  if (number == m.dma_line + 1) m.hsmmc.dma_irq();
  if (number == m.dma_error_line + 1) m.hsmmc.dma_error_irq();
  m.intc.complete(number);
}

Status check_table(const JobTable& t) {
  if (t.magic != kJobTableMagic) return Status::bad_magic;
  if (t.job_count > kMaxJobs || t.host_irq > 31 || t.use_dma > 2 || t.v4_mode > 2) return Status::bad_job;
  if (t.cqe_cit > cq::kIdleTimerMask || t.cq_coalesce_count > cq::kMaxCoalCount ||
      t.cq_coalesce_timeout > cq::kMaxCoalTimeout || t.cq_task_desc_128 > 2)
    return Status::bad_job;
  if (t.host_kind == HostKind::hsmmc &&
      (t.hs_dma_irq > 31 || t.hs_dma_error_irq > 31 || t.hs_rx_channel > 31 || t.hs_tx_channel > 31 ||
       t.hs_max_linked > HsmmcDma::kMaxLinked))
    return Status::bad_job;
  if (t.card_kind > CardKind::sd) return Status::bad_job;
  if (t.soft_queue > SoftQueue::hsq || (t.use_cqe && t.soft_queue != SoftQueue::none) || t.swq_depth > 32 ||
      t.hsq_depth > HsqDisk::kMaxDepth || t.hsq_write_depth > HsqDisk::kMaxDepth)
    return Status::bad_job;
  if (t.max_mode > static_cast<std::uint32_t>(CardMode::hs400es)) return Status::bad_job;
  const QueueLimits limits{t.max_segs, t.max_seg_bytes, t.max_req_bytes, t.max_blk_count};
  if (!limits.valid()) return Status::bad_limits;
  if (t.dw_max_seg_bytes % kSectorBytes || t.dw_ring_bytes % dw::kDes64Bytes) return Status::bad_limits;
  if (!std::has_single_bit(t.page_bytes) || t.page_bytes < 4096) return Status::bad_memory;
  if (t.run_stride && (t.run_stride % t.page_bytes || t.run_stride / t.page_bytes <= t.contiguity_pages ||
                       t.contiguity_pages == 0))
    return Status::bad_memory;
  if (t.buffer_byte_offset % 4 || t.buffer_byte_offset >= t.page_bytes) return Status::bad_memory;
  for (std::uint32_t i = 0; i < t.job_count; ++i)
    if (const Status s = check_job(t.jobs[i], 0); s != Status::ok) return s;
  return Status::ok;
}

Status status_of(SetupResult r) {
  switch (r) {
    case SetupResult::ok:
      return Status::ok;
    case SetupResult::no_clock:
      return Status::no_clock;
    case SetupResult::no_card:
      return Status::no_card;
    case SetupResult::identify_failed:
      return Status::identify_failed;
    case SetupResult::ext_csd_failed:
      return Status::ext_csd_failed;
    case SetupResult::mode_failed:
      return Status::mode_failed;
    case SetupResult::option_failed:
      return Status::option_failed;
  }
  return Status::identify_failed;
}

Status start_sdhci(const JobTable& t, Pool& pool) {
  SdhciConfig c;
  c.base = t.host_base;
  c.base_clock_hz = t.base_clock_hz;
  c.bus_width = t.bus_width;
  c.v4 = static_cast<V4Policy>(t.v4_mode);
  c.dma = static_cast<DmaKind>(t.use_dma);
  c.auto_cmd23 = t.auto_cmd23 != 0;
  c.split_128m = t.split_128m != 0;
  c.request_timeout_ms = t.request_timeout_ms ? t.request_timeout_ms : kDefaultTimeoutMs;
  c.table_bytes = adma_entries_needed(t.max_segs, t.max_seg_bytes) * adma_entry_bytes(AdmaFormat::bits64_v4);
  constexpr std::uint64_t kTableAlign = 64;  // a cache line; 8 is what the host asks for
  c.table_address = pool.take(c.table_bytes, kTableAlign);
  if (!c.table_address) return Status::pool_too_small;
  machine.host = &machine.sdhci;
  return machine.sdhci.init(c) ? Status::ok : Status::host_failed;
}

Status start_hsmmc(const JobTable& t, Pool& pool) {
  if (!t.base_clock_hz) return Status::no_clock;  // no register of this host tells it
  HsmmcConfig c;
  c.base = t.host_base;
  c.base_clock_hz = t.base_clock_hz;
  c.bus_width = t.bus_width ? t.bus_width : 4;
  c.use_dma = t.use_dma != 0;
  c.auto_cmd23 = t.auto_cmd23 != 0;
  c.request_timeout_ms = t.request_timeout_ms ? t.request_timeout_ms : kDefaultTimeoutMs;
  c.dma.base = t.hs_dma_base;
  c.dma.port = t.host_base + Hsmmc::kDataPort;
  c.dma.rx_channel = t.hs_rx_channel;
  c.dma.tx_channel = t.hs_tx_channel;
  if (t.hs_max_linked) c.dma.max_linked = t.hs_max_linked;
  c.dma.linked_list = t.hs_linked_list != 0;
  if (c.dma.linked_list) {
    c.dma.list_entries = t.max_segs;
    c.dma.list_address = pool.take(HsmmcDma::list_bytes(t.max_segs), 64);
    if (!c.dma.list_address) return Status::pool_too_small;
  }
  machine.dma_line = t.hs_dma_irq;
  machine.dma_error_line = t.hs_dma_error_irq;
  machine.host = &machine.hsmmc;
  return machine.hsmmc.init(c) ? Status::ok : Status::host_failed;
}

Status start_dwmmc(const JobTable& t, Pool& pool) {
  if (!t.base_clock_hz) return Status::no_clock;  // no register of this host tells it
  DwMmcConfig c;
  c.base = t.host_base;
  c.base_clock_hz = t.base_clock_hz;
  c.bus_width = t.bus_width;
  c.dma = t.use_dma != 0;
  c.fifo_depth = t.dw_fifo_depth;
  c.fifo64_32 = t.dw_fifo64_32 != 0;
  c.auto_stop = t.dw_software_stop == 0;
  c.busy_clear = t.dw_poll_busy == 0;
  c.extended_timeout = t.dw_extended_tmout != 0;
  c.request_timeout_ms = t.request_timeout_ms ? t.request_timeout_ms : kDefaultTimeoutMs;
  c.ring_bytes = t.dw_ring_bytes ? t.dw_ring_bytes : t.page_bytes;
  c.max_seg_bytes = t.dw_max_seg_bytes;
  constexpr std::uint64_t kAlign = 64;  // a cache line
  c.ring_address = pool.take(c.ring_bytes, kAlign);
  c.scratch_address = pool.take(DwMmc::kScratchBytes, kAlign);
  if (!c.ring_address || !c.scratch_address) return Status::pool_too_small;
  machine.host = &machine.dwmmc;
  return machine.dwmmc.init(c) ? Status::ok : Status::host_failed;
}

Status start_host(const JobTable& t, Pool& pool) {
  switch (t.host_kind) {
    case HostKind::hsmmc:
      return start_hsmmc(t, pool);
    case HostKind::sdhci:
      return start_sdhci(t, pool);
    case HostKind::dwmmc:
      return start_dwmmc(t, pool);
    default:
      return Status::host_failed;
  }
}

Status start_card(JobTable& t, Pool& pool) {
  CardConfig c;
  c.max_mode = static_cast<CardMode>(t.max_mode);
  c.max_clock_hz = t.max_clock_hz ? t.max_clock_hz : kDefaultMaxHz;
  c.enable_cache = t.enable_cache != 0;
  c.kind = t.card_kind;
  c.bounce_address = pool.take(kSectorBytes, kSectorBytes);
  if (!c.bounce_address) return Status::pool_too_small;
  machine.card = Card(*machine.host, c);
  const SetupResult r = machine.card.set_up();
  t.card_mode = static_cast<std::uint32_t>(machine.card.mode());
  t.card_clock_hz = machine.card.clock_hz();
  t.card_sectors = machine.card.info().sectors;
  return status_of(r);
}

/// One segment per request with SDMA, then as long as a request (what Linux sets). A DW-MMC has its ring's limits too.
QueueLimits limits_for(const JobTable& t) {
  QueueLimits limits{t.max_segs, t.max_seg_bytes, t.max_req_bytes, t.max_blk_count};
  if (t.host_kind == HostKind::sdhci && machine.sdhci.dma() == DmaKind::sdma) {
    limits.max_segs = 1;
    limits.max_seg_bytes = t.max_req_bytes / kSectorBytes * kSectorBytes;
  }
  if (t.host_kind == HostKind::dwmmc) {
    const DwLimits host = machine.dwmmc.limits();
    limits.max_segs = std::min(limits.max_segs, host.max_segs);
    limits.max_seg_bytes = std::min(limits.max_seg_bytes, host.max_seg_bytes);
    limits.max_req_bytes = std::min(limits.max_req_bytes, host.max_req_bytes);
    limits.max_blk_count = std::min(limits.max_blk_count, host.max_blk_count);
  }
  return limits;
}

constexpr std::uint32_t kLeastDepth = 3;  // Linux takes a queue of two tasks or fewer for a card's mistake

CqShape shape_for(const JobTable& t) {
  CqShape shape;
  shape.dma64 = machine.sdhci.v4() && machine.sdhci.addressing_64();
  shape.task128 = t.cq_task_desc_128 ? t.cq_task_desc_128 == 2 : shape.dma64;
  shape.short_trans = t.cq_trans_desc_12 != 0;
  return shape;
}

/// Cuts the engine's tables from the pool: 32 slots, and per tag what max_segs and the windows of the buffers
/// need.
bool take_tables(const JobTable& t, Pool& pool, const QueueLimits& limits, CqhciConfig& c) {
  const std::uint32_t boundaries = t.split_128m ? dma_boundaries(t.buffer_base, t.buffer_bytes) : 0;
  c.place.tags = c.tags;
  c.place.entries = cq_entries_needed(limits.max_segs, limits.max_seg_bytes, boundaries);
  constexpr std::uint64_t kTableAlign = 64;  // a cache line
  c.place.list = pool.take(CqTables::list_bytes(c.shape), cq::kListAlign);
  c.place.tables = pool.take(CqTables::table_bytes(c.shape, c.place.tags, c.place.entries), kTableAlign);
  return c.place.list && c.place.tables;
}

Status start_queueing(const JobTable& t, Pool& pool, const QueueLimits& limits) {
  if (t.host_kind != HostKind::sdhci || machine.sdhci.dma() != DmaKind::adma2 ||
      !machine.engine.probe(machine.sdhci))
    return Status::no_cqe_host;
  const std::uint32_t depth = machine.card.info().queue_depth;
  if (depth < kLeastDepth) return Status::no_cqe_card;
  CqhciConfig c;
  c.dcmd = t.cq_dcmd != 0;
  c.tags = c.dcmd && depth > cq::kDirectSlot ? cq::kDirectSlot : depth;
  c.rca = machine.card.rca_arg() >> 16;
  c.idle_timer = t.cqe_cit;
  c.coalesce_count = t.cq_coalesce_count;
  c.coalesce_timeout = t.cq_coalesce_timeout ? t.cq_coalesce_timeout : 1;
  c.split_128m = t.split_128m != 0;
  c.shape = shape_for(t);
  if (!take_tables(t, pool, limits, c)) return Status::pool_too_small;
  if (!machine.engine.init(c)) return Status::cqe_failed;
  CqeDiskConfig disk;
  disk.depth = c.tags;
  disk.dcmd = c.dcmd;
  disk.max_seg_bytes = limits.max_seg_bytes;
  disk.request_timeout_ms = t.request_timeout_ms ? t.request_timeout_ms : kDefaultTimeoutMs;
  machine.queued_disk.init(machine.engine, machine.sdhci, machine.card, machine.disk, disk);
  return machine.queued_disk.start() ? Status::ok : Status::cqe_failed;
}

/// The device's queue without an engine.
Status start_software_queue(const JobTable& t, const QueueLimits& limits) {
  if (!machine.host->tells_listener() || !machine.host->can_run_beside()) return Status::no_queue_host;
  const std::uint32_t depth = machine.card.info().queue_depth;
  if (depth < kLeastDepth) return Status::no_cqe_card;
  SwqDiskConfig c;
  c.depth = t.swq_depth && t.swq_depth < depth ? t.swq_depth : depth;
  c.max_seg_bytes = limits.max_seg_bytes;
  c.poll_ns = t.swq_poll_ns;
  c.request_timeout_ms = t.request_timeout_ms ? t.request_timeout_ms : kDefaultTimeoutMs;
  machine.software_queue.init(*machine.host, machine.card, machine.disk, c);
  if (!machine.software_queue.start()) return Status::swq_failed;
  machine.queue.init(machine.software_queue, limits);
  return Status::ok;
}

Status start_host_queue(const JobTable& t, const QueueLimits& limits) {
  if (!machine.host->tells_listener()) return Status::no_queue_host;
  HsqDiskConfig c;
  if (t.hsq_depth) c.depth = t.hsq_depth;
  if (t.hsq_write_depth) c.write_depth = t.hsq_write_depth;
  c.max_seg_bytes = limits.max_seg_bytes;
  machine.host_queue.init(*machine.host, machine.card, machine.disk, c);
  machine.queue.init(machine.host_queue, limits);
  return Status::ok;
}

/// Puts the request queue on the back end the table asks for.
Status start_queue(const JobTable& t, Pool& pool, const QueueLimits& limits) {
  if (t.soft_queue == SoftQueue::software) return start_software_queue(t, limits);
  if (t.soft_queue == SoftQueue::hsq) return start_host_queue(t, limits);
  if (!t.use_cqe) {
    machine.queue.init(machine.disk, limits);
    return Status::ok;
  }
  if (const Status s = start_queueing(t, pool, limits); s != Status::ok) return s;
  machine.queue.init(machine.queued_disk, limits);
  return Status::ok;
}

Status start_all(JobTable& t) {
  Pool pool(t.pool_base, t.pool_bytes);
  machine.intc = Intc(t.intc_base);
  machine.host_line = t.host_irq;
  hal::set_irq_handler(on_interrupt, &machine);
  if (const Status s = start_host(t, pool); s != Status::ok) return s;
  std::uint32_t lines = 1u << t.host_irq;
  if (t.host_kind == HostKind::hsmmc) lines |= 1u << t.hs_dma_irq | 1u << t.hs_dma_error_irq;
  machine.intc.enable(lines);
  hal::irq_enable(true);
  if (const Status s = start_card(t, pool); s != Status::ok) return s;
  for (std::uint32_t i = 0; i < t.job_count; ++i)
    if (const Status s = check_job(t.jobs[i], t.card_sectors); s != Status::ok) return s;

  const QueueLimits limits = limits_for(t);
  MmcDiskConfig disk;
  disk.max_seg_bytes = limits.max_seg_bytes;
  disk.use_cmd23 = machine.card.info().cmd23;
  machine.disk.init(*machine.host, machine.card, disk);
  if (const Status s = start_queue(t, pool, limits); s != Status::ok) return s;
  if (t.copy.active) return machine.copier.init(t, machine.queue, machine.os, pool, machine.card.cache_on());
  return machine.workload.init(t, machine.queue, machine.os, pool, machine.card.cache_on());
}

}  // namespace

int main() {
  auto& t = *static_cast<JobTable*>(hal::ram(kJobTableAddress, sizeof(JobTable)));
  if (const Status s = check_table(t); s != Status::ok) return static_cast<int>(s);
  t.done = 0;
  t.errors = t.verify_errors = 0;
  t.first_bad_offset = 0;
  Status s = start_all(t);
  if (s == Status::ok) {
    s = t.copy.active ? machine.copier.run() : machine.workload.run();
    if (s == Status::ok && machine.os.ready()) machine.os.drain();  // a queue is left empty
    if (t.use_cqe && s == Status::ok) machine.queued_disk.stop();
    if (t.soft_queue == SoftQueue::software && s == Status::ok) machine.software_queue.stop();
  }
  if (s == Status::ok) t.done = 1;
  return static_cast<int>(s);
}

}  // namespace fw
