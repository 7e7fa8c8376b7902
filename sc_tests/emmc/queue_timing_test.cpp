// When queued tasks become ready, and what they waited for.
#include <unistd.h>

#include <filesystem>

#include "sc_tests/emmc/queue_bench.hpp"

using namespace bench;

namespace {

sc_time now() { return sc_core::sc_time_stamp(); }

EmmcParams one_queue() {
  EmmcParams p = params();
  p.queue_parallel = 1;
  return p;
}

/// CMD45's end to ready of a 4 KiB read of an LSB page in a map page that is not cached, everything idle.
const double kColdRead = 50 + 25 + 10.24 + 50 + 10.24 + 1;

}  // namespace

TEST_CASE("a read is ready when its first 4 KiB are in the buffer") {
  Queue b(params(), dies(1));
  const sc_time t = now();
  REQUIRE(b.queue(3, 64, 8, true) == 0);
  b.check_ready_at(3, t + us(kColdRead));
  CHECK(b.execute_read(3, 8) == pattern(64, 8));
  CHECK(b.qsr() == 0);
  CHECK(b.card.queue_counters().ready_ps == us(kColdRead).value());
}

TEST_CASE("a long read is ready with its first data, not with its last") {
  Queue b(params(), dies(1));
  const sc_time t = now();
  REQUIRE(b.queue(0, 0, 4096, true) == 0);
  b.check_ready_at(0, t + us(kColdRead));
  CHECK(b.execute_read(0, 4096) == pattern(0, 4096));
}

TEST_CASE("two reads on one die are ready one array time apart") {
  Queue b(params(), dies(1));
  const sc_time t = now();
  REQUIRE(b.queue(0, 0, 8, true) == 0);   // page 0
  REQUIRE(b.queue(1, 64, 8, true) == 0);  // page 2, the same map page
  b.check_ready_at(0, t + us(kColdRead));
  // Its firmware ends at 100; the array is free when the first sense ends at 50 + 35.24 + 50.
  b.check_ready_at(1, t + us(50 + 25 + 10.24 + 50 + 50 + 10.24 + 1));
}

TEST_CASE("two reads on two dies are ready out of order when the first has the slow page") {
  NandParams n = dies(2);
  n.t_r_msb_us = 500;
  n.firmware_read_us = 5;
  Queue b(params(), n);
  const sc_time t = now();
  REQUIRE(b.queue(0, 2 * 32, 8, true) == 0);  // row 2: die 0, page 1 (MSB); the map page is on die 0, too
  REQUIRE(b.queue(1, 1 * 32, 8, true) == 0);  // row 1: die 1, page 0 (LSB)
  b.check_ready_at(1, t + us(5 + 5 + 50 + 10.24 + 1));
  CHECK(b.qsr() == bit(1));
  CHECK(b.execute_read(1, 8) == pattern(32, 8));
  b.check_ready_at(0, t + us(5 + 25 + 10.24 + 500 + 10.24 + 1));
  CHECK(b.execute_read(0, 8) == pattern(64, 8));
}

TEST_CASE("two reads on two dies share only firmware and channel") {
  Queue b(params(), dies(2));
  const sc_time t = now();
  REQUIRE(b.queue(0, 0, 8, true) == 0);
  REQUIRE(b.queue(1, 32, 8, true) == 0);
  b.check_ready_at(0, t + us(kColdRead));
  // Firmware until 100, sense until 150: the channel was free again at 145.48.
  b.check_ready_at(1, t + us(100 + 50 + 10.24 + 1));
}

TEST_CASE("a device with one internal queue prepares the next task when one leaves execution") {
  Queue b(one_queue(), dies(2));
  const sc_time t = now();
  b.queue(0, 0, 8, true);
  b.queue(1, 8192, 8, true);  // another map page; rows 256: die 0, LSB
  CHECK(b.card.ready_at(1) == sc_core::sc_max_time());
  b.check_ready_at(0, t + us(kColdRead));
  b.wait(us(1000));
  CHECK(b.qsr() == bit(0));
  b.execute_read(0, 8);
  const sc_time end = b.last;  // the last frame
  // Ready as long after the first's end as that after its queueing.
  b.check_ready_at(1, end + us(kColdRead));
}

TEST_CASE("a device with a place for each task prepares them all at once") {
  Queue b(params(), dies(2));
  const sc_time t = now();
  for (unsigned id = 0; id < 32; ++id) REQUIRE(b.queue(id, 0 + 64 * (id % 4), 8, true) == 0);
  for (unsigned id = 0; id < 32; ++id) CHECK(b.card.ready_at(id) < sc_core::sc_max_time());
  CHECK(b.card.queue_counters().prepared == 32);
  CHECK(b.card.queue_counters().most == 32);
  CHECK(b.card.ready_at(0) == t + us(kColdRead));
}

TEST_CASE("a queued read has queue_read_pages in the buffer before its execution and the window after it") {
  EmmcParams e = params();
  e.queue_read_pages = 3;
  NandParams n = dies(1);
  n.read_window_pages = 8;
  Queue b(e, n);
  REQUIRE(b.queue(0, 0, 32 * 32, true) == 0);    // 32 rows of a page each
  REQUIRE(b.queue(1, 32 * 1024, 8, true) == 0);  // one row
  CHECK(b.card.ftl().counters().rows_read == 3 + 1);
  b.wait(us(5000));
  REQUIRE((b.start(0, true) & status::kTypeC) == 0);
  CHECK(b.card.ftl().counters().rows_read == 8 + 1);
  CHECK(b.read_running(32 * 32) == pattern(0, 32 * 32));
  CHECK(b.card.ftl().counters().rows_read == 32 + 1);
}

TEST_CASE("no more tasks are prepared at once than the parameter says") {
  EmmcParams p = params();
  p.queue_parallel = 4;
  Queue b(p);
  for (unsigned id = 0; id < 16; ++id) REQUIRE(b.queue(id, 64 * id, 8, true) == 0);
  CHECK(b.card.queue_counters().prepared == 4);
}

TEST_CASE("no more tasks are prepared at once than the queue is deep") {
  Queue b(params({{307, 3}}));  // 4 tasks
  for (unsigned id = 0; id < 4; ++id) REQUIRE(b.queue(id, 64 * id, 8, true) == 0);
  CHECK((b.r1(44, task(4, 8, true)) & kError) != 0);
  CHECK(b.card.queue_counters().prepared == 4);
}

TEST_CASE("a discarded task gives its place to the next") {
  Queue b(one_queue(), dies(1));
  b.queue(0, 0, 8, true);
  b.queue(1, 8192, 8, true);
  b.wait(us(1000));
  const sc_time t = now();
  b.r1(48, 0U << 16 | 2);
  CHECK(b.card.queue_counters().discarded == 1);
  b.check_ready_at(1, t + us(kColdRead));
}

TEST_CASE("a high priority task that comes while another's data move is prepared before older simple ones") {
  Queue b(one_queue(), dies(1));
  b.queue(0, 0, 8, true);
  b.queue(1, 8192, 8, true);
  b.wait(us(1000));
  // The frames of task 0 end 100 us from now; the host has computed them ahead.
  b.start(0, true);
  const sc_time end = now() + us(100);
  std::array<std::byte, 512> block;
  for (unsigned k = 0; k < 8; ++k) {
    b.card.read_ready(k, b.graph);
    b.card.read_block(k, block, end);
  }
  b.wait(us(50));
  REQUIRE(b.queue(2, 16384, 8, true, kHigh) == 0);
  b.wait(us(50));
  b.check_ready_at(2, end + us(kColdRead));
  CHECK(b.qsr() == bit(2));
  CHECK(b.card.ready_at(1) == sc_core::sc_max_time());
}

TEST_CASE("priority goes before arrival, and arrival decides among equals") {
  Queue b(one_queue());
  b.queue(9, 0, 8, true);
  b.queue(3, 1000, 8, true);
  b.queue(2, 2000, 8, true);
  b.queue(8, 3000, 8, true, kHigh);
  b.queue(1, 4000, 8, true, kHigh);
  std::vector<unsigned> order;
  for (int i = 0; i < 5; ++i) {
    b.wait(us(5000));
    const std::uint32_t ready = b.qsr();
    unsigned id = 0;
    while (ready != bit(id)) REQUIRE(++id < 32);
    order.push_back(id);
    b.execute_read(id, 8);
  }
  CHECK(order == std::vector<unsigned>{9, 8, 1, 3, 2});
}

TEST_CASE("a write is ready at once") {
  Queue b;
  REQUIRE(b.queue(7, 0, 8, false) == 0);
  CHECK(b.qsr() == bit(7));
}

TEST_CASE("a device that prepares writes is ready for one when its firmware is") {
  EmmcParams p = params();
  p.queue_write_ready = "firmware";
  NandParams n;
  n.firmware_write_us = 60;
  Queue b(p, n);
  REQUIRE(b.switched(33, 1));  // the cache: no waiting for the array
  const sc_time t = now();
  b.queue(0, 0, 8, false);
  b.queue(1, 64, 8, false);
  b.check_ready_at(0, t + us(60));
  b.check_ready_at(1, t + us(120));
  // The work is done: the data are accepted when they have arrived.
  const auto data = filled(8, 1);
  b.start(0, false);
  sc_time busy_end;
  for (std::uint32_t k = 0; k < 8; ++k)
    busy_end = b.card.write_block(k, std::span(data).subspan(k * 512, 512), true, now(), b.graph, kRootNode)
                   .busy_until;
  CHECK(busy_end == now());
}

TEST_CASE("a write is ready when the device's buffer has room") {
  NandParams n = dies(1);
  n.page_bytes = 4096;
  n.write_buffer_bytes = 4096;
  n.firmware_write_us = 0;
  Queue b(params(), n);
  const auto data = filled(16, 1);
  b.queue(0, 0, 16, false);
  b.start(0, false);
  const sc_time t = now();
  for (std::uint32_t k = 0; k < 8; ++k)
    b.card.write_block(k, std::span(data).subspan(k * 512, 512), true, t, b.graph, kRootNode);
  // One unit fills the buffer: it leaves over the channel, after the map page that its write has fetched, and is free
  // when programmed.
  b.queue(1, 64, 8, false);
  CHECK(b.card.ready_at(1) == t + us(25 + 10.24 + 10.24 + 1300));
  b.check_ready_at(1, t + us(25 + 10.24 + 10.24 + 1300));
}

TEST_CASE("what a queued read waited for is in its own request's graph, to the picosecond") {
  Queue b(one_queue(), dies(1));
  // Two requests with a graph each; the second waits for the first to leave the device.
  CauseGraph first, second;
  first.restart(now());
  second.restart(now());
  const auto queue = [&](unsigned id, std::uint32_t lba, CauseGraph& g) {
    b.card.command({44, task(id, 8, true)}, g, kRootNode);
    const NodeId sent = g.add(kRootNode, Span::command, now());
    b.card.command({45, lba}, g, sent);
  };
  const sc_time t = now();
  queue(0, 0, first);
  queue(1, 8192, second);
  b.wait(us(500));
  REQUIRE(b.qsr() == bit(0));

  const BlockReady ready = b.card.queue_ready(0, first, kRootNode);
  CHECK(ready.at == t + us(kColdRead));
  SpanTimes times;
  first.settle(ready.why, times);
  CHECK(times[Span::device_firmware] == us(50).value());
  CHECK(times[Span::device_map] == us(35.24).value());
  CHECK(times[Span::nand_array] == us(50).value());
  CHECK(times[Span::nand_channel] == us(10.24).value());
  CHECK(times[Span::device_buffer] == us(1).value());
  CHECK(times.total() == us(kColdRead).value());
  CHECK(first.end(ready.why) == ready.at);

  b.card.command({46, 0}, first, first.add(ready.why, Span::queue_poll_wait, now()));
  std::array<std::byte, 512> block;
  for (unsigned k = 0; k < 8; ++k) {
    CHECK(first.end(b.card.read_ready(k, first).why) == ready.at);
    b.card.read_block(k, block, now());
  }
  const sc_time end = now();  // 500 us after its CMD45
  b.wait(us(500));
  // The host executes without having asked: the causes come with CMD46.
  b.card.command({46, 1U << 16}, second, second.add(kRootNode, Span::queue_poll_wait, now()));
  const BlockReady again = b.card.read_ready(0, second);
  CHECK(again.at == end + us(kColdRead));
  SpanTimes waited;
  second.settle(again.why, waited);
  CHECK(waited[Span::device_firmware] == (end - t + us(50)).value());  // waited for its turn
  CHECK(waited[Span::nand_array] == us(50).value());
  CHECK(waited.total() == (end - t + us(kColdRead)).value());
}

TEST_CASE("a response that ends after the device has started covers that part of its work") {
  Queue b(params(), dies(1));
  CauseGraph g;
  g.restart(now());
  const sc_time t = now();
  b.card.command({44, task(0, 8, true)}, g, kRootNode);
  b.card.command({45, 0}, g, kRootNode);
  const NodeId response = g.add(kRootNode, Span::command, t + us(3));
  b.wait(us(200));
  b.qsr();
  SpanTimes times;
  g.settle(b.card.queue_ready(0, g, response).why, times);
  CHECK(times[Span::command] == us(3).value());
  CHECK(times[Span::device_firmware] == us(47).value());
  CHECK(times.total() == us(kColdRead).value());
  // A write that is ready before its response ends waits for the response only.
  b.card.command({44, task(1, 8, false)}, g, kRootNode);
  b.card.command({45, 64}, g, kRootNode);
  const NodeId later = g.add(kRootNode, Span::command, now() + us(3));
  CHECK(b.card.queue_ready(1, g, later).why == later);
  CHECK(b.card.queue_ready(5, g, later).at == sc_time());  // no such task
}

TEST_CASE("a request that gives up before its task is taken up leaves nothing behind") {
  Queue b(one_queue(), dies(1));
  b.queue(0, 0, 8, true);
  {
    CauseGraph gone;
    gone.restart(now());
    b.card.command({44, task(1, 8, true)}, gone, kRootNode);
    b.card.command({45, 8192}, gone, gone.add(kRootNode, Span::command, now()));
  }
  b.wait(us(500));
  b.execute_read(0, 8);
  b.wait(us(500));
  CHECK(b.qsr() == bit(1));
  b.graph.restart(now());  // another request's: CMD45's node is not in it
  CHECK(b.execute_read(1, 8) == pattern(8192, 8));
}

TEST_CASE("an uncorrectable page makes its task ready late, and its execution fails without data") {
  EmmcParams p = params();
  p.ecc_errors = "67";
  NandParams n = dies(1);
  n.ecc_retries = 5;
  Queue b(p, n);
  const sc_time t = now();
  b.queue(4, 64, 8, true);
  b.queue(5, 8192, 8, true);
  b.check_ready_at(4, t + us(kColdRead + 5 * 50));
  b.wait(us(1000));
  CHECK((b.start(4, true) & status::kTypeC) == kEcc);
  CHECK(b.effect.data == DataDir::none);
  CHECK_FALSE(b.card.transfer_running());
  CHECK(b.status() == 0x00000900);  // reported once
  CHECK(b.qsr() == bit(5));         // the task is over, the other stays
  CHECK(b.card.queue_counters().stopped == 1);
  CHECK(b.execute_read(5, 8) == pattern(8192, 8));
  CHECK(b.queue(4, 0, 8, true) == 0);
}

TEST_CASE("an uncorrectable page beyond what has been fetched shows while the data move") {
  EmmcParams p = params();
  p.ecc_errors = "4000";
  Queue b(p, dies(1));
  b.queue(0, 0, 4096, true);
  b.wait(us(5000));
  b.execute_read(0, 4096);
  CHECK((b.status() & status::kTypeC) == kEcc);
}

TEST_CASE("the waveform shows the queue status and the number of tasks") {
  const auto file =
      std::filesystem::temp_directory_path() / ("vp_queue_" + std::to_string(::getpid()) + ".vcd");
  sc_time t, executed;
  {
    Queue b(params(), dies(2));
    b.context.trace.open(file.string());
    t = now();
    const auto step = [&] { b.wait(us(1)); };
    b.queue(0, 0, 8, true), step();
    b.queue(1, 32, 8, true), step();
    b.queue(2, 96, 8, true), step();
    b.r1(48, 2U << 16 | 2);  // its bit, announced for later, never comes
    b.wait(us(1000));
    executed = now();
    b.execute_read(0, 8), step();
    b.done(48, 1);
    b.wait(us(1000));
    b.context.trace.close(now());
  }
  std::ifstream in(file);
  std::string line, code_tasks, code_qsr;
  std::uint64_t at = 0;
  using Changes = std::vector<std::pair<std::uint64_t, unsigned>>;
  Changes tasks, qsr;
  while (std::getline(in, line)) {
    std::istringstream words(line);
    std::string a, b, c, code, name;
    words >> a >> b >> c >> code >> name;
    if (a == "$var" && name == "tasks") code_tasks = code;
    if (a == "$var" && name == "qsr") code_qsr = code;
    if (a[0] == '#') at = std::stoull(a.substr(1));
    if (a[0] != 'b') continue;
    const auto value = static_cast<unsigned>(std::stoul(a.substr(1), nullptr, 2));
    for (Changes* list : {b == code_tasks ? &tasks : nullptr, b == code_qsr ? &qsr : nullptr}) {
      if (!list) continue;
      if (!list->empty() && list->back().first == at)
        list->pop_back();  // what counts is the last at an instant
      if (list->empty() || list->back().second != value) list->emplace_back(at, value);
    }
  }
  std::filesystem::remove(file);
  std::filesystem::remove(file.string() + ".gtkw");
  const std::uint64_t us1 = us(1).value(), start = t.value(), end = executed.value();
  CHECK(qsr == Changes{{0, 0},
                       {start + us(kColdRead).value(), 1},
                       {start + us(100 + 50 + 10.24 + 1).value(), 3},
                       {end, 2},
                       {end + us1, 0}});
  CHECK(tasks == Changes{{0, 0},
                         {start, 1},
                         {start + us1, 2},
                         {start + 2 * us1, 3},
                         {start + 3 * us1, 2},
                         {end, 1},
                         {end + us1, 0}});
}
