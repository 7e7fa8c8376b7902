#include "models/cqhci/task_descriptor.hpp"

#include <cstring>

namespace vp {

using namespace cqhci;

std::uint32_t TaskDescriptor::params_argument(unsigned tag) const {
  const auto bit = [this](std::uint64_t mask, unsigned to) {
    return word0 & mask ? std::uint32_t{1} << to : std::uint32_t{0};
  };
  const auto context = static_cast<std::uint32_t>(word0 >> kTaskContextLsb & 0xF);
  return bit(kTaskReliable, 31) | bit(kTaskRead, 30) | bit(kTaskTag, 29) | context << 25 |
         bit(kTaskForced, 24) | bit(kTaskPriority, 23) | std::uint32_t{tag} << 16 | blocks();
}

TaskDescriptor decode_task(const std::byte* data, std::uint32_t bytes) {
  TaskDescriptor d;
  std::memcpy(&d.word0, data, 8);
  if (bytes == kTask128Bytes) std::memcpy(&d.word1, data + 8, 8);
  return d;
}

LinkDescriptor decode_link(const std::byte* data, std::uint32_t bytes) {
  std::uint32_t word[3] = {};
  std::memcpy(word, data, bytes == kLink64Bytes ? 12 : 8);
  return {(word[0] & kTransferValid) != 0, word[0] & kTransferActMask,
          word[1] | std::uint64_t{word[2]} << 32};
}

}  // namespace vp
