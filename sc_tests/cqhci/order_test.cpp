// Which task when: doorbell order, priority, readiness, barriers, direct commands; descriptor shapes; both styles.
#include "sc_tests/cqhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

std::vector<unsigned> tags_of(const QueueCard& c, std::uint8_t index) {
  std::vector<unsigned> tags;
  for (const QueueCard::Seen& s : c.log)
    if (s.index == index) tags.push_back(s.argument >> 16 & 31);
  return tags;
}
using Tags = std::vector<unsigned>;

/// Task 0 moves long data; 1 to 4 become ready meanwhile, 3 with high priority. Returns the order of execution.
Tags order_of_four(QueueBench& b, std::uint32_t emmc_ctrl) {
  b.start();
  b.write(0x500 + 0x2C, 2, 0x0101 | emmc_ctrl);
  b.task(0, true, 0, 128);
  for (unsigned tag = 1; tag < 5; ++tag) b.task(tag, true, tag, 1, kInt | (tag == 3 ? kHigh : 0));
  b.ring(1);
  b.run_until([&] { return b.card.count(46) == 1; });
  for (const unsigned tag : {4u, 2u, 3u, 1u}) b.ring(1u << tag);
  b.run_until_complete(0x1F);
  CHECK(tags_of(b.card, 44) == Tags{0, 4, 2, 3, 1});  // queued strictly in doorbell order
  CHECK(b.card.executed_not_ready == 0);
  return b.card.executed();
}

}  // namespace

TEST_CASE("CQE_ALGO_SEL 0: high priority first, then doorbell order among tasks that became ready together") {
  QueueBench b;
  CHECK(order_of_four(b, 0) == Tags{0, 3, 4, 2, 1});
}
TEST_CASE("CQE_ALGO_SEL 1: doorbell order, priority ignored") {
  QueueBench b;
  CHECK(order_of_four(b, 0x200) == Tags{0, 4, 2, 3, 1});
}

TEST_CASE("doorbells written together are processed from the lowest slot up") {
  QueueBench b;
  b.start();
  for (const unsigned tag : {30u, 7u, 12u}) b.task(tag, true, tag, 1);
  b.ring(1u << 30 | 1u << 7 | 1u << 12);
  b.run_until_complete(1u << 30 | 1u << 7 | 1u << 12);
  CHECK(tags_of(b.card, 44) == Tags{7, 12, 30});
}

TEST_CASE("tasks are executed in the order they become ready") {
  QueueBench b;
  b.start();
  b.set_cq("CQSSC1", 0x10000 | 200);
  const unsigned us[] = {300, 100, 200};
  for (unsigned tag = 0; tag < 3; ++tag) {
    b.card.prepare[tag] = sc_time(us[tag], sc_core::SC_US);
    b.task(tag, true, 10 * tag, 2);
  }
  b.ring(7);
  b.run_until_complete(7);
  CHECK(b.card.executed() == Tags{1, 2, 0});
  for (unsigned tag = 0; tag < 3; ++tag) b.check_data(tag, 10 * tag, 2);
  CHECK(b.card.executed_not_ready == 0);
}

TEST_CASE("a barrier task waits for all before it and holds back all after it") {
  QueueBench b;
  b.start();
  for (unsigned tag = 0; tag < 4; ++tag) b.task(tag, true, tag, 4, kInt | (tag == 2 ? kQbr : 0));
  b.card.prepare[0] = sc_time(50, sc_core::SC_US);
  b.card.prepare[2] = sc_time(20, sc_core::SC_US);
  b.ring(0xF);
  sc_time done[4];
  std::uint32_t seen = 0;
  b.run_until([&] {
    const std::uint32_t now = b.cq("CQTCN");
    for (unsigned tag = 0; tag < 4; ++tag)
      if ((now & ~seen) >> tag & 1) done[tag] = sc_time_stamp();
    seen |= now;
    return seen == 0xF;
  });
  const sc_time sent2 = b.card.nth(44, 2).end - cycles(48), sent3 = b.card.nth(44, 3).end - cycles(48);
  CHECK(tags_of(b.card, 44) == Tags{0, 1, 2, 3});
  CHECK(sent2 > std::max(done[0], done[1]));
  CHECK(sent3 > done[2]);
}

TEST_CASE(
    "a direct command with QBR goes out when every earlier task is complete, and R1b completes it at busy's "
    "end") {
  QueueBench b;
  b.start();
  b.card.r1b_busy = cycles(3000);
  b.task(0, true, 0, 8);
  b.task(1, true, 8, 8);
  b.direct(6, 0x03200100, 3, false, kInt | kQbr);
  b.task(2, true, 16, 8);
  b.ring(3);
  b.ring(1u << 31);
  b.ring(4);
  const sc_time both = b.run_until_complete(3);
  const sc_time flushed = b.run_until_complete(1u << 31);
  REQUIRE(b.card.count(6) == 1);
  CHECK(b.card.nth(6, 0).argument == 0x03200100);
  CHECK(b.card.nth(6, 0).end == both + cycles(cI + 48));
  CHECK(flushed == b.card.nth(6, 0).end + cycles(3000 + cC));
  CHECK(b.cq("CQCRDCT") == 0x900);
  CHECK(b.cq("CQCRI") == 6);
  b.run_until_complete(4);
  CHECK(b.card.nth(44, 2).end > flushed);
}

TEST_CASE("a direct command that allows it is sent while data move, and one that does not waits for DAT") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 64);
  b.ring(1);
  b.run_until([&] { return b.card.count(46) == 1; });
  const sc_time data_end = b.card.nth(46, 0).end + cycles(cNac + 64 * cF + 63 * cG);
  b.direct(13, 0x10000, 2, true);
  b.ring(1u << 31);
  const sc_time first = b.run_until_complete(1u << 31);
  CHECK(first < data_end);
  b.acknowledge();
  b.direct(13, 0x10000, 2, false);
  b.ring(1u << 31);
  CHECK(b.run_until_complete(1u << 31) > data_end);
  CHECK(b.cq("CQCRDCT") == 0x900);
}

TEST_CASE("with DCMD_EN off slot 31 is a data task like any other") {
  QueueBench b;
  b.start();
  b.set_cq("CQCFG", 0);
  b.set_cq("CQCFG", 1);
  b.task(31, true, 5, 2);
  b.ring(1u << 31);
  b.run_until_complete(1u << 31);
  CHECK(b.card.executed() == Tags{31});
  b.check_data(31, 5, 2);
}

namespace {

struct Result {
  std::vector<std::byte> memory;
  std::vector<std::byte> written;
  std::uint64_t queries, descriptors, fetches, tasks, interrupts, commands;
  sc_time took;
};

/// 24 tasks of mixed size and direction in three rounds.
Result mixed(QueueBench& b, Shape shape) {
  b.start(shape);
  const sc_time begin = sc_time_stamp();
  b.card.write_busy = cycles(100);
  for (unsigned round = 0; round < 3; ++round) {
    for (unsigned tag = 0; tag < 8; ++tag) {
      const bool is_read = (tag + round) % 3 != 0;
      b.card.prepare[tag] = cycles(700 * (7 - tag) * is_read);
      const std::uint32_t blocks = 1 + 3 * tag;
      if (!is_read)
        for (unsigned i = 0; i < blocks * 512; ++i)
          *b.ram(QueueBench::data(tag) + i) = static_cast<std::byte>(i * 5 + tag);
      b.task(tag, is_read, 100 * round + tag, blocks, kInt, 1536);
      b.ring(1u << tag);
    }
    b.run_until_complete(0xFF);
    for (unsigned tag = 0; tag < 8; ++tag)
      if ((tag + round) % 3 != 0) b.check_data(tag, 100 * round + tag, 1 + 3 * tag);
    b.acknowledge();
  }
  CHECK(b.ctx.findings.empty());
  CHECK(b.errors() == 0);
  Result r;
  for (unsigned tag = 0; tag < 8; ++tag)
    r.memory.insert(r.memory.end(), b.ram(QueueBench::data(tag), 0x4000),
                    b.ram(QueueBench::data(tag), 0x4000) + 0x4000);
  r.written = b.card.written;
  const Cqhci::Counters& c = b.cqe.counters();
  r.queries = c.status_queries, r.fetches = c.descriptor_fetches, r.tasks = c.tasks,
  r.interrupts = c.interrupts;
  r.descriptors = b.host.data().counters().descriptors;
  r.commands = b.bus.counters().commands;
  r.took = sc_time_stamp() - begin;
  return r;
}

Result mixed(Shape shape, TimingStyle style, const std::string& prefetch = "execute", unsigned depth = 1) {
  CqhciParams q = queue_params();
  q.short_transfer_descriptors = shape.transfer == 12;
  q.transfer_prefetch = prefetch;
  q.transfer_prefetch_depth = depth;
  QueueBench b(q, style);
  return mixed(b, shape);
}

constexpr std::uint64_t kMixedDescriptors =
    3 * (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8);  // ceil((1 + 3 tag) / 3) = 1 + tag

}  // namespace

TEST_CASE("mixed tasks with 8+8-byte slots move the right bytes") {
  const Result r = mixed(k8_8, TimingStyle::at);
  CHECK(r.tasks == 24);
  CHECK(r.descriptors == kMixedDescriptors);
  CHECK(r.fetches == 24);
  CHECK(r.commands == 3 * 24 + r.queries);
}
TEST_CASE("mixed tasks with 8+16-byte slots move the right bytes") {
  CHECK(mixed(k8_16, TimingStyle::at).descriptors == kMixedDescriptors);
}
TEST_CASE("mixed tasks with 16+16-byte slots move the right bytes") {
  CHECK(mixed(k16_16, TimingStyle::at).descriptors == kMixedDescriptors);
}
TEST_CASE("mixed tasks with 12-byte transfer descriptors move the right bytes") {
  CHECK(mixed(k16_12, TimingStyle::at).descriptors == kMixedDescriptors);
}
TEST_CASE("mixed tasks by reservation move the right bytes") {
  const Result r = mixed(k16_16, TimingStyle::lt);
  CHECK(r.tasks == 24);
  CHECK(r.descriptors == kMixedDescriptors);
  CHECK(r.fetches == 24);
  CHECK(r.commands == 3 * 24 + r.queries);
}
TEST_CASE("both timing styles give the same bytes and counts, and times within 2 percent") {
  QueueBench at(queue_params(), TimingStyle::at, bench_params(), false);
  QueueBench lt(queue_params(), TimingStyle::lt, bench_params(), false);
  const Result a = mixed(at, k8_8), l = mixed(lt, k8_8);
  CHECK(a.memory == l.memory);
  CHECK(a.written == l.written);
  CHECK(a.written.size() > 0);
  CHECK(a.queries == l.queries);
  CHECK(a.descriptors == l.descriptors);
  CHECK(a.fetches == l.fetches);
  CHECK(a.tasks == l.tasks);
  CHECK(a.interrupts == l.interrupts);
  CHECK(a.commands == l.commands);
  CHECK(l.took.to_seconds() == Approx(a.took.to_seconds()).epsilon(0.02));
}

TEST_CASE("transfer descriptors fetched at the doorbell are used") {
  const Result r = mixed(k16_16, TimingStyle::at, "doorbell", 4);
  CHECK(r.descriptors == kMixedDescriptors);
  CHECK(r.fetches == 48);  // each slot and the first four descriptors of its table
}
TEST_CASE("transfer descriptors fetched when the task is ready are used (lt)") {
  CHECK(mixed(k8_8, TimingStyle::lt, "ready", 8).descriptors == kMixedDescriptors);
}

TEST_CASE("prefetch at the doorbell fetches the transfer descriptor before CMD46/47") {
  CqhciParams q = queue_params();
  q.transfer_prefetch = "doorbell";
  QueueBench b(q);
  b.start();
  b.task(0, false, 0, 1);
  b.ring(1);
  b.run_until([&] { return b.card.count(45) == 1; });
  CHECK(b.host.dma_port().counters().read_bursts == 2);  // slot and transfer descriptor
  b.run_until_complete(1);
  CHECK(b.host.dma_port().counters().read_bursts == 2 + 4);  // and 512 bytes in four bursts
}

namespace {

/// AXI reads up to CMD44 of task 0, with two doorbells rung together.
std::uint64_t reads_by_first_command(QueueBench& b, std::uint32_t emmc_ctrl) {
  b.start();
  b.write(0x500 + 0x2C, 2, 0x0101 | emmc_ctrl);
  b.task(0, true, 0, 1);
  b.task(1, true, 1, 1);
  b.ring(3);
  b.run_until([&] { return b.card.count(44) == 1; });
  const std::uint64_t n = b.host.dma_port().counters().read_bursts;
  b.run_until_complete(3);
  b.check_data(0, 0, 1);
  b.check_data(1, 1, 1);
  CHECK(b.cqe.counters().descriptor_fetches == 2);
  return n;
}

}  // namespace

TEST_CASE("the slot after the one being queued is fetched ahead") {
  QueueBench b;
  CHECK(reads_by_first_command(b, 0) == 2);
}
TEST_CASE("EMMC_CTRL.CQE_PREFETCH_DISABLE: a slot is fetched on its turn") {
  QueueBench b;
  CHECK(reads_by_first_command(b, 0x400) == 1);
}

TEST_CASE("a transfer descriptor in the slot itself needs no table") {
  QueueBench b;
  b.start(k16_16);
  b.task(4, true, 40, 8);
  b.put_descriptor(b.slot(4) + 16, 16, kTranEnd, 4096, QueueBench::data(4));
  b.ring(1u << 4);
  b.run_until_complete(1u << 4);
  b.check_data(4, 40, 8);
  CHECK(b.ctx.findings.empty());
}

TEST_CASE("32 slots rung at once all complete, once") {
  QueueBench b;
  b.start();
  for (unsigned tag = 0; tag < 31; ++tag) b.task(tag, true, tag * 8, 8);
  b.direct(13, 0x10000, 2, true);
  b.ring(0xFFFFFFFF);
  b.run_until_complete(0xFFFFFFFF);
  CHECK(b.cqe.counters().tasks == 32);
  for (unsigned tag = 0; tag < 31; ++tag) b.check_data(tag, tag * 8, 8);
  CHECK(b.card.executed().size() == 31);
}

TEST_CASE("a link inside a transfer table is followed") {
  QueueBench b;
  b.start();
  b.task(1, true, 3, 2);
  b.put_descriptor(QueueBench::table(1), 8, kTran, 512, QueueBench::data(1));
  b.put_descriptor(QueueBench::table(1) + 8, 8, kLink, 0, 0x30000);
  b.put_descriptor(0x30000, 8, kTranEnd, 512, QueueBench::data(1) + 512);
  b.ring(2);
  b.run_until_complete(2);
  b.check_data(1, 3, 2);
}
