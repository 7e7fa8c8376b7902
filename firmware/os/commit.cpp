#include "firmware/os/commit.hpp"

namespace fw {

namespace {
constexpr std::uint64_t kMetadataApart = 1
                                         << 20;  // inode table, bitmap and indirect block do not lie together
}

void CommitPlan::write(std::uint64_t offset, std::uint32_t bytes, bool fua) {
  if (count < kMost) steps[count++] = {CommitStep::Kind::write, offset, bytes, fua};
}

void CommitPlan::flush() {
  if (count < kMost) steps[count++] = CommitStep{};
}

void Committer::init(const OsConfig& config, bool cache, bool fua) {
  config_ = config;
  cache_ = cache;
  fua_ = fua && config.fua;
  head_ = 0;
}

/// The next blocks of the journal, in two runs where it wraps.
void Committer::journal(CommitPlan& p, std::uint32_t blocks) {
  std::uint64_t bytes = std::uint64_t{blocks} * kMetadataBlock;
  while (bytes) {
    const std::uint64_t room = config_.journal_bytes - head_;
    const std::uint64_t n = bytes < room ? bytes : room;
    p.write(config_.journal_start + head_, static_cast<std::uint32_t>(n));
    head_ = (head_ + n) % config_.journal_bytes;
    bytes -= n;
  }
}

CommitPlan Committer::plan(FileSystem fs, bool metadata) {
  CommitPlan p;
  if (fs == FileSystem::ext2 && metadata) {
    p.blocks = config_.metadata_blocks;
    for (std::uint32_t i = 0; i < config_.metadata_blocks; ++i)
      p.write(config_.metadata_start + i * kMetadataApart, kMetadataBlock);
  }
  if (fs == FileSystem::ext4 && metadata) {
    p.transaction = true;
    p.blocks = config_.journal_blocks;
    journal(p, config_.journal_blocks + 1);  // the descriptor block first
    if (cache_) p.flush();
    journal(p, 1);
    if (!cache_) return p;
    if (fua_)
      p.steps[p.count - 1].fua = true;
    else
      p.flush();
    return p;
  }
  if (cache_) p.flush();
  return p;
}

}  // namespace fw
