// Device side of one split virtqueue in guest memory (Virtual I/O Device 1.1, 2.6).
// Modelled: descriptor chains, the available and used rings, the driver's wish for no notification. Not modelled:
// indirect tables, event indices (neither feature is offered), packed rings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace vp::guest {

/// Host address of a range of guest memory, or null when the guest has not shared all of it.
using GuestPointer = std::function<std::byte*(std::uint64_t address, std::uint64_t bytes)>;

/// Layout in guest memory, little-endian (2.6.5, 2.6.8); <linux/virtio_ring.h> is not C++.
struct VringDescriptor {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0;
  std::uint16_t flags = 0, next = 0;
};
static_assert(sizeof(VringDescriptor) == 16);
struct VringUsed {
  std::uint32_t head = 0, bytes = 0;
};
inline constexpr std::uint16_t kDescriptorNext = 1, kDescriptorWrite = 2, kDescriptorIndirect = 4;
inline constexpr std::uint16_t kAvailableNoInterrupt = 1;

class Virtqueue {
 public:
  /// One request of the driver: what it gives to read and to write, in chain order.
  struct Chain {
    std::uint16_t head = 0;
    std::vector<std::span<const std::byte>> readable;
    std::vector<std::span<std::byte>> writable;
  };

  void set_size(std::uint32_t entries);
  void set_base(std::uint32_t index) { next_ = static_cast<std::uint16_t>(index); }
  void set_enabled(bool on) { enabled_ = on; }
  /// Throws ProtocolError when a ring does not lie in guest memory.
  void set_rings(std::uint64_t descriptors, std::uint64_t available, std::uint64_t used,
                 const GuestPointer& memory);
  bool ready() const { return enabled_ && descriptors_ != nullptr; }

  /// The next available chain, or none. Throws ProtocolError on a chain that is endless or points outside memory.
  std::optional<Chain> pop(const GuestPointer& memory);
  /// Gives the chain back with `written` bytes in its writable part.
  void push(const Chain& chain, std::uint32_t written);
  /// The driver wants to hear of used buffers.
  bool wants_call() const;
  /// Chains given back since the driver was last called.
  std::uint32_t uncalled() const { return uncalled_; }
  void called() { uncalled_ = 0; }

 private:
  std::uint16_t size_ = 0, next_ = 0;
  bool enabled_ = false;
  std::uint32_t uncalled_ = 0;
  std::byte* descriptors_ = nullptr;
  std::byte* available_ = nullptr;
  std::byte* used_ = nullptr;
};

}  // namespace vp::guest
