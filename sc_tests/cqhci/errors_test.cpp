// Errors of descriptors, responses and data, and the engine after the driver's recovery.
#include "sc_tests/cqhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

constexpr std::uint32_t kRed = 4, kGce = 16, kIcce = 32;
constexpr std::uint32_t kErrTimeout = 1, kErrCrc = 2, kErrIndex = 8, kErrDataTimeout = 0x10,
                        kErrDataCrc = 0x20, kErrAdma = 0x200;

void expect_adma_error(QueueBench& b, unsigned tag, std::uint64_t descriptor) {
  b.ring(1u << tag);
  b.run_until_error();
  CHECK(b.errors() == kErrAdma);
  CHECK((b.read(0x54, 1) & 3) == 1);  // ST_FDS
  CHECK(b.read(0x58) == descriptor);
  CHECK(b.cq("CQTERRI") == (1u << 31 | tag << 24 | 46u << 16));
  CHECK(b.irq.level);
  CHECK(b.cq("CQTCN") == 0);
  CHECK(b.cq("CQTDBR") == 1u << tag);
}
/// After recovery the engine works, and completes nothing but what is rung from now on.
void expect_recovery(QueueBench& b) {
  b.recover();
  CHECK(b.cq("CQTCN") == 0);
  CHECK(b.cq("CQTDBR") == 0);
  b.task(9, true, 900, 4);
  b.ring(1u << 9);
  b.run_until_complete(1u << 9);
  CHECK(b.cq("CQTCN") == 1u << 9);
  b.check_data(9, 900, 4);
}

}  // namespace

// --- descriptors ---

TEST_CASE("VALID 0 in the task descriptor is an ADMA error in ST_FDS that names task and address") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 1);
  *b.ram(b.slot(3)) &= ~std::byte{1};
  expect_adma_error(b, 3, b.slot(3));
  CHECK(b.cq("CQTDPE") == 1u << 3);
  CHECK(b.card.log.empty());
  expect_recovery(b);
  CHECK(b.cq("CQTDPE") == 0);
}
TEST_CASE("a wrong ACT in the task descriptor is an ADMA error in ST_FDS") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 1);
  *b.ram(b.slot(3)) = (*b.ram(b.slot(3)) & ~std::byte{0x38}) | std::byte{4 << 3};
  expect_adma_error(b, 3, b.slot(3));
  expect_recovery(b);
}
TEST_CASE("a task of 0 blocks is an ADMA error in ST_FDS") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 1);
  *b.ram(b.slot(3) + 2) = std::byte{0};
  expect_adma_error(b, 3, b.slot(3));
  expect_recovery(b);
}
TEST_CASE("an invalid link is an ADMA error at the link's address") {
  QueueBench b;
  b.start(k16_16);
  b.task(3, true, 0, 1);
  *b.ram(b.slot(3) + 16) &= ~std::byte{1};
  expect_adma_error(b, 3, b.slot(3) + 16);
  expect_recovery(b);
}
TEST_CASE("a link with a wrong ACT is an ADMA error at the link's address") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 1);
  *b.ram(b.slot(3) + 8) = std::byte{0x01 | 5 << 3};
  expect_adma_error(b, 3, b.slot(3) + 8);
  expect_recovery(b);
}
TEST_CASE("an odd table address is an ADMA error at the link's address") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 1);
  b.put_descriptor(b.slot(3) + 8, 8, kLink, 0, QueueBench::table(3) + 1);
  expect_adma_error(b, 3, b.slot(3) + 8);
  expect_recovery(b);
}
TEST_CASE("an odd data address is an ADMA error at the transfer descriptor") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 1);
  b.put_descriptor(QueueBench::table(3), 8, kTranEnd, 512, QueueBench::data(3) + 1);
  expect_adma_error(b, 3, QueueBench::table(3));
  expect_recovery(b);
}
TEST_CASE("VALID 0 in a transfer descriptor is an ADMA error in ST_FDS") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 1);
  *b.ram(QueueBench::table(3)) &= ~std::byte{1};
  expect_adma_error(b, 3, QueueBench::table(3));
  expect_recovery(b);
}
TEST_CASE("VALID 0 in a transfer descriptor that was prefetched is an ADMA error too") {
  CqhciParams q = queue_params();
  q.transfer_prefetch = "doorbell";
  QueueBench b(q, TimingStyle::lt);
  b.start();
  b.task(3, true, 0, 1);
  *b.ram(QueueBench::table(3)) &= ~std::byte{1};
  expect_adma_error(b, 3, QueueBench::table(3));
  expect_recovery(b);
}
TEST_CASE("a write whose prefetched transfer descriptor is invalid stops before CMD47") {
  CqhciParams q = queue_params();
  q.transfer_prefetch = "doorbell";
  QueueBench b(q);
  b.start();
  b.task(3, false, 0, 1);
  *b.ram(QueueBench::table(3)) &= ~std::byte{1};
  b.ring(1u << 3);
  b.run_until_error();
  CHECK(b.errors() == kErrAdma);
  CHECK(b.card.count(47) == 0);
  expect_recovery(b);
}
TEST_CASE("a table that ends before its data is a length mismatch") {
  QueueBench b;
  b.start();
  b.task(3, true, 0, 2);
  b.put_descriptor(QueueBench::table(3), 8, kNopEnd, 0, 0);
  b.ring(1u << 3);
  b.run_until_error();
  CHECK(b.errors() == kErrAdma);
  CHECK((b.read(0x54, 1) & 7) == 7);  // ST_TFR, length mismatch
  CHECK(b.cq("CQTERRI") == (1u << 31 | 3u << 24 | 46u << 16));
  expect_recovery(b);
}
TEST_CASE("a slot beyond memory is an ADMA error, not a hang") {
  QueueBench b;
  b.start();
  b.set_cq("CQTDLBA", 0x80000000);  // nothing answers there
  b.ring(1);
  b.run_until_error();
  CHECK(b.errors() == kErrAdma);
  CHECK(b.read(0x58) == 0x80000000);
  expect_recovery(b);
}
TEST_CASE("a bad slot that was fetched ahead waits for its turn") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 8);
  b.task(1, true, 8, 1);
  *b.ram(b.slot(1)) &= ~std::byte{1};
  b.ring(3);
  b.run_until_error();
  CHECK(b.card.count(44) == 1);
  b.run_until_complete(1);  // the data on the lines come to their end
  b.check_data(0, 0, 8);
}
TEST_CASE("encryption with an engine: an unconfigured key slot is ICCE, one that does not exist GCE") {
  CqhciParams q = queue_params();
  q.crypto_slots = 16;
  QueueBench b(q);
  b.start(k16_16);
  b.set_cq("CQCFG", 0);
  b.set_cq("CQCFG", 0x1103);
  b.task(2, true, 0, 1);
  b.put_task(2, 0x2B | kInt | 0x1000 | 1u << 16, 1ULL << 47 | 5ULL << 32);
  b.ring(4);
  b.run_until_error();
  CHECK(b.cq("CQIS") == kIcce);
  CHECK(b.cq("CQTDPE") == 4);
  b.recover();
  b.set_cq("CQCFG", 0);
  b.set_cq("CQCFG", 0x1103);
  b.put_task(2, 0x2B | kInt | 0x1000 | 1u << 16, 1ULL << 47 | 16ULL << 32);
  b.ring(4);
  b.run_until_error();
  CHECK(b.cq("CQIS") == kGce);
}

// --- responses and data ---

namespace {

void red(unsigned index, bool execute) {
  QueueBench b;
  b.start();
  b.card.error_index = static_cast<int>(index);
  b.card.error_bits = 1u << 19;  // ERROR: in CQRMEM's reset value
  b.task(6, true, 0, 1);
  b.ring(1u << 6);
  b.run_until_error();
  CHECK(b.cq("CQIS") == kRed);
  CHECK(b.cq("CQTERRI") == (1u << 15 | 6u << 8 | index));
  CHECK(b.cq("CQCRI") == index);
  CHECK(b.cq("CQCRA") == (0x900u | 1u << 19));
  CHECK(b.cq("CQTDBR") == 1u << 6);
  CHECK(b.card.count(46) == (execute ? 1u : 0u));
  b.task(7, true, 0, 1);
  b.ring(1u << 7);
  b.advance(sc_time(100, sc_core::SC_US));
  CHECK(b.card.log.back().index == index);  // nothing more is issued
  expect_recovery(b);
}

}  // namespace

TEST_CASE("an error bit in CMD44's response is RED and stops the engine") { red(44, false); }
TEST_CASE("an error bit in CMD45's response is RED and stops the engine") { red(45, false); }
TEST_CASE("an error bit in CMD46's response is RED and stops the engine") { red(46, true); }

TEST_CASE("response bits outside CQRMEM are no error, and a queue status is never checked") {
  QueueBench b;
  b.start();
  b.set_cq("CQRMEM", 0xFDF9A080 & ~(1u << 19));
  b.card.error_index = 44;
  b.card.error_bits = 1u << 19;
  b.task(31 - 12, true, 0, 1);  // its QSR bit 19 is in the mask's place
  b.ring(1u << 19);
  b.run_until_complete(1u << 19);
  b.set_cq("CQRMEM", 0xFFFFFFFF & ~0x900u);
  b.acknowledge();
  b.ring(1u << 19);
  b.run_until_complete(1u << 19);
  CHECK((b.cq("CQIS") & kRed) == 0);
}

namespace {

void silent(unsigned index) {
  QueueBench b;
  b.start();
  b.card.silent_index = static_cast<int>(index);
  b.task(6, true, 0, 1);
  b.ring(1u << 6);
  b.run_until_error();
  CHECK(b.errors() == kErrTimeout);
  CHECK(b.cq("CQTERRI") == (1u << 15 | (index == 13 ? 0u : 6u << 8) | index));
  CHECK(b.cq("CQTDBR") == 1u << 6);
  b.card.silent_index = -1;
  expect_recovery(b);
}

void bus_fault(BusFault::Kind kind, int command, std::uint32_t error, std::uint32_t info, bool is_read = true,
               TimingStyle style = TimingStyle::at) {
  QueueBench b(queue_params(), style);
  b.start();
  b.write(0x2E, 1, 0);  // shortest data timeout
  BusFault f{};
  f.kind = kind;
  f.command = command;
  f.extra = sc_time(10, sc_core::SC_MS);
  b.bus.inject(f);
  b.task(6, is_read, 0, 8);
  b.task(7, is_read, 8, 8);
  b.ring(3u << 6);
  b.run_until_error();
  CHECK(b.errors() == error);
  CHECK(b.cq("CQTERRI") == info);
  CHECK((b.cq("CQTDBR") & 1u << 6) != 0);
  CHECK((b.cq("CQTCN") & 1u << 6) == 0);
  b.card.blocks_left = 0;
  b.advance(sc_time(20, sc_core::SC_MS));
  expect_recovery(b);
}
constexpr std::uint32_t kData6 = 1u << 31 | 6u << 24;
constexpr std::uint32_t kResponse6 = 1u << 15 | 6u << 8;

}  // namespace

TEST_CASE("no response to CMD44 is a command timeout that names the task") { silent(44); }
TEST_CASE("no response to CMD45 is a command timeout that names the task") { silent(45); }
TEST_CASE("no response to CMD46 is a command timeout that names the task") { silent(46); }
TEST_CASE("no response to the status query is a command timeout that names CMD13") { silent(13); }
TEST_CASE("a response CRC error stops the engine") {
  bus_fault(BusFault::Kind::response_crc, 45, kErrCrc, kResponse6 | 45);
}
TEST_CASE("a wrong response index stops the engine") {
  bus_fault(BusFault::Kind::response_index, 44, kErrIndex, kResponse6 | 44);
}
TEST_CASE("a data CRC error of a read names the task") {
  bus_fault(BusFault::Kind::read_crc, 46, kErrDataCrc, kData6 | 46u << 16);
}
TEST_CASE("a data CRC error of a read names the task (lt)") {
  bus_fault(BusFault::Kind::read_crc, 46, kErrDataCrc, kData6 | 46u << 16, true, TimingStyle::lt);
}
TEST_CASE("a data CRC error of a write names the task") {
  bus_fault(BusFault::Kind::write_crc, 47, kErrDataCrc, kData6 | 47u << 16, false);
}
TEST_CASE("data that do not come are a data timeout") {
  bus_fault(BusFault::Kind::late_data, 46, kErrDataTimeout, kData6 | 46u << 16);
}
TEST_CASE("a device that stays busy is a data timeout") {
  bus_fault(BusFault::Kind::stuck_busy, 47, kErrDataTimeout, kData6 | 47u << 16, false);
}

TEST_CASE("a direct command whose busy does not end is a data timeout") {
  QueueBench b;
  b.start();
  b.write(0x2E, 1, 0);
  b.card.r1b_busy = sc_time(50, sc_core::SC_MS);
  b.direct(6, 0x03200100, 3, false, kInt | kQbr);
  b.ring(1u << 31);
  b.run_until_error();
  CHECK(b.errors() == kErrDataTimeout);
  CHECK(b.cq("CQTERRI") == (1u << 31 | 31u << 24 | 6u << 16));
  CHECK(b.cq("CQTCN") == 0);
}

TEST_CASE("lowered sampling: data CRC errors name the task when the lines disagree") {
  QueueBench b;
  b.start();
  b.card.mode = {8, false};  // the device went back to SDR
  b.task(0, true, 0, 1);
  b.ring(1);
  b.run_until_error();
  CHECK(b.errors() == kErrDataCrc);
  CHECK(b.cq("CQTERRI") == (1u << 31 | 46u << 16));
}

TEST_CASE("a clock below the DLL's range in HS400 is found, and the queued reads end in data CRC errors") {
  SdhciParams p = bench_params();
  p.dll_min_hz = 52e6;
  QueueBench b(queue_params(), TimingStyle::at, p);
  b.start();
  for (unsigned tag = 0; tag < 4; ++tag) b.task(tag, true, tag, 1);
  b.ring(1);
  b.run_until_complete(1);
  b.acknowledge();
  b.write(0x2C, 2, 0x0205);  // 200 MHz / 4
  b.ring(0xF);
  b.run_until_error();
  CHECK(b.findings("sdhci.clock_below_dll") == 1);
  CHECK(b.errors() == kErrDataCrc);
  CHECK(b.cq("CQTERRI") == (1u << 31 | 46u << 16));
  CHECK(b.cq("CQTCN") == 0);
}

TEST_CASE(
    "RESET_DAT during a task's data takes the task, and after recovery it does not complete a new one") {
  QueueBench b;
  b.start();
  b.task(9, true, 0, 128);
  b.ring(1u << 9);
  b.run_until([&] { return b.card.count(46) == 1; });
  b.advance(sc_time(20, sc_core::SC_US));
  b.set_cq("CQCTL", 1);
  b.write(0x2F, 1, 4);
  b.advance(cycles(10));
  CHECK(b.cq("CQCTL") == 1);
  b.card.blocks_left = 0;
  b.recover();
  b.task(9, true, 900, 64);
  const sc_time t = b.ring(1u << 9);
  b.advance(sc_time(10, sc_core::SC_US));
  CHECK(b.cq("CQTCN") == 0);
  CHECK(b.run_until_complete(1u << 9) - t > cycles(64 * cF));
  b.check_data(9, 900, 64);
}

TEST_CASE("a fetch under way when the tasks are cleared does not reach a new task") {
  QueueBench b;
  b.start();
  b.task(1, true, 5, 1);
  b.ring(2);
  b.advance(cycles(4));  // the slot is being read
  b.set_cq("CQCFG", 0);
  b.enable(k8_8);
  b.task(1, true, 60, 1);
  b.ring(2);
  b.run_until_complete(2);
  CHECK(b.card.nth(45, 0).argument == 60);
  b.check_data(1, 60, 1);
}
