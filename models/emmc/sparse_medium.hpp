// The bytes of one partition. Only what has been written takes host memory: 64 KiB chunks under regions of 16
// MiB, found in constant time. A block is in one of three states: never written (reads as the block pattern),
// erased (reads as the erased value), or written. A raw image file may stand underneath: blocks inside it are
// written blocks, blocks beyond its end are never written.
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/emmc/block_pattern.hpp"

namespace vp {

class SparseMedium {
 public:
  SparseMedium(std::uint64_t blocks, std::byte erased_value);
  ~SparseMedium();
  SparseMedium(const SparseMedium&) = delete;
  SparseMedium& operator=(const SparseMedium&) = delete;

  std::uint64_t blocks() const { return blocks_; }

  /// One block; `out` is 512 bytes. lba < blocks().
  void read_block(std::uint64_t lba, std::span<std::byte> out) const;
  void write_block(std::uint64_t lba, std::span<const std::byte> in);
  /// `count` blocks from `lba` on.
  void read_blocks(std::uint64_t lba, std::uint64_t count, std::span<std::byte> out) const;
  /// Do `data` (whole blocks) equal the blocks from `lba` on?
  bool holds(std::uint64_t lba, std::span<const std::byte> data) const;
  void erase(std::uint64_t lba, std::uint64_t count);
  bool ever_written(std::uint64_t lba) const;

  /// Puts a raw image underneath (the file stays as it is; changes are kept in memory). Throws InputError
  /// when the file cannot be read, is no multiple of 512 bytes, or is larger than the device.
  void load_image(const std::string& path);
  /// Writes the medium up to the last block ever touched: under a temporary name in the same folder, synced,
  /// then renamed. Throws InputError when it cannot; the old file is then untouched.
  void save_image(const std::string& path) const;

 private:
  void drop_uniform(std::uint64_t lba);
  static constexpr std::uint64_t kChunkBlocks = 128;   // 64 KiB
  static constexpr std::uint64_t kRegionChunks = 256;  // 16 MiB
  struct Chunk {
    std::bitset<kChunkBlocks> written, erased;
    std::array<std::byte, kChunkBlocks * kBlockBytes> bytes;
  };
  struct Region {
    std::array<std::unique_ptr<Chunk>, kRegionChunks> chunks;
    std::bitset<kRegionChunks> erased;  // whole chunks without bytes
  };
  struct Image;  // a mapped file

  const Region* region(std::uint64_t lba) const {
    return regions_[lba / (kChunkBlocks * kRegionChunks)].get();
  }
  Region& make_region(std::uint64_t lba);
  Chunk& make_chunk(std::uint64_t lba);

  std::uint64_t blocks_;
  std::byte erased_value_;
  std::vector<std::unique_ptr<Region>> regions_;
  std::unique_ptr<Image> image_;
  std::uint64_t touched_end_ = 0;
};

}  // namespace vp
