// What a file system sends to the device so that a synchronous write is durable, after its data are there. Three models:
//
//   none  a device node: the cache flush alone.
//   ext2  no journal: the caller writes each metadata block in place and waits (inode table, bitmap or indirect block),
//         then the flush. A trace of `dd oflag=sync` on such a system shows exactly this: one data request, then two
//         4 KiB requests marked synchronous metadata, each sent when the one before has ended, all by dd itself.
//   ext4  ordered journal (data=ordered, no fast commit): the journal's thread writes descriptor and metadata blocks as
//         one run in the journal, then the commit record with PREFLUSH and FUA: flush, record, and a reliable write or a
//         second flush for the record. O_DSYNC and fdatasync commit only when the size changed, else they flush.
//
// Not modelled: checkpointing (metadata in their place), the commit every 5 s, batching of several writers' commits.
// Without a write cache in the device there is nothing to flush.
#pragma once

#include <array>
#include <cstdint>

#include "firmware/app/job_table.hpp"

namespace fw {

inline constexpr std::uint32_t kMetadataBlock = 4096;

struct CommitStep {
  enum class Kind : std::uint8_t { write, flush } kind = Kind::flush;
  std::uint64_t offset = 0;  ///< bytes on the device
  std::uint32_t bytes = 0;
  bool fua = false;
};

struct CommitPlan {
  static constexpr unsigned kMost = 16;
  std::array<CommitStep, kMost> steps{};  ///< each starts when the one before has ended
  unsigned count = 0;
  std::uint32_t blocks = 0;  ///< metadata blocks the CPU puts together
  bool transaction = false;  ///< a journal commit

  void write(std::uint64_t offset, std::uint32_t bytes, bool fua = false);
  void flush();
};

class Committer {
 public:
  /// `cache`: the device has a write cache that is on; `fua`: the disk can write through it.
  void init(const OsConfig& config, bool cache, bool fua);
  /// `metadata`: there is something beside the data to make durable.
  CommitPlan plan(FileSystem fs, bool metadata);

 private:
  void journal(CommitPlan& p, std::uint32_t blocks);
  OsConfig config_{};
  bool cache_ = false, fua_ = false;
  std::uint64_t head_ = 0;  ///< next byte of the journal
};

}  // namespace fw
