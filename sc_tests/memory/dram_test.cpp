// DRAM timing by hand: round figures so that every number below is visible in the test.
// A = 5 ns; DRAM burst 64 B in 16 / 3200 MT/s = 5 ns; t_RCD 20, t_RP 25, t_CL 15, t_WL 10, t_WR 20, t_WTR 10,
// t_RTW 5, t_RFC 300, t_REFI 4000, controller 10 (ns).
#include "models/memory/dram.hpp"

#include <cstring>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

constexpr std::uint64_t kNs = 1000;
constexpr std::uint64_t kRowStride = 4096 * 8;  // next row of the same bank

DramParams round_params() {
  DramParams p;
  p.t_rcd_ns = 20, p.t_rp_ns = 25, p.t_cl_ns = 15, p.t_wl_ns = 10, p.t_wr_ns = 20, p.t_wtr_ns = 10,
  p.t_rtw_ns = 5;
  p.t_rfc_ns = 300, p.t_refi_ns = 4000, p.controller_ns = 10, p.accept_cycles = 2;
  return p;
}

struct Bench {
  ClockDomain clock{"axi", 200e6};
  Dram dram;
  explicit Bench(const DramParams& p = round_params()) : dram("dram", clock, p) {}

  /// Times of one burst of 8-byte beats; reads arrive, and writes end, at `at_ns`. Results in ns.
  struct Times {
    double first, last, done;
  };
  Times burst(bool is_write, std::uint64_t offset, std::uint64_t at_ns, std::uint32_t bytes = 64) {
    AxiBurstTiming b{.address = kDramBase + offset, .bytes = bytes, .beats = bytes / 8, .is_write = is_write};
    b.issued_ps = is_write ? at_ns * kNs - b.beats * 5 * kNs : at_ns * kNs;
    b.last_ps = is_write ? at_ns * kNs : 0;
    dram.time_burst(b);
    return {b.first_ps / 1e3, b.last_ps / 1e3, b.done_ps / 1e3};
  }
  Times read(std::uint64_t offset, std::uint64_t at_ns, std::uint32_t bytes = 64) {
    return burst(false, offset, at_ns, bytes);
  }
  Times write(std::uint64_t offset, std::uint64_t at_ns, std::uint32_t bytes = 64) {
    return burst(true, offset, at_ns, bytes);
  }
};

}  // namespace

TEST_CASE("a read of a closed row activates: controller, t_RCD, t_CL, then one DRAM burst") {
  Bench b;
  const auto t = b.read(0, 100);
  CHECK(t.first == 100 + 10 + 20 + 15 + 5);
  CHECK(t.done == t.first + 8 * 5);
  CHECK(b.dram.counters().row_misses == 1);
}

TEST_CASE("a read of the open row saves t_RCD, one of another row adds t_RP") {
  Bench b;
  b.read(0, 100);
  CHECK(b.read(64, 300).first == 300 + 10 + 15 + 5);
  CHECK(b.read(kRowStride, 500).first == 500 + 10 + 25 + 20 + 15 + 5);
  CHECK(b.dram.counters().row_hits == 1);
  CHECK(b.dram.counters().row_conflicts == 1);
}

TEST_CASE("another bank keeps its own open row") {
  Bench b;
  b.read(0, 100);
  CHECK(b.read(4096, 300).first == 300 + 10 + 20 + 15 + 5);
  CHECK(b.read(64, 500).first == 500 + 10 + 15 + 5);
  CHECK(b.dram.counters().row_conflicts == 0);
}

TEST_CASE("a request that falls in a refresh waits for its end and finds the row closed") {
  Bench b;
  b.read(0, 3500);
  // Refresh 1 holds the banks from 4000 to 4300; the request reaches them at 4050 + 10.
  CHECK(b.read(64, 4050).first == 4300 + 20 + 15 + 5);
  CHECK(b.dram.counters().refresh_waits == 1);
  CHECK(b.dram.counters().row_misses == 2);
}

TEST_CASE("refresh closes rows even when nobody waits for it") {
  Bench b;
  b.read(0, 3500);
  CHECK(b.read(64, 5000).first == 5000 + 10 + 20 + 15 + 5);
  CHECK(b.dram.counters().refresh_waits == 0);
}

TEST_CASE("a read behind a write waits for t_WTR and t_CL after the last write data") {
  Bench b;
  b.read(0, 100);                       // opens the row
  CHECK(b.write(64, 300).done == 310);  // accept: 2 A
  // Write data: 300 + 10 + 10 = 320 to 325. The read could have data at 300 + 10 + 15 = 325; the bus turns to
  // 325 + 10 + 15 = 350.
  CHECK(b.read(128, 300).first == 350 + 5);
  CHECK(b.dram.counters().turnarounds == 2);
}

TEST_CASE("a write behind a read leaves t_RTW on the data bus") {
  Bench b;
  b.read(0, 100);
  b.read(64, 300);    // data 325 to 330
  b.write(128, 300);  // could start at 320, starts at 330 + 5: ends at 340
  // The bus is free for another write at 340; the same row hits, so data follow at once.
  b.write(192, 300);  // 340 to 345
  CHECK(b.read(256, 300).first == 345 + 10 + 15 + 5);
}

TEST_CASE("a row conflict after a write waits for t_WR") {
  Bench b;
  b.read(0, 100);
  b.write(64, 300);  // data end at 325, precharge allowed at 345
  // 310: conflict; 345 + 25 + 20 + 15 = 405; the turnaround asks for 350 only.
  CHECK(b.read(kRowStride, 300).first == 405 + 5);
}

TEST_CASE("a full write buffer holds the last beat back until its oldest entry is written") {
  DramParams p = round_params();
  p.write_buffer = 1;
  Bench b(p);
  CHECK(b.write(0, 100).last == 100);  // array write: 100 + 10 + 20 + 10 = 140 to 145
  const auto t = b.write(64, 105);
  CHECK(t.last == 145);
  CHECK(t.done == 155);
}

TEST_CASE("a bandwidth limit spaces bursts by bytes over rate") {
  DramParams p = round_params();
  p.bandwidth_limit = 640'000'000;  // 64 B in 100 ns
  Bench b(p);
  b.read(0, 100);  // data start at 145
  const auto second = b.read(64, 100), third = b.read(128, 100);
  CHECK(second.first == 245 + 5);
  CHECK(third.first == 345 + 5);
  CHECK(b.dram.counters().busy_ps == 300 * kNs);
}

TEST_CASE("streaming row hits run at the data bus's rate") {
  Bench b;
  b.read(0, 100);
  double first = 0;
  for (std::uint32_t i = 1; i <= 10; ++i) first = b.read(64 * i, 300).first;
  CHECK(first == 325 + 9 * 5 + 5);  // 12.8 GB/s: 64 B per 5 ns
  CHECK(b.dram.counters().row_hits == 10);
  CHECK(b.dram.counters().read_bytes == 11 * 64);
}

TEST_CASE("a request for an earlier instant is served before a reserved stretch") {
  Bench b;
  b.read(0, 100);
  b.read(64, 3000);
  CHECK(b.read(128, 1000).first == 1000 + 10 + 15 + 5);
  CHECK(b.read(192, 3000).first == 3025 + 5 + 5);
}

TEST_CASE("LPDDR4-3200 x32 defaults: 64 B take 5 ns and a closed row 55.5 ns from request to data") {
  Bench b(DramParams{});
  // 20 controller + 18 t_RCD + 17.5 t_CL, then 5 ns of burst: 160.5 lies before the edge at 165.
  CHECK(b.read(0, 100).first == 165);
  CHECK(b.dram.counters().busy_ps == 5 * kNs);
}

TEST_CASE("impossible DRAM geometry is refused") {
  ClockDomain clock("axi", 200e6);
  DramParams p;
  p.banks = 6;
  CHECK_THROWS_AS(Dram("dram", clock, p), InputError);
}
