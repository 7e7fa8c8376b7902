// The task queue: pairs of CMD44 and CMD45, readiness, execution, what is legal (JESD84-B51 6.6.39).
#include <random>

#include "sc_tests/emmc/bench.hpp"

using namespace bench;

namespace {

constexpr unsigned kModeEn = 15;
constexpr std::uint32_t kQsr = kRca | 0x8000;
constexpr std::uint32_t kError = 1u << 19, kOutOfRange = 1u << 31;

std::uint32_t task(unsigned id, std::uint32_t blocks, bool read, bool high = false) {
  return (read ? 1u << 30 : 0) | (high ? 1u << 23 : 0) | id << 16 | blocks;
}
struct Queue : Bench {
  explicit Queue(const EmmcParams& p = params(), const NandParams& n = NandParams()) : Bench(p, n) {
    to_tran();
    write_byte(kModeEn, 1);
    REQUIRE((status() & status::kSwitchError) == 0);
  }
  std::uint32_t queue(unsigned id, std::uint32_t lba, std::uint32_t blocks, bool read, bool high = false) {
    return r1(44, task(id, blocks, read, high)) | r1(45, lba);
  }
  std::uint32_t qsr() { return r1(13, kQsr); }
  std::vector<std::byte> execute_read(unsigned id, std::uint32_t blocks) {
    r1(46, id << 16);
    REQUIRE(effect.data == DataDir::read);
    return read_running(blocks);
  }
};

/// Round numbers: 50 us firmware, 10.24 us per 4 KiB on the channel, t_R of an LSB page 50 us, map page 25 us.
NandParams one_die() {
  NandParams n;
  n.channels = n.dies = n.planes = 1;
  return n;
}

}  // namespace

TEST_CASE("the queue is off until CMDQ_MODE_EN, and only where CMDQ_SUPPORT says so") {
  Bench without(params({{308, 0}}));
  without.to_tran();
  CHECK_FALSE(without.switched(kModeEn, 1));
  without.command(44, task(0, 8, true));
  CHECK_FALSE(without.answered());
}

TEST_CASE("a task exists after CMD44 and CMD45 and is ready when its first data are in the buffer") {
  Queue b(params(), one_die());
  const std::uint32_t r = b.queue(3, 64, 8, true);
  CHECK((r & kError) == 0);
  CHECK(b.qsr() == 0);
  // Firmware 50, map page 25 + 10.24, t_R 50, 4 KiB 10.24, buffer 1: 146.48 us after CMD45.
  b.wait(us(146.47));
  CHECK(b.qsr() == 0);
  b.wait(us(0.02));
  CHECK(b.qsr() == 1u << 3);
  const auto data = b.execute_read(3, 8);
  std::vector<std::byte> expected(8 * 512);
  fill_block_pattern(64, expected);
  CHECK(data == expected);
  CHECK(b.qsr() == 0);
  CHECK(b.card.queue_counters().executed == 1);
}

TEST_CASE("reads become ready out of order: a page on a free die overtakes one on a busy die") {
  NandParams n = one_die();
  n.dies = 2;
  n.l2p_cache_bytes = 1 << 20;
  n.t_r_msb_us = 500;
  n.firmware_read_us = 5;
  Queue b(params(), n);
  // Rows of 32 blocks take turns on the dies; page 1 of a die (rows 2, 3) is an MSB page. Rows 2 (die 0, MSB), 1 (die 1).
  b.queue(0, 2 * 32, 8, true);
  b.queue(1, 1 * 32, 8, true);
  b.wait(us(150));
  CHECK(b.qsr() == 1u << 1);
  b.wait(us(600));
  CHECK(b.qsr() == 3);
}

TEST_CASE("a device with one internal queue prepares one task at a time") {
  EmmcParams p = params();
  p.queue_parallel = 1;
  Queue b(p);
  b.queue(0, 0, 8, true);
  b.queue(1, 65536, 8, true);  // an LSB page in another map page, as the first
  b.wait(us(146.48));  // firmware 50, map 25 + 10.24, t_R 50, channel 10.24, buffer 1
  CHECK(b.qsr() == 1);
  b.execute_read(0, 8);
  // Only now is the second taken up: it is ready as long after the first's end as the first after its queueing.
  b.wait(us(146.47));
  CHECK(b.qsr() == 0);
  b.wait(us(0.02));
  CHECK(b.qsr() == 2);
}

TEST_CASE("a high priority task is prepared before simple ones that wait") {
  EmmcParams p = params();
  p.queue_parallel = 1;
  Queue b(p);
  b.queue(0, 0, 8, true);
  b.queue(1, 1000, 8, true);
  b.queue(2, 2000, 8, true, true);
  b.wait(us(5000));
  b.execute_read(0, 8);
  b.wait(us(5000));
  CHECK(b.qsr() == 4);
}

TEST_CASE("bad pairs: id beyond the depth, id in use, CMD45 alone, no blocks, beyond the device") {
  Queue b(params({{307, 0x0F}}));  // 16 tasks
  CHECK((b.r1(44, task(16, 8, true)) & kError) != 0);
  CHECK((b.r1(44, task(0, 0, true)) & kError) != 0);
  CHECK((b.r1(45, 0) & kError) != 0);
  b.queue(5, 0, 8, true);
  CHECK((b.r1(44, task(5, 8, true)) & kError) != 0);
  b.r1(44, task(6, 8, true));
  CHECK((b.r1(45, 0xFFFFFFF0) & kOutOfRange) != 0);
  CHECK(b.card.queue_counters().queued == 1);
  // The second CMD44 replaces the first.
  b.r1(44, task(7, 8, true));
  b.r1(44, task(8, 8, true));
  b.r1(45, 0);
  b.wait(us(5000));
  CHECK(b.qsr() == (1u << 5 | 1u << 8));
}

TEST_CASE("execute of a task that is not ready, or in the wrong direction, is an error without data") {
  Queue b;
  b.queue(0, 0, 8, true);
  CHECK((b.r1(46, 0) & kError) != 0);
  CHECK(b.effect.data == DataDir::none);
  b.wait(us(5000));
  CHECK((b.r1(47, 0) & kError) != 0);
  CHECK(b.effect.data == DataDir::none);
  CHECK((b.r1(46, 0) & kError) == 0);
  CHECK(b.effect.data == DataDir::read);
}

TEST_CASE("what is legal depends on the queue: on and empty, on and filled, off") {
  struct Row {
    unsigned index;
    bool off, empty, filled;
  };
  // In tran. CMD16 to CMD25 belong to the mode without a queue; CMD6 and CMD8 need an empty queue.
  const Row rows[] = {{6, true, true, false},    {8, true, true, false},    {16, true, false, false},
                      {17, true, false, false},  {18, true, false, false},  {23, true, false, false},
                      {24, true, false, false},  {25, true, false, false},  {35, true, true, false},
                      {44, false, true, true},   {46, false, false, true},  {48, false, true, true},
                      {13, true, true, true}};
  Queue b;
  const auto legal = [&](unsigned index) {
    const std::uint32_t argument = index == 6    ? 0x03AF0100u
                                   : index == 13 ? kRca
                                   : index == 16 ? 512u
                                   : index == 44 ? task(9, 8, true)
                                   : index == 46 ? 31u << 16
                                   : index == 48 ? 2u | 30u << 16
                                                 : 1u;
    b.command(index, argument);
    const bool answered = b.answered();
    if (b.effect.data == DataDir::read) b.read_running(1);
    if (b.effect.data == DataDir::write || index == 18) b.command(12, kRca);
    b.wait(us(20000));
    b.status();
    return answered;
  };
  for (const Row& r : rows) {
    INFO(r.index);
    if (r.index != 46) CHECK(legal(r.index) == r.empty);
  }
  b.queue(0, 0, 8, true);
  for (const Row& r : rows) {
    INFO(r.index);
    CHECK(legal(r.index) == r.filled);
  }
  b.done(48, 1);
  b.write_byte(kModeEn, 0);
  for (const Row& r : rows) {
    INFO(r.index);
    CHECK(legal(r.index) == r.off);
  }
}

TEST_CASE("CMD48 is refused while the device is busy and discards afterwards") {
  Queue b;
  b.queue(0, 0, 8, false);
  b.queue(1, 8, 8, true);
  b.r1(47, 0);
  REQUIRE(b.effect.data == DataDir::write);
  std::vector<std::byte> data(8 * 512, std::byte{0x5A});
  b.write_running(data);
  b.queue(2, 16, 8, false);
  b.r1(47, 2u << 16);
  b.command(12, kRca);  // ends the second write: busy
  if (b.effect.busy_until > sc_core::sc_time_stamp()) {
    b.command(48, 1);
    CHECK_FALSE(b.answered());
  }
  b.wait(us(5000));
  b.status();
  b.done(48, 1);
  CHECK(b.qsr() == 0);
  CHECK(b.card.queue_counters().discarded == 1);
}

TEST_CASE("a discarded write leaves the old data") {
  Queue b;
  b.queue(0, 40, 8, false);
  CHECK(b.qsr() == 1);
  b.done(48, 2);
  CHECK(b.qsr() == 0);
  CHECK_FALSE(b.card.user_medium().ever_written(40));
}

TEST_CASE("CMD0 empties the queue and turns it off") {
  Queue b;
  b.queue(0, 0, 8, true);
  b.to_tran();
  b.command(44, task(0, 8, true));
  CHECK_FALSE(b.answered());
}

TEST_CASE("32 tasks in random order read what was written") {
  Queue b;
  std::mt19937 rng(11);
  std::map<std::uint32_t, std::byte> oracle;
  for (int round = 0; round < 6; ++round) {
    std::vector<std::uint32_t> lba(32);
    std::vector<bool> read(32);
    std::uint32_t open = 0;
    for (unsigned id = 0; id < 32; ++id) {
      lba[id] = 8 * (32 * (rng() % 64) + id);  // tasks of one round do not overlap
      read[id] = round > 0 && rng() % 2;
      REQUIRE((b.queue(id, lba[id], 8, read[id]) & kError) == 0);
      open |= 1u << id;
    }
    while (open) {
      b.wait(us(100));
      const std::uint32_t ready = b.qsr() & open;
      if (!ready) continue;
      unsigned id = rng() % 32;
      while (!(ready >> id & 1)) id = (id + 1) % 32;
      open &= ~(1u << id);
      std::vector<std::byte> expected(8 * 512);
      if (read[id]) {
        if (oracle.count(lba[id]))
          std::fill(expected.begin(), expected.end(), oracle[lba[id]]);
        else
          fill_block_pattern(lba[id], expected);
        REQUIRE(b.execute_read(id, 8) == expected);
      } else {
        const auto value = static_cast<std::byte>(rng());
        std::fill(expected.begin(), expected.end(), value);
        b.r1(47, id << 16);
        b.write_running(expected);
        oracle[lba[id]] = value;
        b.wait(us(20000));
      }
    }
  }
  CHECK(b.card.queue_counters().executed == 6 * 32);
}
