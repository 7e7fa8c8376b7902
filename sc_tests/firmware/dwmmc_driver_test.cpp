// The DW-MMC driver against a fake host: registers, transfers, busy, tuning.
#include <algorithm>

#include "sc_tests/catch.hpp"
#include "sc_tests/firmware/dwmmc_bench.hpp"

using namespace fw;
using fake::DwBench;
using fake::DwFault;
using fake::DwShape;
using fake::kBuffer;

namespace {
std::vector<std::uint32_t> writes_to(const fake::DwMmc& d, std::uint32_t offset) {
  std::vector<std::uint32_t> v;
  for (const auto& a : d.log)
    if (a.write && a.offset == offset) v.push_back(static_cast<std::uint32_t>(a.value));
  return v;
}
std::vector<Segment> pages(unsigned n, std::uint64_t from = kBuffer) {
  std::vector<Segment> s;
  for (unsigned i = 0; i < n; ++i) s.push_back({from + std::uint64_t{i} * 8192, 4096});
  return s;
}
std::vector<unsigned> indices(const fake::DwMmc& d, std::size_t from = 0) {
  std::vector<unsigned> v;
  for (std::size_t i = from; i < d.commands.size(); ++i) v.push_back(d.commands[i].index);
  return v;
}
}  // namespace

TEST_CASE("a DW-MMC is identified by VERID and HCON, and its FIFO depth read before FIFOTH is written") {
  struct Row {
    DwShape shape;
    bool dma, hs400;
  };
  const Row rows[] = {{{0x233A, 4, false, false, 128, 0}, true, false},
                      {{0x240A, 2, false, false, 32, 0}, true, false},
                      {{0x280A, 8, true, false, 1024, 0}, true, true},
                      {{0x290A, 4, false, false, 64, 3}, false, true}};
  for (const Row& r : rows) {
    DwBench b(r.shape);
    REQUIRE(b.ready);
    CHECK(b.host.version() == r.shape.version);
    CHECK(b.host.fifo_width_bytes() == r.shape.width);
    CHECK(b.host.fifo_depth() == r.shape.depth);
    CHECK(b.host.wide() == r.shape.wide);
    CHECK(b.host.dma() == r.dma);
    CHECK(b.host.capabilities().hs400 == r.hs400);
    CHECK_FALSE(b.host.capabilities().hs400es);
    CHECK(b.device.reg(dw::kFifoth) == (2u << 28 | (r.shape.depth / 2 - 1) << 16 | r.shape.depth / 2));
  }
}

TEST_CASE("a host that is absent, unclocked, stuck in reset or unable to reach its ring is refused") {
  SECTION("the probe of nothing reads all ones") {
    fake::Board board(fake::kFullCaps, 8u << 20);
    fake::DwMmc device(board);
    device.poke(dw::kVerid, 0xFFFF'FFFF);
    DwMmc host;
    CHECK_FALSE(host.init(fake::dw_config()));
  }
  SECTION("no clock") {
    DwMmcConfig c = fake::dw_config();
    c.base_clock_hz = 0;
    CHECK_FALSE(DwBench({}, c).ready);
  }
  SECTION("a ring above 4 GiB with 32-bit descriptors") {
    DwMmcConfig c = fake::dw_config();
    c.ring_address = 0x1'0000'0000;
    CHECK_FALSE(DwBench({}, c).ready);
  }
  SECTION("a ring without a whole descriptor") {
    DwMmcConfig c = fake::dw_config();
    c.ring_bytes = 8;
    CHECK_FALSE(DwBench({}, c).ready);
  }
  SECTION("reset does not end") {
    fake::Board board(fake::kFullCaps, 8u << 20);
    fake::DwMmc device(board);
    device.stuck_reset = true;
    DwMmc host;
    CHECK_FALSE(host.init(fake::dw_config()));
    CHECK(board.now >= 500'000'000);
    CHECK(board.now < 502'000'000);
  }
}

TEST_CASE("the card clock is stopped, divided and started, each step loaded by UPDATE_CLOCK") {
  DwBench b;
  b.device.updates = 0;
  CHECK(b.host.set_clock(400'000) == 400'000);
  std::vector<std::uint32_t> order;
  for (const auto& a : b.device.log)
    if (a.write && (a.offset == dw::kClkena || a.offset == dw::kClkdiv || a.offset == dw::kCmd))
      order.push_back(a.offset);
  CHECK(order ==
        std::vector<std::uint32_t>{dw::kClkena, dw::kCmd, dw::kClkdiv, dw::kCmd, dw::kClkena, dw::kCmd});
  CHECK(writes_to(b.device, dw::kCmd) ==
        std::vector<std::uint32_t>(3, 0x8020'2000));  // START, UPDATE, WAIT_DATA
  CHECK(b.device.divider == 250);
  CHECK(b.device.clock_enable == 1);
  CHECK(b.host.set_clock(52'000'000) == 50'000'000);
  CHECK(b.host.set_clock(0) == 0);
  CHECK(b.device.clock_enable == 0);
}

TEST_CASE("UPDATE_CLOCK that is never taken is given up after 500 ms, a divider beyond eight bits at once") {
  SECTION("stuck") {
    DwBench b;
    b.device.stuck_start = true;
    const std::uint64_t from = b.board.now;
    CHECK(b.host.set_clock(400'000) == 0);
    CHECK(b.board.now - from >= 500'000'000);
    CHECK(b.board.now - from < 501'000'000);
  }
  SECTION("too fast a source") {
    DwMmcConfig c = fake::dw_config();
    c.base_clock_hz = 800'000'000;
    DwBench b({}, c);
    CHECK(b.host.set_clock(400'000) == 0);
  }
}

TEST_CASE("the timing modes set 1.8 V, DDR, the half start bit and HS400") {
  DwBench b;
  struct Row {
    CardMode mode;
    std::uint32_t uhs, ddr;
  };
  for (const Row& r :
       {Row{CardMode::legacy, 0, 0}, Row{CardMode::hs52, 0, 0}, Row{CardMode::ddr52, 0x1'0000, 1},
        Row{CardMode::hs200, 1, 0}, Row{CardMode::hs400, 0x1'0001, 0x8000'0001}}) {
    b.host.set_timing(r.mode);
    CHECK(b.device.reg(dw::kUhsReg) == r.uhs);
    CHECK(b.device.reg(dw::kEmmcDdrReg) == r.ddr);
  }
  b.host.set_bus_width(8);
  CHECK(b.device.reg(dw::kCtype) == 0x1'0000);
  b.host.set_bus_width(4);
  CHECK(b.device.reg(dw::kCtype) == 1);
  b.host.set_bus_width(1);
  CHECK(b.device.reg(dw::kCtype) == 0);
}

TEST_CASE("each kind of command has its own bits, and the first one after power-on the 80 clocks") {
  DwBench b;
  b.device.command_words.clear();
  b.plain(0, Response::none);
  b.plain(2, Response::r2);
  b.plain(13);
  b.plain(1, Response::r3);
  b.plain(12, Response::r1b);
  b.transfer(true, {{kBuffer, 512}});
  b.transfer(false, {{kBuffer, 1024}});
  // START stays set in the word as written: 0x8000'0000, USE_HOLD 0x2000'0000
  CHECK(b.device.command_words ==
        std::vector<std::uint32_t>{0xA000'C000,                 // STOP_ABORT, SEND_INIT
                                   0xA000'01C2, 0xA000'014D,    // long, CRC; CRC
                                   0xA000'0041, 0xA000'414C,    // no CRC check; STOP_ABORT
                                   0xA000'2351, 0xA000'2759});  // DATA, WAIT_DATA; WRITE as well
}

TEST_CASE("a long response comes with bits 127:96 first") {
  DwBench b;
  const auto r = b.plain(9, Response::r2);
  CHECK(r.resp[0] == 0xD027'0132);  // the card's CSD, most significant byte first
  CHECK(r.resp[1] == 0x0F59'03FF);
  CHECK(r.resp[2] == 0xFFFF'FFEF);
  CHECK(r.resp[3] >> 8 == 0x8A'4000);
}

TEST_CASE("an IDMAC read costs one register read and six writes once the bus is set") {
  DwBench b;
  b.pattern(64 * 1024);
  REQUIRE(b.transfer(true, pages(2)).error == MmcError::none);
  b.device.log.clear();
  REQUIRE(b.transfer(true, pages(2), 8).error == MmcError::none);
  const std::vector<std::uint32_t> want{dw::kStatus, dw::kBytcnt, dw::kBmod, dw::kBmod,
                                        dw::kPldmnd, dw::kCmdarg, dw::kCmd};
  std::vector<std::uint32_t> got;
  for (std::size_t i = 0; i < want.size(); ++i) got.push_back(b.device.log.at(i).offset);
  CHECK(got == want);
  CHECK(b.device.log[1].value == 8192);
  CHECK(b.device.log[2].value == 1);     // SWR: the pointer returns to DBADDR
  CHECK(b.device.log[3].value == 0x82);  // DE, FB
  CHECK(b.device.log[5].value == 8);
  CHECK(b.device.log[6].value == 0xA000'2352);
  CHECK(b.holds(pages(2), 8));
  CHECK(b.device.transfers.back().descriptors == 2);
  CHECK(b.device.transfers.back().fifoth == (4u << 28 | 31u << 16 | 32));  // 64 words of 4 bytes: 32 beats
}

TEST_CASE("a request ends only when CMD_DONE, the IDMAC and DATA_OVER have come, in every order") {
  struct Row {
    std::uint64_t response, move, over;
  };
  for (const Row& r : {Row{300, 3000, 6000}, Row{300, 6000, 3000}, Row{3000, 300, 6000}, Row{3000, 6000, 300},
                       Row{6000, 300, 3000}, Row{6000, 3000, 300}, Row{3000, 3000, 3000}})
    for (const bool read : {true, false}) {
      INFO(r.response << ' ' << r.move << ' ' << r.over << ' ' << read);
      DwBench b;
      b.pattern(8192);
      std::fill_n(b.memory(kBuffer), 4096, std::uint8_t{0x5A});
      b.device.response_ns = r.response;
      b.device.move_ns = r.move;
      b.device.over_ns = r.over;
      const auto result = b.transfer(read, {{kBuffer, 4096}});
      CHECK(result.error == MmcError::none);
      CHECK(result.ns >= std::max({r.response, r.move, r.over}));
      // a write's data reach the medium at DATA_OVER, which holds them only if the IDMAC was first
      if (read || r.move <= r.over) CHECK(b.holds({{kBuffer, 4096}}));
      CHECK(b.errors_reported() == 0);
    }
}

TEST_CASE("PIO moves whole FIFO words of the host's width, in two halves on a narrower bus") {
  const DwShape shapes[] = {{0x280A, 2, false, false, 64, 0},
                            {0x280A, 4, false, false, 16, 0},
                            {0x280A, 8, true, false, 32, 0},
                            {0x280A, 8, false, true, 128, 0},
                            {0x233A, 4, false, false, 512, 0}};
  for (const DwShape& shape : shapes) {
    INFO(shape.width << ' ' << shape.bus32 << ' ' << shape.depth);
    DwMmcConfig c = fake::dw_config();
    c.dma = false;
    c.fifo64_32 = shape.bus32;
    DwBench b(shape, c);
    b.pattern(16 * 1024);
    // pieces that share a FIFO word: 4 bytes, 508, 2060, and the rest of 5 KiB
    const std::vector<Segment> odd{
        {kBuffer, 4}, {kBuffer + 0x1004, 508}, {kBuffer + 0x2000, 2060}, {kBuffer + 0x4000, 2548}};
    REQUIRE(b.transfer(true, odd, 3).error == MmcError::none);
    CHECK(b.holds(odd, 3));
    for (const Segment& s : odd)
      for (std::uint32_t i = 0; i < s.bytes; ++i)
        b.memory(s.address)[i] ^= static_cast<std::uint8_t>(0xA5 + i);
    REQUIRE(b.transfer(false, odd, 3).error == MmcError::none);
    CHECK(b.holds(odd, 3));
    CHECK_FALSE(b.device.transfers.back().dma);
    CHECK(b.device.reg(dw::kIntmask) == dw::kIntForDma);  // the FIFO requests are masked again
    CHECK(b.host.limits().max_segs == 64);
    CHECK(b.host.limits().max_blk_count == 512);
  }
}

TEST_CASE("DMA is refused for fewer than 16 bytes, odd blocks and lengths that split a FIFO word") {
  struct Row {
    std::uint32_t block, blocks, first;
    bool dma;
  };
  DwBench b({0x280A, 8, true, false, 64, 0});
  for (const Row& r : {Row{8, 1, 8, false}, Row{16, 1, 16, true}, Row{10, 2, 20, false},
                       Row{512, 1, 256, true}, Row{512, 1, 252, false}}) {
    INFO(r.block << ' ' << r.blocks << ' ' << r.first);
    const std::uint32_t total = r.block * r.blocks;
    std::vector<Segment> segments{{kBuffer, r.first}};
    if (total > r.first) segments.push_back({kBuffer + 0x1000, total - r.first});
    MmcData data;
    data.segments = segments;
    data.block_bytes = r.block;
    data.blocks = r.blocks;
    MmcCommand c;
    c.index = 17;
    c.data = &data;
    const std::uint32_t before = b.host.pio_fallbacks();
    CHECK(b.run(c).error == MmcError::none);
    CHECK(b.device.transfers.back().dma == r.dma);
    CHECK(b.host.pio_fallbacks() - before == (r.dma ? 0 : 1));
  }
}

TEST_CASE("random scatter lists arrive whole through both descriptor formats, both ways") {
  for (const bool wide : {false, true}) {
    DwMmcConfig c = fake::dw_config();
    c.max_seg_bytes = 1u << 20;
    DwBench b({0x280A, 4, wide, false, 64, 0}, c);
    b.pattern(4u << 20);
    std::uint32_t seed = 7;
    const auto random = [&](std::uint32_t below) {
      seed = seed * 1664525 + 1013904223;
      return (seed >> 8) % below;
    };
    for (unsigned round = 0; round < 40; ++round) {
      std::vector<Segment> s;
      std::uint32_t bytes = 0;
      std::uint64_t at = kBuffer;
      for (unsigned n = 1 + random(20); n--;) {
        const std::uint32_t length = 4 * (1 + random(4000));
        s.push_back({at, length});
        bytes += length;
        at += length + 4 * random(1000);
      }
      if (bytes % 512) s.push_back({at, 512 - bytes % 512});
      const std::uint32_t lba = random(4000);
      std::uint64_t needed = 0;
      for (const Segment& x : s) needed += (x.bytes + 4095) / 4096;
      if (needed > c.ring_bytes / (wide ? 32 : 16)) continue;
      REQUIRE(b.transfer(true, s, lba, round % 2).error == MmcError::none);
      REQUIRE(b.holds(s, lba));
      CHECK(b.device.transfers.back().descriptors == needed);
      for (const Segment& x : s)
        for (std::uint32_t i = 0; i < x.bytes; i += 64)
          b.memory(x.address)[i] = static_cast<std::uint8_t>(random(256));
      REQUIRE(b.transfer(false, s, lba, round % 2).error == MmcError::none);
      REQUIRE(b.holds(s, lba));
    }
    CHECK(b.host.pio_fallbacks() == 0);
  }
}

TEST_CASE("CMD23 goes first, an open-ended transfer ends with CMD12 by the host or by the driver") {
  DwMmcConfig c = fake::dw_config();
  SECTION("CMD23") {
    DwBench b;
    b.transfer(true, pages(2), 0, true);
    CHECK(indices(b.device) == std::vector<unsigned>{23, 18});
    CHECK(b.device.commands[0].arg == 16);
  }
  SECTION("by the host") {
    DwBench b;
    CHECK(b.transfer(false, pages(2), 0, false, true).error == MmcError::none);
    CHECK(indices(b.device) == std::vector<unsigned>{25, 12});
    CHECK((b.device.command_words.at(0) & 0x1000) != 0);
    CHECK(b.device.command_words.size() == 1);
  }
  SECTION("by the driver") {
    c.auto_stop = false;
    DwBench b({}, c);
    CHECK(b.transfer(true, pages(2), 0, false, true).error == MmcError::none);
    CHECK(indices(b.device) == std::vector<unsigned>{18, 12});
    CHECK((b.device.command_words.at(0) & 0x1000) == 0);
    CHECK(b.device.command_words.at(1) == 0xA000'414C);
  }
}

TEST_CASE("card thresholds follow the mode and the direction and leave hosts without the register alone") {
  DwBench b({0x280A, 4, false, false, 256, 0});
  b.transfer(true, pages(1));
  CHECK(b.device.transfers.back().threshold == (512u << 16 | 1));
  b.transfer(false, pages(1));
  CHECK(b.device.transfers.back().threshold == 0);
  b.host.set_timing(CardMode::hs400);
  b.transfer(false, pages(1));
  CHECK(b.device.transfers.back().threshold == (512u << 16 | 4));
  b.host.set_timing(CardMode::hs52);
  b.transfer(true, pages(1));
  CHECK(b.device.transfers.back().threshold == 0);
  CHECK(b.device.transfers.back().tmout == 0xFFFF'FFFF);  // 1 s is more than 24 bits of 5 ns
}

TEST_CASE("busy of an R1b response ends with the busy-clear interrupt, without polling") {
  DwBench b;
  b.device.switch_busy_ns = 5'000'000;
  const auto r = b.plain(6, Response::r1b);
  CHECK(r.error == MmcError::none);
  CHECK(r.ns >= 5'000'000);
  CHECK(r.ns < 5'010'000);
  const auto reads = std::count_if(b.device.log.begin(), b.device.log.end(),
                                   [](auto& a) { return !a.write && a.offset == dw::kStatus; });
  CHECK(reads == 1);
  b.transfer(true, pages(1));
  CHECK((b.device.transfers.back().threshold & 2) == 0);  // a start bit error means itself again
  CHECK(b.errors_reported() == 0);
}

TEST_CASE("without the busy-clear interrupt busy is polled at doubling distances") {
  struct Row {
    std::uint32_t version;
    bool busy_clear;
  };
  for (const Row& row : {Row{0x233A, true}, Row{0x280A, false}}) {
    DwMmcConfig c = fake::dw_config();
    c.busy_clear = row.busy_clear;
    DwBench b({row.version, 4, false, false, 64, 0}, c);
    b.device.switch_busy_ns = 5'000'000;
    const auto r = b.plain(6, Response::r1b);
    CHECK(r.error == MmcError::none);
    // polls at 0, 32, 96, 224, ... 32 x (2^n - 1) us: the first beyond 5 ms is 8128 us
    CHECK(r.ns >= 8'128'000);
    CHECK(r.ns < 8'200'000);
    b.device.switch_busy_ns = 0;
    CHECK(b.plain(6, Response::r1b).ns < 100'000);
  }
}

TEST_CASE("busy that starts two clocks after the response is not missed") {
  for (const bool polled : {false, true}) {
    DwMmcConfig c = fake::dw_config();
    c.busy_clear = !polled;
    DwBench b({}, c);
    b.host.set_clock(400'000);
    b.device.busy_start_ns = 4'900;  // of 5 us
    b.device.switch_busy_ns = 700'000;
    CHECK(b.plain(6, Response::r1b).ns >= 700'000);
    CHECK_FALSE(b.device.busy());
  }
}

TEST_CASE("busy without end times out, and a lost busy-clear interrupt is noticed before that is said") {
  DwBench b;
  SECTION("no end") {
    b.device.switch_busy_ns = 60'000'000'000;
    const auto r = b.plain(6, Response::r1b);
    CHECK(r.error == MmcError::software_timeout);
    CHECK(r.ns >= 1'010'000'000);
    CHECK(r.ns < 1'100'000'000);
  }
  SECTION("polled, no end") {
    DwMmcConfig c = fake::dw_config();
    c.busy_clear = false;
    DwBench p({}, c);
    p.device.switch_busy_ns = 60'000'000'000;
    const auto r = p.plain(6, Response::r1b);
    CHECK(r.error == MmcError::software_timeout);
    CHECK(r.ns < 1'200'000'000);
  }
  SECTION("lost") {
    b.device.switch_busy_ns = 2'000'000;
    b.device.lose_busy_clear = true;
    CHECK(b.plain(6, Response::r1b).error == MmcError::none);
  }
}

TEST_CASE("a data command waits for the card's busy, 500 ms at most") {
  DwBench b;
  b.device.write_busy_ns = 3'000'000;
  REQUIRE(b.transfer(false, pages(1)).error == MmcError::none);
  CHECK(b.transfer(true, pages(1)).ns >= 2'900'000);
  b.device.write_busy_ns = 2'000'000'000;
  REQUIRE(b.transfer(false, pages(1)).error == MmcError::none);
  const std::size_t sent = b.device.commands.size();
  const std::uint64_t from = b.board.now;
  CHECK(b.transfer(true, pages(1)).error == MmcError::line_busy);
  CHECK(b.board.now - from < 510'000'000);
  CHECK(b.device.commands.size() == sent);
}

TEST_CASE("tuning takes the middle of the longest run of phases that read the block, round the circle") {
  DwBench b;
  const auto phase = [&] { return b.device.reg(0x108) >> 16; };
  SECTION("all phases") {
    CHECK(b.host.execute_tuning(21));
    CHECK(phase() == 0);
    CHECK(b.device.count(21) == 32);  // two at each of sixteen
  }
  SECTION("24 to 56 of 128, and a lone 96") {
    b.device.phase_reads = [](unsigned p) { return (p >= 24 && p <= 56) || p == 96; };
    CHECK(b.host.execute_tuning(21));
    CHECK(phase() == 40);
    CHECK(b.device.count(21) == 12 + 10);  // six good ones twice, ten bad ones once
  }
  SECTION("104 to 31, round the end") {
    b.device.phase_reads = [](unsigned p) { return p >= 104 || p < 32; };
    CHECK(b.host.execute_tuning(21));
    CHECK(phase() == 0);  // 104 112 120 0 8 16 24: the fourth
  }
  SECTION("four lines") {
    b.host.set_bus_width(4);
    CHECK(b.host.execute_tuning(21));
    CHECK(b.device.transfers.back().bytes == 64);
  }
  SECTION("one line cannot be tuned") {
    b.host.set_bus_width(1);
    CHECK_FALSE(b.host.execute_tuning(21));
    CHECK(b.device.count(21) == 0);
  }
  SECTION("none") {
    b.board.tuning_works = false;
    CHECK_FALSE(b.host.execute_tuning(21));
    CHECK(b.device.count(21) == 16);
    CHECK(phase() == 0);
  }
}

TEST_CASE("without a phase register tuning asks for four good blocks in a row, of forty at most") {
  DwBench b({0x233A, 4, false, false, 64, 0});
  SECTION("good") {
    CHECK(b.host.execute_tuning(21));
    CHECK(b.device.count(21) == 4);
  }
  SECTION("bad") {
    b.board.tuning_works = false;
    CHECK_FALSE(b.host.execute_tuning(21));
    CHECK(b.device.count(21) == 40);
  }
}
