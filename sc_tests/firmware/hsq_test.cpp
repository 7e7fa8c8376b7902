// The host's software queue: the next request is sent from the interrupt of the one before it.
#include "firmware/app/main.hpp"
#include "firmware/app/status.hpp"
#include "sc_tests/firmware/cqe_bench.hpp"

using namespace cqe_test;

namespace {

JobTable& hsq(Board& b, const JobDef& d) {
  b.swq.present = b.swq.hold_data = true;  // ordinary data are held until the CPU sleeps
  JobTable& t = fake::table(b);
  t.soft_queue = SoftQueue::hsq;
  t.job_count = 1;
  t.jobs[0] = d;
  return t;
}
/// Requests at the back end at once: announced with any tag and not ended.
int most_at_once(const Board& b) {
  std::array<bool, 64> in{};
  int now = 0, most = 0;
  for (const auto& m : b.marks) {
    if (m.what == hal::Event::request_issue && !in[m.id]) in[m.id] = true, most = std::max(most, ++now);
    if (m.what == hal::Event::request_end && in[m.id]) in[m.id] = false, --now;
  }
  return most;
}
std::size_t sent_in_handler(const Board& b, unsigned index) {
  return static_cast<std::size_t>(std::count_if(b.commands.begin(), b.commands.end(),
                                                [&](auto& s) { return s.index == index && s.in_handler; }));
}

}  // namespace

TEST_CASE("with two requests at hand the second is sent from the interrupt of the first") {
  Board b;
  hsq(b, job(JobKind::read, 8192, 32 * 8192, 2));
  REQUIRE(fw::main() == 0);
  CHECK(b.count_commands(18) == 32);
  CHECK(sent_in_handler(b, 18) >= 30);  // all but the first ones
  CHECK(each_ended_once(b) == 32);
}

TEST_CASE("without a queue no data command is sent from an interrupt") {
  Board b;
  JobTable& t = hsq(b, job(JobKind::read, 8192, 32 * 8192, 2));
  t.soft_queue = SoftQueue::none;
  REQUIRE(fw::main() == 0);
  CHECK(b.count_commands(18) == 32);
  CHECK(sent_in_handler(b, 18) == 0);
}

TEST_CASE("reads of 4 KiB keep to two requests, writes of 4 KiB go up to five, as in Linux") {
  {
    Board b;
    hsq(b, job(JobKind::randread, 4096, 64 * 4096, 16));
    REQUIRE(fw::main() == 0);
    CHECK(most_at_once(b) <= 3);  // one more may be announced while the ended ones are being completed
  }
  {
    Board b;
    hsq(b, job(JobKind::randwrite, 4096, 64 * 4096, 16));
    REQUIRE(fw::main() == 0);
    CHECK(most_at_once(b) >= 5);
  }
  Board b;
  hsq(b, job(JobKind::randwrite, 8192, 64 * 8192, 16));
  REQUIRE(fw::main() == 0);
  CHECK(most_at_once(b) <= 3);
}

TEST_CASE("no CMD13 follows a write, and what was written is read back") {
  Board b;
  JobDef d = job(JobKind::randwrite, 4096, 64 * 4096, 4);
  d.verify = 1;
  JobTable& t = hsq(b, d);
  REQUIRE(fw::main() == 0);
  CHECK(t.verify_errors == 0);
  CHECK(t.errors == 0);
  const auto after = indices_from(b, 25);
  CHECK(std::count(after.begin(), after.end(), 25u) == 64);
  CHECK(std::count(after.begin(), after.end(), 13u) == 0);
}

TEST_CASE("a flush runs alone between the requests before and after it") {
  Board b;
  JobDef d = job(JobKind::write, 8192, 16 * 8192, 4);
  d.fsync_every = 4;
  JobTable& t = hsq(b, d);
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  const auto after = indices_from(b, 25);
  std::vector<unsigned> expected;
  for (int i = 0; i < 4; ++i) {
    for (int n = 0; n < 4; ++n) {
      if (i + n) expected.push_back(23);
      expected.push_back(25);
    }
    expected.insert(expected.end(), {6, 13});
  }
  CHECK(after == expected);
}

TEST_CASE("a data error is retried once and the next request waits for it") {
  Board b;
  JobTable& t = hsq(b, job(JobKind::read, 8192, 16 * 8192, 2));
  b.swq.hold_data = false;
  b.swq.present = false;
  unsigned seen = 0;
  b.data_crc_fault = [&](unsigned index, std::uint32_t) { return index == 18 && ++seen == 5; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 16);
  CHECK(b.count_commands(18) == 17);
  CHECK(b.count_commands(12) == 1);
}

TEST_CASE("a request that fails twice ends with its error and the others go on") {
  Board b;
  JobTable& t = hsq(b, job(JobKind::read, 8192, 16 * 8192, 2));
  b.swq.present = b.swq.hold_data = false;
  b.data_crc_fault = [&](unsigned index, std::uint32_t arg) { return index == 18 && arg == 48; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 1);
  CHECK(each_ended_once(b) == 16);
  CHECK(b.count_commands(18) == 17);
}

// --- phases of the workload ---

TEST_CASE("a job of a later phase starts when all jobs of the phase before it have ended") {
  Board b;
  JobTable& t = fake::table(b);
  t.job_count = 3;
  for (unsigned i = 0; i < 3; ++i) {
    t.jobs[i] = job(JobKind::read, 4096, (i + 1) * 8 * 4096, 1);
    t.jobs[i].phase = i == 2 ? 1 : 7;  // numbers may have gaps, and come in any order
  }
  REQUIRE(fw::main() == 0);
  std::uint64_t end_of_first = 0, begin_of_second = ~0ULL;
  std::array<unsigned, 1024> owner{};
  for (const auto& m : b.marks) {
    if (m.what == hal::Event::io_begin) {
      owner[m.id] = static_cast<unsigned>(m.a >> 32);
      if (owner[m.id] != 2) begin_of_second = std::min(begin_of_second, m.at_ns);
    }
    if (m.what == hal::Event::io_end && owner[m.id] == 2) end_of_first = std::max(end_of_first, m.at_ns);
  }
  CHECK(end_of_first <= begin_of_second);
  CHECK(marks(b, hal::Event::io_end).size() == 8 + 16 + 24);
}

TEST_CASE("jobs that stop together stop when the first of them is through") {
  Board b;
  JobTable& t = fake::table(b);
  t.job_count = 2;
  t.jobs[0] = job(JobKind::read, 4096, 8 * 4096, 1);
  t.jobs[1] = job(JobKind::read, 4096, 64 * 4096, 1);
  t.jobs[0].stop_together = t.jobs[1].stop_together = 1;
  REQUIRE(fw::main() == 0);
  const auto n = marks(b, hal::Event::io_end).size();
  CHECK(n >= 8 + 7);
  CHECK(n <= 8 + 9);
  CHECK(t.done == 1);
}

TEST_CASE("a writer with end_sync flushes once, at its end") {
  Board b;
  JobTable& t = fake::table(b);
  t.job_count = 1;
  t.jobs[0] = job(JobKind::write, 4096, 8 * 4096, 1);
  t.jobs[0].end_sync = 1;
  REQUIRE(fw::main() == 0);
  const auto after = indices_from(b, 25);
  CHECK(std::count(after.begin(), after.end(), 6u) == 1);
  CHECK(after[after.size() - 2] == 6);
}
