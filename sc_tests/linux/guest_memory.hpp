// A few pages of "guest memory" and the driver's side of a virtqueue in it, for tests that need no kernel.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "platform/linux/virtqueue.hpp"

namespace vp::guest {

struct GuestMemory {
  static constexpr std::uint64_t kBase = 0x60'0000, kBytes = 64 * 1024;
  std::array<std::byte, kBytes> bytes{};

  GuestPointer pointer() {
    return [this](std::uint64_t at, std::uint64_t n) -> std::byte* {
      return at >= kBase && n <= kBytes && at - kBase <= kBytes - n ? bytes.data() + (at - kBase) : nullptr;
    };
  }
  template <class T>
  T get(std::uint64_t at) {
    T v;
    std::memcpy(&v, bytes.data() + (at - kBase), sizeof v);
    return v;
  }
  template <class T>
  void put(std::uint64_t at, const T& v) {
    std::memcpy(bytes.data() + (at - kBase), &v, sizeof v);
  }
};

/// What a driver keeps: rings of four entries at fixed addresses.
struct DriverQueue {
  static constexpr std::uint32_t kEntries = 4;
  static constexpr std::uint64_t kDescriptors = GuestMemory::kBase, kAvailable = kDescriptors + 0x1000,
                                 kUsed = kDescriptors + 0x2000;
  GuestMemory& memory;
  std::uint16_t offered = 0;

  void describe(std::uint16_t i, std::uint64_t at, std::uint32_t bytes, std::uint16_t flags,
                std::uint16_t next = 0) {
    memory.put(kDescriptors + 16 * i, VringDescriptor{at, bytes, flags, next});
  }
  void offer(std::uint16_t head) {
    memory.put(kAvailable + 4 + 2 * (offered % kEntries), head);
    memory.put(kAvailable + 2, ++offered);
  }
  std::uint16_t used_index() { return memory.get<std::uint16_t>(kUsed + 2); }
  VringUsed used(unsigned i) { return memory.get<VringUsed>(kUsed + 4 + 8 * i); }
  void attach(Virtqueue& queue) {
    queue.set_size(kEntries);
    queue.set_rings(kDescriptors, kAvailable, kUsed, memory.pointer());
    queue.set_enabled(true);
  }
};

}  // namespace vp::guest
