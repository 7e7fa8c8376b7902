// The messages of PCI over virtio (linux/virtio_pcidev.h): one configuration or BAR access per chain of queue 0, one
// interrupt per buffer of queue 1.
#pragma once

#include <linux/virtio_pcidev.h>

#include <cstdint>
#include <span>
#include <vector>

#include "platform/linux/virtqueue.hpp"

namespace vp::guest {

inline constexpr unsigned kCommandQueue = 0, kInterruptQueue = 1;

/// One access of the guest.
struct PciAccess {
  enum class Space : std::uint8_t { configuration, bar } space = Space::configuration;
  bool is_write = false;
  unsigned bar = 0;
  std::uint64_t address = 0;       ///< offset in the space
  std::vector<std::uint8_t> data;  ///< written bytes, or room for what is read

  /// Pieces of 1, 2, 4 or 8 bytes, each aligned to its own size, in rising order: what goes over the bus.
  struct Piece {
    std::size_t at;
    std::uint32_t bytes;
  };
  std::vector<Piece> pieces() const;
  std::uint64_t value(const Piece& piece) const;
  void set_value(const Piece& piece, std::uint64_t value);
};

/// Reads the request of a chain of queue 0. Throws ProtocolError on an operation that a guest does not send or on
/// lengths that do not fit.
PciAccess decode_access(const Virtqueue::Chain& chain);
/// Puts what was read into the chain; returns the bytes written there.
std::uint32_t answer_access(const Virtqueue::Chain& chain, const PciAccess& access);
/// Fills a buffer of queue 1 with "INTA was asserted"; returns the bytes written there.
std::uint32_t encode_interrupt(const Virtqueue::Chain& chain);

}  // namespace vp::guest
