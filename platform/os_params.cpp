#include "platform/os_params.hpp"

#include <fmt/format.h>

namespace vp {
namespace {

constexpr std::uint64_t kMost = std::uint64_t{1} << 40;

void require(bool good, const std::string& key, std::uint64_t value, const std::string& remedy) {
  if (!good) throw InputError(fmt::format("{}={}: {}", key, value, remedy));
}

}  // namespace

void OsParams::declare(ParamRegistry& r, const std::string& at) {
  r.add(at + ".cache_bytes", cache_bytes, "B", 1 << 20, std::uint64_t{1} << 32,
        "page cache, taken from driver.buffer_bytes");
  r.add(at + ".read_ahead_kib", read_ahead_kib, "KiB", 0, 65536,
        "largest read-ahead window (read_ahead_kb of the disk)");
  r.add(at + ".dirty_background_bytes", dirty_background_bytes, "B", 0, kMost,
        "dirty data above which write-back starts by itself");
  r.add(at + ".dirty_limit_bytes", dirty_limit_bytes, "B", 4096, kMost, "dirty data at which a writer waits");
  r.add(at + ".max_io_bytes", max_io_bytes, "B", 4096, 64 << 20,
        "longest I/O built from contiguous cached pages");
  r.add(at + ".writeback_ios", writeback_ios, "I/Os", 1, 32, "I/Os that background write-back keeps open");
  r.add(at + ".filesystem", filesystem, {"none", "ext2", "ext4"},
        "what files lie on: metadata of a synchronous write");
  r.add(at + ".fua", fua,
        "commit records by FUA (reliable write) where disk and card can; else a second flush");
  r.add(at + ".journal_start_bytes", journal_start_bytes, "B", 0, kMost, "ext4: where the journal lies");
  r.add(at + ".journal_bytes", journal_bytes, "B", 1 << 20, kMost, "ext4: its size");
  r.add(at + ".journal_blocks", journal_blocks, "4 KiB blocks", 1, 255,
        "ext4: metadata blocks of a transaction, beside descriptor and commit record");
  r.add(at + ".metadata_blocks", metadata_blocks, "4 KiB blocks", 0, 8,
        "ext2: metadata blocks written in place after the data");
  r.add(at + ".metadata_start_bytes", metadata_start_bytes, "B", 0, kMost,
        "ext2: where they lie, 1 MiB apart");
  r.add(at + ".file_start_bytes", file_start_bytes, "B", 0, kMost, "where a named file lies, contiguous");
  r.add(at + ".file_bytes", file_bytes, "B", 1, kMost, "size of a file that is there already");
  r.add(at + ".partition_start_bytes", partition_start_bytes, "B", 0, kMost, "where /dev/mmcblkNpM begins");
}

void OsParams::fill(fw::OsConfig& to, std::uint64_t page_bytes) const {
  constexpr std::uint64_t kFewestPages = 16;
  require(cache_bytes / page_bytes >= kFewestPages, "os.cache_bytes", cache_bytes,
          fmt::format("holds fewer than {} pages of {} bytes: raise it", kFewestPages, page_bytes));
  require(read_ahead_kib * 1024 * 8 <= cache_bytes, "os.read_ahead_kib", read_ahead_kib,
          "four doubled windows do not fit os.cache_bytes: lower it, or raise the cache");
  require(dirty_limit_bytes <= cache_bytes / 4 * 3, "os.dirty_limit_bytes", dirty_limit_bytes,
          "above three quarters of os.cache_bytes: lower it, or raise the cache");
  require(dirty_background_bytes < dirty_limit_bytes, "os.dirty_background_bytes", dirty_background_bytes,
          "not below os.dirty_limit_bytes: lower it");
  for (const auto& [key, value] : {std::pair{"os.file_start_bytes", file_start_bytes},
                                   std::pair{"os.partition_start_bytes", partition_start_bytes}})
    require(value % page_bytes == 0, key, value,
            fmt::format("not a multiple of the {}-byte page: round it", page_bytes));
  for (const auto& [key, value] : {std::pair{"os.journal_start_bytes", journal_start_bytes},
                                   std::pair{"os.journal_bytes", journal_bytes},
                                   std::pair{"os.metadata_start_bytes", metadata_start_bytes}})
    require(value % 4096 == 0, key, value, "not a multiple of 4096: round it");
  const auto u32 = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  to.cache_bytes = cache_bytes / page_bytes * page_bytes;
  to.read_ahead_bytes = read_ahead_kib * 1024;
  to.dirty_background_bytes = dirty_background_bytes;
  to.dirty_limit_bytes = dirty_limit_bytes;
  to.max_io_bytes = max_io_bytes;
  to.writeback_ios = u32(writeback_ios);
  to.fua = fua;
  to.journal_start = journal_start_bytes;
  to.journal_bytes = journal_bytes;
  to.journal_blocks = u32(journal_blocks);
  to.metadata_blocks = u32(metadata_blocks);
  to.metadata_start = metadata_start_bytes;
  to.filesystem = u32(filesystem == "ext4" ? 2 : filesystem == "ext2" ? 1 : 0);
  to.file_start = file_start_bytes;
  to.file_bytes = file_bytes;
  to.partition_start = partition_start_bytes;
}

}  // namespace vp
