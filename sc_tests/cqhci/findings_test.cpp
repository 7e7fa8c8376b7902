// What the engine's checkers find: doorbells, stale host status, descriptors, 128 MiB.
#include "sc_tests/cqhci/bench.hpp"

using namespace vp;
using namespace vp::test;

TEST_CASE("a doorbell on a busy slot is found and changes nothing") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 64);
  b.ring(1);
  b.advance(sc_time(5, sc_core::SC_US));
  b.ring(1);
  b.run_until_complete(1);
  b.advance(sc_time(1, sc_core::SC_MS));
  CHECK(b.findings("cqe.doorbell_on_busy_slot") == 1);
  CHECK(b.card.count(44) == 1);
  CHECK(b.cqe.counters().tasks == 1);
}

TEST_CASE("a host command while queueing is on and not halted is found, and lost when tasks are under way") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 64);
  b.ring(1);
  b.run_until([&] { return b.card.count(46) == 1; });
  b.write(0x08, 4, 0x10000);
  b.write(0x0E, 2, 13 << 8 | 0x1A);
  b.run_until_complete(1);
  CHECK(b.findings("cqe.legacy_command") == 1);
  for (const QueueCard::Seen& s : b.card.log) CHECK(s.argument != 0x10000);
}

TEST_CASE("a host command while halted is sent and is no finding") {
  QueueBench b;
  b.start();
  b.halt();
  b.write(0x08, 4, 0x10000);
  b.write(0x0E, 2, 13 << 8 | 0x1A);
  b.advance(sc_time(2, sc_core::SC_US));
  CHECK(b.card.log.back().argument == 0x10000);
  CHECK(b.ctx.findings.empty());
}

TEST_CASE("a stale Command Complete at CQ_EN is found") {
  QueueBench b;
  b.start_card();
  b.write(0x34, 2, 0x4001);
  b.write(0x0E, 2, 13 << 8 | 0x1A);
  b.advance(sc_time(2, sc_core::SC_US));
  b.enable(k8_8);
  CHECK(b.findings("cqe.stale_command_complete") == 1);
}

TEST_CASE("a block left in the data port at CQ_EN is found") {
  QueueBench b;
  b.start_card();
  b.write(0x06, 2, 1);
  b.write(0x0C, 2, 0x10);  // PIO read of one block
  b.write(0x0E, 2, 17 << 8 | 0x3A);
  b.advance(sc_time(5, sc_core::SC_US));
  b.enable(k8_8);
  CHECK(b.findings("cqe.stale_buffer_data") == 1);
}

TEST_CASE("data started with Transfer Complete of an earlier transfer still set is found") {
  CqhciParams q = queue_params();
  q.latch_sdhci_status = true;
  QueueBench b(q);
  b.start();
  b.write(0x34, 2, 0x4002);
  b.task(0, true, 0, 1);
  b.ring(1);
  b.run_until_complete(1);
  b.halt();
  CHECK((b.read(0x30, 2) & 2) != 0);
  b.write(0x06, 2, 1);
  b.write(0x0E, 2, 17 << 8 | 0x3A);
  CHECK(b.findings("sdhci.stale_transfer_complete") == 1);
}

TEST_CASE("junk in the upper half of a 128-bit task descriptor is found, and the task runs") {
  QueueBench b;
  b.start(k16_16);
  b.task(4, true, 0, 1);
  b.put_task(4, 0x2B | kInt | 0x1000 | 1u << 16, 0xDEADBEEF'DEADBEEF);
  b.ring(1u << 4);
  b.run_until_complete(1u << 4);
  CHECK(b.findings("cqe.reserved_bits") == 1);
}

namespace {

void crossing(const std::string& behaviour, TimingStyle style, bool completes) {
  SdhciParams p = bench_params();
  p.boundary_128m = behaviour;
  QueueBench b(queue_params(), style, p);
  b.start();
  b.write(0x2E, 1, 0);
  b.task(11, true, 0, 3);
  b.put_descriptor(QueueBench::table(11), 8, kTran, 512, QueueBench::data(11));
  b.put_descriptor(QueueBench::table(11) + 8, 8, kTranEnd, 0x400, 0x17FFFE00);
  b.ring(1u << 11);
  b.run_until([&] { return (b.cq("CQTCN") >> 11 & 1) || b.errors() != 0; });
  CHECK(((b.cq("CQTCN") >> 11 & 1) != 0) == completes);
  REQUIRE(b.findings("dma.crosses_128m") == 1);
  const Finding& f = b.ctx.findings.kept().front();
  CHECK(f.text.find("tag 11, descriptor 1 at 0x2b008") != std::string::npos);
  CHECK(f.addresses == std::vector<std::uint64_t>{QueueBench::table(11) + 8, 0x17FFFE00, 0x18000000});
  const std::uint64_t second = behaviour == "wrap" ? 0x10000000 : 0x18000000;
  CHECK(*b.ram(0x17FFFE00 + 3) == MockCard::content(1, 3));
  if (completes) CHECK(*b.ram(second + 3) == MockCard::content(2, 3));
}

}  // namespace

TEST_CASE("a transfer descriptor across 128 MiB is found with tag and index, data whole") {
  crossing("ok", TimingStyle::at, true);
}
TEST_CASE("a transfer descriptor across 128 MiB is found with tag and index, data whole (lt)") {
  crossing("ok", TimingStyle::lt, true);
}
TEST_CASE("a transfer descriptor across 128 MiB wraps when the hardware does") {
  crossing("wrap", TimingStyle::at, true);
}
TEST_CASE("a transfer descriptor across 128 MiB is an ADMA error when the hardware says so") {
  crossing("adma_error", TimingStyle::at, false);
}
TEST_CASE("a transfer descriptor across 128 MiB stalls into a data timeout when the hardware does") {
  crossing("stall", TimingStyle::at, false);
}

TEST_CASE("a transfer table that runs into the next slot's table is found") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 64, kInt, 512);  // 64 descriptors of 8 bytes
  b.task(1, true, 64, 1);
  b.put_descriptor(b.slot(1) + 8, 8, kLink, 0, QueueBench::table(0) + 63 * 8);
  b.card.prepare[1] = sc_time(1, sc_core::SC_MS);
  b.ring(3);
  b.run_until_complete(1);
  REQUIRE(b.findings("cqe.table_overrun") == 1);
  CHECK(b.ctx.findings.kept().front().text.find("table of tag 1") != std::string::npos);
}
TEST_CASE("a transfer table inside the task list is found") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 1);
  b.put_descriptor(b.slot(0) + 8, 8, kLink, 0, b.slot(20));
  b.put_descriptor(b.slot(20), 8, kTranEnd, 512, QueueBench::data(0));
  b.ring(1);
  b.run_until_complete(1);
  CHECK(b.findings("cqe.table_in_task_list") == 1);
}

namespace {

void changed(std::uint64_t at, TimingStyle style) {
  QueueBench b(queue_params(), style);
  b.start();
  b.task(0, true, 0, 64);
  b.ring(1);
  b.run_until([&] { return b.card.count(46) == 1; });
  b.advance(sc_time(20, sc_core::SC_US));
  *b.ram(at == 0 ? b.slot(0) + 5 : at) ^= std::byte{1};
  b.run_until_complete(1);
  CHECK(b.findings("cqe.descriptor_changed") == 1);
}

}  // namespace

TEST_CASE("a task descriptor that changes while the task runs is found") { changed(0, TimingStyle::at); }
TEST_CASE("a transfer descriptor that changes while the task runs is found") {
  changed(QueueBench::table(0) + 4, TimingStyle::at);
}
TEST_CASE("a transfer descriptor that changes while the task runs is found (lt)") {
  changed(QueueBench::table(0) + 4, TimingStyle::lt);
}

TEST_CASE("a completion that finds its last notification still set is found") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 1);
  b.ring(1);
  b.run_until_complete(1);
  b.ring(1);
  b.run_until([&] { return b.cqe.counters().tasks == 2; });
  CHECK(b.findings("cqe.completion_overwritten") == 1);
}

TEST_CASE("SDMA selected or a block size other than 512 is found when a task runs") {
  QueueBench b;
  b.start();
  b.write(0x28, 1, 0x20);
  b.write(0x04, 2, 0x7100);
  b.task(0, true, 0, 1);
  b.ring(1);
  b.run_until_complete(1);
  CHECK(b.findings("cqe.not_adma2") == 1);
  CHECK(b.findings("cqe.block_size") == 1);
}
