#include "firmware/drivers/cqhci_tables.hpp"

#include <cstring>

#include "firmware/drivers/cqhci_hw.hpp"
#include "firmware/drivers/dma_pieces.hpp"
#include "firmware/hal/hal.hpp"

namespace fw {

namespace {
constexpr std::uint32_t kMaxBlocks = 0xFFFF;
constexpr std::uint64_t kWindow = hw::kDmaWindowBytes;
}  // namespace

std::uint32_t dma_boundaries(std::uint64_t base, std::uint64_t bytes) {
  return bytes == 0 ? 0 : static_cast<std::uint32_t>((base + bytes - 1) / kWindow - base / kWindow);
}

std::uint32_t cq_entries_needed(std::uint32_t max_segs, std::uint32_t max_seg_bytes,
                                std::uint32_t boundaries) {
  const auto per_segment = static_cast<std::uint32_t>((max_seg_bytes + kMaxPieceBytes - 1) / kMaxPieceBytes);
  return max_segs * per_segment + boundaries;
}

std::uint64_t CqTables::list_bytes(const CqShape& shape) {
  return std::uint64_t{cq::kSlots} * shape.slot_bytes();
}

std::uint64_t CqTables::table_bytes(const CqShape& shape, std::uint32_t tags, std::uint32_t entries) {
  return std::uint64_t{tags} * entries * shape.trans_bytes();
}

std::uint64_t CqTables::table_address(unsigned tag) const {
  return place_.tables + table_bytes(shape_, tag, place_.entries);
}

bool CqTables::init(const CqShape& shape, const Place& place, bool split_128m) {
  shape_ = shape;
  place_ = place;
  split_ = split_128m;
  const std::uint64_t size = table_bytes(shape, place.tags, place.entries);
  if (place.list % cq::kListAlign || place.tags > cq::kSlots || size == 0) return false;
  const std::uint64_t tables_end = place.tables + size - 1;
  if (!shape.dma64 && tables_end >> 32) return false;  // the list itself may lie anywhere
  list_ = static_cast<unsigned char*>(hal::ram(place.list, list_bytes(shape)));
  tables_ = static_cast<unsigned char*>(hal::ram(place.tables, size));
  std::memset(list_, 0, list_bytes(shape));
  std::memset(tables_, 0, size);
  for (unsigned tag = 0; tag < place.tags; ++tag)
    put_link(tag, cq::kActLink | cq::kValid, table_address(tag));
  return true;
}

// Reserved words are written too: memory from a pool holds anything.
void CqTables::put_words(unsigned char* at, std::uint32_t bytes, std::uint32_t word0, std::uint64_t address) {
  const std::uint32_t words[4] = {word0, static_cast<std::uint32_t>(address),
                                  static_cast<std::uint32_t>(address >> 32), 0};
  std::memcpy(at, words, bytes);
}

void CqTables::put_task(unsigned slot, std::uint32_t word0, std::uint32_t word1) {
  put_words(list_ + std::size_t{slot} * shape_.slot_bytes(), shape_.task_bytes(), word0, word1);
}

void CqTables::put_link(unsigned slot, std::uint32_t attributes, std::uint64_t address) {
  put_words(list_ + std::size_t{slot} * shape_.slot_bytes() + shape_.task_bytes(), shape_.link_bytes(),
            attributes, address);
}

std::uint32_t CqTables::put_data(unsigned tag, const CqTask& task, std::span<const Segment> segments) {
  if (tag >= place_.tags || task.blocks == 0 || task.blocks > kMaxBlocks) return 0;
  unsigned char* const table = tables_ + table_bytes(shape_, tag, place_.entries);
  std::uint32_t used = 0;
  const auto put = [&](std::uint64_t address, std::uint32_t bytes) {
    if (used == place_.entries) return false;
    put_words(table + std::size_t{used} * shape_.trans_bytes(), shape_.trans_bytes(),
              cq::kActTran | cq::kValid | (bytes & 0xFFFF) << cq::kLengthLsb, address);
    ++used;
    return true;
  };
  for (const Segment& s : segments) {
    if (s.bytes == 0 || ((s.address | s.bytes) & 3)) return 0;
    if (!shape_.dma64 && (s.address + s.bytes - 1) >> 32) return 0;
    if (!for_each_piece(s.address, s.bytes, split_, put)) return 0;
  }
  if (used == 0) return 0;
  unsigned char* const last = table + std::size_t{used - 1} * shape_.trans_bytes();
  *last = static_cast<unsigned char>(*last | cq::kEnd);  // attributes are the first byte
  put_task(tag,
           cq::kValid | cq::kEnd | cq::kActTask | (task.interrupt ? cq::kInterrupt : 0) |
               (task.read ? cq::kTaskRead : 0) | task.blocks << cq::kBlocksLsb,
           task.address);
  return used;
}

// A flush waits for the tasks before it and holds back those after it: QBR.
void CqTables::put_direct(unsigned slot, std::uint8_t index, std::uint32_t arg) {
  put_link(slot, cq::kEnd, 0);
  put_task(slot,
           cq::kValid | cq::kEnd | cq::kInterrupt | cq::kTaskBarrier | cq::kActTask | cq::kDirectR1b |
               std::uint32_t{index} << cq::kDirectIndexLsb,
           arg);
}

}  // namespace fw
