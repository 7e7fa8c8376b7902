#include "models/emmc/sparse_medium.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "models/core/params.hpp"

namespace vp {

struct SparseMedium::Image {
  const std::byte* bytes = nullptr;
  std::size_t size = 0;
  ~Image() {
    if (bytes) ::munmap(const_cast<std::byte*>(bytes), size);
  }
  bool holds(std::uint64_t lba) const { return (lba + 1) * kBlockBytes <= size; }
};

SparseMedium::SparseMedium(std::uint64_t blocks, std::byte erased_value)
    : blocks_(blocks),
      erased_value_(erased_value),
      regions_((blocks + kChunkBlocks * kRegionChunks - 1) / (kChunkBlocks * kRegionChunks)) {}

SparseMedium::~SparseMedium() = default;

SparseMedium::Region& SparseMedium::make_region(std::uint64_t lba) {
  auto& r = regions_[lba / (kChunkBlocks * kRegionChunks)];
  if (!r) r = std::make_unique<Region>();
  return *r;
}

SparseMedium::Chunk& SparseMedium::make_chunk(std::uint64_t lba) {
  Region& r = make_region(lba);
  const std::uint64_t c = lba / kChunkBlocks % kRegionChunks;
  if (!r.chunks[c]) {
    r.chunks[c] = std::make_unique_for_overwrite<Chunk>();
    if (r.erased[c]) r.chunks[c]->erased.set();
  }
  return *r.chunks[c];
}

void SparseMedium::read_block(std::uint64_t lba, std::span<std::byte> out) const {
  if (const Region* r = region(lba)) {
    const std::uint64_t c = lba / kChunkBlocks % kRegionChunks, b = lba % kChunkBlocks;
    const Chunk* chunk = r->chunks[c].get();
    if (chunk && chunk->written[b]) {
      std::memcpy(out.data(), chunk->bytes.data() + b * kBlockBytes, kBlockBytes);
      return;
    }
    if (chunk ? chunk->erased[b] : r->erased[c]) {
      std::memset(out.data(), std::to_integer<int>(erased_value_), kBlockBytes);
      return;
    }
  }
  if (image_ && image_->holds(lba)) {
    std::memcpy(out.data(), image_->bytes + lba * kBlockBytes, kBlockBytes);
    return;
  }
  fill_block_pattern(lba, out.first(kBlockBytes));
}

void SparseMedium::read_blocks(std::uint64_t lba, std::uint64_t count, std::span<std::byte> out) const {
  while (count > 0) {
    // Runs inside untouched regions are filled at once.
    const std::uint64_t in_region = kChunkBlocks * kRegionChunks - lba % (kChunkBlocks * kRegionChunks);
    const std::uint64_t n = region(lba) || (image_ && image_->holds(lba)) ? 1 : std::min(count, in_region);
    if (n > 1)
      fill_block_pattern(lba, out.first(n * kBlockBytes));
    else
      read_block(lba, out.first(kBlockBytes));
    lba += n, count -= n;
    out = out.subspan(n * kBlockBytes);
  }
}

bool SparseMedium::holds(std::uint64_t lba, std::span<const std::byte> data) const {
  std::array<std::byte, kBlockBytes> block;
  while (!data.empty()) {
    const std::uint64_t in_region = kChunkBlocks * kRegionChunks - lba % (kChunkBlocks * kRegionChunks);
    const bool touched = region(lba) || (image_ && image_->holds(lba));
    const std::uint64_t n = touched ? 1 : std::min<std::uint64_t>(data.size() / kBlockBytes, in_region);
    if (touched) {
      read_block(lba, block);
      if (std::memcmp(block.data(), data.data(), kBlockBytes) != 0) return false;
    } else if (!holds_block_pattern(lba, data.first(n * kBlockBytes))) {
      return false;
    }
    lba += n;
    data = data.subspan(n * kBlockBytes);
  }
  return true;
}

void SparseMedium::write_block(std::uint64_t lba, std::span<const std::byte> in) {
  Chunk& chunk = make_chunk(lba);
  const std::uint64_t b = lba % kChunkBlocks;
  chunk.written.set(b);
  std::memcpy(chunk.bytes.data() + b * kBlockBytes, in.data(), kBlockBytes);
  touched_end_ = std::max(touched_end_, lba + 1);
  if (b + 1 == kChunkBlocks) drop_uniform(lba);
}

/// A chunk full of the erased value reads the same without its bytes: a file of zeros then takes no memory.
void SparseMedium::drop_uniform(std::uint64_t lba) {
  Region& r = *regions_[lba / (kChunkBlocks * kRegionChunks)];
  const std::uint64_t c = lba / kChunkBlocks % kRegionChunks;
  const Chunk& chunk = *r.chunks[c];
  if (!chunk.written.all() || chunk.bytes.front() != erased_value_ ||
      std::memcmp(chunk.bytes.data(), chunk.bytes.data() + 1, chunk.bytes.size() - 1) != 0)
    return;
  r.chunks[c].reset();
  r.erased.set(c);
}

void SparseMedium::erase(std::uint64_t lba, std::uint64_t count) {
  const std::uint64_t end = std::min(lba + count, blocks_);
  touched_end_ = std::max(touched_end_, end);
  while (lba < end) {
    const std::uint64_t until = std::min(end, (lba / kChunkBlocks + 1) * kChunkBlocks);
    Region& r = make_region(lba);
    const std::uint64_t c = lba / kChunkBlocks % kRegionChunks;
    if (until - lba == kChunkBlocks) {
      r.chunks[c].reset();
      r.erased.set(c);
    } else {
      Chunk& chunk = make_chunk(lba);
      for (std::uint64_t b = lba; b < until; ++b) {
        chunk.written.reset(b % kChunkBlocks);
        chunk.erased.set(b % kChunkBlocks);
      }
    }
    lba = until;
  }
}

bool SparseMedium::ever_written(std::uint64_t lba) const {
  if (const Region* r = region(lba)) {
    const std::uint64_t c = lba / kChunkBlocks % kRegionChunks, b = lba % kChunkBlocks;
    const Chunk* chunk = r->chunks[c].get();
    if (chunk ? chunk->written[b] || chunk->erased[b] : r->erased[c]) return true;
  }
  return image_ && image_->holds(lba);
}

void SparseMedium::load_image(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info {};
  if (fd < 0 || ::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    const std::string why = fd < 0 ? std::strerror(errno) : "not a regular file";
    if (fd >= 0) ::close(fd);
    throw InputError(fmt::format("image {}: cannot be read ({}); name a raw image file", path, why));
  }
  auto image = std::make_unique<Image>();
  image->size = static_cast<std::size_t>(info.st_size);
  if (image->size % kBlockBytes != 0 || image->size > blocks_ * kBlockBytes) {
    ::close(fd);
    if (image->size % kBlockBytes != 0)
      throw InputError(fmt::format("image {}: {} bytes is not a multiple of {}; pad it to whole blocks", path,
                                   image->size, kBlockBytes));
    throw InputError(
        fmt::format("image {}: {} bytes do not fit the device's {} bytes; use a larger part or cut the image",
                    path, image->size, blocks_ * kBlockBytes));
  }
  if (image->size > 0) {
    void* p = ::mmap(nullptr, image->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p != MAP_FAILED) image->bytes = static_cast<const std::byte*>(p);
  }
  ::close(fd);
  if (image->size > 0 && !image->bytes)
    throw InputError(
        fmt::format("image {}: cannot be mapped ({}); free some address space", path, std::strerror(errno)));
  for (auto& r : regions_) r.reset();
  touched_end_ = image->size / kBlockBytes;
  image_ = std::move(image);
}

namespace {

/// A file that replaces another only when it is complete.
class SafeFile {
 public:
  explicit SafeFile(std::string path)
      : path_(std::move(path)), temporary_(fmt::format("{}.{}.tmp", path_, ::getpid())) {
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd_ < 0) fail("create");
  }
  ~SafeFile() {
    if (fd_ >= 0) ::close(fd_), ::unlink(temporary_.c_str());
  }
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) fail("write");
      bytes = bytes.subspan(static_cast<std::size_t>(n));
      offset += static_cast<std::uint64_t>(n);
    }
  }
  void commit(std::uint64_t size) {
    if (::ftruncate(fd_, static_cast<off_t>(size)) != 0 || ::fsync(fd_) != 0) fail("sync");
    if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename");
    ::close(fd_);
    fd_ = -1;
    const auto folder = std::filesystem::path(path_).parent_path();
    const int dir = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (dir >= 0) ::fsync(dir), ::close(dir);
  }

 private:
  [[noreturn]] void fail(const char* what) {
    const int error = errno;
    if (fd_ >= 0) ::close(fd_), ::unlink(temporary_.c_str());
    fd_ = -1;
    throw InputError(fmt::format("image {}: cannot {} {} ({}); check the folder and its free space", path_,
                                 what, temporary_, std::strerror(error)));
  }
  std::string path_, temporary_;
  int fd_ = -1;
};

}  // namespace

void SparseMedium::save_image(const std::string& path) const {
  SafeFile file(path);
  constexpr std::uint64_t kStepBlocks = 2048;  // 1 MiB
  std::vector<std::byte> buffer(kStepBlocks * kBlockBytes);
  for (std::uint64_t lba = 0; lba < touched_end_; lba += kStepBlocks) {
    const std::uint64_t n = std::min(kStepBlocks, touched_end_ - lba);
    const auto part = std::span(buffer).first(n * kBlockBytes);
    read_blocks(lba, n, part);
    const bool zero = std::all_of(part.begin(), part.end(), [](std::byte b) { return b == std::byte{0}; });
    if (!zero) file.write_at(lba * kBlockBytes, part);  // zeros stay holes
  }
  file.commit(touched_end_ * kBlockBytes);
}

}  // namespace vp
