// Sparse backing store: pages of the host that were never touched cost nothing and read as zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vp {

/// One range of address space, [base, base + size) in bytes.
struct MemoryBank {
  std::uint64_t base = 0, size = 0;
};

class HostMemory {
 public:
  /// Throws std::invalid_argument on an empty or overlapping bank, std::runtime_error when the host refuses.
  explicit HostMemory(const std::vector<MemoryBank>& banks);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// Host address of [address, address + bytes); null unless the whole range lies in one bank.
  std::byte* ptr(std::uint64_t address, std::uint64_t bytes) const {
    for (const Mapped& b : banks_)
      if (address >= b.range.base && bytes <= b.range.size && address - b.range.base <= b.range.size - bytes)
        return b.host + (address - b.range.base);
    return nullptr;
  }
  /// The bank that holds `address`, or null.
  const MemoryBank* bank(std::uint64_t address) const;
  /// Puts a file of another process behind `range`, which must lie in one bank and on page boundaries; the bank shrinks
  /// to it, and pointers into it stay where they were. Throws std::invalid_argument, std::runtime_error.
  void back_with(const MemoryBank& range, int fd, std::uint64_t file_offset);
  /// Host bytes in use by touched pages (whole pages).
  std::uint64_t resident_bytes() const;

 private:
  struct Mapped {
    MemoryBank range;
    std::byte* host;
  };
  std::vector<Mapped> banks_;
};

}  // namespace vp
