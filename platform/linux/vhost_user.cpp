#include "platform/linux/vhost_user.hpp"

#include <fmt/format.h>

#include <cstring>

namespace vp::guest {
namespace {

// Message types and bits of the protocol; the operating system ships no header for them.
enum Request : std::uint32_t {
  kGetFeatures = 1,
  kSetFeatures = 2,
  kSetOwner = 3,
  kSetMemTable = 5,
  kSetVringNum = 8,
  kSetVringAddr = 9,
  kSetVringBase = 10,
  kSetVringKick = 12,
  kSetVringCall = 13,
  kGetProtocolFeatures = 15,
  kSetProtocolFeatures = 16,
  kSetVringEnable = 18,
  kSetBackendRequestFd = 21,
  kVringKick = 35,
};
constexpr std::uint32_t kBackendVringCall = 4;
constexpr std::uint32_t kVersion = 1, kVersionMask = 3, kFlagReply = 1 << 2, kFlagNeedReply = 1 << 3;
constexpr std::uint64_t kFeatureProtocol = std::uint64_t{1} << 30, kFeatureVersion1 = std::uint64_t{1} << 32;
constexpr std::uint64_t kReplyAck = 1 << 3, kBackendRequests = 1 << 5, kInbandNotifications = 1 << 14;
constexpr std::uint64_t kNeeded = kReplyAck | kBackendRequests | kInbandNotifications;

struct VringState {
  std::uint32_t index, value;
};
struct VringAddresses {
  std::uint32_t index, flags;
  std::uint64_t descriptors, used, available, log;
};
struct MemoryRegion {
  std::uint64_t guest_address, bytes, user_address, file_offset;
};
constexpr std::size_t kRegionsAt = 8;  // a 32-bit count and padding

template <class T>
T take(const std::vector<std::uint8_t>& payload, std::size_t at, std::uint32_t request) {
  if (payload.size() < at + sizeof(T))
    throw ProtocolError(fmt::format("vhost-user request {}: {} bytes are too few", request, payload.size()));
  T value;
  std::memcpy(&value, payload.data() + at, sizeof value);
  return value;
}

std::vector<SharedRegion> regions_of(const std::vector<std::uint8_t>& payload, std::vector<Fd>& fds) {
  const auto count = take<std::uint32_t>(payload, 0, kSetMemTable);
  if (count == 0 || count != fds.size())
    throw ProtocolError(
        fmt::format("vhost-user: {} memory regions with {} file descriptors", count, fds.size()));
  std::vector<SharedRegion> regions;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto r = take<MemoryRegion>(payload, kRegionsAt + i * sizeof(MemoryRegion), kSetMemTable);
    regions.push_back({r.guest_address, r.bytes, r.file_offset, std::move(fds[i])});
  }
  return regions;
}

}  // namespace

VhostUser::Result VhostUser::handle(const VhostHeader& header, const std::vector<std::uint8_t>& payload,
                                    std::vector<Fd>& fds) {
  if ((header.flags & kVersionMask) != kVersion)
    throw ProtocolError(fmt::format("vhost-user version {}, not 1", header.flags & kVersionMask));
  Result result;
  if (header.flags & kFlagNeedReply) result.reply = 0;
  const auto state = [&] { return take<VringState>(payload, 0, header.request); };
  const auto queue_of = [&](std::uint32_t index) -> Virtqueue& {
    if (index >= kQueues) throw ProtocolError(fmt::format("vhost-user: there is no queue {}", index));
    return queues_[index];
  };
  switch (header.request) {
    case kGetFeatures:
      result.reply = kFeatureProtocol | kFeatureVersion1;
      break;
    case kGetProtocolFeatures:
      result.reply = kNeeded;
      break;
    case kSetProtocolFeatures:
      protocol_features_ = take<std::uint64_t>(payload, 0, header.request);
      if ((protocol_features_ & kNeeded) != kNeeded)
        throw ProtocolError(
            fmt::format("the guest's kernel lacks vhost-user features 0x{:x}: register accesses would not "
                        "be synchronous; use the distribution's 6.1",
                        kNeeded & ~protocol_features_));
      break;
    case kSetFeatures:
    case kSetOwner:
    case kSetVringKick:  // in-band notifications replace both file descriptors
    case kSetVringCall:
      break;
    case kSetMemTable: {
      std::vector<SharedRegion> regions = regions_of(payload, fds);
      share_(regions);
      break;
    }
    case kSetVringNum:
      queue_of(state().index).set_size(state().value);
      break;
    case kSetVringBase:
      queue_of(state().index).set_base(state().value);
      break;
    case kSetVringEnable:
      queue_of(state().index).set_enabled(state().value != 0);
      break;
    case kSetVringAddr: {
      const auto a = take<VringAddresses>(payload, 0, header.request);
      queue_of(a.index).set_rings(a.descriptors, a.available, a.used, memory_);
      break;
    }
    case kSetBackendRequestFd:
      if (fds.empty()) throw ProtocolError("vhost-user: back-end requests without a file descriptor");
      back_channel_ = Stream(std::move(fds.front()), limit_s_);
      break;
    case kVringKick:
      queue_of(state().index);
      result.kicked = state().index;
      break;
    default:
      throw ProtocolError(fmt::format("vhost-user request {} is not known here", header.request));
  }
  return result;
}

VhostUser::Result VhostUser::receive(Stream& stream) {
  std::vector<Fd> fds;
  stream.read_with_fds(&last_, sizeof last_, fds, "the guest does not finish a vhost-user message");
  if (last_.size > kMostPayload)
    throw ProtocolError(fmt::format("vhost-user: payload of {} bytes", last_.size));
  payload_.resize(last_.size);
  if (last_.size > 0)
    stream.read(payload_.data(), last_.size, "the guest does not finish a vhost-user message");
  return handle(last_, payload_, fds);
}

void VhostUser::reply(Stream& stream, std::uint64_t value) const {
  std::array<std::uint8_t, sizeof(VhostHeader) + sizeof value> bytes{};
  const VhostHeader header{last_.request, kVersion | kFlagReply, sizeof value};
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &value, sizeof value);
  stream.write(bytes.data(), bytes.size());
}

void VhostUser::call(unsigned queue) {
  if (!back_channel_.connected()) throw ProtocolError("the guest has opened no channel for interrupts");
  std::array<std::uint8_t, sizeof(VhostHeader) + sizeof(VringState)> bytes{};
  const VhostHeader header{kBackendVringCall, kVersion | kFlagNeedReply, sizeof(VringState)};
  const VringState state{queue, 0};
  std::memcpy(bytes.data(), &header, sizeof header);
  std::memcpy(bytes.data() + sizeof header, &state, sizeof state);
  back_channel_.write(bytes.data(), bytes.size());
  queues_.at(queue).called();
}

void VhostUser::take_acknowledge() {
  std::array<std::uint8_t, sizeof(VhostHeader) + sizeof(std::uint64_t)> bytes{};
  back_channel_.read(bytes.data(), bytes.size(), "the guest does not finish the acknowledge of an interrupt");
  std::uint64_t status = 0;
  std::memcpy(&status, bytes.data() + sizeof(VhostHeader), sizeof status);
  if (status != 0) throw ProtocolError("the guest refuses an interrupt message: it has no such queue");
}

}  // namespace vp::guest
