// Software command queueing: the driver works the device's queue itself.
#include "firmware/app/main.hpp"
#include "firmware/app/status.hpp"
#include "firmware/mmc/host.hpp"
#include "sc_tests/firmware/cqe_bench.hpp"

using namespace cqe_test;
using SwqFate = fake::Swq::Fate;

namespace {

constexpr std::uint32_t kFlush = 0x0320'0101, kQueueOn = 0x030F'0101, kQueueOff = 0x030F'0001;

JobTable& software(Board& b, const JobDef& d) {
  b.swq.present = true;
  JobTable& t = fake::table(b);
  t.soft_queue = SoftQueue::software;
  t.swq_poll_ns = 10'000;
  t.job_count = 1;
  t.jobs[0] = d;
  return t;
}
/// The commands between the CMD6 that turns queue mode on (first time) and the CMD6 that turns it off at the end.
std::vector<fake::Sent> in_queue_mode(const Board& b) {
  const auto on = [](const fake::Sent& s) { return s.index == 6 && s.arg == kQueueOn; };
  const auto off = [](const fake::Sent& s) { return s.index == 6 && s.arg == kQueueOff; };
  const auto first = std::find_if(b.commands.begin(), b.commands.end(), on);
  const auto last = std::find_if(b.commands.rbegin(), b.commands.rend(), off).base();
  REQUIRE(first != b.commands.end());
  REQUIRE(last - first > 2);
  return {first + 2, last - 1};  // after the CMD13 that checks the switch
}
std::vector<unsigned> indices(const std::vector<fake::Sent>& sent) {
  std::vector<unsigned> out;
  for (const auto& s : sent) out.push_back(s.index);
  return out;
}

}  // namespace

TEST_CASE("a queued read is CMD44, CMD45, CMD13 with QSR and CMD46, with the arguments of the standard") {
  Board b;
  JobDef d = job(JobKind::read, 8192, 8192, 1);
  d.offset = 4096;
  software(b, d);
  REQUIRE(fw::main() == 0);
  const auto sent = in_queue_mode(b);
  REQUIRE(indices(sent) == std::vector<unsigned>{44, 45, 13, 46});
  CHECK(sent[0].arg == (1u << 30 | 0u << 16 | 16));  // read, task 0, 16 blocks
  CHECK(sent[1].arg == 8);                           // sector 8
  CHECK(sent[2].arg == (1u << 16 | 1u << 15));       // RCA 1, QSR
  CHECK(sent[3].arg == 0);
}

TEST_CASE("a queued write is CMD44 without the read bit and CMD47, and no CMD13 follows it") {
  Board b;
  software(b, job(JobKind::write, 4096, 4096, 1));
  b.busy_polls = 3;
  REQUIRE(fw::main() == 0);
  const auto sent = in_queue_mode(b);
  REQUIRE(indices(sent) == std::vector<unsigned>{44, 45, 13, 47});
  CHECK(sent[0].arg == 8);
}

TEST_CASE("every command of the queue has one interrupt and its transfer one more") {
  Board b;
  software(b, job(JobKind::read, 4096, 16 * 4096, 1));
  b.swq.hold_data = true;
  REQUIRE(fw::main() == 0);
  std::size_t passes = 0, from = 0;
  for (std::size_t i = 0; i < b.log.size(); ++i)  // the first CMD44 begins the count
    if (!from && b.log[i].write && b.log[i].offset == reg("COMMAND") && b.log[i].value >> 8 == 44) from = i;
  std::size_t until = b.log.size();
  for (std::size_t i = from; i < b.log.size() && until == b.log.size(); ++i)
    if (b.log[i].write && b.log[i].offset == reg("COMMAND") && b.log[i].value >> 8 == 6) until = i;
  for (std::size_t i = from; i < until; ++i)
    passes += b.log[i].write && b.log[i].offset == reg("NORMAL_INT_STATUS");
  CHECK(passes == 16 * (4 + 1));
}

TEST_CASE("queue mode is entered once after set-up and left at the end") {
  Board b;
  JobTable& t = software(b, job(JobKind::randread, 4096, 64 * 4096, 8));
  REQUIRE(fw::main() == 0);
  CHECK(t.done == 1);
  std::vector<std::uint32_t> switches;
  for (const auto& s : b.commands)
    if (s.index == 6) switches.push_back(s.arg);
  REQUIRE(switches.size() > 2);
  CHECK(switches[switches.size() - 2] == kQueueOn);
  CHECK(switches.back() == kQueueOff);
}

TEST_CASE("CMD44, CMD45 and CMD13 go out while another task's data move, and the data arrive") {
  Board b;
  JobDef d = job(JobKind::randwrite, 8192, 64 * 8192, 8);
  d.verify = 1;
  JobTable& t = software(b, d);
  b.swq.hold_data = true;
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(t.verify_errors == 0);
  CHECK(b.swq.executed.size() == 2 * 64);
  CHECK(b.swq.beside[44] > 0);
  CHECK(b.swq.beside[45] > 0);
  CHECK(b.swq.beside[13] > 0);
  CHECK(b.swq.most > 2);
  CHECK(b.count_commands(44) == 2 * 64);
  CHECK(b.count_commands(45) == 2 * 64);
  CHECK(b.count_commands(46) == 64);
  CHECK(b.count_commands(47) == 64);
  CHECK(each_ended_once(b) == 2 * 64);
}

TEST_CASE("no more tasks are in the device than swq_depth, nor than it holds") {
  for (const std::uint32_t depth : {2u, 0u}) {
    Board b;
    JobTable& t = software(b, job(JobKind::read, 4096, 64 * 4096, 32));
    b.ext_csd[307] = 15;
    t.swq_depth = depth;
    b.swq.hold_data = true;
    REQUIRE(fw::main() == 0);
    CHECK(b.swq.most == (depth ? depth : 16));
  }
}

TEST_CASE("while DAT is idle QSR is read again every swq_poll_ns until the task shows") {
  Board b;
  JobTable& t = software(b, job(JobKind::read, 4096, 4096, 1));
  t.swq_poll_ns = 25'000;
  b.swq.shy_polls = 3;
  REQUIRE(fw::main() == 0);
  CHECK(indices(in_queue_mode(b)) == std::vector<unsigned>{44, 45, 13, 13, 13, 13, 46});
  const auto issue = marks(b, hal::Event::request_issue), end = marks(b, hal::Event::request_end);
  CHECK(end.at(0).at_ns - issue.at(0).at_ns >= 3 * 25'000);
  CHECK(end.at(0).at_ns - issue.at(0).at_ns < 4 * 25'000 + 20'000);
}

TEST_CASE("the oldest ready task is executed first") {
  Board b;
  software(b, job(JobKind::read, 4096, 32 * 4096, 4));
  b.swq.hold_data = true;
  REQUIRE(fw::main() == 0);
  // Reads of one job go up in address; in order of age they are executed in order of address.
  std::vector<std::uint32_t> address, executed;
  std::array<std::uint32_t, 32> lba{};
  unsigned task = 0;
  for (const auto& s : b.commands) {
    if (s.index == 44) task = s.arg >> 16 & 31;
    if (s.index == 45) lba[task] = s.arg;
    if (s.index == 46) executed.push_back(lba[s.arg >> 16 & 31]);
  }
  CHECK(executed.size() == 32);
  CHECK(std::is_sorted(executed.begin(), executed.end()));
}

TEST_CASE("a flush waits for an empty queue and is a CMD6 in queue mode") {
  Board b;
  JobDef d = job(JobKind::write, 4096, 16 * 4096, 4);
  d.fsync_every = 4;
  JobTable& t = software(b, d);
  b.swq.hold_data = true;
  REQUIRE(fw::main() == 0);  // the fake throws when CMD6 comes with tasks in the queue
  CHECK(t.errors == 0);
  const auto sent = in_queue_mode(b);
  const auto flushes =
      std::count_if(sent.begin(), sent.end(), [](auto& s) { return s.index == 6 && s.arg == kFlush; });
  CHECK(flushes == 4);
  CHECK(each_ended_once(b) == 16 + 4);
}

TEST_CASE("memory is mapped once per request, after its task is in the device") {
  Board b;
  software(b, job(JobKind::read, 32768, 8 * 32768, 1));
  REQUIRE(fw::main() == 0);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::dma_map)] == 8 * 8);
  CHECK(b.costs[static_cast<std::size_t>(hal::Cost::dma_unmap)] == 8 * 8);
}

TEST_CASE(
    "a card without a queue, one of two tasks, or one that refuses queue mode is refused with its own code") {
  {
    Board b;
    software(b, job(JobKind::read, 4096, 4096, 1));
    b.ext_csd[308] = 0;
    CHECK(fw::main() == static_cast<int>(Status::no_cqe_card));
  }
  {
    Board b;
    software(b, job(JobKind::read, 4096, 4096, 1));
    b.ext_csd[307] = 1;
    CHECK(fw::main() == static_cast<int>(Status::no_cqe_card));
  }
  {
    Board b;
    software(b, job(JobKind::read, 4096, 4096, 1));
    b.refuse_switch = [](unsigned index, unsigned value) { return index == 15 && value == 1; };
    CHECK(fw::main() == static_cast<int>(Status::swq_failed));
    CHECK(b.count_commands(44) == 0);
  }
  Board b;
  JobTable& t = software(b, job(JobKind::read, 4096, 4096, 1));
  t.use_cqe = 1;
  CHECK(fw::main() == static_cast<int>(Status::bad_job));
}

// --- errors ---

TEST_CASE("a data error empties the queue, leaves queue mode, retries the culprit there and goes on queued") {
  Board b;
  JobTable& t = software(b, job(JobKind::read, 8192, 32 * 8192, 8));
  b.swq.hold_data = true;
  unsigned left = 1;
  b.swq.fate = [&](unsigned) {
    return b.swq.executed.size() == 5 && left ? (--left, SwqFate::data_crc) : SwqFate::good;
  };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 32);
  CHECK(recoveries(b).size() >= 1);
  CHECK(b.count_commands(48) == 1);
  CHECK(b.count_commands(18) == 1);  // the culprit, beside the queue
  const auto from = indices_from(b, 12);
  REQUIRE(from.size() > 6);
  CHECK(std::vector<unsigned>(from.begin(), from.begin() + 5) == std::vector<unsigned>{12, 13, 48, 6, 13});
  std::vector<std::uint32_t> modes;
  for (const auto& s : b.commands)
    if (s.index == 6 && (s.arg >> 16 & 255) == 15) modes.push_back(s.arg);
  CHECK(modes == std::vector<std::uint32_t>{kQueueOn, kQueueOff, kQueueOn, kQueueOff});
}

TEST_CASE("a CMD45 that the card refuses costs its own request a retry and nobody an error") {
  Board b;
  JobTable& t = software(b, job(JobKind::read, 4096, 32 * 4096, 8));
  b.swq.hold_data = true;
  unsigned left = 1;
  b.swq.r1_errors = [&](unsigned index, unsigned task) {
    return index == 45 && task == 3 && left ? (--left, 1u << 19) : 0u;
  };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 32);
  CHECK(b.count_commands(48) == 1);
}

TEST_CASE("a queue command without an answer is recovered from") {
  for (const unsigned lost : {44u, 45u, 46u}) {
    Board b;
    JobTable& t = software(b, job(JobKind::read, 4096, 16 * 4096, 4));
    b.swq.hold_data = true;
    unsigned seen = 0;
    b.no_answer = [&](unsigned index, std::uint32_t) { return index == lost && ++seen == 3; };
    REQUIRE(fw::main() == 0);
    CHECK(t.errors == 0);
    CHECK(each_ended_once(b) == 16);
  }
}

TEST_CASE("a QSR without an answer is recovered from") {
  Board b;
  JobTable& t = software(b, job(JobKind::read, 4096, 16 * 4096, 4));
  unsigned seen = 0;
  b.no_answer = [&](unsigned index, std::uint32_t arg) {
    return index == 13 && (arg & 0x8000) && ++seen == 3;
  };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 16);
}

TEST_CASE("a transfer that never ends is timed out after request_timeout_ms and retried") {
  Board b;
  JobTable& t = software(b, job(JobKind::read, 4096, 8 * 4096, 2));
  t.request_timeout_ms = 250;
  b.swq.hold_data = true;
  b.swq.fate = [&](unsigned) { return b.swq.executed.size() == 3 ? SwqFate::no_interrupt : SwqFate::good; };
  REQUIRE(fw::main() == 0);
  CHECK(t.errors == 0);
  CHECK(each_ended_once(b) == 8);
  const auto errors = recoveries(b);
  REQUIRE(errors.size() >= 1);
  CHECK(errors[0].a == static_cast<std::uint64_t>(MmcError::software_timeout));
}

TEST_CASE("a request that fails beside the queue too ends with its error, once, and the others go on") {
  Board b;
  JobTable& t = software(b, job(JobKind::read, 4096, 16 * 4096, 4));
  b.swq.hold_data = true;
  b.swq.fate = [&](unsigned) { return b.swq.executed.size() == 3 ? SwqFate::data_crc : SwqFate::good; };
  b.data_crc_fault = [](unsigned index, std::uint32_t) { return index == 17 || index == 18; };
  REQUIRE(fw::main() == 0);
  CHECK(each_ended_once(b) == 16);
  CHECK(t.errors == 1);
}

TEST_CASE("when the card keeps its tasks all that is out fails, once each") {
  Board b;
  JobTable& t = software(b, job(JobKind::read, 4096, 8 * 4096, 4));
  b.swq.hold_data = true;
  b.swq.refuse_discard = 4;  // as often as it is tried
  unsigned left = 1;
  b.swq.fate = [&](unsigned) {
    return b.swq.executed.size() == 2 && left ? (--left, SwqFate::data_crc) : SwqFate::good;
  };
  bool threw = false;
  try {
    REQUIRE(fw::main() == 0);
  } catch (const std::runtime_error&) {
    threw = true;  // the fake: CMD6 with tasks in the queue
  }
  CHECK_FALSE(threw);
  CHECK(each_ended_once(b) == 8);
  CHECK(t.errors >= 1);
  CHECK(t.errors <= 5);
}
