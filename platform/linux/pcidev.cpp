#include "platform/linux/pcidev.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "platform/linux/stream.hpp"

namespace vp::guest {
namespace {

constexpr std::uint32_t kMostBytes = 1 << 16;  // of one access: a guest copies page by page

std::vector<std::uint8_t> gather(const Virtqueue::Chain& chain) {
  std::vector<std::uint8_t> bytes;
  for (const auto part : chain.readable)
    for (const std::byte b : part) bytes.push_back(std::to_integer<std::uint8_t>(b));
  return bytes;
}

std::uint32_t scatter(const Virtqueue::Chain& chain, std::span<const std::uint8_t> bytes) {
  std::size_t done = 0;
  for (const auto part : chain.writable) {
    const std::size_t n = std::min(part.size(), bytes.size() - done);
    std::memcpy(part.data(), bytes.data() + done, n);
    done += n;
  }
  return static_cast<std::uint32_t>(done);
}

}  // namespace

std::vector<PciAccess::Piece> PciAccess::pieces() const {
  std::vector<Piece> pieces;
  for (std::size_t at = 0; at < data.size();) {
    std::uint32_t bytes = 8;
    while (bytes > data.size() - at || (address + at) % bytes != 0) bytes /= 2;
    pieces.push_back({at, bytes});
    at += bytes;
  }
  return pieces;
}

std::uint64_t PciAccess::value(const Piece& piece) const {
  std::uint64_t v = 0;
  for (std::uint32_t i = 0; i < piece.bytes; ++i) v |= std::uint64_t{data[piece.at + i]} << (8 * i);
  return v;
}

void PciAccess::set_value(const Piece& piece, std::uint64_t v) {
  for (std::uint32_t i = 0; i < piece.bytes; ++i)
    data[piece.at + i] = static_cast<std::uint8_t>(v >> (8 * i));
}

PciAccess decode_access(const Virtqueue::Chain& chain) {
  const std::vector<std::uint8_t> bytes = gather(chain);
  virtio_pcidev_msg message{};
  if (bytes.size() < sizeof message)
    throw ProtocolError(fmt::format("PCI over virtio: a message of {} bytes", bytes.size()));
  std::memcpy(&message, bytes.data(), sizeof message);
  const std::uint32_t size = message.size;
  if (size == 0 || size > kMostBytes)
    throw ProtocolError(fmt::format("PCI over virtio: an access of {} bytes", size));
  PciAccess access;
  access.bar = message.bar;
  access.address = message.addr;
  access.is_write = message.op != VIRTIO_PCIDEV_OP_CFG_READ && message.op != VIRTIO_PCIDEV_OP_MMIO_READ;
  const std::size_t payload = bytes.size() - sizeof message;
  const auto* data = bytes.data() + sizeof message;
  switch (message.op) {
    case VIRTIO_PCIDEV_OP_CFG_READ:
    case VIRTIO_PCIDEV_OP_MMIO_READ:
      access.data.assign(size, 0xFF);
      break;
    case VIRTIO_PCIDEV_OP_CFG_WRITE:
    case VIRTIO_PCIDEV_OP_MMIO_WRITE:
      if (payload < size)
        throw ProtocolError(fmt::format("PCI over virtio: {} bytes of {} are there", payload, size));
      access.data.assign(data, data + size);
      break;
    case VIRTIO_PCIDEV_OP_MMIO_MEMSET:
      if (payload < 1) throw ProtocolError("PCI over virtio: a fill without its byte");
      access.data.assign(size, data[0]);
      break;
    default:
      throw ProtocolError(
          fmt::format("PCI over virtio: a guest does not send operation {}", unsigned{message.op}));
  }
  const bool configuration =
      message.op == VIRTIO_PCIDEV_OP_CFG_READ || message.op == VIRTIO_PCIDEV_OP_CFG_WRITE;
  access.space = configuration ? PciAccess::Space::configuration : PciAccess::Space::bar;
  return access;
}

std::uint32_t answer_access(const Virtqueue::Chain& chain, const PciAccess& access) {
  return access.is_write ? 0 : scatter(chain, access.data);
}

std::uint32_t encode_interrupt(const Virtqueue::Chain& chain) {
  constexpr std::uint64_t kIntA = 1;
  virtio_pcidev_msg message{};
  message.op = VIRTIO_PCIDEV_OP_INT;
  message.addr = kIntA;
  std::vector<std::uint8_t> bytes(sizeof message);
  std::memcpy(bytes.data(), &message, sizeof message);
  return scatter(chain, bytes);
}

}  // namespace vp::guest
