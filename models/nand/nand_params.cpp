#include "models/nand/nand_params.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>

namespace vp {

Ps NandParams::us(double microseconds) { return static_cast<Ps>(std::llround(microseconds * 1e6)); }

void NandParams::declare(ParamRegistry& r, const std::string& at) {
  const std::string p = at + ".";
  r.add(p + "channels", channels, "", 1, 8, "NAND channels");
  r.add(p + "dies", dies, "", 1, 16, "dies per channel");
  r.add(p + "planes", planes, "", 1, 4,
        "planes per die (1, 2 or 4); pages of one row are read and programmed together");
  r.add(p + "page_bytes", page_bytes, "bytes", 4096, 65536, "page size, a power of two");
  r.add(p + "pages_per_block", pages_per_block, "", 16, 4096, "pages per erase block and plane");
  r.add(p + "bits_per_cell", bits_per_cell, "", 1, 3, "1 SLC, 2 MLC, 3 TLC");
  r.add(p + "channel_mb_per_s", channel_mb_per_s, "MB/s", 1, 10000, "channel transfer rate");
  r.add(p + "t_r_lsb_us", t_r_lsb_us, "us", 0, 1e4, "t_R of an LSB page");
  r.add(p + "t_r_csb_us", t_r_csb_us, "us", 0, 1e4, "t_R of a CSB page (3 bits per cell)");
  r.add(p + "t_r_msb_us", t_r_msb_us, "us", 0, 1e4, "t_R of an MSB page");
  r.add(p + "t_prog_us", t_prog_us, "us", 0, 1e5, "t_PROG of one page per plane, native cells");
  r.add(p + "t_bers_us", t_bers_us, "us", 0, 1e6, "t_BERS");
  r.add(p + "t_r_slc_us", t_r_slc_us, "us", 0, 1e4, "t_R in SLC mode; also of map pages");
  r.add(p + "t_prog_slc_us", t_prog_slc_us, "us", 0, 1e5, "t_PROG in SLC mode; also of map pages");
  r.add(p + "cache_ops", cache_ops,
        "cache read and cache program (ONFI): register and array of a die overlap");
  r.add(p + "over_provisioning_percent", over_provisioning_percent, "%", 1, 100,
        "spare part of the native blocks");
  r.add(p + "slc_buffer_bytes", slc_buffer_bytes, "bytes", 0, 1ULL << 40, "static SLC write buffer; 0: none");
  r.add(p + "fold_idle_us", fold_idle_us, "us", 0, 1e9,
        "idle time before SLC data is moved to native blocks");
  r.add(p + "l2p_cache_bytes", l2p_cache_bytes, "bytes", 4096, 1ULL << 32,
        "map cache; 1 KiB covers 1 MiB of data");
  r.add(p + "map_page_bytes", map_page_bytes, "bytes", 512, 65536, "bytes transferred for one map page");
  r.add(p + "write_buffer_bytes", write_buffer_bytes, "bytes", 4096, 1ULL << 32,
        "write buffer while the cache is off");
  r.add(p + "read_window_pages", read_window_pages, "pages", 1, 1024,
        "pages of a read in the device buffer at once");
  r.add(p + "readahead_bytes", readahead_bytes, "B", 0, 1ULL << 26, "read-ahead window; 0: off");
  r.add(p + "readahead_after", readahead_after, "commands", 1, 1000,
        "sequential commands in a row that start read-ahead");
  r.add(p + "readahead_min_bytes", readahead_min_bytes, "B", 0, 16 << 20,
        "a shorter command starts no read-ahead");
  r.add(p + "readahead_queued", readahead_queued, "a queued task starts read-ahead as any command does");
  r.add(p + "gc_free_blocks", gc_free_blocks, "blocks", 1, 100,
        "free blocks per die that start garbage collection");
  r.add(p + "ecc_retries", ecc_retries, "", 0, 100, "read retries before DEVICE_ECC_FAILED");
  r.add(p + "firmware_read_us", firmware_read_us, "us", 0, 1e5, "firmware time of a read command");
  r.add(p + "firmware_write_us", firmware_write_us, "us", 0, 1e5,
        "firmware time of a write, erase or flush command");
  r.add(p + "buffer_latency_us", buffer_latency_us, "us", 0, 1e4,
        "from the device buffer to the bus interface");
  r.add(p + "trim_us", trim_us, "us", 0, 1e7, "map update of a trim or discard of any size");
  r.add(p + "erase_us", erase_us, "us", 0, 1e7, "map update of an erase command");
  r.add(p + "erase_group_us", erase_group_us, "us", 0, 1e7, "addition per erase group");
}

void NandParams::check() const {
  if (!std::has_single_bit(planes) || !std::has_single_bit(page_bytes))
    throw InputError(
        fmt::format("nand: planes = {} and page_bytes = {} must be powers of two", planes, page_bytes));
  if (planes * page_bytes / 4096 > 64)
    throw InputError("nand: planes x page_bytes must not exceed 256 KiB; lower one of them");
}

}  // namespace vp
