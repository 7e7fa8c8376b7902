// Closed-form timing of queued tasks, in cycles of 5 ns (symbols in bench.hpp).
#include "sc_tests/cqhci/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

/// Doorbell to interrupt of one read of n blocks that is ready at once: slot fetch; CMD44, CMD45, CMD13, CMD46 each N_RC
/// after the response before; the transfer descriptor is fetched while CMD46 is on the line.
std::uint64_t queued_read(std::uint64_t slot_beats, std::uint64_t n) {
  return fetch_cycles(slot_beats) + cI + 3 * (kCmd + cNrc) + read_cycles(n);
}

void one_read(Shape shape, std::uint64_t slot_beats, TimingStyle style, bool short_stride = false) {
  CqhciParams q = queue_params();
  q.short_transfer_descriptors = short_stride;
  QueueBench b(q, style);
  b.start(shape);
  b.task(5, true, 77, 8);
  const sc_time t = b.ring(1u << 5);
  CHECK(b.run_until_complete(1u << 5) - t == cycles(queued_read(slot_beats, 8)));
  CHECK(b.irq.level);
  REQUIRE(b.irq.rises.size() == 1);
  CHECK(b.irq.rises[0] - t == cycles(queued_read(slot_beats, 8)));
  b.check_data(5, 77, 8);
  REQUIRE(b.card.log.size() == 4);
  CHECK(b.card.log[0].index == 44);
  CHECK(b.card.log[0].argument == (1u << 30 | 5u << 16 | 8u));
  CHECK(b.card.log[1].index == 45);
  CHECK(b.card.log[1].argument == 77);
  CHECK(b.card.log[2].index == 13);
  CHECK(b.card.log[2].argument == (1u << 16 | 1u << 15));
  CHECK(b.card.log[3].index == 46);
  CHECK(b.card.log[3].argument == 5u << 16);
  CHECK(b.cq("CQTDBR") == 0);
  CHECK(b.cq("CQDPT") == 0);
  CHECK(b.ctx.findings.empty());
}

}  // namespace

TEST_CASE("one queued 4 KiB read with 8+8-byte slots, to the cycle") { one_read(k8_8, 2, TimingStyle::at); }
TEST_CASE("one queued 4 KiB read with 8+8-byte slots, to the cycle (lt)") {
  one_read(k8_8, 2, TimingStyle::lt);
}
TEST_CASE("one queued 4 KiB read with 8+16-byte slots, to the cycle") { one_read(k8_16, 3, TimingStyle::at); }
TEST_CASE("one queued 4 KiB read with 16+16-byte slots, to the cycle") {
  one_read(k16_16, 4, TimingStyle::at);
}
TEST_CASE("one queued 4 KiB read with 16+16-byte slots, to the cycle (lt)") {
  one_read(k16_16, 4, TimingStyle::lt);
}
TEST_CASE("one queued 4 KiB read with 12-byte transfer descriptors, to the cycle") {
  one_read(k16_12, 4, TimingStyle::at, true);
}

TEST_CASE("a queued write of one block: CMD47, frame, CRC status, busy, latch") {
  QueueBench b;
  b.start();
  b.card.write_busy = cycles(1000);
  b.task(0, false, 9, 1);
  for (unsigned i = 0; i < 512; ++i) *b.ram(QueueBench::data(0) + i) = static_cast<std::byte>(i * 3);
  const sc_time t = b.ring(1);
  // Data are in the FIFO long before CMD47's response ends; then N_WR 2, frame, N_CRC 2, token 5, busy, latch.
  const std::uint64_t expected = fetch_cycles(2) + cI + 3 * (kCmd + cNrc) + kCmd + 2 + cF + 2 + 5 + 1000 + cC;
  CHECK(b.run_until_complete(1) - t == cycles(expected));
  REQUIRE(b.card.written.size() == 512);
  CHECK(b.card.written[100] == static_cast<std::byte>(300 & 0xFF));
  CHECK(b.card.nth(44, 0).argument == 1);  // direction 0 is write
}

TEST_CASE("CMD44 carries every flag of the task descriptor") {
  QueueBench b;
  b.start();
  b.task(3, false, 1, 2, kInt | kForced | kTagRequest | kHigh | kReliable | 9u << 7);
  b.ring(1u << 3);
  b.run_until_complete(1u << 3);
  CHECK(b.card.nth(44, 0).argument == (1u << 31 | 1u << 29 | 9u << 25 | 1u << 24 | 1u << 23 | 3u << 16 | 2u));
}

TEST_CASE("polls follow an answer without ready tasks by exactly CIT timer clocks") {
  CqhciParams q = queue_params();
  q.cqetmclk_hz = 24e6;  // period 41667 ps
  QueueBench b(q);
  b.start();
  b.set_cq("CQSSC1", 0x10100);
  b.card.prepare[0] = sc_time(100, sc_core::SC_US);
  b.task(0, true, 1, 8);
  b.ring(1);
  b.run_until_complete(1);
  const auto up = [](std::uint64_t v, std::uint64_t step) { return (v + step - 1) / step * step; };
  const unsigned polls = b.card.count(13);
  // 0x100 timer clocks are 10.67 us and a query takes 0.54 us: ready after 100 us is seen by the tenth query.
  CHECK(polls == 10);
  for (unsigned i = 0; i + 1 < polls; ++i) {
    const std::uint64_t answered = b.card.nth(13, i).end.value() + (cNcr + 48 + cL) * kCycle;
    const std::uint64_t expires = up(answered, 41667) + 0x100 * std::uint64_t{41667};
    const std::uint64_t start = up(expires, kCycle) + cI * kCycle;
    CHECK(b.card.nth(13, i + 1).end.value() == start + 48 * kCycle);
  }
  CHECK(b.cqe.counters().status_queries == polls);
  CHECK(b.card.executed_not_ready == 0);
}

TEST_CASE(
    "the reset CIT of 0x1000 clocks at 24 MHz lets a task wait 171 us that is ready after the first query") {
  CqhciParams q = queue_params();
  q.cqetmclk_hz = 24e6;
  QueueBench b(q);
  b.start();
  b.card.tells_ready = true;
  b.card.prepare[0] = sc_time(10, sc_core::SC_US);
  b.task(0, true, 1, 8);
  b.ring(1);
  b.run_until_complete(1);
  CHECK(b.card.count(13) == 2);
  // Second query's answer - ready: CIT, less the time from the first answer to ready.
  const sc_time second = b.card.nth(13, 1).end + cycles(cNcr + 48);
  const sc_time ready = b.card.nth(45, 0).end + sc_time(10, sc_core::SC_US);
  CHECK(b.cqe.counters().poll_wait == second - ready);
  CHECK(second - b.card.nth(13, 0).end > sc_time::from_value(0x1000 * std::uint64_t{41667}));
  CHECK(b.cq("CQDQS") == 1);
}

namespace {

/// Two tasks: 0 is ready at once, 1 later. Returns the start of the status query that was sent while task 0's data moved,
/// relative to CMD46's start, or none.
std::optional<std::uint64_t> query_in_data(QueueBench& b, std::uint32_t cbc, std::uint32_t blocks) {
  b.start();
  b.set_cq("CQSSC1", cbc << 16 | 0xFFFF);
  b.card.prepare[1] = sc_time(10, sc_core::SC_US);
  b.task(0, true, 1, blocks);
  b.task(1, true, 9, 1);
  b.ring(3);
  b.run_until_complete(1);
  const sc_time execute = b.card.nth(46, 0).end - cycles(48);
  for (const QueueCard::Seen& s : b.card.log) {
    const sc_time start = s.end - cycles(48);
    if (s.index == 13 && start > execute) return (start - execute).value() / kCycle;
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("CBC 1: the status query goes out when the last but one block has been checked") {
  QueueBench b;
  // CMD46 48, N_AC, seven frames and six gaps, CRC check, engine issue.
  CHECK(query_in_data(b, 1, 8) == 48 + cNac + 7 * cF + 6 * cG + cX + cI);
}
TEST_CASE("CBC 1 in lt style queries at the same instant") {
  QueueBench b(queue_params(), TimingStyle::lt);
  CHECK(query_in_data(b, 1, 8) == 48 + cNac + 7 * cF + 6 * cG + cX + cI);
}
TEST_CASE("CBC 3: the status query goes out three blocks before the end") {
  QueueBench b;
  CHECK(query_in_data(b, 3, 8) == 48 + cNac + 5 * cF + 4 * cG + cX + cI);
}
TEST_CASE("CBC 0: no status query while data move") {
  QueueBench b;
  CHECK_FALSE(query_in_data(b, 0, 8).has_value());
}
TEST_CASE(
    "in a transfer shorter than CBC the query goes out as soon as a task is in the device to ask about") {
  QueueBench b;
  // CMD46, then task 1's CMD44 and CMD45, then the query.
  CHECK(query_in_data(b, 4, 2) == 3 * (kCmd + cNrc));
}

TEST_CASE("the next task's CMD44 and CMD45 go out while data move") {
  QueueBench b;
  b.start();
  b.task(0, true, 0, 64);
  b.task(1, true, 64, 8);
  b.ring(1);
  b.run_until([&] { return b.card.count(46) == 1; });
  b.advance(cycles(2000));
  b.ring(2);
  b.run_until_complete(3);
  const sc_time data_end = b.card.nth(46, 0).end + cycles(cNac + 64 * cF + 63 * cG);
  CHECK(b.card.nth(45, 1).end < data_end);
  CHECK(b.card.nth(13, 1).end < data_end);  // CBC 1: learned during the last block
  // CMD46 of task 1 follows when task 0's data are in memory.
  CHECK(b.card.nth(46, 1).end == data_end + cycles(cX + kBlockWrite + cI + 48));
  b.check_data(0, 0, 64);
  b.check_data(1, 64, 8);
}

TEST_CASE("every microsecond of a queued read has a name and the sum is the latency") {
  QueueBench b;
  b.start();
  b.card.tells_ready = true;
  b.card.prepare[2] = cycles(5000);
  b.set_cq("CQSSC1", 0x10000 | 1000);  // CIT 1000 clocks of 5 ns
  RequestRecord done;
  b.ctx.spans.on_request_done([&](const RequestRecord& r) { done = r; });
  b.ctx.spans.request_begin(1, sc_time_stamp(), false, 77, 4096);
  b.ctx.spans.request_issue(1, 2, sc_time_stamp());
  b.task(2, true, 77, 8);
  const sc_time begin = sc_time_stamp();
  b.ring(1u << 2);
  const sc_time end = b.run_until_complete(1u << 2);
  b.ctx.spans.irq_taken(end);
  b.ctx.spans.request_end(1, end);
  const auto in_cycles = [&](Span s) { return done.times[s] / kCycle; };
  CHECK(done.times.total() == (end - begin).value());
  CHECK(in_cycles(Span::descriptor_fetch) == fetch_cycles(2));
  CHECK(in_cycles(Span::device_firmware) == 5000 - (cNcr + 48));  // CMD45's response is charged first
  // Query i is answered kCmd after its start; starts stand kCmd + latch + CIT + issue apart.
  const std::uint64_t period = kCmd + cL + 1000 + cI;
  const std::uint64_t ready = 5000 - (cNcr + 48);  // after CMD45's response
  std::uint64_t answer = cNrc + kCmd;
  while (answer - (cNcr + 48) < ready) answer += period;
  CHECK(in_cycles(Span::queue_poll_wait) == answer - ready);
  CHECK(in_cycles(Span::wire) == cNac + 8 * cF + 7 * cG);
  CHECK(in_cycles(Span::axi_write) == cX + kBlockWrite + cC);
  CHECK(in_cycles(Span::mmio) == 2);
}

namespace {

/// Task 0 (64 blocks) moves its data while task 1 becomes ready; the spans of task 1, and when task 0's data were in memory.
struct Behind {
  SpanTimes times;
  std::uint64_t ready, data_end, answer;  // cycles
};
Behind wait_behind_data(QueueBench& b, std::uint32_t cbc) {
  b.start();
  b.card.tells_ready = true;
  b.card.prepare[1] = cycles(3000);
  b.set_cq("CQSSC1", cbc << 16 | 1000);
  RequestRecord done;
  b.ctx.spans.on_request_done([&](const RequestRecord& r) {
    if (r.lba == 64) done = r;
  });
  for (unsigned tag = 0; tag < 2; ++tag) {
    b.ctx.spans.request_begin(tag, sc_time_stamp(), false, 64 * tag, 4096);
    b.ctx.spans.request_issue(tag, tag, sc_time_stamp());
  }
  b.task(0, true, 0, 64);
  b.task(1, true, 64, 8);
  b.ring(3);
  const sc_time end = b.run_until_complete(3);
  b.ctx.spans.irq_taken(end);
  for (unsigned tag = 0; tag < 2; ++tag) b.ctx.spans.request_end(tag, end);
  Behind r;
  r.times = done.times;
  r.ready = b.card.nth(45, 1).end.value() / kCycle + 3000;
  r.data_end = b.card.nth(46, 0).end.value() / kCycle + cNac + 64 * cF + 63 * cG + cX + kBlockWrite;
  r.answer = b.card.nth(13, b.card.count(13) - 1).end.value() / kCycle + cNcr + 48;
  return r;
}

}  // namespace

TEST_CASE("a task that was ready while another's data moved has waited for that task, not for the poll") {
  QueueBench b;
  const Behind r = wait_behind_data(b, 1);  // asked about during the last block
  REQUIRE(r.answer < r.data_end);
  CHECK(r.times[Span::queue_poll_wait] == 0);
  CHECK(r.times[Span::queue_wait] / kCycle >= r.data_end - r.ready);
}

TEST_CASE("the poll is what a ready task waits for from the end of the data before it") {
  QueueBench b;
  const Behind r = wait_behind_data(b, 0);  // asked about when the lines are free
  CHECK(r.answer == r.data_end + cI + kCmd);
  CHECK(r.times[Span::queue_poll_wait] / kCycle == cI + kCmd);
  CHECK(r.times[Span::queue_wait] / kCycle >= r.data_end - r.ready);
}
