// The task queue's rules: pairs of CMD44 and CMD45, execution, discarding, errors, what is legal (JESD84-B51 6.6.39).
#include <set>

#include "sc_tests/emmc/queue_bench.hpp"

using namespace bench;
using enum vp::CardState;

namespace {

sc_time now() { return sc_core::sc_time_stamp(); }

}  // namespace

TEST_CASE("the queue is off until CMDQ_MODE_EN, and only where CMDQ_SUPPORT says so") {
  Bench without(params({{308, 0}}));
  without.to_tran();
  CHECK_FALSE(without.switched(kModeEn, 1));
  CHECK(without.switched(kModeEn, 0));
  without.command(44, task(0, 8, true));
  CHECK_FALSE(without.answered());
}

TEST_CASE("queue mode is in force from the end of the switch's busy") {
  Bench b;
  b.to_tran();
  b.r1(6, 0x030F0100);
  b.command(44, task(0, 8, true));
  CHECK_FALSE(b.answered());
  b.wait(us(20));
  CHECK((b.status() & kIllegal) != 0);
  CHECK((b.r1(44, task(0, 8, true)) & kError) == 0);
}

TEST_CASE("without queue mode bit 15 of CMD13 asks for nothing") {
  Bench b;
  b.to_tran();
  CHECK(b.r1(13, kQsr) == 0x00000900);
}

TEST_CASE("bad pairs: id beyond the depth, id in use, CMD45 alone, no blocks, beyond the device") {
  Queue b(params({{307, 0x0F}}));  // 16 tasks
  const auto blocks = static_cast<std::uint32_t>(b.card.user_blocks());
  CHECK((b.r1(44, task(16, 8, true)) & kError) != 0);
  CHECK((b.r1(45, 0) & kError) != 0);
  CHECK((b.r1(44, task(0, 0, true)) & kError) != 0);
  CHECK((b.r1(45, 0) & kError) != 0);
  CHECK(b.queue(5, 0, 8, true) == 0);
  CHECK((b.r1(44, task(5, 8, true)) & kError) != 0);
  CHECK(b.queue(6, 0xFFFFFFF0, 8, true) == kOutOfRange);
  CHECK(b.queue(6, blocks - 7, 8, true) == kOutOfRange);
  CHECK(b.queue(6, blocks - 8, 8, true) == 0);
  CHECK(b.card.queue_counters().queued == 2);
  b.wait(us(5000));
  CHECK(b.qsr() == (bit(5) | bit(6)));
  CHECK(b.execute_read(6, 8) == pattern(blocks - 8, 8));
}

TEST_CASE("a second CMD44 replaces the first") {
  Queue b;
  b.r1(44, task(7, 8, true));
  CHECK((b.r1(44, task(8, 16, true)) & kError) == 0);
  CHECK((b.r1(45, 0) & kError) == 0);
  CHECK((b.r1(45, 0) & kError) != 0);  // one task only
  b.wait(us(5000));
  CHECK(b.qsr() == bit(8));
  CHECK(b.execute_read(8, 16) == pattern(0, 16));
}

TEST_CASE("another queueing command between CMD44 and CMD45 breaks the pair, CMD13 and CMD12 do not") {
  Queue b;
  b.queue(0, 0, 8, false);
  for (const std::uint32_t between : {46U, 47U, 48U}) {
    INFO("CMD" << between);
    b.r1(44, task(1, 8, true));
    b.done(between, 9U << 16 | 2);  // no such task: an error, nothing else
    CHECK((b.r1(45, 0) & kError) != 0);
  }
  b.r1(44, task(1, 8, true));
  b.qsr();
  b.status();
  b.r1(12, kRca);
  CHECK((b.r1(45, 0) & kError) == 0);
}

TEST_CASE("leaving queue mode forgets a CMD44") {
  Queue b;
  b.r1(44, task(1, 8, true));
  CHECK(b.switched(kModeEn, 0));
  CHECK(b.switched(kModeEn, 1));
  CHECK((b.r1(45, 0) & kError) != 0);
}

TEST_CASE(
    "execute of a task that is not ready, not there, or of the other direction is an error without data") {
  Queue b;
  b.queue(0, 0, 8, true);
  b.queue(1, 0, 8, false);
  const auto refused = [&](unsigned id, bool read) {
    const std::uint32_t r = b.start(id, read);
    return (r & status::kTypeC) == kError && b.effect.data == DataDir::none && !b.card.transfer_running() &&
           b.card.state() == tran;
  };
  CHECK(refused(0, true));  // not ready
  CHECK(refused(2, true));  // empty
  CHECK(refused(1, true));  // a write
  b.wait(us(5000));
  CHECK(refused(0, false));  // a read
  CHECK(b.qsr() == 3);       // both stay
  CHECK(b.card.queue_counters().executed == 0);
  CHECK(b.execute_read(0, 8) == pattern(0, 8));
  CHECK(refused(0, true));  // over
  CHECK(b.qsr() == 2);
}

TEST_CASE("a task executes only while the block length is 512") {
  Bench b;
  b.to_tran();
  CHECK((b.r1(16, 1024) & kBlockLen) != 0);
  REQUIRE(b.switched(kModeEn, 1));
  b.r1(44, task(0, 8, false));
  b.r1(45, 0);
  CHECK((b.r1(47, 0) & kBlockLen) != 0);
  CHECK(b.effect.data == DataDir::none);
  b.done(48, 1);
  REQUIRE(b.switched(kModeEn, 0));
  b.r1(16, 512);
  REQUIRE(b.switched(kModeEn, 1));
  b.r1(44, task(0, 8, false));
  b.r1(45, 0);
  CHECK((b.r1(47, 0) & kBlockLen) == 0);
  CHECK(b.effect.data == DataDir::write);
}

namespace {

/// Brings a new device session to the state in which the command would be legal without a queue, asks, and looks
/// whether it was taken: answered, or for commands without a response, obeyed.
bool taken(Queue& b, unsigned index, bool queue_mode, bool filled_queue) {
  b.card.hardware_reset();
  b.wait(us(20000));
  b.to_tran();
  b.write_byte(183, 2);
  REQUIRE(b.switched(185, 2));  // HS200: for CMD21; SDR: for CMD16
  if (queue_mode) REQUIRE(b.switched(kModeEn, 1));
  if (filled_queue) REQUIRE(b.queue(0, 0, 8, false) == 0);
  const bool in_stby = index == 5 || index == 9 || index == 10;
  if (in_stby) b.command(7, 0);
  const CardState before = b.card.state();
  REQUIRE(before == (in_stby ? stby : tran));
  std::uint32_t argument = 0;
  if (index == 6) argument = 0x03220100;  // any byte: the answer counts
  if (index == 5) argument = kRca | 0x8000;
  if (index == 9 || index == 10 || index == 13 || index == 15 || index == 55) argument = kRca;
  if (index == 16) argument = 512;
  if (index == 44) argument = task(9, 8, true);
  if (index == 48) argument = 1;
  b.command(index, argument);
  return b.answered() || b.card.state() != before;
}

/// In tran (CMD5, 9, 10: stby). CMD28 to 31 and CMD49, 53 to 56 are none of this device's.
const std::set<unsigned> kOff{0, 5, 6, 7, 8, 9, 10, 13, 15, 16, 17, 18, 21, 23, 24, 25, 35, 36, 38};
const std::set<unsigned> kEmpty{0, 5, 6, 7, 8, 9, 10, 12, 13, 15, 21, 35, 36, 38, 44, 45, 48};
const std::set<unsigned> kFilled{0, 7, 12, 13, 15, 44, 45, 46, 47, 48};

}  // namespace

TEST_CASE("every command is legal or not as the queue is off, on and empty, or on with tasks") {
  Queue b(params({{162, 1}}));  // RST_n is enabled: the way back from inactive
  for (unsigned index = 0; index < 64; ++index) {
    INFO("CMD" << index);
    CHECK(taken(b, index, false, false) == (kOff.count(index) != 0));
    CHECK(taken(b, index, true, false) == (kEmpty.count(index) != 0));
    CHECK(taken(b, index, true, true) == (kFilled.count(index) != 0));
  }
}

TEST_CASE("CMD44, CMD45 and CMD13 are taken while another task's data move") {
  Queue b;
  const auto data = filled(8, 3);
  b.queue(0, 0, 16, true);
  b.queue(1, 4096, 8, false);
  b.wait(us(1000));
  b.start(0, true);
  std::vector<std::byte> got(16 * 512);
  for (unsigned k = 0; k < 16; ++k) {
    b.wait(b.card.read_ready(k, b.graph).at > now() ? us(1000) : us(2));
    b.card.read_block(k, std::span(got).subspan(k * 512, 512), now() + us(1));
    if (k == 5) {
      CHECK(state_of(b.r1(44, task(2, 8, true))) == 5);
      CHECK(state_of(b.r1(45, 8192)) == 5);
    }
    if (k == 6) CHECK(b.qsr() == bit(1));
    if (k == 7) b.wait(us(1000));
    if (k == 8) CHECK(b.qsr() == (bit(1) | bit(2)));
  }
  CHECK(got == pattern(0, 16));
  // Until the last frame has ended the device is in data and the id is in use.
  CHECK(state_of(b.status()) == 5);
  CHECK((b.r1(44, task(0, 8, true)) & kError) != 0);
  b.command(47, 1U << 16);
  CHECK_FALSE(b.answered());
  b.wait(us(1));
  CHECK((b.r1(44, task(0, 8, true)) & kError) == 0);
  CHECK(state_of(b.status()) == 4);

  b.start(1, false);
  for (unsigned k = 0; k < 8; ++k) {
    b.wait(us(2));
    const WriteEffect e =
        b.card.write_block(k, std::span(data).subspan(k * 512, 512), true, now(), b.graph, kRootNode);
    REQUIRE(e.status == CrcStatus::accepted);
    b.last = e.busy_until;
    if (k == 3) CHECK(state_of(b.r1(44, task(3, 8, true))) == 6);
    if (k == 4) CHECK(state_of(b.r1(45, 0)) == 6);
  }
  // In the busy time, too.
  REQUIRE(b.last > now());
  CHECK(state_of(b.r1(44, task(4, 8, false))) == 7);
  CHECK(state_of(b.r1(45, 0)) == 7);
  CHECK((b.qsr() & bit(4)) != 0);
  CHECK((b.r1(44, task(1, 8, true)) & kError) != 0);  // in use until busy ends
  b.catch_up();
  CHECK((b.r1(44, task(1, 8, true)) & kError) == 0);
  CHECK(b.card.queue_counters().executed == 2);
  std::vector<std::byte> medium(8 * 512);
  b.card.user_medium().read_blocks(4096, 8, medium);
  CHECK(medium == data);
}

TEST_CASE("CMD12 ends the executing task only") {
  Queue b;
  b.queue(0, 0, 16, true);
  b.queue(1, 64, 8, true);
  b.wait(us(5000));
  b.start(0, true);
  std::array<std::byte, 512> block;
  for (unsigned k = 0; k < 4; ++k) b.card.read_block(k, block, b.card.read_ready(k, b.graph).at);
  b.r1(12, kRca);
  CHECK_FALSE(b.card.transfer_running());
  CHECK(b.card.state() == tran);
  CHECK(b.qsr() == bit(1));
  CHECK(b.card.queue_counters().executed == 0);
  CHECK(b.card.queue_counters().stopped == 1);
  CHECK(b.execute_read(1, 8) == pattern(64, 8));
  CHECK(b.queue(0, 0, 8, true) == 0);
}

TEST_CASE("CMD12 with nothing running is answered and changes nothing") {
  Queue b;
  CHECK(b.r1(12, kRca) == 0x00000900);
  b.queue(1, 64, 8, false);
  CHECK(b.r1(12, kRca) == 0x00000900);
  CHECK(b.qsr() == bit(1));
}

TEST_CASE("deselection ends a read that executes, the queue stays") {
  Queue b;
  b.queue(0, 0, 16, true);
  b.queue(1, 64, 8, false);
  b.wait(us(5000));
  b.start(0, true);
  b.command(7, 0);
  CHECK(b.card.state() == stby);
  b.r1(7, kRca);
  CHECK(b.qsr() == bit(1));
  CHECK(b.card.queue_counters().stopped == 1);
  CHECK(b.queue(0, 0, 8, true) == 0);
}

TEST_CASE("CMD48 is refused in the 50 ms busy of a stopped write and works afterwards") {
  NandParams n;
  n.t_prog_us = 50000;
  Queue b(params(), n);
  const auto data = filled(8, 1);
  b.queue(0, 0, 64, false);
  b.queue(1, 4096, 8, true);
  b.start(0, false);
  for (unsigned k = 0; k < 8; ++k)
    b.card.write_block(k, std::span(data).subspan(k * 512, 512), true, now(), b.graph, kRootNode);
  b.r1(12, kRca);
  const sc_time end = b.effect.busy_until;
  CHECK(end >= now() + us(50000));
  b.wait(us(1000));
  b.command(48, 1);
  CHECK_FALSE(b.answered());
  CHECK((b.status() & kIllegal) != 0);
  CHECK((b.qsr() & bit(0)) == 0);
  b.wait(end - now());
  CHECK((b.done(48, 1) & status::kTypeC) == 0);
  CHECK(b.qsr() == 0);
  CHECK(b.card.queue_counters().discarded == 1);  // the other task; the stopped one was over
  CHECK(b.card.queue_counters().stopped == 1);
  CHECK(b.switched(kModeEn, 0));  // empty
}

TEST_CASE("CMD48 is busy, discards one task or all, and reports an unknown id or operation") {
  Queue b;
  for (unsigned id = 0; id < 4; ++id) b.queue(id, 8 * id, 8, false);
  const sc_time t = now();
  CHECK((b.r1(48, 2U << 16 | 2) & status::kTypeC) == 0);
  CHECK(b.effect.response->type == RespType::r1b);
  CHECK(b.effect.busy_until == t + us(20));
  b.wait(us(20));
  CHECK(b.qsr() == 0b1011);
  CHECK((b.done(48, 2U << 16 | 2) & status::kTypeC) == kError);
  CHECK((b.done(48, 0U << 16 | 3) & status::kTypeC) == kError);
  CHECK(b.qsr() == 0b1011);
  CHECK((b.done(48, 7U << 16 | 1) & status::kTypeC) == 0);  // the id does not matter
  CHECK(b.qsr() == 0);
  CHECK((b.done(48, 1) & status::kTypeC) == 0);  // empty already
  CHECK(b.card.queue_counters().discarded == 4);
  CHECK(b.card.queue_counters().most == 4);
}

TEST_CASE("CMD48 in a data phase is refused") {
  Queue b;
  b.queue(0, 0, 16, false);
  b.start(0, false);
  b.command(48, 0U << 16 | 2);
  CHECK_FALSE(b.answered());
  CHECK(b.card.transfer_running());
}

TEST_CASE("a discarded write leaves the old data") {
  Queue b;
  const auto old = filled(8, 1), wanted = filled(8, 2);
  b.queue(0, 40, 8, false);
  b.execute_write(0, old);
  b.queue(0, 40, 8, false);
  b.queue(1, 48, 8, false);
  CHECK(b.qsr() == 3);
  b.done(48, 0U << 16 | 2);
  b.done(48, 1);
  CHECK(b.qsr() == 0);
  b.command(47, 0);  // nothing is left to execute: illegal in an empty queue
  CHECK_FALSE(b.answered());
  b.status();
  b.queue(2, 40, 16, true);
  b.wait(us(5000));
  const auto got = b.execute_read(2, 16);
  CHECK(std::equal(old.begin(), old.end(), got.begin()));
  const auto fresh = pattern(48, 8);
  CHECK(std::equal(fresh.begin(), fresh.end(), got.begin() + 8 * 512));
}

TEST_CASE("a written block with a bad CRC ends its task at CMD12, the others stay") {
  Queue b;
  const auto data = filled(16, 5);
  b.queue(0, 0, 16, false);
  b.queue(1, 64, 8, false);
  b.start(0, false);
  const auto send = [&](unsigned k, bool good) {
    return b.card.write_block(k, std::span(data).subspan(k * 512, 512), good, now(), b.graph, kRootNode)
        .status;
  };
  for (unsigned k = 0; k < 8; ++k) CHECK(send(k, true) == CrcStatus::accepted);
  CHECK(send(8, false) == CrcStatus::crc_error);
  CHECK(send(9, true) == CrcStatus::none);
  CHECK(state_of(b.status()) == 6);
  b.done(12, kRca);
  CHECK(b.qsr() == bit(1));
  CHECK(b.card.queue_counters().stopped == 1);
  CHECK(b.card.user_medium().ever_written(7));
  CHECK_FALSE(b.card.user_medium().ever_written(8));
  CHECK(b.queue(0, 0, 16, false) == 0);
}

TEST_CASE("reliable write and forced programming are each task's own: busy until the data are in the array") {
  Queue b;
  b.done(48, 1);
  REQUIRE(b.switched(33, 1));  // cache on
  b.queue(0, 0, 8, true);      // the map page
  b.wait(us(1000));
  b.execute_read(0, 8);
  b.queue(0, 0, 8, false, kForced);
  b.queue(1, 64, 8, false);
  b.queue(2, 128, 8, false, kReliable);
  const auto busy = [&](unsigned id) {
    b.wait(us(10000));
    const auto data = filled(8, id);
    b.start(id, false);
    b.wait(us(60));  // its firmware, 50 us, is over when the data come
    WriteEffect e;
    for (unsigned k = 0; k < 8; ++k)
      e = b.card.write_block(k, std::span(data).subspan(k * 512, 512), true, now(), b.graph, kRootNode);
    b.last = e.busy_until;
    return e.busy_until - now();
  };
  CHECK(busy(0) == us(10.24 + 1300));
  CHECK(busy(1) == us(0));
  // The row in RAM has the second task's unit, too: it is programmed with it.
  CHECK(busy(2) == us(2 * 10.24 + 1300));
}

TEST_CASE("the cache is flushed with an empty queue and not with tasks in it") {
  Queue b;
  REQUIRE(b.switched(33, 1));
  b.queue(0, 0, 8, false);
  b.execute_write(0, filled(8, 1));
  b.wait(us(1000));
  b.queue(1, 64, 8, true);
  b.command(6, 0x03200100);
  CHECK_FALSE(b.answered());
  CHECK((b.status() & kIllegal) != 0);
  b.wait(us(1000));
  b.execute_read(1, 8);
  const sc_time t = now();
  CHECK(b.card.ftl().dirty_bytes(t) == 4096);
  b.r1(6, 0x03200100);
  CHECK(b.effect.busy_until == t + us(50 + 10.24 + 1300));
  b.wait(b.effect.busy_until - t);
  CHECK(b.card.ftl().dirty_bytes(now()) == 0);
}

TEST_CASE("tasks are for the partition that is selected") {
  Queue b;
  REQUIRE(b.switched(33, 1));
  REQUIRE(b.switched(179, 1));
  const auto data = filled(8, 9);
  const auto boot_blocks = static_cast<std::uint32_t>(b.card.boot_medium(1).blocks());
  CHECK(b.queue(1, boot_blocks - 7, 8, false) == kOutOfRange);
  CHECK(b.queue(1, boot_blocks - 8, 8, false) == 0);
  b.execute_write(1, data);
  CHECK(b.card.ftl().dirty_bytes(now()) == 0);  // boot partitions are not cached
  CHECK(b.card.boot_medium(1).holds(boot_blocks - 8, data));
  CHECK_FALSE(b.card.user_medium().ever_written(boot_blocks - 8));
  b.queue(2, boot_blocks - 8, 8, true);
  b.wait(us(5000));
  CHECK(b.execute_read(2, 8) == data);
}

TEST_CASE("CMD0 empties the queue and turns it off") {
  Queue b;
  b.queue(0, 0, 8, true);
  b.to_tran();
  CHECK(b.card.ext_csd()[15] == 0);
  b.command(44, task(0, 8, true));
  CHECK_FALSE(b.answered());
  b.turn_on();
  b.wait(us(5000));
  CHECK(b.qsr() == 0);
  CHECK(b.queue(0, 0, 8, true) == 0);
}

TEST_CASE("RST_n during a task's data empties the queue and turns it off") {
  Queue b(params({{162, 1}}));
  b.queue(0, 0, 8, false);
  b.queue(1, 64, 8, true);
  b.start(0, false);
  b.card.hardware_reset();
  CHECK_FALSE(b.card.transfer_running());
  CHECK(b.card.ext_csd()[15] == 0);
  b.wait(us(20000));
  b.turn_on();
  CHECK(b.qsr() == 0);
  CHECK(b.queue(0, 0, 8, true) == 0);
}
