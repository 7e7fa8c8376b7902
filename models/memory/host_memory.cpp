#include "models/memory/host_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

namespace vp {

HostMemory::HostMemory(const std::vector<MemoryBank>& banks) {
  for (const MemoryBank& b : banks) {
    if (b.size == 0 || b.base + b.size - 1 < b.base)
      throw std::invalid_argument(fmt::format("memory bank at {:#x}: empty or past 2^64", b.base));
    for (const Mapped& m : banks_)
      if (b.base < m.range.base + m.range.size && m.range.base < b.base + b.size)
        throw std::invalid_argument(
            fmt::format("memory banks at {:#x} and {:#x} overlap", m.range.base, b.base));
    void* host =
        mmap(nullptr, b.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (host == MAP_FAILED)
      throw std::runtime_error(
          fmt::format("memory bank at {:#x}: the host has no {} bytes of address space", b.base, b.size));
    banks_.push_back({b, static_cast<std::byte*>(host)});
  }
}

HostMemory::~HostMemory() {
  for (const Mapped& m : banks_) munmap(m.host, m.range.size);
}

void HostMemory::back_with(const MemoryBank& range, int fd, std::uint64_t file_offset) {
  for (Mapped& m : banks_) {
    if (!ptr(range.base, range.size) || range.base < m.range.base ||
        range.base - m.range.base >= m.range.size)
      continue;
    std::byte* const at = m.host + (range.base - m.range.base);
    if (mmap(at, range.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd,
             static_cast<off_t>(file_offset)) == MAP_FAILED)
      throw std::runtime_error(
          fmt::format("memory at {:#x}: the file of its owner cannot be mapped", range.base));
    const std::uint64_t before = range.base - m.range.base, after = m.range.size - before - range.size;
    if (before > 0) munmap(m.host, before);
    if (after > 0) munmap(at + range.size, after);
    m = {range, at};
    return;
  }
  throw std::invalid_argument(
      fmt::format("memory at {:#x} + {:#x} is not in one bank", range.base, range.size));
}

const MemoryBank* HostMemory::bank(std::uint64_t address) const {
  for (const Mapped& m : banks_)
    if (address >= m.range.base && address - m.range.base < m.range.size) return &m.range;
  return nullptr;
}

std::uint64_t HostMemory::resident_bytes() const {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::uint64_t bytes = 0;
  std::vector<unsigned char> flags;
  for (const Mapped& m : banks_) {
    flags.assign((m.range.size + page - 1) / page, 0);
    if (mincore(m.host, m.range.size, flags.data()) != 0) continue;
    for (const unsigned char f : flags) bytes += (f & 1) ? page : 0;
  }
  return bytes;
}

}  // namespace vp
