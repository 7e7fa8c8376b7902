#include "guest_memory.hpp"
#include "platform/linux/stream.hpp"
#include "sc_tests/catch.hpp"

using namespace vp::guest;

namespace {
constexpr std::uint64_t kData = GuestMemory::kBase + 0x4000;
}

TEST_CASE("a chain is read in its order, readable parts apart from writable ones") {
  GuestMemory memory;
  DriverQueue driver{memory};
  Virtqueue queue;
  driver.attach(queue);
  driver.describe(2, kData, 16, kDescriptorNext, 0);
  driver.describe(0, kData + 0x100, 4, kDescriptorNext, 3);
  driver.describe(3, kData + 0x200, 8, kDescriptorWrite);
  driver.offer(2);
  const auto chain = queue.pop(memory.pointer());
  REQUIRE(chain);
  CHECK(chain->head == 2);
  REQUIRE(chain->readable.size() == 2);
  CHECK(chain->readable[0].data() == memory.bytes.data() + 0x4000);
  CHECK(chain->readable[0].size() == 16);
  CHECK(chain->readable[1].data() == memory.bytes.data() + 0x4100);
  REQUIRE(chain->writable.size() == 1);
  CHECK(chain->writable[0].size() == 8);
  CHECK_FALSE(queue.pop(memory.pointer()));
}

TEST_CASE("used buffers appear in the used ring with head and length, and the ring wraps") {
  GuestMemory memory;
  DriverQueue driver{memory};
  Virtqueue queue;
  driver.attach(queue);
  driver.describe(1, kData, 8, kDescriptorWrite);
  for (std::uint32_t i = 0; i < 6; ++i) {
    driver.offer(1);
    const auto chain = queue.pop(memory.pointer());
    REQUIRE(chain);
    queue.push(*chain, 10 + i);
    CHECK(driver.used_index() == i + 1);
    CHECK(driver.used(i % DriverQueue::kEntries).head == 1);
    CHECK(driver.used(i % DriverQueue::kEntries).bytes == 10 + i);
  }
  CHECK(queue.uncalled() == 6);
  queue.called();
  CHECK(queue.uncalled() == 0);
}

TEST_CASE("a driver that asked for no notification is not called") {
  GuestMemory memory;
  DriverQueue driver{memory};
  Virtqueue queue;
  CHECK_FALSE(queue.wants_call());
  driver.attach(queue);
  CHECK(queue.wants_call());
  memory.put(DriverQueue::kAvailable, kAvailableNoInterrupt);
  CHECK_FALSE(queue.wants_call());
}

TEST_CASE("a chain that runs in a circle, or leaves memory, is refused") {
  GuestMemory memory;
  DriverQueue driver{memory};
  Virtqueue queue;
  driver.attach(queue);
  driver.describe(0, kData, 8, kDescriptorNext, 1);
  driver.describe(1, kData, 8, kDescriptorNext, 0);
  driver.describe(2, GuestMemory::kBase + GuestMemory::kBytes - 4, 8, 0);
  driver.describe(3, kData, 8, kDescriptorNext, 9);
  for (const std::uint16_t head : {std::uint16_t{0}, std::uint16_t{2}, std::uint16_t{3}}) {
    driver.offer(head);
    CHECK_THROWS_AS(queue.pop(memory.pointer()), ProtocolError);
  }
}

TEST_CASE("a queue size that is not a power of two, and rings outside memory, are refused") {
  GuestMemory memory;
  Virtqueue queue;
  CHECK_THROWS_AS(queue.set_size(0), ProtocolError);
  CHECK_THROWS_AS(queue.set_size(6), ProtocolError);
  queue.set_size(4);
  CHECK_THROWS_AS(queue.set_rings(DriverQueue::kDescriptors, DriverQueue::kAvailable, 0, memory.pointer()),
                  ProtocolError);
}
