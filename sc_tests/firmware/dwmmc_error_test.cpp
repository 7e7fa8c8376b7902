// What goes wrong on a DW-MMC and how the driver gets out: every error bit, lost interrupts, a full ring, stuck hardware.
#include <algorithm>

#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/dwmmc_bench.hpp"

using namespace fw;
using fake::DwBench;
using fake::DwFault;
using fake::kBuffer;

namespace {
const std::vector<Segment> kOne{{kBuffer, 4096}};
/// The first command `index` meets `f`, all others are good.
void once(DwBench& b, unsigned index, DwFault f) {
  b.device.fault = [index, f](unsigned i, unsigned nth) {
    return i == index && nth == 0 ? f : DwFault::none;
  };
}
constexpr std::uint64_t kMs = 1'000'000;
}  // namespace

TEST_CASE("each error bit ends the request with its own error, and the next request works") {
  struct Row {
    DwFault fault;
    MmcError error;
    bool reads_only;
  };
  const Row rows[] = {{DwFault::no_response, MmcError::command_timeout, false},
                      {DwFault::response_crc, MmcError::command_crc, false},
                      {DwFault::data_crc, MmcError::data_crc, false},
                      {DwFault::end_bit, MmcError::data_crc, false},
                      {DwFault::start_bit, MmcError::data_crc, true},
                      {DwFault::data_timeout, MmcError::data_timeout, true},
                      {DwFault::host_timeout, MmcError::adma, false},
                      {DwFault::fifo_run, MmcError::adma, false},
                      {DwFault::bus_error, MmcError::adma, false},
                      {DwFault::locked, MmcError::line_busy, false}};
  for (const Row& r : rows)
    for (const bool read : {true, false})
      for (const bool wide : {false, true}) {
        if (!read && r.reads_only) continue;
        INFO(static_cast<int>(r.fault) << (read ? " read" : " write") << (wide ? " 64" : " 32"));
        DwBench b({0x280A, 4, wide, false, 64, 0});
        b.pattern(8192);
        once(b, read ? 18 : 25, r.fault);
        const auto failed = b.transfer(read, kOne);
        CHECK(failed.error == r.error);
        CHECK(failed.ns < 20 * kMs);
        CHECK(b.errors_reported() == 1);
        CHECK(b.transfer(read, kOne).error == MmcError::none);
        CHECK(b.holds(kOne));
        CHECK(b.device.transfers.back().dma);
      }
}

TEST_CASE(
    "recovery stops the IDMAC, resets, waits for the DMA request, renews the ring and loads the clock") {
  DwBench b;
  once(b, 18, DwFault::data_crc);
  b.device.log.clear();
  b.transfer(true, kOne);
  std::vector<std::uint32_t> seen;
  for (const auto& a : b.device.log) {
    const bool reset = a.offset == dw::kCtrl && (a.value & 7);
    if (a.write && (reset || a.offset == dw::kBmod || a.offset == dw::kRintsts))
      seen.push_back(a.offset << 8 | (a.value & 7));
    if (a.write && (a.offset == 0x88 || (a.offset == dw::kCmd && (a.value & dw::kCmdUpdateClock))))
      seen.push_back(a.offset << 8);
    if (!a.write && a.offset == dw::kStatus) seen.push_back(a.offset << 8);
  }
  const std::vector<std::uint32_t> want{dw::kCtrl << 8 | 4,    dw::kBmod << 8 | 1, dw::kCtrl << 8 | 7,
                                        dw::kRintsts << 8 | 7, dw::kStatus << 8,   dw::kCtrl << 8 | 2,
                                        dw::kBmod << 8 | 1,    0x88u << 8,         dw::kCmd << 8};
  REQUIRE(seen.size() >= want.size());
  CHECK(std::equal(want.rbegin(), want.rend(), seen.rbegin()));
  CHECK(b.device.clock_enable == 1);
  for (unsigned i = 0; i < 256; ++i) CHECK((b.word(fake::kRing + 16 * i) & 0x8000'0000) == 0);
}

TEST_CASE("an interrupt that never comes ends the request by its own watchdog, on reads and on writes") {
  struct Row {
    DwFault fault;
    std::uint64_t least_ms, most_ms;
  };
  // no CMD_DONE: the response's own time and 10 ms. No data: the request's second and 10 ms
  const Row rows[] = {{DwFault::lose_all, 10, 11},
                      {DwFault::lose_done, 10, 11},
                      {DwFault::lose_over, 1010, 1011},
                      {DwFault::lose_move, 1010, 1011},
                      {DwFault::host_reset, 1010, 1011}};
  for (const Row& r : rows)
    for (const bool read : {true, false}) {
      INFO(static_cast<int>(r.fault) << (read ? " read" : " write"));
      DwBench b;
      b.pattern(8192);
      once(b, read ? 18 : 25, r.fault);
      const auto failed = b.transfer(read, kOne);
      CHECK(failed.error == MmcError::software_timeout);
      CHECK(failed.ns >= r.least_ms * kMs);
      CHECK(failed.ns < r.most_ms * kMs);
      CHECK(b.errors_reported() == 1);
      CHECK(b.transfer(read, kOne).error == MmcError::none);
      CHECK(b.holds(kOne));
    }
}

TEST_CASE("PIO requests time out and recover too") {
  DwMmcConfig c = fake::dw_config();
  c.dma = false;
  for (const DwFault f : {DwFault::lose_all, DwFault::host_reset, DwFault::data_crc})
    for (const bool read : {true, false}) {
      DwBench b({}, c);
      b.pattern(8192);
      once(b, read ? 18 : 25, f);
      CHECK(b.transfer(read, kOne).error != MmcError::none);
      CHECK(b.transfer(read, kOne).error == MmcError::none);
      CHECK(b.holds(kOne));
    }
}

TEST_CASE("the watchdog says which command waits, for what, and what the registers hold") {
  DwBench b;
  once(b, 25, DwFault::lose_over);
  b.transfer(false, kOne);
  const auto mark = std::find_if(b.board.marks.begin(), b.board.marks.end(),
                                 [](auto& m) { return m.what == hal::Event::driver_error; });
  REQUIRE(mark != b.board.marks.end());
  CHECK((mark->id & 0xFF) == 25);
  CHECK(mark->id >> 8 == 2);  // the command and its data
  CHECK(mark->b == 1);
}

TEST_CASE("an error of CMD23 is reported as CMD23's") {
  DwBench b;
  once(b, 23, DwFault::no_response);
  CHECK(b.transfer(true, kOne, 0, true).error == MmcError::command_timeout);
  CHECK(b.device.count(18) == 0);
  REQUIRE(b.errors_reported() == 1);
  CHECK(b.board.marks.back().id == (23u | 1u << 8));
  CHECK(b.transfer(true, kOne, 0, true).error == MmcError::none);
}

TEST_CASE("after a bad response the data of a read are let in before the next command") {
  DwBench b;
  b.device.over_ns = 400'000;
  b.device.move_ns = 300'000;
  once(b, 18, DwFault::response_crc);
  const auto r = b.transfer(true, kOne);
  CHECK(r.error == MmcError::command_crc);
  CHECK(r.ns >= 400'000);
  b.plain(13);
  CHECK(b.device.early_commands == 0);
}

TEST_CASE("a response error during tuning does not stick: the data come to their end and tuning goes on") {
  DwBench b;
  b.device.over_ns = 50'000;
  b.device.move_ns = 40'000;
  b.device.fault = [](unsigned index, unsigned nth) {
    return index == 21 && nth == 2 ? DwFault::response_crc : DwFault::none;
  };
  CHECK(b.host.execute_tuning(21));
  CHECK(b.device.reg(0x108) >> 16 == 72);  // phase 8 (the second) is bad; of 16 ... 120, 0 the middle
  CHECK(b.errors_reported() == 0);         // what tuning is for
  CHECK(b.device.count(21) == 31);         // fifteen twice, one once
  CHECK(b.device.early_commands == 0);
}

TEST_CASE("a request that needs more descriptors than the ring holds is refused before anything is sent") {
  DwMmcConfig c = fake::dw_config();
  c.max_seg_bytes = 1u << 20;
  for (const bool wide : {false, true}) {
    DwBench b({0x280A, 4, wide, false, 64, 0}, c);
    const std::uint32_t entries = wide ? 128 : 256;
    CHECK(b.host.limits().max_segs == entries);
    CHECK(b.host.limits().max_req_bytes == entries * 4096);
    // Within every limit: half as many segments plus one as descriptors, of 4608 bytes, two descriptors each.
    std::vector<Segment> s;
    for (unsigned i = 0; i <= entries / 2; ++i) s.push_back({kBuffer + std::uint64_t{i} * 8192, 4608});
    const std::size_t sent = b.device.commands.size();
    const auto r = b.transfer(true, s);
    CHECK(r.error == MmcError::bad_request);
    CHECK(b.host.ring_overflows() == 1);
    CHECK(b.device.commands.size() == sent);
    s.pop_back();  // exactly full
    CHECK(b.transfer(true, s).error == MmcError::none);
    CHECK(b.device.transfers.back().descriptors == entries);
    CHECK(b.holds(s));
  }
}

TEST_CASE("with 4 KiB segments every request within the limits fits the ring") {
  DwBench b;
  const DwLimits l = b.host.limits();
  std::vector<Segment> s;
  for (unsigned i = 0; i < l.max_segs; ++i) s.push_back({kBuffer + std::uint64_t{i} * 8192, l.max_seg_bytes});
  CHECK(b.transfer(true, s).error == MmcError::none);
  CHECK(b.device.transfers.back().bytes == l.max_req_bytes);
  CHECK(b.device.transfers.back().descriptors == 256);
}

TEST_CASE("a descriptor the IDMAC keeps costs 100 ms, then PIO carries the request and the ring is renewed") {
  DwBench b;
  b.pattern(8192);
  b.device.keep_own = true;
  REQUIRE(b.transfer(true, kOne).error == MmcError::none);
  b.device.keep_own = false;
  const auto r = b.transfer(true, {{kBuffer + 0x8000, 4096}}, 1);
  CHECK(r.error == MmcError::none);
  CHECK(r.ns >= 100 * kMs);
  CHECK(r.ns < 101 * kMs);
  CHECK_FALSE(b.device.transfers.back().dma);
  CHECK(b.holds({{kBuffer + 0x8000, 4096}}, 1));
  CHECK(b.host.pio_fallbacks() == 1);
  REQUIRE(b.transfer(true, kOne, 2).error == MmcError::none);
  CHECK(b.device.transfers.back().dma);
  CHECK(b.holds(kOne, 2));
}

TEST_CASE("a descriptor that is not the IDMAC's when it is fetched is an error, not a wait") {
  DwBench b;
  b.device.move_ns = 50'000;
  b.device.over_ns = 90'000;
  b.device.fault = [&](unsigned index, unsigned nth) {
    if (index == 18 && nth == 0)
      std::fill_n(b.memory(fake::kRing + 3), 1, std::uint8_t{0});  // OWN of the first
    return DwFault::none;
  };
  const auto r = b.transfer(true, kOne);
  CHECK(r.error == MmcError::adma);
  CHECK(r.ns < kMs);
  CHECK(b.transfer(true, kOne).error == MmcError::none);
}

TEST_CASE("recovery itself is bounded when the hardware is stuck, and says so") {
  DwBench b;
  once(b, 18, DwFault::data_crc);
  SECTION("DMA request") { b.device.stuck_dma_request = true; }
  SECTION("reset") { b.device.stuck_reset = true; }
  SECTION("clock") { b.device.stuck_start = true; }
  const auto r = b.transfer(true, kOne);
  CHECK(r.error == MmcError::data_crc);
  CHECK(r.ns < 2'100 * kMs);  // at most four polls of 500 ms
  CHECK(b.errors_reported() == 2);
}

TEST_CASE("what does not fit a transfer is refused: lengths, alignment, an empty list") {
  DwBench b;
  const auto refused = [&](std::vector<Segment> s, std::uint32_t block, std::uint32_t blocks) {
    MmcData data;
    data.segments = s;
    data.block_bytes = block;
    data.blocks = blocks;
    MmcCommand c;
    c.index = 18;
    c.data = &data;
    return b.run(c).error == MmcError::bad_request;
  };
  CHECK(refused({{kBuffer, 512}}, 512, 2));
  CHECK(refused({{kBuffer + 2, 512}}, 512, 1));
  CHECK(refused({{kBuffer, 510}, {kBuffer + 0x1000, 2}}, 512, 1));
  CHECK(refused({}, 512, 0));
  CHECK(refused({{kBuffer, 0}, {kBuffer, 512}}, 512, 1));
  CHECK(b.device.commands.empty());
}
