// The whole firmware on a DW-MMC: set-up, jobs, limits, retries.
#include <algorithm>

#include "firmware/app/main.hpp"
#include "firmware/app/status.hpp"
#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/dwmmc_fake.hpp"

using namespace fw;
using fake::Board;
using fake::DwFault;
using fake::DwShape;

namespace {
using fake::job;
constexpr std::size_t kRamBytes = 8u << 20;

JobTable& dw_table(Board& board, const JobDef& d) {
  JobTable& t = fake::table(board);
  t.host_kind = HostKind::dwmmc;
  t.base_clock_hz = 200'000'000;
  t.max_segs = 4096;
  t.max_seg_bytes = t.max_req_bytes = 16u << 20;
  t.buffer_base = fake::kRamBase + (3u << 20);
  t.buffer_bytes = 5u << 20;
  t.job_count = 1;
  t.jobs[0] = d;
  return t;
}
std::vector<std::uint64_t> request_bytes(const Board& b) {
  std::vector<std::uint64_t> v;
  for (const auto& m : b.marks)
    if (m.what == hal::Event::request_begin) v.push_back(m.c);
  return v;
}
std::size_t buffers(const Board& b) {
  return static_cast<std::size_t>(std::count_if(
      b.marks.begin(), b.marks.end(), [](auto& m) { return m.what == hal::Event::request_buffer; }));
}
}  // namespace

TEST_CASE("a DW-MMC of 2.80a takes the card to HS400 by way of HS200, an older one to HS200") {
  for (const std::uint32_t version : {0x280Au, 0x233Au}) {
    Board b(fake::kFullCaps, kRamBytes);
    fake::DwMmc device(b, {version, 4, false, false, 128, 0});
    JobTable& t = dw_table(b, job(JobKind::read, 4096, 4096));
    REQUIRE(fw::main() == 0);
    CHECK(static_cast<CardMode>(t.card_mode) == (version == 0x280A ? CardMode::hs400 : CardMode::hs200));
    CHECK(t.card_clock_hz == 200'000'000);
    CHECK(t.card_sectors == 0x03A3'E000);
    CHECK(device.count(21) == (version == 0x280A ? 32 : 4));
    CHECK(device.divider == 0);
    CHECK(device.early_commands == 0);
  }
}

TEST_CASE(
    "a stamped pass is written, read back and checked by PIO of every width and by both descriptor formats") {
  struct Row {
    DwShape shape;
    std::uint32_t use_dma, offset;
  };
  const Row rows[] = {{{0x280A, 2, false, false, 64, 0}, 0, 0},  {{0x280A, 4, false, false, 64, 0}, 0, 260},
                      {{0x280A, 8, true, false, 64, 0}, 0, 0},   {{0x280A, 8, true, true, 64, 0}, 0, 4},
                      {{0x280A, 4, false, false, 64, 0}, 1, 0},  {{0x233A, 4, false, false, 1024, 0}, 2, 512},
                      {{0x280A, 8, true, false, 1024, 0}, 2, 0}, {{0x280A, 8, true, true, 1024, 0}, 2, 260}};
  for (const Row& r : rows)
    for (const JobKind kind : {JobKind::write, JobKind::randrw}) {
      INFO(r.shape.width << ' ' << r.shape.wide << ' ' << r.use_dma << ' ' << r.offset);
      Board b(fake::kFullCaps, kRamBytes);
      fake::DwMmc device(b, r.shape);
      JobDef d = job(kind, 16384, 32 * 16384);
      d.verify = 1;
      d.iodepth = 3;
      JobTable& t = dw_table(b, d);
      t.use_dma = r.use_dma;
      t.dw_fifo64_32 = r.shape.bus32;
      t.buffer_byte_offset = r.offset;
      t.contiguity_pages = 1;
      b.busy_polls = 1;
      device.write_busy_ns = 20'000;
      device.switch_busy_ns = 100'000;
      REQUIRE(fw::main() == 0);
      CHECK(t.errors == 0);
      CHECK(t.verify_errors == 0);
      // 260 is no multiple of an 8-byte word: those requests go by PIO
      CHECK(device.transfers.back().dma == (r.use_dma && (r.offset % r.shape.width == 0)));
    }
}

TEST_CASE("the ring decides how requests are cut: 4 KiB segments, or segments up to the request") {
  struct Row {
    std::uint32_t ring, segment;
    bool wide;
    std::size_t requests, segments;
  };
  // a contiguous 1 MiB: 256 pages; a 4 KiB ring holds 256 or 128 descriptors, 16 KiB of 32 bytes 512
  const Row rows[] = {{0, 0, false, 1, 256},    {0, 0, true, 2, 256},          {4096, 1u << 20, true, 2, 2},
                      {16384, 0, true, 1, 256}, {16384, 1u << 20, true, 1, 1}, {4096, 65536, false, 1, 16}};
  for (const Row& r : rows) {
    INFO(r.ring << ' ' << r.segment << ' ' << r.wide);
    Board b(fake::kFullCaps, kRamBytes);
    fake::DwMmc device(b, {0x280A, 4, r.wide, false, 64, 0});
    JobTable& t = dw_table(b, job(JobKind::read, 1u << 20, 1u << 20));
    t.dw_ring_bytes = r.ring;
    t.dw_max_seg_bytes = r.segment;
    REQUIRE(fw::main() == 0);
    CHECK(t.errors == 0);
    CHECK(request_bytes(b).size() == r.requests);
    CHECK(buffers(b) == r.segments);
    CHECK(device.transfers.back().descriptors == 256 / r.requests);
  }
}

TEST_CASE("the table's own limits bound the ring's") {
  Board b(fake::kFullCaps, kRamBytes);
  fake::DwMmc device(b);
  JobTable& t = dw_table(b, job(JobKind::read, 1u << 20, 1u << 20));
  t.max_segs = 32;
  REQUIRE(fw::main() == 0);
  CHECK(request_bytes(b) == std::vector<std::uint64_t>(8, 128 * 1024));
}

TEST_CASE("a request whose pieces overrun the ring fails its I/O with a report, and nothing else") {
  Board b(fake::kFullCaps, kRamBytes);
  fake::DwMmc device(b, {0x280A, 4, true, false, 64, 0});
  JobTable& t = dw_table(b, job(JobKind::read, 512 * 1024, 1024 * 1024));
  t.dw_max_seg_bytes = 512 * 1024;
  t.buffer_byte_offset = 512;
  t.contiguity_pages = 2;  // 7680, then 63 of 8192 and 512: 2 + 126 + 1 descriptors, one more than 128
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 2);
  CHECK(device.count(18) == 0);
  CHECK(std::count_if(b.marks.begin(), b.marks.end(), [](auto& m) {
          return m.what == hal::Event::driver_error && m.a == 129 && m.c == 128;
        }) == 2);
}

TEST_CASE("on a DW-MMC one error is cured by a retry, two fail the I/O, and every I/O ends once") {
  for (const DwFault f : {DwFault::data_crc, DwFault::response_crc, DwFault::no_response, DwFault::bus_error,
                          DwFault::lose_over, DwFault::host_reset, DwFault::locked})
    for (const JobKind kind : {JobKind::read, JobKind::write})
      for (const unsigned faults : {1u, 2u}) {
        INFO(static_cast<int>(f) << ' ' << static_cast<int>(kind) << ' ' << faults);
        Board b(fake::kFullCaps, kRamBytes);
        fake::DwMmc device(b);
        JobTable& t = dw_table(b, job(kind, 16384, 65536));
        unsigned left = faults;
        const unsigned victim = kind == JobKind::read ? 18 : 25;
        device.fault = [&](unsigned index, unsigned) {
          return index == victim && left && left-- ? f : DwFault::none;
        };
        REQUIRE(fw::main() == 0);
        CHECK(t.errors == (faults == 2 ? 1 : 0));
        CHECK(std::count_if(b.marks.begin(), b.marks.end(),
                            [](auto& m) { return m.what == hal::Event::io_end; }) == 4);
        CHECK(device.early_commands == 0);
      }
}

TEST_CASE("a cache flush on a DW-MMC waits for busy and times out in bounded time") {
  for (const std::uint32_t poll : {0u, 1u}) {
    Board b(fake::kFullCaps, kRamBytes);
    fake::DwMmc device(b);
    JobDef d = job(JobKind::write, 4096, 8 * 4096);
    d.fsync_every = 4;
    JobTable& t = dw_table(b, d);
    t.dw_poll_busy = poll;
    device.switch_busy_ns = 3'000'000;
    REQUIRE(fw::main() == 0);
    CHECK(t.errors == 0);
    std::uint64_t begin = 0, longest = 0;
    for (const auto& m : b.marks) {
      if (m.what == hal::Event::io_begin && (m.a & 0xFF) == 3) begin = m.at_ns;
      if (m.what == hal::Event::io_end && begin) longest = std::max(longest, m.at_ns - begin), begin = 0;
    }
    CHECK(longest >= 3'000'000);
    CHECK(longest < 4'300'000);  // polled: the poll after 3 ms is at 4064 us
  }
}

TEST_CASE("what a DW-MMC cannot be asked for ends with its own status") {
  Board b(fake::kFullCaps, kRamBytes);
  fake::DwMmc device(b);
  JobTable& t = dw_table(b, job(JobKind::read, 4096, 4096));
  int expected = 0;
  SECTION("no clock") { t.base_clock_hz = 0, expected = static_cast<int>(Status::no_clock); }
  SECTION("segment") { t.dw_max_seg_bytes = 1000, expected = static_cast<int>(Status::bad_limits); }
  SECTION("ring") { t.dw_ring_bytes = 1000, expected = static_cast<int>(Status::bad_limits); }
  SECTION("ring larger than the pool") {
    t.dw_ring_bytes = 1u << 21, expected = static_cast<int>(Status::pool_too_small);
  }
  SECTION("absent") {
    device.poke(dw::kVerid, 0xFFFF'FFFF), expected = static_cast<int>(Status::host_failed);
  }
  SECTION("queue") { t.use_cqe = 1, expected = static_cast<int>(Status::no_cqe_host); }
  CHECK(fw::main() == expected);
  CHECK(t.done == 0);
}
