// The parts of the firmware that are arithmetic: dividers, descriptors, splitting, pages, order, stamps,
// registers.
#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "firmware/app/permutation.hpp"
#include "firmware/app/stamp.hpp"
#include "firmware/app/workload.hpp"
#include "firmware/block/split.hpp"
#include "firmware/drivers/sdhci_adma.hpp"
#include "firmware/drivers/sdhci_clock.hpp"
#include "firmware/mmc/card_info.hpp"
#include "firmware/mmc/modes.hpp"
#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/fake_board.hpp"

using namespace fw;

namespace {
std::uint32_t word(const std::vector<unsigned char>& v, std::size_t i) {
  std::uint32_t w = 0;
  std::memcpy(&w, v.data() + 4 * i, 4);
  return w;
}
struct Built {
  std::vector<unsigned char> bytes = std::vector<unsigned char>(4096, 0xEE);
  std::uint32_t count = 0;
};
Built build(AdmaFormat format, std::vector<Segment> segments, bool split = true) {
  Built b;
  AdmaTable t(b.bytes.data(), 4096 / adma_entry_bytes(format), format, split);
  b.count = t.build(segments);
  return b;
}
CardInfo ext_csd_of(const char* name) {
  CardInfo info;
  REQUIRE(parse_ext_csd(fake::load_ext_csd(name), info));
  return info;
}
}  // namespace

TEST_CASE("the clock divider is the smallest even divisor that does not exceed the wanted clock") {
  CHECK(clock_divider(200'000'000, 200'000'000) == 0);
  CHECK(clock_divider(200'000'000, 199'999'999) == 1);  // 100 MHz
  CHECK(clock_divider(200'000'000, 52'000'000) == 2);   // 200 / 4 = 50 MHz
  CHECK(clock_divider(200'000'000, 26'000'000) == 4);   // 200 / 8 = 25 MHz
  CHECK(clock_divider(200'000'000, 400'000) == 250);    // 200 MHz / 500
  CHECK(clock_divider(200'000'000, 1'000) == 1023);     // ten bits
  CHECK(clock_divider(0, 400'000) == 0);                // the SoC gives the clock
  CHECK(divided_clock(200'000'000, 250) == 400'000);
  CHECK(divided_clock(198'000'000, 0) == 198'000'000);
}

TEST_CASE("the data timeout exponent is the smallest that reaches the wanted time") {
  CHECK(timeout_exponent(1000, 8) == 0);        // 8192 us
  CHECK(timeout_exponent(1000, 9) == 1);        // 16.384 ms
  CHECK(timeout_exponent(1000, 1000) == 7);     // 1048 ms
  CHECK(timeout_exponent(1000, 30'000) == 12);  // 33.5 s
  CHECK(timeout_exponent(1000, 1'000'000) == 14);
  CHECK(timeout_exponent(0, 1) == 14);
}

TEST_CASE(
    "an 8-byte ADMA2 descriptor is attributes, length, 32-bit address, and the list ends with NOP END "
    "VALID") {
  const Built b = build(AdmaFormat::bits32, {{0x4100'0000, 4096}, {0x4200'1000, 65536}});
  REQUIRE(b.count == 3);
  CHECK(word(b.bytes, 0) == 0x1000'0021);
  CHECK(word(b.bytes, 1) == 0x4100'0000);
  CHECK(word(b.bytes, 2) == 0x0000'0021);  // 65536 is length 0
  CHECK(word(b.bytes, 3) == 0x4200'1000);
  CHECK(word(b.bytes, 4) == 0x0000'0003);
  CHECK(word(b.bytes, 5) == 0);
  CHECK(word(b.bytes, 6) == 0xEEEE'EEEE);
}

TEST_CASE("a 12-byte ADMA2 descriptor has a 64-bit address and a stride of 12") {
  const Built b = build(AdmaFormat::bits64_v3, {{0x1'2345'6000, 512}});
  REQUIRE(b.count == 2);
  CHECK(word(b.bytes, 0) == 0x0200'0021);
  CHECK(word(b.bytes, 1) == 0x2345'6000);
  CHECK(word(b.bytes, 2) == 0x0000'0001);
  CHECK(word(b.bytes, 3) == 0x0000'0003);
  CHECK(word(b.bytes, 6) == 0xEEEE'EEEE);
}

TEST_CASE("a 16-byte ADMA2 descriptor has a 64-bit address and a reserved zero word") {
  const Built b = build(AdmaFormat::bits64_v4, {{0x1'2345'6000, 512}});
  REQUIRE(b.count == 2);
  CHECK(word(b.bytes, 0) == 0x0200'0021);
  CHECK(word(b.bytes, 1) == 0x2345'6000);
  CHECK(word(b.bytes, 2) == 0x0000'0001);
  CHECK(word(b.bytes, 3) == 0);
  CHECK(word(b.bytes, 4) == 0x0000'0003);
  CHECK(word(b.bytes, 8) == 0xEEEE'EEEE);
}

TEST_CASE("a segment that crosses 128 MiB becomes two descriptors that do not") {
  // 0x4800'0000 is a multiple of 2^27; 0x4800'0000 - 0x47FF'FF04 = 0xFC, 0x400 - 0xFC = 0x304
  const Built b = build(AdmaFormat::bits32, {{0x47FF'FF04, 0x400}});
  REQUIRE(b.count == 3);
  CHECK(word(b.bytes, 0) == 0x00FC'0021);
  CHECK(word(b.bytes, 1) == 0x47FF'FF04);
  CHECK(word(b.bytes, 2) == 0x0304'0021);
  CHECK(word(b.bytes, 3) == 0x4800'0000);
  SECTION("ending exactly at the boundary is no crossing") {
    CHECK(build(AdmaFormat::bits32, {{0x47FF'0000, 65536}}).count == 2);
  }
  SECTION("the split can be switched off") {
    CHECK(build(AdmaFormat::bits32, {{0x47FF'FF04, 0x400}}, false).count == 2);
  }
}

TEST_CASE("a descriptor list that cannot be written is refused") {
  std::vector<unsigned char> memory(16);
  AdmaTable two(memory.data(), 2, AdmaFormat::bits32, true);
  const std::vector<Segment> one{{0x4000'0000, 512}}, pair{{0x4000'0000, 512}, {0x4000'1000, 512}};
  CHECK(two.build(one) == 2);
  CHECK(two.build(pair) == 0);  // no room for the terminator
  CHECK(build(AdmaFormat::bits32, {{0x1'0000'0000, 512}}).count == 0);
  CHECK(build(AdmaFormat::bits32, {{0xFFFF'FE00, 1024}}).count == 0);
  CHECK(build(AdmaFormat::bits32, {{0x4000'0002, 512}}).count == 0);
  CHECK(build(AdmaFormat::bits32, {{0x4000'0000, 0}}).count == 0);
}

TEST_CASE("descriptor room covers 128 segments that all cross a window, and the terminator") {
  CHECK(adma_entries_needed(128, 65536) == 257);
}

TEST_CASE("pages are contiguous in runs and never between runs") {
  PageAllocator p(0x5000'0000, 16 * 4096, 4096, 2);
  std::uint64_t first = 99;
  REQUIRE(p.allocate(4, first));
  CHECK(first == 0);
  CHECK(p.address(0) == 0x5000'0000);
  CHECK(p.address(1) == 0x5000'1000);
  CHECK(p.address(2) == 0x5000'3000);
  CHECK(p.run_bytes(0, 100) == 8192 - 100);
  CHECK(p.run_bytes(1, 0) == 4096);
  CHECK_FALSE(p.allocate(8, first));  // 12 pages with a gap after every two: 17 page places
  CHECK(p.allocate(7, first));        // the 11th page is at place 15, the last of 16
  CHECK(first == 4);
}

TEST_CASE("with a run stride the runs lie at equal distances") {
  constexpr std::uint64_t kStride = 1 << 27, kBase = 0x4FFF'8000;
  PageAllocator p(kBase, 8 * kStride, 4096, 16, kStride);
  std::uint64_t first = 99;
  REQUIRE(p.allocate(128, first));  // 512 KiB in eight runs, each across another multiple of 128 MiB
  for (unsigned run = 0; run < 8; ++run) {
    CHECK(p.address(16 * run) == kBase + run * kStride);
    CHECK(p.address(16 * run + 15) == kBase + run * kStride + 15 * 4096);
    CHECK(p.run_bytes(16 * run, 0) == 65536);
  }
  CHECK_FALSE(p.allocate(1, first));  // a ninth run would begin behind the memory
}

TEST_CASE("adjacent pages merge into one segment up to the segment limit") {
  PageAllocator p(0x5000'0000, 1 << 20, 4096, 0);
  const Buffer b{&p, 0, 0};
  std::array<Segment, 8> s{};
  REQUIRE(gather(b, 0, 20480, 8192, s) == 3);
  CHECK(s[0].address == 0x5000'0000);
  CHECK(s[0].bytes == 8192);
  CHECK(s[2].address == 0x5000'4000);
  CHECK(s[2].bytes == 4096);
  CHECK(gather(b, 0, 20480, 512, s) == 0);  // 40 segments do not fit in 8
}

TEST_CASE("a request is cut by bytes, blocks and segments, at whole blocks") {
  PageAllocator whole(0x5000'0000, 4 << 20, 4096, 0), single(0x5000'0000, 4 << 20, 4096, 1);
  const QueueLimits limits{128, 65536, 512 * 1024, 65535};
  SECTION("by bytes: 1 MiB at 512 KiB is two requests of 8 segments of 64 KiB") {
    const Extent e = cut_request({&whole, 0, 0}, 0, 1 << 20, limits);
    CHECK(e.bytes == 512 * 1024);
    CHECK(e.segments == 8);
    CHECK(cut_request({&whole, 0, 0}, e.bytes, (1 << 20) - e.bytes, limits).bytes == 512 * 1024);
  }
  SECTION("by segments: 128 single pages are 512 KiB, with an offset a block less than that") {
    CHECK(cut_request({&single, 0, 0}, 0, 1 << 20, limits).segments == 128);
    // the first page gives 4096 - 256 bytes, so 128 segments hold 512 KiB - 256, which is 1023 whole blocks
    const Extent e = cut_request({&single, 0, 256}, 0, 1 << 20, limits);
    CHECK(e.bytes == 1023 * 512);
    CHECK(e.segments == 128);
  }
  SECTION("by block count") {
    CHECK(cut_request({&whole, 0, 0}, 0, 1 << 20, {128, 65536, 512 * 1024, 8}).bytes == 4096);
  }
  SECTION("limits that hold no block give nothing") {
    CHECK(cut_request({&single, 0, 3840}, 0, 4096, {1, 512, 512, 1}).bytes == 0);
  }
}

TEST_CASE("queue limits with a zero or a broken segment length are not valid") {
  CHECK(QueueLimits{}.valid());
  CHECK_FALSE(QueueLimits{0, 65536, 524288, 65535}.valid());
  CHECK_FALSE(QueueLimits{128, 1000, 524288, 65535}.valid());
  CHECK_FALSE(QueueLimits{128, 65536, 511, 65535}.valid());
  CHECK_FALSE(QueueLimits{128, 65536, 524288, 0}.valid());
  CHECK_FALSE(QueueLimits{kMaxSegments + 1, 65536, 524288, 65535}.valid());
}

TEST_CASE("the random order visits each block exactly once") {
  const std::uint64_t n = GENERATE(1, 2, 3, 7, 64, 1000, 4097);
  for (std::uint64_t key : {0u, 1u, 77u}) {
    std::vector<bool> seen(n);
    const Permutation p(n, key);
    for (std::uint64_t i = 0; i < n; ++i) {
      const std::uint64_t v = p(i);
      REQUIRE(v < n);
      REQUIRE_FALSE(seen[v]);
      seen[v] = true;
    }
  }
}

TEST_CASE("a random job covers its region once per pass, in another order each pass") {
  JobDef d{};
  d.kind = JobKind::randread;
  d.block_bytes = 4096;
  d.size = 4096 * 100;
  d.seed = 3;
  unsigned same = 0;
  for (std::uint64_t pass = 0; pass < 2; ++pass) {
    std::vector<bool> seen(100);
    for (std::uint64_t i = 0; i < 100; ++i) seen[job_block(d, pass * 100 + i)] = true;
    CHECK(std::count(seen.begin(), seen.end(), true) == 100);
  }
  for (std::uint64_t i = 0; i < 100; ++i) same += job_block(d, i) == job_block(d, 100 + i);
  CHECK(same < 20);
  d.kind = JobKind::read;
  CHECK(job_block(d, 99) == 99);
  CHECK(job_block(d, 100) == 0);
}

TEST_CASE("a stamp tells a wrong bit, a wrong place, a wrong writer and a stale block") {
  std::uint64_t words[64];
  make_block({100, 7, 2}, words);
  CHECK(check_block({100, 7, 2}, words));
  CHECK(check_block({100, 7, kAnyGeneration}, words));
  CHECK_FALSE(check_block({101, 7, 2}, words));
  CHECK_FALSE(check_block({100, 8, 2}, words));
  CHECK_FALSE(check_block({100, 7, 3}, words));
  words[63] ^= 1;
  CHECK_FALSE(check_block({100, 7, 2}, words));
  CHECK_FALSE(check_block({100, 7, kAnyGeneration}, words));
}

TEST_CASE("stamps survive pages that break inside a block") {
  fake::Board board;
  PageAllocator p(fake::kRamBase + 0x100'0000, 1 << 20, 4096, 1);
  const Buffer b{&p, 0, 260};
  fill_stamps(b, 16384, {50, 9, 1});
  std::uint64_t bad = 0;
  CHECK(check_stamps(b, 16384, {50, 9, 1}, bad) == 0);
  const Segment s = b.piece(7 * 512 + 10, 1);  // inside the eighth block
  *static_cast<unsigned char*>(board.ram(s.address, 1)) ^= 0x10;
  CHECK(check_stamps(b, 16384, {50, 9, 1}, bad) == 1);
  CHECK(bad == 7);
}

TEST_CASE("CSD fields of a real 32 GB part are decoded") {
  const std::array<std::uint32_t, 4> csd{0xd027'0132, 0x0f59'03ff, 0xf6db'ffef,
                                         0x8e40'4000};  // Samsung BJNB4R
  CardInfo info;
  REQUIRE(parse_csd(csd, info));
  CHECK(info.spec_version == 4);
  CHECK(info.access_ns == 15'000'000);  // 10 ms x 1.5
  CHECK(info.access_clocks == 100);
  CHECK(info.max_legacy_hz == 26'000'000);
  CHECK(info.command_classes == 0x0F5);
  CHECK(info.read_block_bytes == 512);
  CHECK(info.csd_sectors == 0x1000ull << 9);  // (C_SIZE 0xFFF + 1) << (7 + 2)
  CHECK(info.erase_group_sectors == 1024);
  CHECK_FALSE(parse_csd(std::array<std::uint32_t, 4>{}, info));
}

TEST_CASE("EXT_CSD fields of real parts are decoded") {
  const CardInfo s = ext_csd_of("samsung-bjnb4r-32g-emmc51");
  CHECK(s.sectors == 0x03a3'e000);
  CHECK(s.sector_addressed);
  CHECK(s.revision == 8);
  CHECK(s.device_type == 0x57);
  CHECK(s.strobe);
  CHECK(s.cache_bytes == 8u << 20);  // 0x10000 Kibit
  CHECK(s.generic_cmd6_ms == 100);
  CHECK(s.queue_depth == 16);
  CHECK(s.hpi);
  const CardInfo u = ext_csd_of("4g-emmc51-ddr52-cmdq");
  CHECK(u.sectors == 0x0074'8000);
  CHECK(u.cache_bytes == 128u << 10);
  CHECK(u.queue_depth == 32);
  CHECK(u.generic_cmd6_ms == 50);
  const CardInfo old = ext_csd_of("4g-emmc441");
  CHECK(old.revision == 5);
  CHECK(old.sectors == 0x0072'8000);
  CHECK(old.device_type == 0x07);
  CHECK_FALSE(old.strobe);
  CHECK(old.queue_depth == 0);
  CHECK(old.generic_cmd6_ms == 500);  // 0 in the register
  CHECK(old.cache_bytes == 0);
}

TEST_CASE("the best mode is what host, card and board all allow") {
  HostCaps all;
  all.width8 = all.high_speed = all.ddr52 = all.hs200 = all.hs400 = all.hs400es = true;
  HostCaps four = all;
  four.width8 = false;
  HostCaps no_sdr104 = all;
  no_sdr104.hs200 = no_sdr104.hs400 = no_sdr104.hs400es = false;
  HostCaps plain;
  const auto best = [](const HostCaps& h, std::uint32_t type, bool strobe,
                       CardMode limit = CardMode::hs400es) {
    CardInfo c;
    c.device_type = type;
    c.strobe = strobe;
    return best_mode(possible_modes(h, c, limit));
  };
  CHECK(best(all, 0x57, true) == CardMode::hs400es);
  CHECK(best(all, 0x57, false) == CardMode::hs400);
  CHECK(best(all, 0x17, true) == CardMode::hs200);
  CHECK(best(all, 0x07, false) == CardMode::ddr52);
  CHECK(best(all, 0x03, false) == CardMode::hs52);
  CHECK(best(all, 0x00, false) == CardMode::legacy);
  CHECK(best(all, 0xA3, false) == CardMode::hs52);  // only the 1.2 V variants of HS200 and HS400
  CHECK(best(four, 0x57, true) == CardMode::hs200);
  CHECK(best(no_sdr104, 0x57, true) == CardMode::ddr52);
  CHECK(best(plain, 0x57, true) == CardMode::legacy);
  CHECK(best(all, 0x57, true, CardMode::hs400) == CardMode::hs400);
  CHECK(best(all, 0x57, true, CardMode::hs52) == CardMode::hs52);
}

TEST_CASE("a job that contradicts itself or the card is refused") {
  JobDef d{};
  d.block_bytes = 4096;
  d.iodepth = 1;
  d.size = 1 << 20;
  CHECK(check_job(d, 2048) == Status::ok);
  CHECK(check_job(d, 2047) == Status::bad_job);
  const auto with = [&](auto change) {
    JobDef copy = d;
    change(copy);
    return check_job(copy, 0);
  };
  CHECK(with([](JobDef& j) { j.block_bytes = 0; }) == Status::bad_job);
  CHECK(with([](JobDef& j) { j.block_bytes = 1000; }) == Status::bad_job);
  CHECK(with([](JobDef& j) { j.iodepth = 0; }) == Status::bad_job);
  CHECK(with([](JobDef& j) { j.iodepth = kMaxIos + 1; }) == Status::too_many_ios);
  CHECK(with([](JobDef& j) { j.size = 2048; }) == Status::bad_job);
  CHECK(with([](JobDef& j) { j.offset = 100; }) == Status::bad_job);
  CHECK(with([](JobDef& j) { j.offset = ~0ull - 511; }) == Status::bad_job);
  CHECK(with([](JobDef& j) { j.time_based = 1; }) == Status::bad_job);
  CHECK(with([](JobDef& j) { j.rwmix_read = 101; }) == Status::bad_job);
}
