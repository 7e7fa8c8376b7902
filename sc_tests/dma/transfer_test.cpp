// What one event moves, and when: in cycles of 5 ns. E event_cycles 8, hop h 1; FIFO port first beat 2, accept 1; SRAM
// first beat 4, accept 1.
#include "sc_tests/dma/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr std::uint64_t E = 8, H = 1, FIFO_FIRST = 2, FIFO_ACCEPT = 1, RAM_FIRST = 4, RAM_ACCEPT = 1;
// 512 bytes of a 4-byte port are 8 FIXED bursts of 16 beats, their beats back to back; of SRAM 4 bursts of 16.
constexpr std::uint64_t FIFO_READ = 2 * H + FIFO_FIRST + 8 * 16, FIFO_WRITE = 8 * 16 + H + FIFO_ACCEPT + H;
constexpr std::uint64_t RAM_READ = 2 * H + RAM_FIRST + 4 * 16, RAM_WRITE = 4 * 16 + H + RAM_ACCEPT + H;

void one_block_in(TimingStyle style) {
  DmaBench b({}, style);
  b.feed(512, 1);
  b.set(3, DmaBench::from_fifo(0x2000, 1, kNoLink, kOptTcInt | code(3)));
  b.dma.attach(b.ack, 3);
  b.enable(3);
  b.advance(cycles(100));
  const sc_time t = sc_time_stamp();
  b.request(3);
  REQUIRE(b.irq.rises.size() == 1);
  CHECK(b.irq.rises[0] - t == cycles(E + FIFO_READ + RAM_WRITE));
  CHECK(b.ack.at == std::vector<sc_time>{b.irq.rises[0]});
  CHECK(b.fed(0x2000, 512, 1));
  CHECK(b.dma.transfer_counters().read == cycles(FIFO_READ));
  CHECK(b.dma.transfer_counters().write == cycles(RAM_WRITE));
}

void one_block_out(TimingStyle style) {
  DmaBench b({}, style);
  b.fill(0x2000, 512, 9);
  b.set(2, DmaBench::to_fifo(0x2000, 1, kNoLink, kOptTcInt | code(2)));
  b.enable(2);
  b.advance(cycles(100));
  const sc_time t = sc_time_stamp();
  b.request(2);
  REQUIRE(b.irq.rises.size() == 1);
  CHECK(b.irq.rises[0] - t == cycles(E + RAM_READ + FIFO_WRITE));
  REQUIRE(b.fifo.in.size() == 512);
  for (std::size_t i = 0; i < 512; ++i) REQUIRE(b.fifo.in[i] == *b.ram(0x2000 + i));
}

}  // namespace

TEST_CASE("a frame of 128 words from a FIFO costs event, 8 FIXED bursts and 4 INCR bursts, to the cycle") {
  one_block_in(TimingStyle::at);
}
TEST_CASE("a frame from a FIFO by reservation takes the same cycles") { one_block_in(TimingStyle::lt); }
TEST_CASE("a frame of 128 words to a FIFO costs event, 4 INCR bursts and 8 FIXED bursts, to the cycle") {
  one_block_out(TimingStyle::at);
}
TEST_CASE("a frame to a FIFO by reservation takes the same cycles") { one_block_out(TimingStyle::lt); }

TEST_CASE("a FIFO side is read in FIXED bursts of 16 beats of its word") {
  DmaBench b;
  b.feed(512, 1);
  b.set(0, DmaBench::from_fifo(0x2000, 1, kNoLink, 0));
  b.enable(0);
  b.request(0);
  REQUIRE(b.fifo.bursts.size() == 8);
  for (const FifoPort::Burst& burst : b.fifo.bursts) {
    CHECK(burst.fixed);
    CHECK(burst.beats == 16);
    CHECK(burst.beat_bytes == 4);
  }
  CHECK(!b.fifo.underrun);
}

TEST_CASE("A-sync: an event moves one array, the set counts arrays and then frames down") {
  DmaBench b;
  b.fill(0x1000, 1024, 5);
  // 64-byte arrays, two per frame, two frames: frames 512 apart, arrays 128 apart, packed at the destination.
  b.set(4, {kOptTcInt | code(4), 0x1000, 2u << 16 | 64, 0x4000, 64u << 16 | 128, 2u << 16 | kNoLink,
            64u << 16 | 384, 2});
  b.enable(4);
  b.advance(cycles(50));
  const sc_time t = sc_time_stamp();
  b.request(4);
  // 64 bytes are one burst of 8 beats each way.
  CHECK(b.dma.transfer_counters().busy == cycles(2 * H + RAM_FIRST + 8 + 8 + H + RAM_ACCEPT + H));
  ParamSet s = b.set(4);
  CHECK(s[kABCnt] == (1u << 16 | 64));
  CHECK(s[kSrc] == 0x1080);
  CHECK(s[kDst] == 0x4040);
  b.request(4);  // the frame's last array: the next frame, BCNT again from BCNTRLD
  s = b.set(4);
  CHECK(s[kABCnt] == (2u << 16 | 64));
  CHECK(s[kCCnt] == 1);
  CHECK(s[kSrc] == 0x1080 + 384);
  CHECK(b.irq.rises.empty());
  b.request(4);
  b.request(4);
  CHECK(b.irq.rises.size() == 1);
  const std::uint64_t sources[] = {0x1000, 0x1080, 0x1200, 0x1280};
  for (unsigned k = 0; k < 4; ++k)
    for (unsigned i = 0; i < 64; ++i) REQUIRE(*b.ram(0x4000 + 64 * k + i) == *b.ram(sources[k] + i));
  CHECK(sc_time_stamp() > t);
}

TEST_CASE("AB-sync gathers arrays that lie apart, each as its own bursts") {
  DmaBench b;
  b.fill(0x1000, 4096, 2);
  b.set(1, {kOptAbSync | kOptTcInt | code(1), 0x1000, 5u << 16 | 48, 0x6000, 48u << 16 | 200, kNoLink, 0, 1});
  b.enable(1);
  b.request(1);
  REQUIRE(b.irq.rises.size() == 1);
  for (unsigned k = 0; k < 5; ++k)
    for (unsigned i = 0; i < 48; ++i) REQUIRE(*b.ram(0x6000 + 48 * k + i) == *b.ram(0x1000 + 200 * k + i));
}

TEST_CASE("random sets move what a plain copy moves") {
  DmaBench b;
  std::uint64_t seed = 12345;
  const auto random = [&](std::uint64_t n) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % n;
  };
  b.fill(0, 1 << 20, 77);
  std::vector<std::byte> model(b.ram(0), b.ram(0) + (4 << 20));
  b.enable(7, false);
  for (unsigned round = 0; round < 60; ++round) {
    const bool frame = random(2);
    const auto a = static_cast<std::uint32_t>(4 * (1 + random(400))),
               n = static_cast<std::uint32_t>(1 + random(6)), c = static_cast<std::uint32_t>(1 + random(3));
    const auto sb = static_cast<std::uint32_t>(random(2) ? a : random(2000)),
               db = static_cast<std::uint32_t>(a + random(300));
    const auto sc = static_cast<std::uint32_t>(random(5000)),
               dc = static_cast<std::uint32_t>(6000 + db * n + random(100));
    const auto src = static_cast<std::uint32_t>(random(1 << 19)),
               dst = static_cast<std::uint32_t>((1 << 20) + random(1 << 20));
    b.set(7, {frame ? std::uint32_t{kOptAbSync} : 0u, src, n << 16 | a, dst, db << 16 | sb, n << 16 | kNoLink,
              dc << 16 | sc, c});
    std::uint64_t s = src, d = dst;
    for (std::uint32_t f = 0; f < c; ++f) {
      for (std::uint32_t k = 0; k < n; ++k)
        std::memcpy(model.data() + d + k * db, model.data() + s + k * sb, a);
      // A-sync counts a frame's index from its last array (TRM 11.3.4.5), AB-sync from its first.
      s += (frame ? 0 : (n - 1) * sb) + sc;
      d += (frame ? 0 : (n - 1) * db) + static_cast<std::int64_t>(static_cast<std::int16_t>(dc));
    }
    for (std::uint32_t e = 0; e < (frame ? c : c * n); ++e) {
      b.dma.dma_request(7);
      b.advance(sc_time(60, sc_core::SC_US));
    }
    REQUIRE(b.dma.counters().missed == 0);
    REQUIRE(std::memcmp(model.data(), b.ram(0), model.size()) == 0);
  }
}

TEST_CASE("a transfer to an address without memory ends with a bus error that names channel and address") {
  DmaBench b;
  b.feed(512, 1);
  b.set(3, DmaBench::from_fifo(0x4000'0000, 1, kNoLink, kOptTcInt | code(3)));
  b.dma.attach(b.ack, 3);
  b.enable(3);
  b.request(3);
  CHECK(b.irq.rises.empty());
  CHECK(b.error_irq.level);
  CHECK(b.regs.read(reg("TC_ERROR")) == 1u << 3);
  CHECK(b.regs.read(reg("TC_ERROR_ADDRESS"), 8) == 0x4000'0000);
  CHECK(b.ack.at.empty());
  CHECK(b.ctx.findings.count("axi.unmapped") > 0);
  b.regs.write(reg("TC_ERROR"), 1u << 3);
  CHECK(!b.error_irq.level);
}
