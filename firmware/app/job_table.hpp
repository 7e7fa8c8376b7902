// The job table: what a front end leaves in memory for the workload program, and where the machine is. Plain data, one
// layout for every core. Lives at kJobTableAddress.
#pragma once

#include <cstdint>

namespace fw {

inline constexpr std::uint64_t kJobTableAddress = 0x4000'1000;
inline constexpr std::uint32_t kJobTableMagic = 0x4A4F'4231;  // "JOB1"
inline constexpr unsigned kMaxJobs = 64;

enum class JobKind : std::uint32_t { read, write, randread, randwrite, rw, randrw };

struct JobDef {
  JobKind kind;
  std::uint32_t block_bytes;       ///< multiple of 512
  std::uint32_t iodepth;           ///< I/Os the job keeps in flight; 1 for synchronous engines
  std::uint32_t rwmix_read;        ///< percent, for rw and randrw
  std::uint64_t offset;            ///< bytes, start of the region
  std::uint64_t size;              ///< bytes of the region
  std::uint64_t io_bytes;          ///< bytes to move in total (may exceed size: the region is walked again)
  std::uint64_t runtime_ns;        ///< 0: no limit
  std::uint64_t seed;
  std::uint32_t time_based;        ///< 1: go on until runtime_ns even when io_bytes are moved
  std::uint32_t fsync_every;       ///< 0: never; n: a cache flush after every n writes
  std::uint32_t verify;            ///< 1: write stamped blocks; read them back and check (reads check stamps)
  std::uint32_t norandommap;       ///< 1: random offsets may repeat; 0: each block once per pass
};

/// Which driver the workload program binds to the host at host_base.
enum class HostKind : std::uint32_t { sdhci, dwmmc, hsmmc };

struct JobTable {
  std::uint32_t magic;
  std::uint32_t job_count;
  // machine
  std::uint64_t host_base;         ///< MMIO base of the host controller
  std::uint64_t intc_base;         ///< MMIO base of the interrupt controller
  std::uint32_t host_irq;          ///< line of the host at the interrupt controller
  std::uint32_t base_clock_hz;     ///< 0: from the capabilities register
  std::uint64_t timer_base;
  // host driver
  HostKind host_kind;
  std::uint32_t use_cqe;           ///< 1: command queueing, where host and device can
  std::uint32_t max_mode;          ///< fw::CardMode upper limit
  std::uint32_t max_clock_hz;      ///< highest card clock the board allows
  std::uint32_t max_segs, max_seg_bytes;
  std::uint32_t max_req_bytes, max_blk_count;
  std::uint32_t split_128m;        ///< 1: the driver splits descriptors at 128 MiB multiples
  std::uint32_t use_dma;           ///< 0 PIO, 1 SDMA, 2 ADMA2
  std::uint32_t auto_cmd23;        ///< 1: use the host's Auto CMD23 when it can; 0: CMD23 sent by software
  std::uint32_t v4_mode;           ///< 0 never, 1 when the capability bit is set, 2 always
  std::uint32_t request_timeout_ms;
  std::uint32_t enable_cache;      ///< 1: switch the device's write cache on
  // memory for the driver and the buffers
  std::uint64_t pool_base, pool_bytes;      ///< driver tables and small buffers
  std::uint64_t buffer_base, buffer_bytes;  ///< I/O buffers are cut from here by the page allocator
  std::uint32_t page_bytes;        ///< 4096, 16384 or 65536
  std::uint32_t contiguity_pages;  ///< pages that are physically contiguous before the next jump; 0: all
  std::uint64_t run_stride;        ///< bytes from one contiguous run to the next; 0: a run and a page
  std::uint32_t buffer_byte_offset;  ///< first byte of an I/O buffer inside its first page (multiple of 4)
  std::uint32_t bus_width;         ///< data lines the board wires to the device: 1, 4, 8; 0: as the capabilities say
  // command queue engine (CQHCI), with use_cqe; refused with its own Status when host or device cannot
  std::uint32_t cqe_cit;           ///< CQSSC1 idle timer in timer clocks, up to 65535; 0: its reset value
  std::uint32_t cq_coalesce_count;    ///< 0: one interrupt per task; 1 to 31: per so many, or on the timer
  std::uint32_t cq_coalesce_timeout;  ///< in 1024 timer clocks, up to 127; 0 with a count: 1
  std::uint32_t cq_dcmd;           ///< 1: flush as a direct command in slot 31 (31 data tags); 0: engine off, CMD6, on
  std::uint32_t cq_task_desc_128;  ///< task descriptors: 0 as wide as the DMA addresses, 1 64 bit, 2 128 bit
  std::uint32_t cq_trans_desc_12;  ///< 1: 64-bit transfer descriptors 12 bytes apart instead of 16
  // DW-MMC (host_kind dwmmc); use_dma 0 is PIO, any other the host's own DMA controller. Its limits follow from the ring;
  // max_segs, max_seg_bytes, max_req_bytes and max_blk_count above bound them.
  std::uint32_t dw_ring_bytes;     ///< descriptor ring, multiple of 32; 0: one page (page_bytes)
  std::uint32_t dw_max_seg_bytes;  ///< longest segment, multiple of 512, up to the whole request; 0: 4096
  std::uint32_t dw_fifo_depth;     ///< words; 0: from FIFOTH as reset left it
  std::uint32_t dw_fifo64_32;      ///< 1: a 64-bit FIFO behind a 32-bit bus, two accesses per word
  std::uint32_t dw_extended_tmout; ///< 1: TMOUT bits 10:8 multiply the data timeout
  std::uint32_t dw_poll_busy;      ///< 1: busy is polled even where the host has a busy-clear interrupt
  std::uint32_t dw_software_stop;  ///< 1: CMD12 of an open-ended transfer by the driver, not by the host
  JobDef jobs[kMaxJobs];
  // written by the workload program
  std::uint64_t done;              ///< 1 when every job has ended
  std::uint32_t errors;            ///< I/Os that failed
  std::uint32_t verify_errors;     ///< blocks whose content was wrong
  std::uint64_t first_bad_offset;
  std::uint32_t card_mode;         ///< fw::CardMode reached
  std::uint32_t card_clock_hz;
  std::uint64_t card_sectors;
};

/// In rising order of preference.
enum class CardMode : std::uint32_t { legacy, hs52, ddr52, hs200, hs400, hs400es };

}  // namespace fw
