// The CMD and DAT lines to the clock. Expected numbers are written out from JESD84-B51's frame layouts.
#include "models/mmc_bus/mmc_bus.hpp"
#include "sc_tests/catch.hpp"
#include "sc_tests/mock_card.hpp"

using namespace vp;
using sc_core::sc_time;

namespace {

struct HostProbe : MmcBus::Host {
  std::vector<CommandOutcome> sent, done;
  void command_sent(const CommandOutcome& o) override { sent.push_back(o); }
  void response_received(const CommandOutcome& o) override {
    CHECK(sc_core::sc_time_stamp() == o.response_end);
    done.push_back(o);
  }
};

struct Bench {
  Context ctx;
  MmcBus bus{"bus", ctx, MmcBusParams{}};
  test::MockCard card;
  HostProbe host;
  CauseGraph graph;
  Bench() { bus.attach(host, card); }
  void run(const MmcCommand& c, RespType r, sc_time not_before = sc_core::SC_ZERO_TIME) {
    bus.issue(c, r, not_before, graph, kRootNode);
    sc_core::sc_start(sc_time(10, sc_core::SC_MS));
  }
};

struct Mode {
  const char* name;
  double hz;
  LineMode lines;
  unsigned frame;  // clocks per 512-byte block
};
// Start + data + CRC16 + end; data = 8 * 512 / width clocks, halved in DDR.
constexpr Mode kModes[] = {
    {"identification x1", 400e3, {1, false}, 1 + 4096 + 16 + 1},
    {"legacy x1", 26e6, {1, false}, 4114},
    {"legacy x4", 26e6, {4, false}, 1042},
    {"legacy x8", 26e6, {8, false}, 530},
    {"HS52 x4", 52e6, {4, false}, 1042},
    {"HS52 x8", 52e6, {8, false}, 530},
    {"DDR52 x4", 52e6, {4, true}, 530},
    {"DDR52 x8", 52e6, {8, true}, 274},
    {"HS200 x4", 200e6, {4, false}, 1042},
    {"HS200 x8", 200e6, {8, false}, 530},
    {"HS400 x8", 200e6, {8, true}, 274},
};

}  // namespace

TEST_CASE("a 512-byte frame takes 4114, 1042, 530 or 274 clocks by width and edges") {
  for (const Mode& m : kModes) {
    INFO(m.name);
    CHECK(frame_clocks(512, m.lines) == m.frame);
  }
  // CMD21: 128 bytes at x8, 64 bytes at x4: 1 + 128 + 16 + 1
  CHECK(frame_clocks(128, {8, false}) == 146);
  CHECK(frame_clocks(64, {4, false}) == 146);
}

TEST_CASE("CMD13 lasts 48 + N_CR + 48 clocks in every mode") {
  Bench b;
  for (const Mode& m : kModes) {
    INFO(m.name);
    b.bus.set_clock(m.hz);
    b.card.n_cr = m.hz > 52e6 ? 12 : 8;
    const sc_time period = b.bus.clock().period();
    const sc_time from = sc_core::sc_time_stamp() + sc_time(100, sc_core::SC_US);
    b.run({13, 0x10000}, RespType::r1, from);
    const CommandOutcome& o = b.host.done.back();
    CHECK(o.start >= from);
    CHECK(o.start < from + period);
    CHECK(o.command_end - o.start == 48 * period);
    CHECK(o.response_end - o.start == (48 + b.card.n_cr + 48) * period);
    CHECK_FALSE(o.timeout);
  }
}

TEST_CASE("a 136-bit response takes 136 clocks, after N_ID in identification") {
  Bench b;
  b.bus.set_clock(400e3);
  const sc_time t = b.bus.clock().period();
  b.run({2, 0}, RespType::r2);
  CHECK(b.host.done.back().response_end - b.host.done.back().start == (48 + 5 + 136) * t);
  b.run({9, 0x10000}, RespType::r2);
  CHECK(b.host.done.back().response_end - b.host.done.back().start == (48 + 8 + 136) * t);
}

TEST_CASE("a command without a response is followed no sooner than N_CC = 8 clocks") {
  Bench b;
  b.bus.set_clock(52e6);
  const sc_time t = b.bus.clock().period();
  b.bus.issue({0, 0}, RespType::none, sc_core::SC_ZERO_TIME, b.graph, kRootNode);
  sc_core::sc_start(sc_time::from_value(49 * t.value()));
  REQUIRE(b.host.done.size() == 1);
  const sc_time end = b.host.done.back().command_end;
  CHECK(b.host.done.back().response_end == end);
  b.bus.issue({1, 0}, RespType::r3, sc_core::SC_ZERO_TIME, b.graph, kRootNode);
  sc_core::sc_start(sc_time(1, sc_core::SC_MS));
  CHECK(b.host.done.back().start - end == 8 * t);
}

TEST_CASE("a response is followed by the next command no sooner than N_RC = 8 clocks") {
  Bench b;
  b.bus.set_clock(200e6);
  const sc_time t = b.bus.clock().period();
  b.bus.issue({13, 0x10000}, RespType::r1, sc_core::SC_ZERO_TIME, b.graph, kRootNode);
  sc_core::sc_start(sc_time::from_value((48 + 8 + 48 + 1) * t.value()));
  REQUIRE(b.host.done.size() == 1);
  const sc_time end = b.host.done.back().response_end;
  b.bus.issue({13, 0x10000}, RespType::r1, sc_core::SC_ZERO_TIME, b.graph, kRootNode);
  sc_core::sc_start(sc_time(1, sc_core::SC_MS));
  CHECK(b.host.done.back().start - end == 8 * t);
}

TEST_CASE("a silent device is given up 64 clocks after the command's end bit") {
  Bench b;
  b.card.silent = true;
  b.bus.set_clock(26e6);
  b.run({55, 0}, RespType::r1);
  const CommandOutcome& o = b.host.done.back();
  CHECK(o.timeout);
  CHECK(o.response_end - o.command_end == 64 * b.bus.clock().period());
}

TEST_CASE("a flipped command bit is not answered and reaches the device as a CRC error") {
  Bench b;
  b.bus.inject({BusFault::Kind::command_crc, 13, -1, 0, 1, {}});
  b.run({13, 0x10000}, RespType::r1);
  CHECK(b.host.done.back().timeout);
  CHECK(b.card.corrupted == 1);
  CHECK(b.card.seen.empty());
  b.run({13, 0x10000}, RespType::r1);
  CHECK_FALSE(b.host.done.back().timeout);
}

TEST_CASE("response faults show as CRC, end bit and index errors, once each") {
  Bench b;
  b.bus.inject({BusFault::Kind::response_crc, 13, -1, 0, 1, {}});
  b.bus.inject({BusFault::Kind::response_end_bit, 13, -1, 1, 1, {}});
  b.bus.inject({BusFault::Kind::response_index, 13, -1, 2, 1, {}});
  bool crc[4], end[4], index[4];
  for (int i = 0; i < 4; ++i) {
    b.run({13, 0x10000}, RespType::r1);
    const CommandOutcome& o = b.host.done.back();
    crc[i] = o.crc_error, end[i] = o.end_bit_error, index[i] = o.index_error;
  }
  CHECK((crc[0] && !crc[1] && !crc[2] && !crc[3]));
  CHECK((!end[0] && end[1] && !end[2] && !end[3]));
  CHECK((!index[0] && !index[1] && index[2] && !index[3]));
}

TEST_CASE("a data bit flipped on the wire is a CRC16 error on that block only") {
  Bench b;
  b.card.mode = {8, true};
  b.bus.set_line_mode({8, true});
  b.bus.set_clock(200e6);
  b.bus.inject({BusFault::Kind::read_crc, 17, 0, 0, 1, {}});
  for (int i = 0; i < 2; ++i) {
    b.run({17, 3}, RespType::r1);
    std::vector<std::byte> block(512);
    const auto check = b.bus.receive(0, block, sc_core::sc_time_stamp(), sc_core::sc_time_stamp());
    CHECK(check.crc_error == (i == 0));
    if (i == 1) CHECK(block[5] == test::MockCard::content(3, 5));
  }
}

TEST_CASE("a host and a device that disagree about the lines see CRC errors") {
  Bench b;
  b.card.mode = {8, true};
  b.bus.set_line_mode({8, false});
  b.bus.set_clock(200e6);
  b.run({17, 0}, RespType::r1);
  std::vector<std::byte> block(512);
  CHECK(b.bus.receive(0, block, sc_core::sc_time_stamp(), sc_core::sc_time_stamp()).crc_error);
  CHECK(b.bus.send(0, block, sc_core::sc_time_stamp(), sc_core::sc_time_stamp(), b.graph, kRootNode).status ==
        CrcStatus::crc_error);
}

TEST_CASE("a clock above the device's mode is a finding") {
  Bench b;
  b.card.max_hz = 26e6;
  b.bus.set_clock(26e6);
  b.run({13, 0x10000}, RespType::r1);
  CHECK(b.ctx.findings.empty());
  b.bus.set_clock(52e6);
  b.run({13, 0x10000}, RespType::r1);
  CHECK(b.ctx.findings.count("mmc.clock_outside_mode") == 1);
}
