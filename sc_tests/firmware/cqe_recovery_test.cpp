// Errors, timeouts and recovery of the queue: nothing lost, nothing completed twice.
#include "firmware/app/main.hpp"
#include "firmware/block/pages.hpp"
#include "sc_tests/firmware/cqe_bench.hpp"

using namespace cqe_test;

TEST_CASE("a task that never completes is timed out, recovered and sent once more") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 8 * 4096, 4));
  const unsigned times = GENERATE(1u, 2u);
  b.cqe.fate = fail_times(2, times, Fate::drop);
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == (times == 2 ? 1 : 0));
  CHECK(each_ended_once(b) == 8);
  CHECK(b.cqe.tasks.size() == 8 + 1);
  const auto errors = recoveries(b);
  REQUIRE(errors.size() == times);
  CHECK(errors[0].a == 0);
  CHECK(errors[0].b == 1);
  CHECK(b.count_commands(48) == times);
  if (times == 2) {
    const auto done = marks(b, hal::Event::job_done);
    CHECK(done.at(0).a == static_cast<std::uint64_t>(MmcError::software_timeout));
  }
}

TEST_CASE("a timeout comes after request_timeout_ms, not before") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4096, 1));
  t.request_timeout_ms = 250;
  b.cqe.fate = fail_times(0, 1, Fate::drop);
  REQUIRE(fw::main() == 0);
  const auto issue = marks(b, hal::Event::request_issue), error = recoveries(b);
  CHECK(error.at(0).at_ns - issue.at(0).at_ns >= 250'000'000);
  CHECK(error.at(0).at_ns - issue.at(0).at_ns < 251'000'000);
}

TEST_CASE("a completion whose interrupt was lost is found when the engine halts and is not sent again") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4 * 4096, 1));
  b.cqe.fate = fail_times(0, 1, Fate::lost_interrupt);
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(recoveries(b).size() == 1);
  CHECK(b.cqe.tasks.size() == 4);
  CHECK(each_ended_once(b) == 4);
}

TEST_CASE(
    "recovery halts, resets CMD and DAT, sends CMD12, CMD13, CMD48, clears and restarts, in this order") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4096, 1));
  b.cqe.fate = fail_times(0, 1, Fate::data_crc);
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  const auto commands = indices_from(b, 12);
  REQUIRE(commands.size() >= 3);
  CHECK(commands[0] == 12);
  CHECK(commands[1] == 13);
  CHECK(commands[2] == 48);
  const auto stop = std::find_if(b.commands.begin(), b.commands.end(), [](auto& s) { return s.index == 48; });
  CHECK(stop->arg == 1);

  const auto s = steps(b);
  auto at = std::find(s.begin(), s.end(), r(cq("CQTERRI")));
  const std::vector<Step> order = {w(cq("CQISTE"), 1),
                                   w(cq("CQISGE"), 1),
                                   w(cq("CQCTL"), 1),
                                   w(cq("CQISTE"), 0),
                                   w(cq("CQISGE"), 0),
                                   r(cq("CQTCN")),
                                   w(reg("NORMAL_INT_STATUS_ENABLE"), 0x03FF'000B),
                                   w(reg("NORMAL_INT_SIGNAL_ENABLE"), 0x03FF'000B),
                                   w(reg("SOFTWARE_RESET"), 2),
                                   w(reg("SOFTWARE_RESET"), 4),
                                   w(reg("COMMAND"), 0x0C03),
                                   w(reg("COMMAND"), 0x0D1A),
                                   w(reg("COMMAND"), 0x3003),
                                   w(cq("CQCTL"), 0x101),
                                   w(cq("CQCFG"), 0x100),
                                   w(cq("CQCFG"), 0x101),
                                   r(cq("CQTCN")),
                                   w(reg("TRANSFER_MODE"), 0x23),
                                   w(cq("CQCTL"), 0),
                                   w(cq("CQISTE"), 0x36),
                                   w(cq("CQISGE"), 0x36),
                                   w(cq("CQTDBR"), 1)};
  for (const Step& x : order) {
    INFO(x);
    at = std::find(at, s.end(), x);
    REQUIRE(at != s.end());
  }
}

TEST_CASE("an error with CQTERRI blames its task alone, the others are sent again and none ends twice") {
  const Fate how = GENERATE(Fate::red, Fate::data_crc);
  const unsigned times = GENERATE(1u, 2u);
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 32 * 4096, 8));
  unsigned left = times;
  b.cqe.fate = [&](unsigned tag) { return tag == 5 && left ? --left, how : Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(each_ended_once(b) == 32);
  CHECK(t.errors == times - 1);
  const auto errors = recoveries(b);
  REQUIRE(errors.size() == times);
  if (how == Fate::red) {
    CHECK(errors[0].a == 0x4000);
    CHECK(errors[0].c == (std::uint64_t{4} << 32 | 0x852D));  // CQIS.RED; valid, task 5, CMD45
  } else {
    CHECK((errors[0].a & 0x0020'0000) != 0);
    CHECK(errors[0].c == 0x852E'0000);  // data half: valid, task 5, CMD46
  }
  std::size_t failed = 0;
  for (const auto& m : marks(b, hal::Event::request_end))
    if (m.a) {
      ++failed;
      CHECK(m.a == static_cast<std::uint64_t>(how == Fate::red ? MmcError::card_status : MmcError::data_crc));
    }
  CHECK(failed == times - 1);
}

TEST_CASE("an error that names no task blames the first one out") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4 * 4096, 4));
  unsigned left = 2;
  const Fate how = GENERATE(Fate::silent_error, Fate::adma);
  b.cqe.fate = [&](unsigned tag) { return tag == 3 && left ? --left, how : Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(each_ended_once(b) == 4);
  CHECK(t.errors == 1);  // tag 0 twice
  CHECK(marks(b, hal::Event::request_end).at(0).a ==
        static_cast<std::uint64_t>(how == Fate::adma ? MmcError::adma : MmcError::command_timeout));
}

TEST_CASE("a notification that comes up with the clear does not complete the task sent after it") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 2 * 4096, 2));
  for (std::size_t i = 0; i < 8192; ++i) b.medium[i] = static_cast<std::uint8_t>(i * 3 + (i >> 12));
  b.cqe.stale_at_clear = 1;  // tag 0
  bool first = true;
  b.cqe.fate = [&](unsigned tag) { return tag == 1 && first ? first = false, Fate::red : Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(b.cqe.completed == std::vector<unsigned>{1, 0});
  // tag 1's interrupt reads CQTCN while tag 0 is still out: with the stale bit both would end then, 0 first
  std::vector<std::uint32_t> ended;
  for (const auto& m : marks(b, hal::Event::request_end)) ended.push_back(m.id);
  CHECK(ended == std::vector<std::uint32_t>{1, 0});
  PageAllocator pages(t.buffer_base, t.buffer_bytes, 4096, 0);
  std::vector<std::uint8_t> got(8192);
  Buffer{&pages, 0, 0}.read(0, got.data(), 8192);
  CHECK(std::equal(got.begin(), got.end(), b.medium.begin()));
}

TEST_CASE("a flush out or asked for while the queue recovers is not lost") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 8 * 4096, 4);
  JobDef s = job(JobKind::write, 4096, 8 * 4096, 1);
  s.offset = 8 * 4096;
  s.fsync_every = 2;
  JobTable& t = with_queue(b, d);
  t.jobs[1] = s;
  t.job_count = 2;
  t.cq_dcmd = GENERATE(0u, 1u);
  unsigned n = 0;
  b.cqe.fate = [&](unsigned tag) {
    ++n;
    if (n == 3 || n == 9) return Fate::data_crc;
    return tag == 31 ? Fate::hold : Fate::now;
  };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(recoveries(b).size() == 2);
  unsigned flushes = 0;
  for (const auto& c : b.commands) flushes += c.index == 6 && c.arg == 0x0320'0101;
  CHECK(flushes >= 4);
  unsigned syncs = 0;
  for (const auto& m : marks(b, hal::Event::io_begin)) syncs += (m.a & 0xFF) == 3;
  CHECK(syncs == 4);
  each_ended_once(b);
}

TEST_CASE("a flush that is out when another task fails is sent again after recovery") {
  Board b;
  JobDef s = job(JobKind::write, 4096, 4096, 1);
  s.fsync_every = 1;
  JobTable& t = with_queue(b, s);
  t.jobs[1] = job(JobKind::read, 4096, 4 * 4096, 1);
  t.jobs[1].offset = 64 * 1024;
  t.job_count = 2;
  t.cq_dcmd = 1;
  bool flush_out = false, failed = false;
  b.cqe.fate = [&](unsigned tag) {
    if (tag == 31) return flush_out = true, Fate::hold;
    if (flush_out && !failed) return failed = true, Fate::red;
    return Fate::now;
  };
  REQUIRE(fw::main() == 0);
  CHECK(failed);
  CHECK(t.errors == 0);
  CHECK(std::count_if(b.cqe.tasks.begin(), b.cqe.tasks.end(), [](auto& x) { return x.tag == 31; }) == 2);
  each_ended_once(b);
}

TEST_CASE("CMD48 refused by a busy card is repeated, a card that keeps its queue fails what was out") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4 * 4096, 4));
  const unsigned refusals = GENERATE(2u, 8u);
  b.cqe.refuse_discard = refusals;
  bool first = true;
  b.cqe.fate = [&](unsigned tag) { return tag == 3 && first ? first = false, Fate::red : Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(each_ended_once(b) == 4);
  CHECK(t.errors == (refusals == 8 ? 4 : 0));
  // eight: four tries and four after the engine is cleared; the ninth empties the queue before the card
  // leaves it
  CHECK(b.count_commands(48) == (refusals == 8 ? 9 : 3));
}

TEST_CASE("an engine that does not halt is given half a second, then reset all the same") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4096, 1));
  b.cqe.fate = [&](unsigned) {
    b.cqe.halts = false;
    return Fate::red;
  };
  b.no_answer = [&](unsigned index, std::uint32_t) {
    if (index == 48) b.cqe.halts = true;
    return false;
  };
  // the board would throw on CMD12 with the engine running: what it checks is switched off by the line reset
  // here
  b.cqe.tolerate_after_reset = true;
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 1);
  const auto error = recoveries(b), end = marks(b, hal::Event::request_end);
  CHECK(end.at(0).at_ns - error.at(0).at_ns >= 2 * 500'000'000ull);
  CHECK(end.at(0).at_ns - error.at(0).at_ns < 2 * 600'000'000ull);
}

TEST_CASE("an engine reset behind the driver's back is noticed at the doorbell and set up again") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 8 * 4096, 2));
  unsigned n = 0;
  b.cqe.fate = [&](unsigned) {
    if (++n == 4) {  // what a reset leaves, after this task
      b.cqe.wipe = true;
    }
    return Fate::now;
  };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 8);
  CHECK(recoveries(b).size() == 1);
  CHECK(b.cqe.reg("CQTDLBA") != 0);
}

TEST_CASE("a task that was merely out in two recoveries is not to blame and does not fail") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4 * 4096, 4));
  bool third = true, second = true;
  b.cqe.fate = [&](unsigned tag) {
    if (tag == 3 && third) return third = false, Fate::red;
    if (tag == 2 && second && !third) return second = false, Fate::red;
    return Fate::hold;
  };
  REQUIRE(fw::main() == 0);
  CHECK(recoveries(b).size() == 2);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 4);
}

TEST_CASE("no doorbell is rung between an error and the restart of the engine") {
  Board b;
  b.ext_csd[307] = 3;
  JobTable& t = with_queue(b, job(JobKind::read, 8 * 4096, 8 * 4096, 1));
  t.max_req_bytes = 4096;   // eight requests of one I/O for a queue of four
  t.cq_coalesce_count = 4;  // four complete at once, so four are started in one go
  unsigned n = 0;
  b.cqe.fate = [&](unsigned) { return ++n == 5 ? Fate::red : Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 8);
  const auto s = steps(b);
  const auto error = std::find(s.begin(), s.end(), r(cq("CQTERRI")));
  const auto restart = std::find(error, s.end(), w(cq("CQCTL"), 0));
  REQUIRE(restart != s.end());
  CHECK(std::count_if(error, restart, [](auto& x) { return x.write && x.offset == cq("CQTDBR"); }) == 0);
  CHECK(std::count_if(restart, s.end(), [](auto& x) { return x.write && x.offset == cq("CQTDBR"); }) == 4);
}
