#include "firmware/os/page_cache.hpp"

#include <bit>

namespace fw {

namespace {
std::uint32_t bits_for(std::uint32_t frames) {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(std::bit_ceil(frames)) - 1);
  return bits ? bits : 1;
}
}  // namespace

std::uint64_t PageCache::table_bytes(std::uint32_t frames) {
  return std::uint64_t{frames} * sizeof(Frame) + (std::uint64_t{4} << bits_for(frames));
}

void PageCache::init(void* memory, std::uint32_t frames) {
  table_ = static_cast<Frame*>(memory);
  buckets_ = reinterpret_cast<std::uint32_t*>(table_ + frames);
  frames_ = frames;
  bucket_bits_ = bits_for(frames);
  hand_ = dirty_ = writing_ = 0;
  for (std::uint32_t i = 0; i < frames; ++i) table_[i] = {0, kNone, 0};
  for (std::uint32_t i = 0; i < 1u << bucket_bits_; ++i) buckets_[i] = kNone;
}

std::uint32_t PageCache::bucket(std::uint64_t page) const {  // Fibonacci hashing
  return static_cast<std::uint32_t>(page * 0x9E37'79B9'7F4A'7C15 >> (64 - bucket_bits_));
}

std::uint32_t PageCache::find(std::uint64_t page) const {
  std::uint32_t f = buckets_[bucket(page)];
  while (f != kNone && table_[f].page != page) f = table_[f].next;
  return f;
}

std::uint32_t PageCache::allocate(std::uint64_t page) {
  const std::uint32_t f = hand_;
  if (!evictable(f)) return kNone;
  drop(f);
  const std::uint32_t b = bucket(page);
  table_[f] = {page, buckets_[b], kUsed};
  buckets_[b] = f;
  hand_ = hand_ + 1 == frames_ ? 0 : hand_ + 1;
  return f;
}

void PageCache::drop(std::uint32_t frame) {
  if (!has(frame, kUsed)) return;
  std::uint32_t* link = &buckets_[bucket(table_[frame].page)];
  while (*link != frame) link = &table_[*link].next;
  *link = table_[frame].next;
  count(table_[frame].flags, 0);
  table_[frame] = {0, kNone, 0};
}

void PageCache::count(std::uint32_t before, std::uint32_t after) {
  dirty_ +=
      static_cast<std::uint32_t>((after & kDirty) != 0) - static_cast<std::uint32_t>((before & kDirty) != 0);
  writing_ += static_cast<std::uint32_t>((after & kWriting) != 0) -
              static_cast<std::uint32_t>((before & kWriting) != 0);
}

void PageCache::set(std::uint32_t frame, std::uint32_t flags) {
  count(table_[frame].flags, table_[frame].flags | flags);
  table_[frame].flags |= flags;
}

void PageCache::clear(std::uint32_t frame, std::uint32_t flags) {
  count(table_[frame].flags, table_[frame].flags & ~flags);
  table_[frame].flags &= ~flags;
}

}  // namespace fw
