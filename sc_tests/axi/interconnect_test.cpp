// Decode, default slave, arbitration, back-pressure, determinism.
#include "sc_tests/axi/bench.hpp"

using namespace axi_test;

TEST_CASE("an unmapped read answers DECERR with a finding and moves nothing") {
  System s;
  s.build();
  s.buffer[0] = std::byte{0x5A};
  Transfer& t = s.start(false, 0x9000'0000, 64);
  s.run();
  CHECK(t.error);
  CHECK(t.error_address == 0x9000'0000);
  CHECK(s.ctx.findings.count("axi.unmapped") == 1);
  CHECK(s.buffer[0] == std::byte{0x5A});
  CHECK(s.clients[0].done[0].cycle == 2 * 1 + 1 + 8);  // hops, decode_cycles, 8 beats
}

TEST_CASE("a transfer that runs off the end of a target fails at the first burst outside") {
  System s;
  s.sram_params.size = 4096;
  s.build();
  Transfer& t = s.start(true, kSram + 4096 - 128, 256);
  s.run();
  CHECK(t.error);
  CHECK(t.error_address == kSram + 4096);
}

TEST_CASE("lt: a run off the end of a target moves its good bursts and reports the first bad one") {
  System s;
  s.sram_params.size = 4096;
  s.build();
  s.buffer[127] = std::byte{0xA5};
  LtPiece piece{.bytes = 256, .ready = {}, .left = {}, .done = {}};
  std::uint64_t bad = 0;
  CHECK_FALSE(s.port().run_lt(true, kSram + 4096 - 128, s.buffer.data(), {&piece, 1}, &bad));
  CHECK(bad == kSram + 4096);
  CHECK(*s.sram->ptr(4095, 1) == std::byte{0xA5});
  CHECK(s.ctx.findings.count("axi.unmapped") == 1);
}

// Round robin after a grant to master `served`: at an edge where both ask, the other one is served first, whichever asks in
// an earlier delta cycle and whether it was told ahead or called there.
TEST_CASE("at: masters that ask at one edge are arbitrated together, told ahead or called there") {
  constexpr std::uint64_t kEdge = 100;
  const std::size_t served = GENERATE(0U, 1U);
  const std::size_t ahead = GENERATE(0U, 1U, 2U);  // 2: both are called
  const std::size_t called_first = GENERATE(0U, 1U);
  const bool later = GENERATE(false, true);  // in the edge's second delta cycle
  INFO("served " << served << ", ahead " << ahead << ", called first " << called_first << ", later "
                 << later);
  static System s(2);
  static bool built = false;
  if (!built) s.build(), built = true;
  const std::uint64_t begin = to_cycles(sc_core::sc_time_stamp());
  s.start(true, kSram, 8, served);
  s.run();
  Transfer t[2];
  for (std::size_t i = 0; i < 2; ++i) {
    t[i].is_write = true;
    t[i].address = kSram + 256 * i;
    t[i].bytes = 128;
    t[i].data = s.buffer.data();
    s.clients[i].left.clear();
  }
  const sc_time edge = sc_time::from_value((begin + kEdge) * kPeriodPs);
  if (ahead < 2) s.ports[ahead]->start(t[ahead], edge);
  sc_core::sc_spawn([&] {
    sc_core::wait(edge - sc_core::sc_time_stamp());
    if (later) sc_core::wait(sc_core::SC_ZERO_TIME);
    for (const std::size_t i : {called_first, 1 - called_first})
      if (i != ahead) s.ports[i]->start(t[i]);
  });
  s.run();
  REQUIRE(s.clients[0].left.size() == 1);
  REQUIRE(s.clients[1].left.size() == 1);
  CHECK(s.clients[1 - served].left[0].cycle == begin + kEdge + 16);
  CHECK(s.clients[served].left[0].cycle == begin + kEdge + 32);
}

TEST_CASE("b_transport to an unmapped address answers DECERR with a finding") {
  System s;
  s.build();
  tlm::tlm_generic_payload trans;
  unsigned char data[4] = {};
  trans.set_read();
  trans.set_address(0x2000);
  trans.set_data_ptr(data);
  trans.set_data_length(4);
  trans.set_streaming_width(4);
  sc_time delay;
  s.port().socket->b_transport(trans, delay);
  CHECK(trans.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE);
  CHECK(s.ctx.findings.count("axi.unmapped") == 1);
  CHECK(to_cycles(delay) == 2 * 1 + 1);
}

TEST_CASE("b_transport to SRAM takes the hops, the latency and the beats") {
  System s;
  s.build();
  tlm::tlm_generic_payload trans;
  unsigned char data[8] = {};
  trans.set_read();
  trans.set_address(kSram + 8);
  trans.set_data_ptr(data);
  trans.set_data_length(8);
  trans.set_streaming_width(8);
  sc_time delay;
  s.port().socket->b_transport(trans, delay);
  CHECK(trans.get_response_status() == tlm::TLM_OK_RESPONSE);
  CHECK(to_cycles(delay) == 1 + 4 + 1 + 1);
  CHECK(trans.get_address() == kSram + 8);
}

TEST_CASE("address bits a master does not drive are lost, with a finding") {
  System s;
  s.master_params[0].address_bits = 32;
  s.build();
  s.buffer[0] = std::byte{0x77};
  s.start(true, 0x1'0000'0000 + kSram, 8);
  s.run();
  CHECK(s.ctx.findings.count("axi.address_truncated") == 1);
  CHECK(*s.sram->ptr(0, 1) == std::byte{0x77});
}

TEST_CASE("round-robin: two masters that always ask get every other grant") {
  System s(2);
  s.fabric_params.target_accepts = 1;
  s.build();
  s.start(false, kSram, 8192, 0);
  s.start(false, kSram, 8192, 1);
  sc_core::sc_start(s.clock.cycles(1000));
  const auto a = s.ports[0]->counters().read_bursts, b = s.ports[1]->counters().read_bursts;
  // One burst at a time: AR path 1 is overlapped only by the next grant after its end; 1 + 4 + 16 = 21 A
  // each.
  CHECK(a + b == Approx(1000.0 / 21).margin(3));
  CHECK((a > b ? a - b : b - a) <= 1);
  s.run();
}

TEST_CASE("qos: the master with the higher level is served first, the other waits for grants") {
  System s(2);
  s.fabric_params.arbitration = "qos";
  s.fabric_params.target_accepts = 1;
  s.master_params[1].qos = 8;
  s.build();
  s.start(false, kSram, 2048, 0);
  s.start(false, kSram, 2048, 1);
  s.run();
  // Master 1's next address is up before the target accepts again, so master 0 gets nothing until it is
  // through.
  CHECK(s.clients[1].done[0].cycle < s.clients[0].done[0].cycle);
  CHECK(s.clients[1].done[0].cycle <= 16 * 21 + 2);
  CHECK(s.ports[0]->counters().wait_grant > s.ports[1]->counters().wait_grant);
}

TEST_CASE("two masters of one edge: the loser of arbitration is granted one A later") {
  System s(2);
  s.build();
  s.start(true, kSram, 8, 0);
  s.start(true, kSram + 64, 8, 1);
  s.run();
  CHECK(s.clients[0].done[0].cycle == 4);  // h + 1 beat + accept + h
  CHECK(s.clients[1].done[0].cycle == 5);  // granted at 1, its beat follows at the target's port
  CHECK(s.ports[1]->counters().wait_grant == 1);
}

TEST_CASE("two masters writing to one target share its W channel: the second is held back") {
  System s(2);
  s.build();
  s.start(true, kSram, 128, 0);
  s.start(true, kSram + 4096, 128, 1);
  s.run();
  // Target port: master 0's beats end at 1 + 16; master 1, granted at 1, could start at 2 and starts at 17.
  CHECK(s.clients[0].left[0].cycle == 16);
  CHECK(s.clients[1].left[0].cycle == 32);
  CHECK(s.ports[1]->counters().w_back_pressure == 15);
}

TEST_CASE("the same traffic twice gives the same instants and counters") {
  System s(2);
  s.build();
  std::vector<std::uint64_t> first, second;
  for (auto* seen : {&first, &second}) {
    sc_core::sc_start(s.clock.cycles(1000));
    const std::uint64_t t0 = to_cycles(sc_core::sc_time_stamp());
    for (auto& c : s.clients) c.done.clear();
    const AxiCounters before = s.ports[0]->counters();
    for (std::size_t m = 0; m < 2; ++m) {
      s.start(true, kSram + 0x100 * m + 3, 700, m);
      s.start(false, kSram + 0x2000, 900, m);
    }
    sc_core::sc_start(s.clock.cycles(1000));
    for (auto& c : s.clients)
      for (auto& d : c.done) seen->push_back(d.cycle - t0);
    const AxiCounters& after = s.ports[0]->counters();
    seen->push_back(after.busy - before.busy);
    seen->push_back(after.wait_grant - before.wait_grant);
    seen->push_back(after.wait_b - before.wait_b);
  }
  CHECK(first.size() == 7);
  CHECK(first == second);
}
