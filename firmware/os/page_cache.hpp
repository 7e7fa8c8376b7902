// The page cache's books: which page of the device lies in which frame of memory, and in what state. Frames are taken in
// a ring, so pages that come together lie together and one I/O can move them; the oldest page is evicted first, whatever
// was read since (one inactive list, no second chance). Pages are numbered on the device: page n holds the bytes from
// n * page_bytes on, whatever file they belong to. The page's bytes lie elsewhere (OsLayer); no time passes here.
#pragma once

#include <cstdint>

namespace fw {

class PageCache {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  enum Flag : std::uint32_t {
    kUsed = 1,
    kReading = 2,  ///< not yet there
    kDirty = 4,
    kWriting = 8,  ///< under write-back: must not change
    kMark = 16,    ///< read-ahead goes on when a reader comes here
    kFailed = 32,  ///< could not be read
    kAhead = 64,   ///< came by read-ahead, nobody has asked for it yet
  };

  /// Bytes of the tables for `frames` frames.
  static std::uint64_t table_bytes(std::uint32_t frames);
  /// `memory` holds table_bytes(frames), aligned to 8.
  void init(void* memory, std::uint32_t frames);

  std::uint32_t frames() const { return frames_; }
  std::uint32_t find(std::uint64_t page) const;
  /// Takes the oldest frame for `page`, which is not cached; kNone when that frame is dirty or in use by an I/O.
  std::uint32_t allocate(std::uint64_t page);
  /// The frame allocate() takes next.
  std::uint32_t oldest() const { return hand_; }
  bool evictable(std::uint32_t frame) const {
    return !(table_[frame].flags & (kReading | kDirty | kWriting));
  }
  void drop(std::uint32_t frame);

  std::uint64_t page(std::uint32_t frame) const { return table_[frame].page; }
  bool has(std::uint32_t frame, std::uint32_t flags) const { return (table_[frame].flags & flags) != 0; }
  void set(std::uint32_t frame, std::uint32_t flags);
  void clear(std::uint32_t frame, std::uint32_t flags);

  std::uint32_t dirty() const { return dirty_; }
  std::uint32_t writing() const { return writing_; }

 private:
  struct Frame {
    std::uint64_t page;
    std::uint32_t next;  ///< of the same bucket
    std::uint32_t flags;
  };
  std::uint32_t bucket(std::uint64_t page) const;
  void count(std::uint32_t before, std::uint32_t after);

  Frame* table_ = nullptr;
  std::uint32_t* buckets_ = nullptr;
  std::uint32_t frames_ = 0, bucket_bits_ = 0;
  std::uint32_t hand_ = 0;
  std::uint32_t dirty_ = 0, writing_ = 0;
};

}  // namespace fw
