#include <linux/pci_regs.h>

#include "guest_memory.hpp"
#include "platform/linux/pci_config.hpp"
#include "platform/linux/pcidev.hpp"
#include "platform/linux/stream.hpp"
#include "sc_tests/catch.hpp"

using namespace vp::guest;

namespace {

constexpr std::uint64_t kMessage = GuestMemory::kBase + 0x4000, kAnswer = kMessage + 0x100;

/// The driver's request as a chain: message and data readable, `answer_bytes` writable.
Virtqueue::Chain request(GuestMemory& memory, virtio_pcidev_msg message, std::uint64_t data,
                         std::uint32_t data_bytes, std::uint32_t answer_bytes) {
  memory.put(kMessage, message);
  memory.put(kMessage + sizeof message, data);
  Virtqueue::Chain chain;
  chain.readable.emplace_back(memory.pointer()(kMessage, sizeof message + data_bytes),
                              sizeof message + data_bytes);
  if (answer_bytes) chain.writable.emplace_back(memory.pointer()(kAnswer, answer_bytes), answer_bytes);
  return chain;
}

virtio_pcidev_msg message(unsigned op, unsigned bar, std::uint32_t size, std::uint64_t at) {
  virtio_pcidev_msg m{};
  m.op = static_cast<std::uint8_t>(op);
  m.bar = static_cast<std::uint8_t>(bar);
  m.size = size;
  m.addr = at;
  return m;
}

/// What an operating system does to learn a BAR's size.
std::uint32_t size_of_bar(PciConfig& config, unsigned bar) {
  const std::uint32_t at = PCI_BASE_ADDRESS_0 + 4 * bar;
  const auto kept = static_cast<std::uint32_t>(config.read(at, 4));
  config.write(at, 4, 0xFFFF'FFFF);
  const auto answer = static_cast<std::uint32_t>(config.read(at, 4));
  config.write(at, 4, kept);
  return answer == 0 ? 0 : ~(answer & ~0xFU) + 1;
}

}  // namespace

TEST_CASE("each identity shows the ids, class and BAR its driver claims") {
  struct Row {
    PciIdentity identity;
    std::uint32_t ids, class_code;
    unsigned bar;
  };
  // Driver tables: sdhci-pci by class 08 05 xx or by id 17a0:e763 and 8086:4dc4; dw_mmc-pci by id 0700:1107, BAR 2.
  const Row rows[] = {{sdhci_generic(), 0x0007'1b36, 0x080501, 0},
                      {sdhci_gl9763e(true), 0xe763'17a0, 0x080501, 0},
                      {sdhci_intel(), 0x4dc4'8086, 0x080501, 0},
                      {dw_mmc(), 0x1107'0700, 0x088000, 2}};
  for (const Row& row : rows) {
    INFO(row.identity.name);
    PciConfig config(row.identity);
    CHECK(config.read(PCI_VENDOR_ID, 4) == row.ids);
    CHECK(config.read(PCI_CLASS_REVISION, 4) >> 8 == row.class_code);
    CHECK(config.read(PCI_HEADER_TYPE, 1) == 0);
    CHECK(config.read(PCI_INTERRUPT_PIN, 1) == 1);
    CHECK(config.read(PCI_STATUS, 2) == 0);  // no capability list
    for (unsigned bar = 0; bar < 6; ++bar) CHECK(size_of_bar(config, bar) == (bar == row.bar ? 0x1000u : 0u));
  }
}

TEST_CASE("only command bits and addresses of configuration space take writes") {
  PciConfig config(sdhci_generic());
  config.write(PCI_VENDOR_ID, 4, 0);
  CHECK(config.read(PCI_VENDOR_ID, 4) == 0x0007'1b36);
  CHECK_FALSE(config.memory_enabled());
  config.write(PCI_COMMAND, 2, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_IO);
  CHECK(config.memory_enabled());
  CHECK(config.bus_master());
  CHECK(config.read(PCI_COMMAND, 2) == (PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER));
  CHECK_FALSE(config.interrupt_disabled());
  config.write(PCI_COMMAND + 1, 1, PCI_COMMAND_INTX_DISABLE >> 8);
  CHECK(config.interrupt_disabled());
  config.write(PCI_BASE_ADDRESS_0, 4, 0xF000'1234);
  CHECK(config.bar_address() == 0xF000'1000);
  CHECK(config.read(0x1000, 4) == 0xFFFF'FFFF);
  CHECK(config.read(0xFFE, 4) == 0xFFFF'0000);
}

TEST_CASE(
    "the GL9763E's strap tells whether queueing is there, and its tuning registers keep what they are "
    "given") {
  // sdhci-pci takes the queue when bit 19 (off) is 0 and bit 7 (licensed) is 1.
  PciConfig with(sdhci_gl9763e(true)), without(sdhci_gl9763e(false));
  CHECK((with.read(0x888, 4) & 0x8'0080) == 0x80);
  CHECK((without.read(0x888, 4) & 0x8'0000) != 0);
  with.write(0x888, 4, 0);
  CHECK((with.read(0x888, 4) & 0x80) == 0x80);
  with.write(0x8A4, 4, 0x02A0'0000);
  CHECK(with.read(0x8A4, 4) == 0x02A0'0000);
}

TEST_CASE("a register read is decoded, and its answer fills the driver's buffer") {
  GuestMemory memory;
  const auto chain = request(memory, message(VIRTIO_PCIDEV_OP_MMIO_READ, 0, 4, 0x24), 0, 0, 8);
  PciAccess access = decode_access(chain);
  CHECK(access.space == PciAccess::Space::bar);
  CHECK_FALSE(access.is_write);
  CHECK(access.address == 0x24);
  REQUIRE(access.pieces().size() == 1);
  CHECK(access.pieces()[0].bytes == 4);
  CHECK(access.value(access.pieces()[0]) == 0xFFFF'FFFF);  // nobody answered yet
  access.set_value(access.pieces()[0], 0x01FF'00F0);
  CHECK(answer_access(chain, access) == 4);
  CHECK(memory.get<std::uint32_t>(kAnswer) == 0x01FF'00F0);
}

TEST_CASE("a register write carries its bytes, little-endian") {
  GuestMemory memory;
  const auto chain = request(memory, message(VIRTIO_PCIDEV_OP_MMIO_WRITE, 2, 2, 0x0E), 0x113A, 2, 0);
  const PciAccess access = decode_access(chain);
  CHECK(access.is_write);
  CHECK(access.bar == 2);
  CHECK(access.value(access.pieces()[0]) == 0x113A);
  CHECK(answer_access(chain, access) == 0);
}

TEST_CASE("a copy goes over the bus in aligned pieces") {
  GuestMemory memory;
  const PciAccess access =
      decode_access(request(memory, message(VIRTIO_PCIDEV_OP_MMIO_READ, 0, 15, 0x21), 0, 0, 16));
  // 0x21..0x2F: 1 byte to 0x22, 2 to 0x24, 4 to 0x28, 8 to 0x30.
  const std::uint32_t expected[] = {1, 2, 4, 8};
  REQUIRE(access.pieces().size() == 4);
  std::size_t at = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(access.pieces()[i].bytes == expected[i]);
    CHECK(access.pieces()[i].at == at);
    at += expected[i];
  }
}

TEST_CASE("a fill repeats its byte over the range") {
  GuestMemory memory;
  const PciAccess access =
      decode_access(request(memory, message(VIRTIO_PCIDEV_OP_MMIO_MEMSET, 0, 4, 0x58), 0xA5, 1, 0));
  CHECK(access.is_write);
  CHECK(access.value(access.pieces()[0]) == 0xA5A5'A5A5);
}

TEST_CASE("messages that are too short, too long or not a guest's are refused") {
  GuestMemory memory;
  const auto bad = [&](virtio_pcidev_msg m, std::uint32_t data_bytes) {
    return decode_access(request(memory, m, 0, data_bytes, 8));
  };
  CHECK_THROWS_AS(bad(message(VIRTIO_PCIDEV_OP_INT, 0, 4, 0), 4), ProtocolError);
  CHECK_THROWS_AS(bad(message(VIRTIO_PCIDEV_OP_RESERVED, 0, 4, 0), 4), ProtocolError);
  CHECK_THROWS_AS(bad(message(VIRTIO_PCIDEV_OP_CFG_WRITE, 0, 4, 0), 2), ProtocolError);
  CHECK_THROWS_AS(bad(message(VIRTIO_PCIDEV_OP_MMIO_READ, 0, 0, 0), 0), ProtocolError);
  CHECK_THROWS_AS(bad(message(VIRTIO_PCIDEV_OP_MMIO_READ, 0, 1 << 20, 0), 0), ProtocolError);
  Virtqueue::Chain short_chain;
  short_chain.readable.emplace_back(memory.pointer()(kMessage, 8), 8);
  CHECK_THROWS_AS(decode_access(short_chain), ProtocolError);
}

TEST_CASE("an interrupt message says that INTA was asserted") {
  GuestMemory memory;
  Virtqueue::Chain chain;
  chain.writable.emplace_back(memory.pointer()(kAnswer, 20), 20);
  CHECK(encode_interrupt(chain) == sizeof(virtio_pcidev_msg));
  const auto m = memory.get<virtio_pcidev_msg>(kAnswer);
  CHECK(m.op == VIRTIO_PCIDEV_OP_INT);
  CHECK(m.addr == 1);
}
