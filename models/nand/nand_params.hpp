// Parameters of the NAND back end and of the translation layer's firmware. Defaults are preset B of README
// "Device parts" (32 GB MLC/TLC, 2015 to 2018); platform/parts/*.toml carry the others with the source of
// each figure.
#pragma once

#include <cstdint>
#include <string>

#include "models/core/params.hpp"

namespace vp {

/// Kernel time units (1 ps) as a plain number: what the NAND calculates in.
using Ps = std::uint64_t;

struct NandParams {
  // Geometry.
  std::uint64_t channels = 1;
  std::uint64_t dies = 2;  ///< per channel
  std::uint64_t planes = 2;
  std::uint64_t page_bytes = 16384;
  std::uint64_t pages_per_block = 512;
  std::uint64_t bits_per_cell = 2;  ///< page p of a block is of kind p mod bits: LSB, (CSB,) MSB

  // Array and channel.
  double channel_mb_per_s = 400;  ///< 10^6 bytes per second
  double t_r_lsb_us = 50, t_r_csb_us = 65, t_r_msb_us = 80;
  double t_prog_us = 1300;
  double t_bers_us = 4000;
  double t_r_slc_us = 25, t_prog_slc_us = 250;
  bool cache_ops = true;  ///< cache read and cache program: a die's register is loaded while its array works

  // Translation layer.
  double over_provisioning_percent = 7;
  std::uint64_t slc_buffer_bytes = 0;  ///< static SLC write buffer, beside the native blocks; 0: none
  double fold_idle_us = 100000;        ///< idle time after which the SLC buffer is moved to native blocks
  std::uint64_t l2p_cache_bytes = 262144;
  std::uint64_t map_page_bytes = 4096;        ///< 4-byte entries: 1024 mapping units, 4 MiB of data
  std::uint64_t write_buffer_bytes = 131072;  ///< RAM for written data while the cache is off
  std::uint64_t read_window_pages = 8;        ///< pages a read may have in the device's buffer
  std::uint64_t readahead_bytes = 0;          ///< 0: no read-ahead between commands
  std::uint64_t readahead_after = 2;          ///< commands in a row that continue their predecessor
  std::uint64_t readahead_min_bytes = 0;      ///< a shorter command starts none
  bool readahead_queued = true;               ///< a queued task starts read-ahead as any command does
  std::uint64_t gc_free_blocks = 2;           ///< free blocks per die below which space is reclaimed
  std::uint64_t ecc_retries = 5;              ///< read retries before a page is given up

  // Firmware.
  double firmware_read_us = 50, firmware_write_us = 50;
  double buffer_latency_us = 1;
  double trim_us = 500;       ///< trim and discard, any size
  double erase_us = 1000;     ///< erase, once per command
  double erase_group_us = 2;  ///< erase, per group

  void declare(ParamRegistry& r, const std::string& at);
  /// Throws InputError when the geometry is not one the translation layer can use.
  void check() const;

  static Ps us(double microseconds);
  std::uint64_t all_dies() const { return channels * dies; }
};

}  // namespace vp
