// Back end of the vhost-user protocol: how the guest's virtio device reaches this process. The guest asks for features,
// shares its memory and rings by file descriptor, and then kicks.
// Modelled: one device with two queues, in-band notifications in both directions with acknowledges (so that a kick is a
// synchronous call, which register accesses need). Not modelled: device configuration space, migration, IOTLB.
// Source: the vhost-user protocol specification.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "platform/linux/stream.hpp"
#include "platform/linux/virtqueue.hpp"

namespace vp::guest {

struct VhostHeader {
  std::uint32_t request = 0, flags = 0, size = 0;
};
static_assert(sizeof(VhostHeader) == 12);

/// One region of guest memory that can be mapped here.
struct SharedRegion {
  std::uint64_t guest_address = 0, bytes = 0, file_offset = 0;
  Fd fd;
};

class VhostUser {
 public:
  static constexpr unsigned kQueues = 2;
  static constexpr std::uint32_t kMostPayload = 512;
  /// Called when the guest shares its memory, before its rings are set.
  using ShareMemory = std::function<void(std::vector<SharedRegion>&)>;

  VhostUser(GuestPointer memory, ShareMemory share) : memory_(std::move(memory)), share_(std::move(share)) {}

  /// What one message asks of the caller.
  struct Result {
    std::optional<unsigned> kicked;      ///< serve this queue, then send the reply
    std::optional<std::uint64_t> reply;  ///< value to answer with
  };
  /// Takes one message. Throws ProtocolError on one that is malformed or not part of what was negotiated.
  Result handle(const VhostHeader& header, const std::vector<std::uint8_t>& payload, std::vector<Fd>& fds);

  /// Reads one message from `stream`; the header is kept for reply().
  Result receive(Stream& stream);
  void reply(Stream& stream, std::uint64_t value) const;

  Virtqueue& queue(unsigned i) { return queues_.at(i); }
  const GuestPointer& memory() const { return memory_; }
  /// Sends a notification for `queue` to the guest; its acknowledge comes on back_channel().
  void call(unsigned queue);
  /// Takes the acknowledge of the last call.
  void take_acknowledge();
  Stream& back_channel() { return back_channel_; }
  void set_limit(unsigned seconds) { limit_s_ = seconds; }

 private:
  GuestPointer memory_;
  ShareMemory share_;
  std::array<Virtqueue, kQueues> queues_;
  std::uint64_t protocol_features_ = 0;
  Stream back_channel_;
  VhostHeader last_;
  std::vector<std::uint8_t> payload_;
  unsigned limit_s_ = 60;
};

}  // namespace vp::guest
