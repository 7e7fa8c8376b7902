#include "platform/linux/calendar.hpp"

#include "sc_tests/catch.hpp"

using namespace vp::guest;

namespace {

/// Hardware's clock as a number; an update moves it.
struct Clock {
  std::uint64_t now = 0;
  Calendar calendar;
  um_timetravel_msg tell(std::uint32_t op, std::uint64_t time = 0) {
    const um_timetravel_msg m{.op = op, .seq = ++sequence, .time = time};
    const um_timetravel_msg ack = calendar.handle(
        m, [this] { return now; }, [this](std::uint64_t to) { now = std::max(now, to); });
    CHECK(ack.op == UM_TIMETRAVEL_ACK);
    CHECK(ack.seq == sequence);
    return ack;
  }
  std::uint32_t sequence = 0;
};

}  // namespace

TEST_CASE("a guest that waits is run at the instant it asked for") {
  Clock c;
  c.tell(UM_TIMETRAVEL_START);
  c.tell(UM_TIMETRAVEL_REQUEST, 10'000'000);
  CHECK_FALSE(c.calendar.waiting());
  c.tell(UM_TIMETRAVEL_WAIT);
  CHECK(c.calendar.waiting());
  CHECK(c.calendar.requested() == 10'000'000);
  c.now = 10'000'000;
  const um_timetravel_msg run = c.calendar.run();
  CHECK(run.op == UM_TIMETRAVEL_RUN);
  CHECK(run.time == 10'000'000);
  CHECK_FALSE(c.calendar.waiting());
  CHECK(c.calendar.guest_now() == 10'000'000);
}

TEST_CASE("an interrupt shows the waiting guest the hardware's time and may bring its request forward") {
  Clock c;
  c.tell(UM_TIMETRAVEL_REQUEST, 10'000);
  c.tell(UM_TIMETRAVEL_WAIT);
  c.now = 4'321;
  CHECK(c.tell(UM_TIMETRAVEL_GET).time == 4'321);
  c.tell(UM_TIMETRAVEL_REQUEST, 4'321);
  CHECK(c.calendar.run().time == 4'321);
}

TEST_CASE("a guest is never shown a time past the one it asked to run at") {
  // Its register accesses took 600 ns while its own clock stood at 1000 ns and its timer at 1500 ns.
  Clock c;
  c.tell(UM_TIMETRAVEL_UPDATE, 1'000);
  c.now += 600;
  c.tell(UM_TIMETRAVEL_REQUEST, 1'500);
  c.tell(UM_TIMETRAVEL_WAIT);
  CHECK(c.tell(UM_TIMETRAVEL_GET).time == 1'500);
  CHECK(c.calendar.run().time == 1'500);
  CHECK(c.now == 1'600);
}

TEST_CASE("a guest that computes is shown its own clock") {
  Clock c;
  c.tell(UM_TIMETRAVEL_UPDATE, 2'000);
  c.now += 500;
  CHECK(c.tell(UM_TIMETRAVEL_GET).time == 2'000);
}

TEST_CASE("an update brings hardware to the guest's clock and never back") {
  Clock c;
  c.tell(UM_TIMETRAVEL_UPDATE, 700);
  CHECK(c.now == 700);
  c.now = 900;
  c.tell(UM_TIMETRAVEL_UPDATE, 800);
  CHECK(c.now == 900);
  CHECK(c.calendar.guest_now() == 800);
}

TEST_CASE("a guest without a timer waits for an interrupt only") {
  Clock c;
  c.tell(UM_TIMETRAVEL_REQUEST, 0x7FFF'FFFF'FFFF'FFFF);
  c.tell(UM_TIMETRAVEL_WAIT);
  CHECK(c.calendar.requested() == Calendar::kNever);
}

TEST_CASE("the grant to run freely is numbered, acknowledged and forgotten at the next wait") {
  Clock c;
  const um_timetravel_msg grant = c.calendar.grant_free_run(5'000);
  CHECK(grant.op == UM_TIMETRAVEL_FREE_UNTIL);
  CHECK(grant.time == 5'000);
  CHECK(c.calendar.free_until() == 5'000);
  CHECK(Calendar::acknowledges({.op = UM_TIMETRAVEL_ACK, .seq = grant.seq, .time = 0}, grant));
  CHECK_FALSE(Calendar::acknowledges({.op = UM_TIMETRAVEL_GET, .seq = grant.seq, .time = 0}, grant));
  CHECK_THROWS_AS(Calendar::acknowledges({.op = UM_TIMETRAVEL_ACK, .seq = grant.seq + 1, .time = 0}, grant),
                  ProtocolError);
  const um_timetravel_msg next = c.calendar.grant_free_run(6'000);
  CHECK(next.seq == grant.seq + 1);
  c.tell(UM_TIMETRAVEL_WAIT);
  CHECK(c.calendar.free_until() == 0);
}

TEST_CASE("the time of day is the same in every run") {
  Clock c;
  // 2026-01-01: 56 years of 365 days and 14 leap days (1972 to 2024) after 1970-01-01.
  CHECK(c.tell(UM_TIMETRAVEL_GET_TOD).time == (56ULL * 365 + 14) * 86'400 * 1'000'000'000);
}

TEST_CASE("an operation that belongs to the calendar is refused from a guest") {
  Clock c;
  CHECK_THROWS_AS(c.calendar.handle(
                      {.op = UM_TIMETRAVEL_RUN, .seq = 1, .time = 0}, [] { return 0; }, [](std::uint64_t) {}),
                  ProtocolError);
}
