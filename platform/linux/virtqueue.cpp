#include "platform/linux/virtqueue.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstring>

#include "platform/linux/stream.hpp"

namespace vp::guest {
namespace {

// Layout of the rings (2.6.6, 2.6.8): 16-bit flags and index, then the entries.
constexpr std::size_t kIndexAt = 2, kEntriesAt = 4;
constexpr std::size_t kAvailableEntry = sizeof(std::uint16_t);
constexpr std::size_t kUsedEntry = sizeof(VringUsed);

std::uint16_t load16(const std::byte* at) {
  std::uint16_t v = 0;
  std::memcpy(&v, at, sizeof v);
  return v;
}
void store16(std::byte* at, std::uint16_t v) { std::memcpy(at, &v, sizeof v); }

}  // namespace

void Virtqueue::set_size(std::uint32_t entries) {
  if (entries == 0 || entries > 0x8000 || (entries & (entries - 1)) != 0)
    throw ProtocolError(fmt::format("virtqueue of {} entries: not a power of two up to 32768", entries));
  size_ = static_cast<std::uint16_t>(entries);
}

void Virtqueue::set_rings(std::uint64_t descriptors, std::uint64_t available, std::uint64_t used,
                          const GuestPointer& memory) {
  descriptors_ = memory(descriptors, sizeof(VringDescriptor) * size_);
  available_ = memory(available, kEntriesAt + kAvailableEntry * size_);
  used_ = memory(used, kEntriesAt + kUsedEntry * size_);
  if (size_ == 0 || !descriptors_ || !available_ || !used_)
    throw ProtocolError(
        fmt::format("a ring of the virtqueue at 0x{:x} is not in shared memory", descriptors));
}

std::optional<Virtqueue::Chain> Virtqueue::pop(const GuestPointer& memory) {
  if (!ready()) return std::nullopt;
  // The driver writes the entry, then the index (2.6.13): read them the other way round.
  const std::uint16_t filled = load16(available_ + kIndexAt);
  std::atomic_thread_fence(std::memory_order_acquire);
  if (next_ == filled) return std::nullopt;
  Chain chain;
  chain.head = load16(available_ + kEntriesAt + kAvailableEntry * (next_ % size_));
  ++next_;
  std::uint16_t index = chain.head;
  for (std::uint16_t steps = 0;; ++steps) {
    if (steps == size_ || index >= size_)
      throw ProtocolError(fmt::format("virtqueue chain {} has no end in its table", chain.head));
    VringDescriptor d;
    std::memcpy(&d, descriptors_ + sizeof d * index, sizeof d);
    std::byte* const data = memory(d.address, d.bytes);
    if (!data || (d.flags & kDescriptorIndirect))
      throw ProtocolError(fmt::format("virtqueue descriptor {}: 0x{:x} + {} is not in shared memory", index,
                                      d.address, d.bytes));
    if (d.flags & kDescriptorWrite)
      chain.writable.emplace_back(data, d.bytes);
    else
      chain.readable.emplace_back(data, d.bytes);
    if (!(d.flags & kDescriptorNext)) return chain;
    index = d.next;
  }
}

void Virtqueue::push(const Chain& chain, std::uint32_t written) {
  const std::uint16_t index = load16(used_ + kIndexAt);
  const VringUsed element{chain.head, written};
  std::memcpy(used_ + kEntriesAt + kUsedEntry * (index % size_), &element, sizeof element);
  std::atomic_thread_fence(std::memory_order_release);
  store16(used_ + kIndexAt, static_cast<std::uint16_t>(index + 1));
  ++uncalled_;
}

bool Virtqueue::wants_call() const { return ready() && !(load16(available_) & kAvailableNoInterrupt); }

}  // namespace vp::guest
