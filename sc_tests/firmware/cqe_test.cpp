// The whole firmware with command queueing, against a board whose engine answers when told to.
#include <cstring>

#include "firmware/app/main.hpp"
#include "firmware/app/status.hpp"
#include "sc_tests/firmware/cqe_bench.hpp"

using namespace cqe_test;

TEST_CASE("the card is switched to queue mode as the last command before the engine, and back at the end") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4096, 1));
  REQUIRE(fw::main() == 0);
  std::vector<std::uint32_t> switches;
  for (const auto& s : b.commands)
    if (s.index == 6) switches.push_back(s.arg);
  REQUIRE(switches.size() >= 2);
  CHECK(switches[switches.size() - 2] == 0x030F'0101);
  CHECK(switches.back() == 0x030F'0001);
  CHECK(b.count_commands(18) == 0);
  CHECK(b.cqe.tasks.size() == 1);
  CHECK(t.errors == 0);
  CHECK((b.cqe.reg("CQCTL") & 1) == 1);  // halted for the last CMD6
}

TEST_CASE("a host or a card that cannot queue is refused with its own code") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 4096, 1));
  Status expected = Status::ok;
  SECTION("no engine") { b.cqe.present = false, expected = Status::no_cqe_host; }
  SECTION("no ADMA2 in use") { t.use_dma = 1, expected = Status::no_cqe_host; }
  SECTION("no queue in the card") { b.ext_csd[308] = 0, expected = Status::no_cqe_card; }
  SECTION("a queue of two") { b.ext_csd[307] = 1, expected = Status::no_cqe_card; }
  SECTION("the card refuses queue mode") {
    b.refuse_switch = [](unsigned index, unsigned) { return index == 15; };
    expected = Status::cqe_failed;
  }
  SECTION("tables do not fit") { t.pool_bytes = 0x3000, expected = Status::pool_too_small; }
  SECTION("coalescing out of range") { t.cq_coalesce_count = 32, expected = Status::bad_job; }
  SECTION("CIT out of range") { t.cqe_cit = 0x10000, expected = Status::bad_job; }
  CHECK(fw::main() == static_cast<int>(expected));
  CHECK(marks(b, hal::Event::io_begin).empty());
  CHECK(b.cqe.tasks.empty());
}

TEST_CASE("without --cqe nothing of the engine is touched") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 8192, 4));
  t.use_cqe = 0;
  REQUIRE(fw::main() == 0);
  CHECK(b.cqe.tasks.empty());
  for (const auto& a : b.log) CHECK_FALSE(b.cqe.owns(a.offset));
}

TEST_CASE("queued data is what the medium holds in every descriptor shape") {
  struct Case {
    const char* name;
    std::uint32_t caps, v4, task128, trans12, contiguity, offset;
  };
  const auto c = GENERATE(
      Case{"8+8", fake::kV3Caps, 1, 0, 0, 1, 0}, Case{"16+16", fake::kFullCaps, 1, 0, 0, 1, 256},
      Case{"8+16", fake::kFullCaps, 1, 1, 0, 3, 0}, Case{"16+8", fake::kV3Caps, 1, 2, 0, 0, 0},
      Case{"16+16, 12", fake::kFullCaps, 1, 0, 1, 1, 0}, Case{"V3 64", fake::kFullCaps, 0, 0, 0, 1, 0});
  INFO(c.name);
  Board b(c.caps);
  JobDef d = job(GENERATE(JobKind::write, JobKind::randrw), 16384, 64 * 16384, 32);
  d.verify = 1;
  JobTable& t = with_queue(b, d);
  t.v4_mode = c.v4;
  t.cq_task_desc_128 = c.task128;
  t.cq_trans_desc_12 = c.trans12;
  b.cqe.trans12 = c.trans12;
  t.contiguity_pages = c.contiguity;
  t.buffer_byte_offset = c.offset;
  b.cqe.fate = [](unsigned) { return Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(t.verify_errors == 0);
  CHECK(t.done == 1);
  CHECK(each_ended_once(b) == b.cqe.tasks.size());
  CHECK(b.count_commands(12) == 0);
}

TEST_CASE("the queue fills to the device's depth, 31 when slot 31 is kept for direct commands") {
  struct Case {
    unsigned ext_csd307;
    std::uint32_t dcmd;
    unsigned depth;
  };
  const auto c = GENERATE(Case{31, 0, 32}, Case{31, 1, 31}, Case{15, 1, 16}, Case{15, 0, 16});
  Board b;
  b.ext_csd[307] = static_cast<std::uint8_t>(c.ext_csd307);
  JobTable& t = with_queue(b, job(JobKind::randread, 4096, 256 * 4096, 64));
  t.cq_dcmd = c.dcmd;
  b.cqe.fate = [](unsigned) { return Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(b.cqe.most_held == c.depth);
  CHECK(each_ended_once(b) == 256);
  const auto issued = marks(b, hal::Event::request_issue);
  for (std::size_t i = 0; i < issued.size(); ++i) {
    CHECK(issued[i].a < c.depth);
    CHECK(issued[i].a == b.cqe.tasks[i].tag);  // the instruments are told the tag the hardware gets
  }
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::request_prep)] == 256);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::descriptor)] >= 512);
}

TEST_CASE("tasks that complete newest first end the I/Os they belong to") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 8 * 4096, 8));
  b.cqe.fate = [](unsigned) { return Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(b.cqe.completed == std::vector<unsigned>{7, 6, 5, 4, 3, 2, 1, 0});
  std::vector<std::uint32_t> ended;
  for (const auto& m : marks(b, hal::Event::io_end)) ended.push_back(m.id);
  CHECK(ended == std::vector<std::uint32_t>{7, 6, 5, 4, 3, 2, 1, 0});
  CHECK(t.errors == 0);
}

TEST_CASE(
    "coalescing by four asks for no interrupt per task and gets one per four, the timer fetches the rest") {
  Board b;
  JobTable& t = with_queue(b, job(JobKind::read, 4096, 30 * 4096, 16));
  t.cq_coalesce_count = 4;
  t.cq_coalesce_timeout = 2;
  b.cqe.fate = [](unsigned) { return Fate::hold; };
  REQUIRE(fw::main() == 0);
  for (const auto& task : b.cqe.tasks) CHECK((task.words[0] & 4) == 0);
  CHECK(each_ended_once(b) == 30);
  CHECK(t.errors == 0);
  const std::size_t takes = count_steps(b, false, cq("CQTCN"));
  CHECK(takes == 8);  // 30 / 4, and the timer for two
  CHECK(count_steps(b, true, cq("CQIC")) == 1 + takes);
  // the counter is reset before the notifications are read
  for (std::size_t i = 1; i < b.log.size(); ++i)
    if (!b.log[i].write && b.log[i].offset == cq("CQTCN")) CHECK(b.log[i - 1].offset == cq("CQIC"));
}

TEST_CASE("without coalescing every task asks for its interrupt") {
  Board b;
  with_queue(b, job(JobKind::read, 4096, 6 * 4096, 3));
  b.cqe.fate = [](unsigned) { return Fate::hold; };
  REQUIRE(fw::main() == 0);
  for (const auto& task : b.cqe.tasks) CHECK((task.words[0] & 4) == 4);
  CHECK(count_steps(b, false, cq("CQTCN")) == 6);
}

TEST_CASE("a flush is a direct command in slot 31 and the engine stays on") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 8 * 4096, 4);
  d.fsync_every = 4;
  JobTable& t = with_queue(b, d);
  t.cq_dcmd = 1;
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  unsigned direct = 0;
  for (const auto& task : b.cqe.tasks)
    if (task.tag == 31) {
      ++direct;
      CHECK(task.words[1] == 0x0320'0101);
    }
  CHECK(direct == 2);
  CHECK(count_steps(b, false, cq("CQCRDCT")) == 2);
  CHECK(count_steps(b, true, cq("CQCTL")) == 1);  // the halt at the end
  const auto issued = marks(b, hal::Event::request_issue);
  CHECK(std::count_if(issued.begin(), issued.end(), [](auto& m) { return m.a == 31; }) == 2);
}

TEST_CASE("flushes of two jobs share slot 31 one after the other") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 4 * 4096, 1);
  d.fsync_every = 1;
  JobTable& t = with_queue(b, d);
  t.jobs[1] = t.jobs[2] = d;
  t.jobs[1].offset = 4 * 4096;
  t.jobs[2].offset = 8 * 4096;
  t.job_count = 3;
  t.cq_dcmd = 1;
  b.cqe.fate = [](unsigned) { return Fate::hold; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(std::count_if(b.cqe.tasks.begin(), b.cqe.tasks.end(), [](auto& x) { return x.tag == 31; }) == 12);
  each_ended_once(b);
}

TEST_CASE("an error bit in the direct command's response repeats the flush once, then fails it") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 4096, 1);
  d.fsync_every = 1;
  JobTable& t = with_queue(b, d);
  t.cq_dcmd = 1;
  b.cqe.direct_answer = 0x900 | 1u << 19;
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 1);
  CHECK(std::count_if(b.cqe.tasks.begin(), b.cqe.tasks.end(), [](auto& x) { return x.tag == 31; }) == 2);
}

TEST_CASE("without direct commands a flush waits for the queue, halts the engine, and the engine goes on") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 8 * 4096, 4);
  d.fsync_every = 4;
  JobTable& t = with_queue(b, d);
  b.cqe.fate = [](unsigned) { return Fate::hold; };
  REQUIRE(fw::main() ==
          0);  // the board throws on an ordinary command while the engine runs or tasks are queued
  CHECK(t.errors == 0);
  unsigned flushes = 0;
  for (const auto& s : b.commands) flushes += s.index == 6 && s.arg == 0x0320'0101;
  CHECK(flushes == 2);
  std::vector<std::uint64_t> control;
  for (const auto& a : b.log)
    if (a.write && a.offset == cq("CQCTL")) control.push_back(a.value);
  CHECK(control == std::vector<std::uint64_t>{1, 0, 1, 0, 1});
  CHECK(b.cqe.tasks.size() == 8);
  const auto issued = marks(b, hal::Event::request_issue);
  CHECK(std::count_if(issued.begin(), issued.end(), [](auto& m) { return m.a == 32; }) == 2);
  each_ended_once(b);
}

TEST_CASE(
    "the SDHCI registers are set for ordinary commands while the engine is halted, and set again after") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 4096, 1);
  d.fsync_every = 1;
  with_queue(b, d);
  REQUIRE(fw::main() == 0);
  // the flush: CQCTL=1 and what follows up to the next CQCTL=0
  const auto s = steps(b);
  const auto begin = std::find(s.begin(), s.end(), w(cq("CQCTL"), 1));
  const auto end = std::find(begin, s.end(), w(cq("CQCTL"), 0));
  REQUIRE(end != s.end());
  const std::vector<Step> part(begin, end + 1);
  CHECK(part[1] == r(cq("CQCTL")));
  const auto at = [&](const Step& x) { return std::find(part.begin(), part.end(), x) - part.begin(); };
  const auto command =
      std::find_if(part.begin(), part.end(),
                   [](auto& x) { return x.write && x.offset == reg("COMMAND") && x.value >> 8 == 6; }) -
      part.begin();
  CHECK(at(w(reg("NORMAL_INT_SIGNAL_ENABLE"), 0x03FF'000B)) < command);
  CHECK(command < at(w(reg("TRANSFER_MODE"), 0x23)));
  CHECK(at(w(reg("TRANSFER_MODE"), 0x23)) < at(w(reg("NORMAL_INT_SIGNAL_ENABLE"), 0x02FF'4000)));
}

TEST_CASE(
    "a flush is not starved by another job's reads, and no doorbell is rung while it has the engine halted") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 4 * 4096, 1);
  d.fsync_every = 1;
  JobTable& t = with_queue(b, d);
  t.jobs[1] = job(JobKind::read, 4096, 64 * 4096, 4);
  t.jobs[1].offset = 64 * 1024;
  t.job_count = 2;
  // writes end at once, reads when the CPU sleeps: there is always a read out
  b.cqe.fate = [&](unsigned tag) {
    std::uint32_t word = 0;
    std::memcpy(&word, b.ram(b.cqe.reg("CQTDLBA") + tag * 32, 4), 4);
    return word & 1u << 12 ? Fate::hold : Fate::now;
  };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 4 + 4 + 64);
  bool halted = false;
  unsigned doorbells = 0, wrong = 0;
  std::vector<unsigned> before_flush;
  for (const auto& x : steps(b)) {
    if (x.write && x.offset == cq("CQCTL")) halted = x.value & 1;
    if (x.write && x.offset == cq("CQTDBR")) ++doorbells, wrong += halted;
    if (x.write && x.offset == reg("ARGUMENT") && x.value == 0x0320'0101) before_flush.push_back(doorbells);
  }
  REQUIRE(before_flush.size() == 4);
  CHECK(before_flush[0] <= 1 + 4);  // the write, and the reads that were out with it
  CHECK(before_flush[3] <= 4 * (1 + 2 * 4));
  CHECK(wrong == 0);
}
