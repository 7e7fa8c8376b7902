// The arithmetic of the DW-MMC driver, and its descriptor ring.
#include "firmware/drivers/dwmmc_math.hpp"

#include <cstring>
#include <vector>

#include "firmware/drivers/dwmmc_ring.hpp"
#include "sc_tests/catch.hpp"

using namespace fw;

namespace {
constexpr std::uint32_t kOwn = 0x8000'0000, kEr = 0x20, kCh = 0x10, kFd = 8, kLd = 4, kDic = 2;
struct Ring {
  std::vector<unsigned char> memory;
  DwRing ring;
  Ring(std::uint32_t bytes, bool wide, std::uint64_t address = 0x4010'0000)
      : memory(bytes, 0xEE), ring(memory.data(), address, bytes, wide) {
    ring.link();
  }
  std::uint32_t word(std::size_t i) const {
    std::uint32_t w = 0;
    std::memcpy(&w, memory.data() + 4 * i, 4);
    return w;
  }
};
}  // namespace

TEST_CASE("the DW-MMC divider is the smallest even one that does not exceed the wanted clock") {
  CHECK(dw_divider(200'000'000, 200'000'000) == 0);  // bypass
  CHECK(dw_divider(200'000'000, 199'999'999) == 1);  // 100 MHz
  CHECK(dw_divider(200'000'000, 52'000'000) == 2);   // 50 MHz
  CHECK(dw_divider(200'000'000, 26'000'000) == 4);   // 25 MHz
  CHECK(dw_divider(200'000'000, 400'000) == 250);
  CHECK(dw_divider(800'000'000, 400'000) > kDwMaxDivider);  // 1000 does not fit eight bits
  CHECK(dw_divided(200'000'000, 250) == 400'000);
  CHECK(dw_divided(200'000'000, 0) == 200'000'000);
}

TEST_CASE("MSIZE is the longest burst that divides the block and the free half of the FIFO") {
  // depth 1024, 64 bit, 512 bytes: 64 words, 512 free: 64 beats (code 5)
  CHECK(dw_thresholds(1024, 8, 512).value() == (5u << 28 | 63u << 16 | 512));
  // depth 64, 32 bit: 128 words, 32 free: 32 beats (code 4)
  CHECK(dw_thresholds(64, 4, 512).value() == (4u << 28 | 31u << 16 | 32));
  // depth 1024, 16 bit: 256 words, 512 free: 256 beats (code 7)
  CHECK(dw_thresholds(1024, 2, 512).value() == (7u << 28 | 255u << 16 | 512));
  // a depth of 2 x 12 words: 128 words and 12 free: 4 beats (code 1)
  CHECK(dw_thresholds(24, 4, 512).value() == (1u << 28 | 3u << 16 | 12));
  // 10 bytes in 4-byte words, and 4 bytes: one word at a time, RX_WMARK not 0
  CHECK(dw_thresholds(64, 4, 10).value() == (1u << 16 | 32));
  CHECK(dw_thresholds(64, 4, 4).value() == (1u << 16 | 32));
  // PIO and the start: 8 beats, half the FIFO
  CHECK(dw_default_thresholds(64).value() == (2u << 28 | 31u << 16 | 32));
}

TEST_CASE("TMOUT is the data timeout in card clocks, or the longest there is") {
  CHECK(dw_timeout(50'000'000, 200'000'000, false) == (10'000'000u << 8 | 0xFF));  // 50 ms
  CHECK(dw_timeout(83'886'000, 200'000'000, false) == (16'777'200u << 8 | 0xFF));
  CHECK(dw_timeout(1'000'000'000, 200'000'000, false) == 0xFFFF'FFFF);  // 2e8 clocks do not fit
  CHECK(dw_timeout(~std::uint64_t{0}, 200'000'000, true) == 0xFFFF'FFFF);
  // extended: 400 ms = 8e7 clocks = 5 x 16'000'000, the first factor whose rest fits 24 bits
  CHECK(dw_timeout(400'000'000, 200'000'000, true) == ((16'000'000u | 4) << 8 | 0xFF));
  for (const std::uint64_t ms : {1, 7, 84, 85, 300, 600})
    CHECK(dw::data_timeout_clocks(dw_timeout(ms * 1'000'000, 200'000'000, true), true) >= ms * 200'000);
}

TEST_CASE("card thresholds: reads above 100 MHz, writes in HS400 from 2.80a, a block that fits the FIFO") {
  CHECK(dw_card_threshold(0x280A, true, false, true, 512, 4096) == (512u << 16 | 1));
  CHECK(dw_card_threshold(0x240A, true, false, true, 512, 512) == (512u << 16 | 1));
  CHECK(dw_card_threshold(0x280A, true, true, false, 512, 4096) == (512u << 16 | 4));
  CHECK(dw_card_threshold(0x270A, true, true, false, 512, 4096) == 0);
  CHECK(dw_card_threshold(0x280A, true, false, false, 512, 4096) == 0);
  CHECK(dw_card_threshold(0x280A, false, false, true, 512, 4096) == 0);
  CHECK(dw_card_threshold(0x280A, true, false, true, 512, 256) == 0);
  CHECK(dw_card_threshold(0x233A, true, true, true, 512, 4096) == 0);  // no such register
}

TEST_CASE("a ring of one page gives the limits Linux has") {
  struct Row {
    std::uint32_t ring_kib, descriptor, wanted_kib, segs, seg_kib, req_kib;
  };
  // 16-byte descriptors: 256 per 4 KiB page; 32-byte: 128, 512 and 2048 in pages of 4, 16 and 64 KiB
  const Row rows[] = {
      {4, 16, 0, 256, 4, 1024},         {4, 32, 0, 128, 4, 512},      {16, 32, 0, 512, 4, 2048},
      {64, 32, 0, 2048, 4, 8192},       {4, 32, 512, 128, 512, 512},  {16, 32, 2048, 512, 2048, 2048},
      {64, 32, 8192, 2048, 8192, 8192}, {4, 32, 8192, 128, 512, 512}, {64, 16, 0, 4096, 4, 16384}};
  for (const Row& r : rows) {
    INFO(r.ring_kib << " KiB of " << r.descriptor);
    const DwLimits l = dw_ring_limits(r.ring_kib * 1024, r.descriptor, r.wanted_kib * 1024);
    CHECK(l.max_segs == r.segs);
    CHECK(l.max_seg_bytes == r.seg_kib * 1024);
    CHECK(l.max_req_bytes == r.req_kib * 1024);
    CHECK(l.max_blk_count == r.req_kib * 2);
  }
}

TEST_CASE(
    "a linked ring belongs to the CPU, each entry names the next, the last has ER and names the first") {
  const Ring r(64, false);
  REQUIRE(r.ring.entries() == 4);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(r.word(4 * i) == (i == 3 ? kEr : 0));
    CHECK(r.word(4 * i + 1) == 0);
    CHECK(r.word(4 * i + 3) == 0x4010'0000 + (i + 1) % 4 * 16);
  }
  CHECK(r.ring.is_free(4));
  const Ring w(128, true, 0x1'4010'0000);
  REQUIRE(w.ring.entries() == 4);
  for (unsigned i = 0; i < 4; ++i) {
    CHECK(w.word(8 * i + 6) == 0x4010'0000 + (i + 1) % 4 * 32);
    CHECK(w.word(8 * i + 7) == 1);
  }
}

TEST_CASE("16-byte descriptors carry 4 KiB each, and only the last one interrupts") {
  Ring r(128, false);
  const std::vector<Segment> segments{{0x4100'0000, 10'240}, {0x4200'0200, 512}};
  REQUIRE(r.ring.build(segments) == 4);  // 4096 + 4096 + 2048, then 512
  const std::uint32_t want[4][3] = {{kOwn | kFd | kCh | kDic, 4096, 0x4100'0000},
                                    {kOwn | kCh | kDic, 4096, 0x4100'1000},
                                    {kOwn | kCh | kDic, 2048, 0x4100'2000},
                                    {kOwn | kLd, 512, 0x4200'0200}};
  for (unsigned i = 0; i < 4; ++i)
    for (unsigned w = 0; w < 3; ++w) CHECK(r.word(4 * i + w) == want[i][w]);
  CHECK(r.word(16) == 0);  // the fifth stays the CPU's
  CHECK_FALSE(r.ring.is_free(1));
}

TEST_CASE(
    "every 32-byte descriptor of three segments is owned by the IDMAC, sizes in DES2, addresses in DES4 and "
    "5") {
  Ring r(128, true);
  REQUIRE(r.ring.build(
              std::vector<Segment>{{0x1'2345'6000, 4096}, {0x4100'0000, 512}, {0x2'0000'0000, 1024}}) == 3);
  const std::uint32_t want[3][4] = {{kOwn | kFd | kCh | kDic, 4096, 0x2345'6000, 1},
                                    {kOwn | kCh | kDic, 512, 0x4100'0000, 0},
                                    {kOwn | kLd, 1024, 0, 2}};
  for (unsigned i = 0; i < 3; ++i) {
    CHECK(r.word(8 * i) == want[i][0]);
    CHECK(r.word(8 * i + 1) == 0);
    CHECK(r.word(8 * i + 2) == want[i][1]);
    CHECK(r.word(8 * i + 3) == 0);
    CHECK(r.word(8 * i + 4) == want[i][2]);
    CHECK(r.word(8 * i + 5) == want[i][3]);
  }
  CHECK(r.word(8 * 3) == kEr);
}

TEST_CASE("a list longer than the ring is refused and the ring is left alone") {
  Ring r(64, false);
  CHECK(r.ring.build(std::vector<Segment>{{0x4100'0000, 4 * 4096 + 512}}) == 0);
  CHECK(r.ring.is_free(4));
  // two segments that share one page's worth still need a descriptor each
  CHECK(DwRing::needed(std::vector<Segment>{{0x4100'0000, 2048}, {0x4200'0000, 2048}}) == 2);
  CHECK(r.ring.build(std::vector<Segment>{{0x4100'0000, 4 * 4096}}) == 4);
  CHECK(r.word(12) == (kOwn | kLd | kEr));
}
