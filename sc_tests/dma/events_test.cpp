// Events, links and completion: who is served, what is missed, when the CPU hears of it.
#include "sc_tests/dma/bench.hpp"

using namespace vp;
using namespace vp::test;

TEST_CASE("linked sets follow each other without the CPU, and the last one's end interrupts") {
  DmaBench b;
  b.feed(3 * 512, 4);
  b.set(0, DmaBench::from_fifo(0x1000, 1, DmaBench::link_to(40), 0));
  b.set(40, DmaBench::from_fifo(0x3000, 1, DmaBench::link_to(41), 0));
  b.set(41, DmaBench::from_fifo(0x5000, 1, kNoLink, kOptTcInt | code(0)));
  b.enable(0);
  b.request(0);
  CHECK(b.set(0) ==
        DmaBench::from_fifo(0x3000, 1, DmaBench::link_to(41), 0));  // the copy in the channel's place
  b.request(0);
  CHECK(b.irq.rises.empty());
  b.request(0);
  CHECK(b.irq.rises.size() == 1);
  CHECK(b.dma.counters().links == 2);
  CHECK(b.dma.counters().missed == 0);
  b.regs.write(reg("ICR"), 1);
  CHECK(!b.irq.level);
  for (unsigned i = 0; i < 512; ++i) {  // block n begins at byte 512 n of the stream
    REQUIRE(*b.ram(0x3000 + i) == static_cast<std::byte>((512 + i) * 3 + ((512 + i) >> 8) + 4));
    REQUIRE(*b.ram(0x5000 + i) == static_cast<std::byte>((1024 + i) * 3 + ((1024 + i) >> 8) + 4));
  }
}

TEST_CASE("an event after the last linked set is missed, and the channel starts again by software") {
  DmaBench b;
  b.feed(2 * 512, 4);
  b.set(6, DmaBench::from_fifo(0x1000, 1, kNoLink, kOptTcInt | code(6)));
  b.enable(6);
  b.request(6);
  b.request(6);  // the CPU has not written the next set
  CHECK(b.dma.counters().missed == 1);
  CHECK(b.regs.read(reg("EMR")) == 1u << 6);
  CHECK(b.regs.read(reg("SER")) == 1u << 6);
  CHECK(b.error_irq.level);
  CHECK(b.fifo.out.size() == 512);
  b.request(6);  // stopped: a further event only waits
  CHECK(b.fifo.out.size() == 512);
  b.regs.write(reg("ECR"), 1u << 6);
  b.set(6, DmaBench::from_fifo(0x2000, 1, kNoLink, kOptTcInt | code(6)));
  b.regs.write(reg("EMCR"), 1u << 6);
  b.regs.write(reg("SECR"), 1u << 6);
  CHECK(!b.error_irq.level);
  b.regs.write(reg("ESR"), 1u << 6);
  b.advance(sc_time(5, sc_core::SC_US));
  CHECK(b.fifo.out.empty());
  CHECK(*b.ram(0x2000) == static_cast<std::byte>(512 * 3 + 2 + 4));
}

TEST_CASE("a dummy set swallows events without an error") {
  DmaBench b;
  b.set(6, {kOptAbSync, 0, 1u << 16, 0, 0, kNoLink, 0, 0});
  b.enable(6);
  b.request(6);
  b.request(6);
  CHECK(b.dma.counters().missed == 0);
  CHECK(b.dma.transfer_counters().transfers == 0);
  CHECK(b.regs.read(reg("SER")) == 0);
}

TEST_CASE("an event on a disabled line waits, a second one is missed") {
  DmaBench b;
  b.feed(512, 0);
  b.set(9, DmaBench::from_fifo(0x1000, 4, kNoLink, 0));
  b.request(9);
  CHECK(b.regs.read(reg("ER")) == 1u << 9);
  CHECK(b.dma.transfer_counters().transfers == 0);
  b.request(9);
  CHECK(b.dma.counters().missed == 1);
  CHECK(b.regs.read(reg("EMR")) == 1u << 9);
  b.regs.write(reg("EMCR"), 1u << 9);
  b.regs.write(reg("EESR"), 1u << 9);
  b.advance(sc_time(5, sc_core::SC_US));
  CHECK(b.dma.transfer_counters().transfers == 1);
  CHECK(b.regs.read(reg("ER")) == 0);
}

TEST_CASE("of two waiting channels the lower one is served first, and the other's wait is counted") {
  DmaBench b;
  b.fill(0x1000, 512, 1);
  for (const unsigned n : {5u, 20u})
    b.set(n,
          {kOptAbSync | kOptTcInt | code(n), 0x1000, 1u << 16 | 512, 0x4000 + n * 0x1000, 0, kNoLink, 0, 1});
  b.enable(5);
  b.enable(20);
  AckProbe first, second;
  b.dma.attach(first, 5);
  b.dma.attach(second, 20);
  b.dma.dma_request(20);
  b.dma.dma_request(5);
  b.advance(sc_time(10, sc_core::SC_US));
  REQUIRE(first.at.size() == 1);
  REQUIRE(second.at.size() == 1);
  CHECK(first.at[0] < second.at[0]);
  // E + read (2 + 4 + 64) + write (64 + 3): the second one's event waited so long
  CHECK(b.dma.counters().wait_controller == cycles(8 + 70 + 67));
}

TEST_CASE("early completion comes when the last frame is handed over, the transfer still runs") {
  DmaBench b;
  b.feed(512, 0);
  b.set(3, DmaBench::from_fifo(0x1000, 1, kNoLink, kOptTcInt | kOptEarly | code(3)));
  b.dma.attach(b.ack, 3);
  b.enable(3);
  b.advance(cycles(10));
  const sc_time t = sc_time_stamp();
  b.request(3);
  REQUIRE(b.irq.rises.size() == 1);
  CHECK(b.irq.rises[0] - t == cycles(8));
  REQUIRE(b.ack.at.size() == 1);
  CHECK(b.ack.at[0] - t == cycles(8 + 132 + 67));
}

TEST_CASE("a completion code chains to another channel") {
  DmaBench b;
  b.fill(0x1000, 512, 3);
  b.set(2, {kOptAbSync | kOptTcChain | code(11), 0x1000, 1u << 16 | 512, 0x2000, 0, kNoLink, 0, 1});
  b.set(11, {kOptAbSync | kOptTcInt | code(11), 0x2000, 1u << 16 | 512, 0x3000, 0, kNoLink, 0, 1});
  b.regs.write(reg("IESR"), 1u << 11);
  b.regs.write(reg("ESR"), 1u << 2);
  b.advance(sc_time(10, sc_core::SC_US));
  CHECK(b.irq.rises.size() == 1);
  CHECK(std::memcmp(b.ram(0x1000), b.ram(0x3000), 512) == 0);
}

TEST_CASE("intermediate interrupts come with every frame, the final one with the last") {
  DmaBench b;
  b.feed(3 * 512, 0);
  b.set(1, DmaBench::from_fifo(0x1000, 3, kNoLink, kOptIntermediateInt | code(1)));
  b.enable(1);
  for (unsigned i = 0; i < 3; ++i) {
    b.request(1);
    b.regs.write(reg("ICR"), 2);
  }
  CHECK(b.irq.rises.size() == 2);
}

TEST_CASE("a static set is used again and again") {
  DmaBench b;
  b.feed(3 * 512, 0);
  const ParamSet s = DmaBench::from_fifo(0x1000, 1, kNoLink, kOptStatic);
  b.set(1, s);
  b.enable(1);
  for (unsigned i = 0; i < 3; ++i) b.request(1);
  CHECK(b.dma.transfer_counters().transfers == 3);
  CHECK(b.set(1) == s);
}

TEST_CASE("DCHMAP gives a channel another set") {
  DmaBench b;
  b.feed(512, 6);
  b.regs.write(reg("DCHMAP4"), 100u << 5);
  b.set(100, DmaBench::from_fifo(0x1000, 1, kNoLink, 0));
  b.enable(4);
  b.request(4);
  CHECK(b.fed(0x1000, 512, 6));
}

TEST_CASE("linked-list mode: a whole list of sets in memory costs one interrupt at its end") {
  DmaBench b;
  b.feed(5 * 512, 0);
  for (unsigned n = 0; n < 5; ++n) {
    const ParamSet s = DmaBench::from_fifo(0x10000 + n * 0x1000, 1, 0, n == 4 ? kOptTcInt | code(8) : 0);
    const std::uint64_t next = n == 4 ? 0 : 0x800 + 64 * (n + 1);
    std::memcpy(b.ram(0x800 + 64 * n), s.data(), kSetBytes);
    std::memcpy(b.ram(0x800 + 64 * n + kSetBytes), &next, 8);
  }
  b.regs.write(reg("LL_NEXT8"), 0x800, 8);
  b.enable(8);
  b.regs.write(reg("LL_CONTROL8"), 1);
  b.advance(sc_time(1, sc_core::SC_US));
  for (unsigned n = 0; n < 5; ++n) b.request(8);
  CHECK(b.irq.rises.size() == 1);
  CHECK(b.dma.counters().descriptors_fetched == 5);
  CHECK(b.dma.counters().missed == 0);
  CHECK(b.regs.read(reg("LL_NEXT8"), 8) == 0);
  for (unsigned n = 0; n < 5; ++n)
    CHECK(*b.ram(0x10000 + n * 0x1000) == static_cast<std::byte>(512 * n * 3 + (512 * n >> 8)));
  b.request(8);  // nothing is left
  CHECK(b.dma.counters().missed == 1);
}

TEST_CASE("an event that comes before its descriptor waits for it, to the cycle") {
  DmaBench b;
  b.feed(512, 0);
  const ParamSet s = DmaBench::from_fifo(0x10000, 1, 0, kOptTcInt | code(8));
  const std::uint64_t next = 0;
  std::memcpy(b.ram(0x800), s.data(), kSetBytes);
  std::memcpy(b.ram(0x800 + kSetBytes), &next, 8);
  b.regs.write(reg("LL_NEXT8"), 0x800, 8);
  b.enable(8);
  b.advance(cycles(10));
  const sc_time t = sc_time_stamp();
  b.regs.write(reg("LL_CONTROL8"), 1);
  b.dma.dma_request(8);
  b.advance(sc_time(5, sc_core::SC_US));
  REQUIRE(b.irq.rises.size() == 1);
  // 40 bytes: a burst of 5 beats, 2 h + 4 + 5 cycles; then an event as any other
  CHECK(b.irq.rises[0] - t == cycles(2 + 4 + 5 + 8 + 132 + 67));
  CHECK(b.dma.counters().wait_descriptor == cycles(2 + 4 + 5));
}

TEST_CASE("both timing styles give the same interrupts and links, and the same time within 2 percent") {
  DmaBench b({}, TimingStyle::lt);
  b.feed(40 * 512, 0);
  b.set(0, DmaBench::from_fifo(0x10000, 20, DmaBench::link_to(40), 0));
  b.set(40, DmaBench::from_fifo(0x20000, 20, kNoLink, kOptTcInt | code(0)));
  b.dma.attach(b.ack, 0);
  b.enable(0);
  for (unsigned i = 0; i < 40; ++i) b.request(0);
  CHECK(b.irq.rises.size() == 1);
  CHECK(b.dma.counters().links == 1);
  CHECK(b.ack.at.size() == 40);
  const double per_frame = static_cast<double>(b.dma.transfer_counters().busy.value()) / 40 / 5000;
  CHECK(per_frame == Approx(132 + 67).epsilon(0.02));
  CHECK(b.fed(0x10000, 20 * 512, 0));
}
