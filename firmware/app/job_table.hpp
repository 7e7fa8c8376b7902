// The job table: what a front end leaves in memory for the workload program, and where the machine is. Plain data, one
// layout for every core. Lives at kJobTableAddress.
#pragma once

#include <cstdint>

namespace fw {

inline constexpr std::uint64_t kJobTableAddress = 0x4000'1000;
inline constexpr std::uint32_t kJobTableMagic = 0x4A4F'4231;  // "JOB1"
inline constexpr unsigned kMaxJobs = 256;

enum class JobKind : std::uint32_t { read, write, randread, randwrite, rw, randrw };

struct JobDef {
  JobKind kind;
  std::uint32_t block_bytes;  ///< multiple of 512
  std::uint32_t iodepth;      ///< I/Os the job keeps in flight; 1 for synchronous engines
  std::uint32_t rwmix_read;   ///< percent, for rw and randrw
  std::uint64_t offset;       ///< bytes, start of the region
  std::uint64_t size;         ///< bytes of the region
  std::uint64_t io_bytes;     ///< bytes to move in total (may exceed size: the region is walked again)
  std::uint64_t runtime_ns;   ///< 0: no limit
  std::uint64_t seed;
  std::uint32_t time_based;     ///< 1: go on until runtime_ns even when io_bytes are moved
  std::uint32_t fsync_every;    ///< 0: never; n: a cache flush after every n writes
  std::uint32_t verify;         ///< 1: write stamped blocks; read them back and check (reads check stamps)
  std::uint32_t norandommap;    ///< 1: random offsets may repeat; 0: each block once per pass
  std::uint32_t phase;          ///< the job starts when all jobs of lower phases have ended
  std::uint32_t stop_together;  ///< 1: it stops when the first such job of its phase has done its work
  std::uint32_t end_sync;       ///< 1: a cache flush at the job's end when it has written
  std::uint32_t buffered;       ///< 1: through the page cache (firmware/os), one call at a time: iodepth 1
};

/// Queueing by the driver, without an engine in the host.
enum class SoftQueue : std::uint32_t {
  none,
  software,  ///< the device's task queue: the driver sends CMD44, CMD45, CMD13 and CMD46 or CMD47 itself
  hsq,  ///< the host's: the next request waits, prepared, and is sent from the interrupt of the one before it
};

enum class FileSystem : std::uint32_t { none, ext2, ext4 };

/// The operating system between a caller and the request queue (firmware/os).
struct OsConfig {
  std::uint64_t cache_bytes;       ///< memory of the page cache, taken from the buffer memory; 0: no cache
  std::uint64_t read_ahead_bytes;  ///< largest read-ahead window
  std::uint64_t dirty_background_bytes;  ///< dirty bytes above which write-back starts by itself
  std::uint64_t dirty_limit_bytes;       ///< dirty and write-back bytes at which a writer must wait
  std::uint64_t cpu_cache_bytes;  ///< a page with so much come in after it has left the CPU's cache; 0: never
  std::uint64_t max_io_bytes;     ///< longest I/O built from contiguous pages
  std::uint32_t writeback_ios;    ///< I/Os background write-back keeps open
  std::uint32_t fua;  ///< 1: commit records by FUA where disk and card can, else a flush after them
  std::uint64_t journal_start, journal_bytes;  ///< ext4's journal on the device
  std::uint32_t journal_blocks;   ///< 4 KiB metadata blocks of one transaction, beside descriptor and commit
  std::uint32_t metadata_blocks;  ///< ext2: 4 KiB blocks written in place for one commit
  std::uint64_t metadata_start;   ///< ext2: where they lie, 1 MiB apart
  // for front ends: where a named file or partition lies
  std::uint32_t filesystem;              ///< FileSystem that files lie on
  std::uint64_t file_start, file_bytes;  ///< a file on the device; what one that exists already holds
  std::uint64_t partition_start;         ///< of a device node with a partition number
};

/// One end of a copy.
struct FileDef {
  enum Kind : std::uint32_t { none, device, file };  ///< none: /dev/zero as input, /dev/null as output
  std::uint32_t kind;
  std::uint32_t filesystem;  ///< FileSystem, of a file
  std::uint64_t start;       ///< bytes on the device, multiple of the page size
  std::uint64_t size;        ///< bytes there already
  std::uint64_t limit;       ///< bytes it can grow to
  std::uint64_t offset;      ///< bytes: where the copy begins
  std::uint32_t direct;      ///< 1: past the page cache
  std::uint32_t sync;        ///< 0; 1 O_DSYNC, 2 O_SYNC
};

/// A copying program (dd); runs instead of the jobs when `active`.
struct CopyDef {
  std::uint32_t active;
  std::uint32_t final_sync;  ///< 0; 1 fdatasync, 2 fsync before the end
  FileDef in, out;
  std::uint64_t ibs, obs;  ///< bytes per read and per write call
  std::uint64_t bytes;     ///< most to read; all ones: to the end of the input
  // written by the program
  std::uint64_t in_full, in_part, out_full, out_part, copied;
};

/// What the operating system's path did; written by the program.
struct OsReport {
  std::uint64_t sync_windows, async_windows;   ///< read-ahead: on a miss, on a mark
  std::uint64_t pages_read, pages_read_ahead;  ///< of these, brought in by a mark
  std::uint64_t page_hits, page_waits;  ///< pages that were ready when first asked for; sleeps for a page
  std::uint64_t read_ios, write_ios, journal_ios, flushes, commits;
  std::uint64_t pages_written;
  std::uint64_t left_dirty_bytes;  ///< in the cache at the end, not on the device
};

/// Which driver the workload program binds to the host at host_base.
enum class HostKind : std::uint32_t { sdhci, dwmmc, hsmmc };

/// What is in the slot: probe tries an eMMC first, then an SD memory card.
enum class CardKind : std::uint32_t { probe, emmc, sd };

struct JobTable {
  std::uint32_t magic;
  std::uint32_t job_count;
  // machine
  std::uint64_t host_base;      ///< MMIO base of the host controller
  std::uint64_t intc_base;      ///< MMIO base of the interrupt controller
  std::uint32_t host_irq;       ///< line of the host at the interrupt controller
  std::uint32_t base_clock_hz;  ///< 0: from the capabilities register
  std::uint64_t timer_base;
  // host driver
  HostKind host_kind;
  std::uint32_t use_cqe;       ///< 1: command queueing, where host and device can
  std::uint32_t max_mode;      ///< fw::CardMode upper limit
  std::uint32_t max_clock_hz;  ///< highest card clock the board allows
  std::uint32_t max_segs, max_seg_bytes;
  std::uint32_t max_req_bytes, max_blk_count;
  std::uint32_t split_128m;  ///< 1: the driver splits descriptors at 128 MiB multiples
  std::uint32_t use_dma;     ///< 0 PIO, 1 SDMA, 2 ADMA2
  std::uint32_t auto_cmd23;  ///< 1: use the host's Auto CMD23 when it can; 0: CMD23 sent by software
  std::uint32_t v4_mode;     ///< 0 never, 1 when the capability bit is set, 2 always
  std::uint32_t request_timeout_ms;
  std::uint32_t enable_cache;  ///< 1: switch the device's write cache on
  // memory for the driver and the buffers
  std::uint64_t pool_base, pool_bytes;      ///< driver tables and small buffers
  std::uint64_t buffer_base, buffer_bytes;  ///< I/O buffers are cut from here by the page allocator
  std::uint32_t page_bytes;                 ///< 4096, 16384 or 65536
  std::uint32_t contiguity_pages;    ///< pages that are physically contiguous before the next jump; 0: all
  std::uint64_t run_stride;          ///< bytes from one contiguous run to the next; 0: a run and a page
  std::uint32_t buffer_byte_offset;  ///< first byte of an I/O buffer inside its first page (multiple of 4)
  std::uint32_t bus_width;  ///< data lines the board wires to the device: 1, 4, 8; 0: as the capabilities say
  // command queue engine (CQHCI), with use_cqe; refused with its own Status when host or device cannot
  std::uint32_t cqe_cit;              ///< CQSSC1 idle timer in timer clocks, up to 65535; 0: its reset value
  std::uint32_t cq_coalesce_count;    ///< 0: one interrupt per task; 1 to 31: per so many, or on the timer
  std::uint32_t cq_coalesce_timeout;  ///< in 1024 timer clocks, up to 127; 0 with a count: 1
  std::uint32_t cq_dcmd;  ///< 1: flush as a direct command in slot 31 (31 data tags); 0: engine off, CMD6, on
  std::uint32_t cq_task_desc_128;  ///< task descriptors: 0 as wide as the DMA addresses, 1 64 bit, 2 128 bit
  std::uint32_t cq_trans_desc_12;  ///< 1: 64-bit transfer descriptors 12 bytes apart instead of 16
  // HSMMC on a system DMA (host_kind hsmmc); use_dma 0 is PIO, any other the system DMA
  std::uint64_t hs_dma_base;                   ///< MMIO base of the system DMA
  std::uint32_t hs_dma_irq, hs_dma_error_irq;  ///< its lines at the interrupt controller
  std::uint32_t hs_rx_channel, hs_tx_channel;  ///< request lines of the host
  std::uint32_t hs_max_linked;   ///< parameter sets linked at once, 1 to 128; 0: 20 (Linux MAX_NR_SG)
  std::uint32_t hs_linked_list;  ///< 1: the list in memory, fetched by the DMA
  CardKind card_kind;
  // DW-MMC (host_kind dwmmc); use_dma 0 is PIO, any other the host's own DMA controller. Its limits follow from the ring;
  // max_segs, max_seg_bytes, max_req_bytes and max_blk_count above bound them.
  std::uint32_t dw_ring_bytes;      ///< descriptor ring, multiple of 32; 0: one page (page_bytes)
  std::uint32_t dw_max_seg_bytes;   ///< longest segment, multiple of 512, up to the whole request; 0: 4096
  std::uint32_t dw_fifo_depth;      ///< words; 0: from FIFOTH as reset left it
  std::uint32_t dw_fifo64_32;       ///< 1: a 64-bit FIFO behind a 32-bit bus, two accesses per word
  std::uint32_t dw_extended_tmout;  ///< 1: TMOUT bits 10:8 multiply the data timeout
  std::uint32_t dw_poll_busy;       ///< 1: busy is polled even where the host has a busy-clear interrupt
  std::uint32_t dw_software_stop;   ///< 1: CMD12 of an open-ended transfer by the driver, not by the host
  // queueing by the driver, without use_cqe; refused with its own Status when host or device cannot
  SoftQueue soft_queue;
  std::uint32_t swq_depth;    ///< software: most tasks in the device; 0: as many as it holds
  std::uint32_t swq_poll_ns;  ///< software: from a QSR that shows nothing to the next one while DAT is idle
  std::uint32_t hsq_depth;    ///< hsq: requests at the driver, 1 to 8; 0: 2
  std::uint32_t hsq_write_depth;  ///< hsq: as many once two are writes of 4 KiB; 0: 5
  OsConfig os;
  CopyDef copy;
  JobDef jobs[kMaxJobs];
  // written by the workload program
  std::uint64_t done;           ///< 1 when every job has ended
  std::uint32_t errors;         ///< I/Os that failed
  std::uint32_t verify_errors;  ///< blocks whose content was wrong
  std::uint64_t first_bad_offset;
  std::uint32_t card_mode;  ///< fw::CardMode reached
  std::uint32_t card_clock_hz;
  std::uint64_t card_sectors;
  OsReport os_report;
};

/// In rising order of preference.
enum class CardMode : std::uint32_t { legacy, hs52, ddr52, hs200, hs400, hs400es };

}  // namespace fw
