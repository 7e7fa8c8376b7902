// Data and time. b = 512 B at the array's rate; a write command's end costs write_command_us.
#include "sc_tests/sd_card/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

SdCardParams timed() {
  SdCardParams p = bench_params();
  p.read_access_us = 300;
  p.read_mb_per_s = 5.12;   // 100 us per block
  p.write_mb_per_s = 2.56;  // 200 us per block
  p.write_command_us = 5000;
  p.buffer_bytes = 4 * 512;
  return p;
}

}  // namespace

TEST_CASE("CMD17: the block is ready after the access time and holds what was written") {
  Bench b(timed());
  b.identify();
  std::array<std::byte, 512> data;
  data.fill(std::byte{0x5A});
  b.card.user_medium().write_block(77, data);
  const sc_time t = sc_time_stamp();
  b.send(17, 77);
  CHECK(b.last.data == DataDir::read);
  CHECK(b.card.read_ready(0, b.graph).at - t == us(300));
  CHECK(b.block(0) == std::vector<std::byte>(512, std::byte{0x5A}));
  CHECK(!b.card.transfer_running());
  b.advance(us(1));
  CHECK(b.card.state() == SdState::tran);
}

TEST_CASE("CMD18 streams at the array's rate until CMD12") {
  Bench b(timed());
  b.identify();
  const sc_time t = sc_time_stamp();
  b.send(18, 1000);
  for (unsigned k = 0; k < 5; ++k) {
    CHECK(b.card.read_ready(k, b.graph).at - t == us(300 + 100 * k));
    std::array<std::byte, 512> expected;
    b.card.user_medium().read_block(1000 + k, expected);
    const auto got = b.block(k);
    CHECK(std::equal(got.begin(), got.end(), expected.begin()));
  }
  CHECK(b.card.transfer_running());
  CHECK(b.state_of(b.status()) == 5);
  b.send(12);
  CHECK(b.card.state() == SdState::tran);
}

TEST_CASE(
    "CMD25 fills the RAM without busy, then each block waits for its place, and CMD12 for the array and the "
    "command") {
  Bench b(timed());
  b.identify();
  const sc_time t = sc_time_stamp();
  b.send(25, 50);
  // All blocks arrive at once. Block k is in the array at (k + 1) 200 us; with 4 places the next may come when one is free,
  // at (k + 1 - 3) 200 us: the first three do not wait.
  for (unsigned k = 0; k < 8; ++k) {
    const WriteEffect e = b.give(k, std::byte{static_cast<unsigned char>(k)});
    CHECK(e.status == CrcStatus::accepted);
    const double expected = k < 3 ? 0 : 200.0 * (k - 2);
    CHECK((e.busy_until > sc_time_stamp() ? e.busy_until : t) - t == us(expected));
  }
  CHECK(b.state_of(b.status()) == 6);  // rcv
  b.send(12);
  const sc_time busy_until = b.last.busy_until;
  CHECK(busy_until - t == us(8 * 200 + 5000));
  CHECK(b.card.state() == SdState::prg);
  const std::uint32_t s = b.status();
  CHECK((s & 1u << 8) == 0);  // not ready for data
  CHECK(b.state_of(s) == 7);
  b.advance(busy_until - sc_time_stamp());
  CHECK(b.card.state() == SdState::tran);
  CHECK((b.status() & 1u << 8) != 0);
  for (unsigned k = 0; k < 8; ++k) {
    std::array<std::byte, 512> out;
    b.card.user_medium().read_block(50 + k, out);
    CHECK(out[100] == static_cast<std::byte>(k));
  }
}

TEST_CASE("the cost of a write command: n commands of m blocks cost n times the cost more than one of n m") {
  Bench b(timed());
  b.identify();
  const auto write = [&](std::uint32_t lba, unsigned blocks) {
    b.send(25, lba);
    for (unsigned k = 0; k < blocks; ++k) {
      const WriteEffect e = b.give(k, std::byte{1});
      if (e.busy_until > sc_time_stamp()) b.advance(e.busy_until - sc_time_stamp());
    }
    b.send(12);
    b.wait_busy();
  };
  sc_time t = sc_time_stamp();
  write(0, 64);
  const sc_time one = sc_time_stamp() - t;
  t = sc_time_stamp();
  for (unsigned i = 0; i < 4; ++i) write(64 + 16 * i, 16);
  CHECK(one == us(64 * 200 + 5000));
  CHECK(sc_time_stamp() - t == us(64 * 200 + 4 * 5000));
}

TEST_CASE("CMD24 is busy to the end of the command and needs no CMD12") {
  Bench b(timed());
  b.identify();
  b.send(24, 9);
  const WriteEffect e = b.give(0, std::byte{7});
  CHECK(e.busy_until - sc_time_stamp() == us(200 + 5000));
  CHECK(!b.card.transfer_running());
  b.advance(us(5200));
  CHECK(b.card.state() == SdState::tran);
}

TEST_CASE("CMD23 counts a transfer when the card has it") {
  SdCardParams p = timed();
  p.cmd23 = true;
  Bench b(p);
  b.identify();
  REQUIRE(b.send(23, 2));
  b.send(25, 9);
  b.give(0, std::byte{7});
  CHECK(b.card.transfer_running());
  const WriteEffect e = b.give(1, std::byte{7});
  CHECK(e.busy_until - sc_time_stamp() == us(400 + 5000));
  CHECK(!b.card.transfer_running());
  CHECK(b.card.state() == SdState::prg);
  b.advance(us(5400));
  REQUIRE(b.send(23, 3));
  b.send(18, 9);
  for (unsigned k = 0; k < 3; ++k) b.block(k);
  CHECK(!b.card.transfer_running());
  b.advance(us(1));
  b.send(18, 9);  // the count held for one command
  for (unsigned k = 0; k < 4; ++k) b.block(k);
  CHECK(b.card.transfer_running());
}

TEST_CASE("a written block with a bad CRC is refused, so are those after it, until CMD12") {
  Bench b(timed());
  b.identify();
  b.send(25, 200);
  CHECK(b.give(0, std::byte{1}).status == CrcStatus::accepted);
  CHECK(b.give(1, std::byte{2}, false).status == CrcStatus::crc_error);
  CHECK(b.give(2, std::byte{3}).status == CrcStatus::none);
  b.send(12);
  b.wait_busy();
  CHECK(b.card.user_medium().ever_written(200));
  CHECK(!b.card.user_medium().ever_written(201));
  CHECK(!b.card.user_medium().ever_written(202));
}

TEST_CASE("an address beyond the card: OUT_OF_RANGE and no data") {
  Bench b(timed());
  b.identify();
  const auto last = static_cast<std::uint32_t>(b.card.user_blocks());
  CHECK((b.send(17, last).value() & kOutOfRange) != 0);
  CHECK(b.last.data == DataDir::none);
  CHECK((b.status() & kOutOfRange) == 0);
  CHECK((b.send(24, last).value() & kOutOfRange) != 0);
}

TEST_CASE("a read that runs over the end stops there") {
  Bench b(timed());
  b.identify();
  b.send(18, static_cast<std::uint32_t>(b.card.user_blocks() - 2));
  b.block(0);
  b.block(1);
  CHECK(!b.card.transfer_running());
  b.send(12);
  CHECK(b.card.state() == SdState::tran);
}

TEST_CASE("an unreadable block is sent and reported as CARD_ECC_FAILED") {
  SdCardParams p = timed();
  p.ecc_errors = "11";
  Bench b(p);
  b.identify();
  b.send(18, 10);
  b.block(0);
  b.block(1);
  CHECK((b.send(12).value() & kEcc) != 0);
}

TEST_CASE("erase takes CMD32, CMD33, CMD38 in order and costs an erase per allocation unit touched") {
  SdCardParams p = timed();
  p.erase_us_per_unit = 1000;
  p.allocation_unit_bytes = 16384;  // 32 blocks
  Bench b(p);
  b.identify();
  std::array<std::byte, 512> data;
  data.fill(std::byte{9});
  for (unsigned i = 0; i < 80; ++i) b.card.user_medium().write_block(i, data);
  b.send(32, 30);
  b.send(33, 65);
  b.send(38);
  CHECK(b.last.busy_until - sc_time_stamp() == us(3 * 1000));  // units 0, 1 and 2
  b.wait_busy();
  std::array<std::byte, 512> out;
  b.card.user_medium().read_block(30, out);
  CHECK(out[0] == std::byte{0});
  b.card.user_medium().read_block(29, out);
  CHECK(out[0] == std::byte{9});
  b.card.user_medium().read_block(66, out);
  CHECK(out[0] == std::byte{9});
}

TEST_CASE("an erase out of order is an error, and another command between resets it") {
  Bench b(timed());
  b.identify();
  CHECK((b.send(33, 5).value() & kSeq) != 0);
  CHECK((b.send(38).value() & kSeq) != 0);
  b.send(32, 50);
  CHECK((b.send(33, 40).value() & kParam) != 0);
  b.send(32, 50);
  b.send(33, 60);
  CHECK((b.status() & kEraseReset) == 0);  // CMD13 may come between
  CHECK((b.send(16, 512).value() & kEraseReset) != 0);
  CHECK((b.send(38).value() & kSeq) != 0);
}

TEST_CASE("deselected while programming the card goes to stand-by when it has ended") {
  Bench b(timed());
  b.identify();
  b.send(24, 9);
  b.give(0, std::byte{7});
  CHECK(!b.send(7, 0));
  CHECK(b.card.state() == SdState::dis);
  b.advance(us(5200));
  CHECK(b.card.state() == SdState::stby);
}

TEST_CASE("random writes and reads of a card give back every byte") {
  Bench b;
  b.identify();
  std::uint64_t seed = 5;
  const auto random = [&](std::uint64_t n) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::uint32_t>((seed >> 33) % n);
  };
  std::vector<int> model(256, -1);
  for (unsigned round = 0; round < 200; ++round) {
    const std::uint32_t lba = random(240), n = 1 + random(16);
    if (random(2)) {
      b.send(25, lba);
      for (std::uint32_t k = 0; k < n; ++k) {
        const auto fill = static_cast<unsigned char>(random(256));
        b.give(k, std::byte{fill});
        model[lba + k] = fill;
      }
      b.send(12);
      b.wait_busy();
    } else {
      b.send(18, lba);
      for (std::uint32_t k = 0; k < n; ++k) {
        const auto got = b.block(k);
        if (model[lba + k] >= 0)
          REQUIRE(got == std::vector<std::byte>(512, static_cast<std::byte>(model[lba + k])));
      }
      b.send(12);
    }
  }
}
