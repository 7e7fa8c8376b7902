// Error bits of STAT, each by the fault that sets it.
#include "sc_tests/hsmmc/bench.hpp"

using namespace vp;
using namespace vp::test;

namespace {

struct Faulty : Bench {
  explicit Faulty(BusFault::Kind kind, sc_time extra = {}) {
    start_card();
    BusFault f{.kind = kind, .extra = extra};
    bus.inject(f);
  }
  std::uint32_t errors() { return read("STAT") & ~std::uint32_t{kIntCc | kIntTc | kIntErr}; }
  void read_two() {
    card.blocks_counted = 2;
    arm(true, 0x4000, 2);
    blocks(2);
    send(index(18) | kR1 | kDp | kRead | kDe | kMsbs | kBce);
  }
  void write_two() {
    card.blocks_counted = 2;
    arm(false, 0x4000, 2);
    blocks(2);
    send(index(25) | kR1 | kDp | kDe | kMsbs | kBce);
  }
};

}  // namespace

TEST_CASE("CTO: no response in 64 clocks, no CC, the line is free again") {
  Faulty b(BusFault::Kind::command_crc);
  const sc_time t = b.send(index(13) | kR1);
  CHECK(b.run_until(kIntCto) - t == cycles(4 + 48 + 64 + 2));
  CHECK((b.read("STAT") & kIntCc) == 0);
  CHECK((b.read("STAT") & kIntErr) != 0);
  CHECK((b.read("PSTATE") & 1) == 0);
}

TEST_CASE("CCRC, CEB and CIE: what is wrong with the response") {
  Faulty b(BusFault::Kind::response_crc);
  b.send(index(13) | kR1);
  b.run_until(kIntErr);
  CHECK(b.errors() == kIntCcrc);
  b.write("STAT", 0xFFFFFFFF);
  b.bus.inject({.kind = BusFault::Kind::response_end_bit, .extra = {}});
  b.send(index(13) | kR1);
  b.run_until(kIntErr);
  CHECK(b.errors() == kIntCeb);
  b.write("STAT", 0xFFFFFFFF);
  b.bus.inject({.kind = BusFault::Kind::response_index, .extra = {}});
  b.send(index(13) | kR1);
  b.run_until(kIntErr);
  CHECK(b.errors() == kIntCie);
  b.write("STAT", 0xFFFFFFFF);
  b.bus.inject({.kind = BusFault::Kind::response_crc, .extra = {}});
  b.send(index(13) | 2 << 16);  // no checks asked for
  b.run_until(kIntCc | kIntErr);
  CHECK(b.errors() == 0);
}

TEST_CASE("DCRC and DEB: a read block with a wrong CRC16 or end bit") {
  Faulty b(BusFault::Kind::read_crc);
  b.read_two();
  b.run_until(kIntErr);
  CHECK(b.errors() == kIntDcrc);
  CHECK(b.host.data().counters().blocks_read == 1);
}

TEST_CASE("DEB: a read block with a wrong end bit") {
  Faulty b(BusFault::Kind::read_end_bit);
  b.read_two();
  b.run_until(kIntErr);
  CHECK(b.errors() == kIntDeb);
}

TEST_CASE("DCRC: the card refuses a written block") {
  Faulty b(BusFault::Kind::write_crc);
  b.write_two();
  b.run_until(kIntErr);
  CHECK(b.errors() == kIntDcrc);
  CHECK((b.read("STAT") & kIntTc) == 0);
}

TEST_CASE("DTO: no CRC status after a written block, 2^13 card clocks with DTO 0") {
  Faulty b(BusFault::Kind::write_no_status);
  b.write("SYSCTL", 1 | 1 << 2 | 1 << 6);
  b.write_two();
  const sc_time t = b.run_until(kIntErr);
  CHECK(b.errors() == kIntDto);
  CHECK(t - b.card.last_command_end > cycles(8192));
  CHECK(t - b.card.last_command_end < cycles(8192 + 3000));
}

TEST_CASE("DTO: read data that come too late, to the cycle") {
  Faulty b(BusFault::Kind::late_data, sc_time(1, sc_core::SC_MS));
  b.write("SYSCTL", 1 | 1 << 2 | 1 << 6);
  b.read_two();
  const sc_time t = b.run_until(kIntErr);
  CHECK(b.errors() == kIntDto);
  CHECK(t - b.card.last_command_end == cycles(2 + 8192));  // N_AC, then the timeout
}

TEST_CASE("DTO: busy of an R1b beyond the limit") {
  Bench b;
  b.start_card();
  b.write("SYSCTL", 1 | 1 << 2 | 1 << 6);
  b.card.r1b_busy = cycles(20000);
  const sc_time t = b.send(index(6) | kR1b);
  CHECK(b.run_until(kIntErr) - t == cycles(4 + 48 + 12 + 48 + 8192));
}

TEST_CASE("DTO 15 never times out") {
  Bench b;
  b.start_card();
  b.write("SYSCTL", 1 | 1 << 2 | 1 << 6 | 15u << 16);
  b.card.r1b_busy = sc_time(4, sc_core::SC_SEC);
  b.send(index(6) | kR1b);
  b.run_until(kIntTc | kIntErr);
  CHECK((b.read("STAT") & kIntErr) == 0);
}

TEST_CASE("BADA: DATA accessed with no block there and with no room") {
  Bench b(bench_params(), TimingStyle::at, false);
  b.start_card();
  CHECK(b.port_read() == 0);
  CHECK((b.read("STAT") & kIntBada) != 0);
  b.write("STAT", 0xFFFFFFFF);
  b.card.blocks_counted = 2;
  b.blocks(2);
  b.send(index(25) | kR1 | kDp | kMsbs | kBce);
  b.run_until(kIntBwr);
  for (unsigned w = 0; w < 256; ++w) b.port_write(w);
  CHECK((b.read("STAT") & kIntBada) == 0);
  b.port_write(1);
  CHECK((b.read("STAT") & kIntBada) != 0);
}

TEST_CASE("CERR: an R1 bit that CSRE names") {
  Bench b;
  b.start_card();
  b.card.status = 0x900 | 1u << 19;
  b.send(index(13) | kR1);
  b.run_until(kIntCc);
  CHECK((b.read("STAT") & kIntCerr) == 0);
  b.write("STAT", 0xFFFFFFFF);
  b.write("CSRE", 1u << 19);
  b.send(index(13) | kR1);
  b.run_until(kIntCerr);
  CHECK((b.read("STAT") & kIntCc) != 0);
}

TEST_CASE("ACE: Auto CMD12 without an answer, AC12 says why") {
  Bench b;
  b.start_card();
  b.bus.inject({.kind = BusFault::Kind::no_response, .command = 12, .extra = {}});
  b.arm(false, 0x4000, 2);
  b.blocks(2);
  b.send(index(25) | kR1 | kDp | kDe | kMsbs | kBce | kAcen12);
  b.run_until(kIntErr);
  CHECK((b.read("STAT") & kIntAce) != 0);
  CHECK(b.read("AC12") == 2);
}

TEST_CASE("a data command without a response moves nothing, and works when sent again") {
  Faulty b(BusFault::Kind::command_crc);
  b.read_two();
  b.run_until(kIntErr);
  CHECK(b.errors() == kIntCto);
  b.write("STAT", 0xFFFFFFFF);
  const std::uint32_t control = b.read("SYSCTL") & ~2u;
  b.write("SYSCTL", control | 1u << 25 | 1u << 26);
  b.advance(cycles(20));
  b.read_two();
  b.run_until(kIntTc);
  b.advance(sc_time(5, sc_core::SC_US));
  CHECK(b.holds(0x4000, 0, 2));
}

TEST_CASE("a burst at DATA that is not FIXED is refused") {
  Bench b;
  b.start_card();
  b.card.blocks_counted = 1;
  // ACNT 512 makes the DMA read rising addresses
  const edma::ParamSet s{
      edma::kOptAbSync, Bench::kHost + kData, 1u << 16 | 512, 0x4000, 0, edma::kNoLink, 0, 1};
  for (unsigned w = 0; w < edma::kWords; ++w)
    b.dma_regs.write(edma::kParamBase + Bench::kRx * edma::kSetBytes + 4 * w, s[w]);
  b.dma_regs.write(edma_at("EESR"), 1u << Bench::kRx);
  b.blocks(1);
  b.send(index(17) | kR1 | kDp | kRead | kDe);
  b.advance(cycles(5000));
  CHECK(b.dma_regs.read(edma_at("TC_ERROR")) == 1u << Bench::kRx);
  CHECK(b.dma_error.level);
}
