// Task, direct command and link descriptors: from bytes in memory to fields, and the commands they become.
// No SystemC in here. Layout: cqhci_regs.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/cqhci/cqhci_regs.hpp"

namespace vp {

struct TaskDescriptor {
  std::uint64_t word0 = 0, word1 = 0;  ///< word1: 0 for 64-bit descriptors

  bool valid() const { return word0 & cqhci::kTaskValid; }
  bool act_is_task() const { return (word0 & cqhci::kTaskActMask) == cqhci::kTaskActTask; }
  bool interrupt() const { return word0 & cqhci::kTaskInt; }
  bool qbr() const { return word0 & cqhci::kTaskQbr; }
  bool read() const { return word0 & cqhci::kTaskRead; }
  bool high_priority() const { return word0 & cqhci::kTaskPriority; }
  std::uint32_t blocks() const { return word0 >> cqhci::kTaskBlocksLsb & 0xFFFF; }
  std::uint32_t block_address() const { return static_cast<std::uint32_t>(word0 >> cqhci::kTaskAddressLsb); }

  std::uint8_t dcmd_index() const { return word0 >> cqhci::kDcmdIndexLsb & 0x3F; }
  bool dcmd_beside_data() const { return word0 & cqhci::kDcmdTiming; }
  unsigned dcmd_response() const { return word0 >> cqhci::kDcmdResponseLsb & 3; }
  std::uint32_t dcmd_argument() const { return static_cast<std::uint32_t>(word0 >> cqhci::kDcmdArgumentLsb); }

  bool crypto() const { return word1 & cqhci::kCryptoEnable; }
  unsigned crypto_slot() const { return word1 >> cqhci::kCryptoSlotLsb & 0xFF; }
  /// Bits of the upper half that should be 0: what is reserved, and all of it unless encryption is on.
  std::uint64_t stray_bits(bool crypto_on) const {
    return crypto_on ? word1 & ~cqhci::kTaskUpperDefined : word1;
  }

  /// CMD44's argument for task `tag` (JESD84-B51 6.10.4).
  std::uint32_t params_argument(unsigned tag) const;
};

/// `bytes` is 8 or 16, little-endian.
TaskDescriptor decode_task(const std::byte* data, std::uint32_t bytes);

/// The descriptor behind the task descriptor in its slot.
struct LinkDescriptor {
  bool valid = false;
  std::uint32_t act = 0;
  std::uint64_t address = 0;
};
/// `bytes` is 8 (32-bit address) or 16 (64-bit address), little-endian.
LinkDescriptor decode_link(const std::byte* data, std::uint32_t bytes);

}  // namespace vp
