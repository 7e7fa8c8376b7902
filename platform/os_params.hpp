// Parameters of the operating system's path (firmware/os): the page cache, read-ahead, write-back, the file system, and
// where a named file lies on the device. What its steps cost the CPU are cpu.*_ns; these say how much and where.
// Defaults are Linux's where it has one; the places are those of a block trace of `dd oflag=sync` on a 4 GB eMMC (data at
// sector 1056768, metadata at 25184 and 170024 of the disk).
#pragma once

#include <cstdint>
#include <string>

#include "firmware/app/job_table.hpp"
#include "models/core/params.hpp"

namespace vp {

struct OsParams {
  std::uint64_t cache_bytes = 64 << 20;             ///< choice: enough for every window and the dirty limit
  std::uint64_t read_ahead_kib = 128;               ///< Linux VM_READAHEAD_PAGES
  std::uint64_t dirty_background_bytes = 16 << 20;  ///< Linux: 10 % of free memory; here of a small one
  std::uint64_t dirty_limit_bytes = 32 << 20;       ///< Linux: 20 %
  std::uint64_t max_io_bytes = 4 << 20;             ///< Linux MIN_WRITEBACK_PAGES: 4 MiB
  std::uint64_t writeback_ios = 4;                  ///< choice
  std::string filesystem = "ext4";
  bool fua = true;  ///< Linux: where CMD23 and reliable writes exist
  std::uint64_t journal_start_bytes = 170024ull * 512;
  std::uint64_t journal_bytes = 64 << 20;  ///< mke2fs: 64 MiB for file systems of 16 to 32 GiB
  std::uint64_t journal_blocks = 4;        ///< inode table, block bitmap, group descriptor, superblock
  std::uint64_t metadata_blocks = 2;       ///< of the trace
  std::uint64_t metadata_start_bytes = 25184ull * 512;
  std::uint64_t file_start_bytes = 1056768ull * 512;
  std::uint64_t file_bytes = 1 << 30;
  std::uint64_t partition_start_bytes = 4 << 20;  ///< the trace's partition 1: sector 8192

  void declare(ParamRegistry& r, const std::string& at);
  /// Throws InputError when the values contradict each other or the page size.
  void fill(fw::OsConfig& to, std::uint64_t page_bytes) const;
};

}  // namespace vp
