// Register sequences of the queue engine's driver: host and engine alone, no card.
#include "firmware/drivers/cqhci.hpp"
#include "sc_tests/firmware/cqe_bench.hpp"

using namespace cqe_test;

namespace {
/// Host and engine alone, no card: for the register sequences.
struct Bench {
  Board board;
  Sdhci host;
  Cqhci engine;
  CqhciConfig config;
  explicit Bench(std::uint32_t caps, V4Policy v4 = V4Policy::when_capable) : board(caps) {
    board.cqe.present = true;
    SdhciConfig c;
    c.base = fake::kHostBase;
    c.v4 = v4;
    c.table_address = fake::kRamBase + 0x8000;
    c.table_bytes = 0x1000;
    REQUIRE(host.init(c));
    host.set_clock(200'000'000);
    REQUIRE(engine.probe(host));
    config.place = {fake::kRamBase + 0x4'0000, fake::kRamBase + 0x5'0000, 32, 8};
    config.shape.dma64 = config.shape.task128 = host.v4() && host.addressing_64();
  }
  std::vector<Step> enable() {
    REQUIRE(engine.init(config));
    board.log.clear();
    REQUIRE(engine.enable());
    return steps(board);
  }
};
}  // namespace

TEST_CASE("the engine is enabled in the documented order, the SDHCI side first and its interrupts last") {
  Bench t(fake::kFullCaps);
  CHECK(t.enable() ==
        std::vector<Step>{r(reg("PRESENT_STATE")), r(reg("NORMAL_INT_STATUS")), w(reg("BLOCK_SIZE"), 0x7200),
                          w(reg("TRANSFER_MODE"), 0x23), w(reg("TIMEOUT_CONTROL"), 0xE),
                          w(reg("NORMAL_INT_STATUS_ENABLE"), 0x02FF'4000),
                          w(reg("NORMAL_INT_SIGNAL_ENABLE"), 0x02FF'4000), r(cq("CQCFG")),
                          w(cq("CQCFG"), 0x100), w(cq("CQTDLBA"), 0x4004'0000), w(cq("CQTDLBAU"), 0),
                          w(cq("CQSSC2"), 1), w(cq("CQISTE"), 0), w(cq("CQISGE"), 0), w(cq("CQCFG"), 0x101),
                          r(cq("CQCFG")), r(cq("CQCTL")), w(cq("CQISTE"), 0x36), w(cq("CQISGE"), 0x36)});
  CHECK(t.board.cqe.reg("CQSSC1") == 0);  // CIT not asked for: not touched
}

TEST_CASE(
    "CIT keeps the block counter, coalescing writes threshold and timeout with their enables, DCMD sets "
    "CQCFG.12") {
  Bench t(fake::kV3Caps);
  t.board.cqe.reg("CQSSC1") = 0x0001'1000;
  t.config.idle_timer = 0x100;
  t.config.coalesce_count = 8;
  t.config.coalesce_timeout = 5;
  t.config.dcmd = true;
  const auto s = t.enable();
  const auto has = [&](const Step& x) { return std::find(s.begin(), s.end(), x) != s.end(); };
  CHECK(has(w(cq("CQSSC1"), 0x0001'0100)));
  CHECK(has(w(cq("CQIC"), 0x8001'8885)));  // enable, reset, 8 with WE, 5 with WE
  CHECK(has(w(cq("CQCFG"), 0x1001)));      // DCMD, 64-bit tasks
  CHECK(t.board.cqe.reg("CQCFG") == 0x1001);
}

TEST_CASE("with 96-bit descriptors in use the DMA select goes to ADMA2 only and comes back") {
  Bench t(fake::kFullCaps, V4Policy::never);
  const auto s = t.enable();
  CHECK(std::find(s.begin(), s.end(), w(reg("HOST_CONTROL1"), 0x10)) != s.end());
  t.board.log.clear();
  REQUIRE(t.engine.off());
  const auto back = steps(t.board);
  CHECK(std::find(back.begin(), back.end(), w(reg("HOST_CONTROL1"), 0x18)) != back.end());
}

TEST_CASE("a word left in the buffer and a stale Command Complete are gone before the engine is enabled") {
  Bench t(fake::kFullCaps);
  REQUIRE(t.engine.init(t.config));
  t.board.leave_stale(2);
  t.board.log.clear();
  REQUIRE(t.engine.enable());
  const auto s = steps(t.board);
  const std::vector<Step> head(s.begin(), s.begin() + 8);
  CHECK(head == std::vector<Step>{r(reg("PRESENT_STATE")), r(reg("BUFFER_DATA_PORT")),
                                  r(reg("PRESENT_STATE")), r(reg("BUFFER_DATA_PORT")),
                                  r(reg("PRESENT_STATE")), r(reg("NORMAL_INT_STATUS")),
                                  w(reg("NORMAL_INT_STATUS"), 1), w(reg("BLOCK_SIZE"), 0x7200)});
}

TEST_CASE("a buffer that does not drain is reset") {
  Bench t(fake::kFullCaps);
  REQUIRE(t.engine.init(t.config));
  t.board.leave_stale(1'000'000);
  t.board.log.clear();
  REQUIRE(t.engine.enable());
  CHECK(count_steps(t.board, true, reg("SOFTWARE_RESET")) == 1);
  CHECK(count_steps(t.board, false, reg("BUFFER_DATA_PORT")) == 512);
}

TEST_CASE("a halted engine is let go, other control bits do not count as halted") {
  Bench t(fake::kFullCaps);
  t.board.cqe.reg("CQCTL") = GENERATE(0x1u, 0x100u);
  const bool halted = t.board.cqe.reg("CQCTL") & 1;
  const auto s = t.enable();
  CHECK((std::find(s.begin(), s.end(), w(cq("CQCTL"), 0)) != s.end()) == halted);
}

TEST_CASE("a task costs one doorbell write and one read-back, an interrupt four reads and three writes") {
  Bench t(fake::kFullCaps);
  t.enable();
  const Segment segment[] = {{fake::kRamBase + 0x10'0000, 4096}};
  CqTask task;
  task.blocks = 8;
  REQUIRE(t.engine.put_data(3, task, segment) == 1);
  CHECK(t.board.costs[static_cast<std::size_t>(hal::Cost::descriptor)] == 2);  // transfer and task
  t.board.cqe.fate = [](unsigned) { return Fate::hold; };
  t.board.log.clear();
  REQUIRE(t.engine.ring(3));
  CHECK(steps(t.board) == std::vector<Step>{w(cq("CQTDBR"), 8), r(cq("CQTDBR"))});
  t.board.cqe.idle();
  t.board.log.clear();
  t.host.irq();
  CHECK(steps(t.board) == std::vector<Step>{r(reg("NORMAL_INT_STATUS")), w(reg("NORMAL_INT_STATUS"), 0x4000),
                                            r(cq("CQIS")), w(cq("CQIS"), 2), r(cq("CQTCN")),
                                            w(cq("CQTCN"), 8), r(reg("NORMAL_INT_STATUS"))});
  CHECK(t.engine.take_completed() == 8);
  CHECK(t.engine.take_completed() == 0);
}

TEST_CASE("a notification for a tag that is not out completes nothing, now or later") {
  Bench t(fake::kFullCaps);
  t.enable();
  t.board.cqe.reg("CQTCN") = 1u << 31 | 1u << 4;
  t.board.cqe.reg("CQIS") = 2;
  t.engine.cqe_irq(0x4000);
  CHECK_FALSE(t.engine.has_completed());
  CHECK(t.engine.spurious() == 1);
  CHECK(t.board.cqe.reg("CQTCN") == 0);
}
