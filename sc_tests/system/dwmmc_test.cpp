// The DW-MMC board through the whole program: faults its driver can meet, both descriptor formats, the ring's limits, bad
// parameters.
#include "sc_tests/system/program.hpp"

using namespace vp::test;

namespace {

const std::vector<std::string> kVerify = {"--rw=randwrite", "--bs=16k", "--size=1M", "--verify=crc32c"};

/// Everything fio wrote reads back right, whatever `options` put in the way.
Json good_run(std::vector<std::string> options) {
  options.insert(options.begin(), "--platform=e850-96");
  const Json r = json_of(fio(options, kVerify));
  CHECK(r["emmc-vp"]["io_errors"] == 0);
  CHECK(r["emmc-vp"]["verify_errors"] == 0);
  CHECK(r["emmc-vp"]["findings"].empty());
  return r;
}

Outcome loud_fio(const std::vector<std::string>& platform, const std::vector<std::string>& job) {
  std::vector<std::string> args = {"fio", "--platform=e850-96"};
  args.insert(args.end(), platform.begin(), platform.end());
  args.insert(args.end(), {"--", "--filename=/dev/mmcblk0", "--direct=1", "--name=t"});
  args.insert(args.end(), job.begin(), job.end());
  return run(args);
}

}  // namespace

TEST_CASE("DW-MMC: a write command without a response, once or with a bad CRC, is sent again") {
  for (const char* fault : {"no_response:cmd=25:skip=5", "response_crc:cmd=25:skip=5",
                            "no_response:cmd=23:skip=5", "write_crc:cmd=25:block=13:skip=5"})
    for (const char* timing : {"--timing=at", "--timing=lt"}) {
      INFO(fault << " " << timing);
      const Json r = good_run({timing, "-p", std::string("mmc_bus.faults=") + fault});
      // RINTSTS' own, and at most one more: the IDMAC's card error (CES) of a transfer that was under way, or the
      // time-out of the recovery's CMD12 where no transfer was.
      const std::uint64_t seen = counter(r, "dwmmc.error_interrupts");
      CHECK((seen == 1 || seen == 2));
    }
}

TEST_CASE("DW-MMC: a bad response during tuning lets the block in and tuning goes on to HS400") {
  for (const char* fault : {"response_crc:cmd=21", "no_response:cmd=21", "read_crc:cmd=21"}) {
    INFO(fault);
    const Json r = good_run({"-p", std::string("mmc_bus.faults=") + fault});
    CHECK(r["emmc-vp"]["driver_errors"] == 0);
    CHECK(counter(r, "dwmmc.error_interrupts") >= 1);
  }
}

TEST_CASE("DW-MMC: random writes read back whole through 16-byte descriptors as through 32-byte ones") {
  for (const char* hcon : {"dwmmc.hcon=0x00c43101", "dwmmc.hcon=0x08c43101"})
    for (const char* timing : {"--timing=at", "--timing=lt"}) {
      INFO(hcon << " " << timing);
      const Json r = good_run({timing, "-p", hcon});
      // 64 I/Os of 16 KiB written and read, one descriptor per 4 KiB.
      CHECK(counter(r, "dwmmc.descriptors_fetched") >= 2 * 64 * 4);
    }
}

TEST_CASE("DW-MMC: the watchdog says which command waits for what") {
  const Outcome o = loud_fio(
      {"-p", "driver.request_timeout_ms=200", "-p", "mmc_bus.faults=lost_completion:cmd=25:skip=5"}, kVerify);
  CHECK(o.status == 0);
  CHECK(o.err.find("driver: CMD25 still waits for DATA_OVER") != std::string::npos);
  CHECK(o.err.find("RINTSTS 0x") != std::string::npos);
}

// 512-byte offset, runs of two pages: 7680, then 63 of 8192 and 512 bytes make 2 + 126 + 1 descriptors.
TEST_CASE("DW-MMC: a request of more descriptors than the ring has fails and names both numbers") {
  const Outcome o = loud_fio({"-p", "dwmmc.ring_bytes=4096", "-p", "dwmmc.max_seg_size=524288", "-p",
                              "driver.contiguity_pages=2", "-p", "driver.buffer_byte_offset=512"},
                             {"--rw=read", "--bs=512k", "--size=512k"});
  CHECK(o.status == 1);
  CHECK(o.err.find("driver: CMD18 is refused: it needs 129 descriptors, the ring has 128") !=
        std::string::npos);
}

// Field fact: throughput of synchronous writes follows the page size and not the ring, so the descriptors, one per 4 KiB and
// fetched one by one, must be a small share of the time (below 2 %), in spans and in waits of the IDMAC alike.
TEST_CASE(
    "DW-MMC: fetching descriptors is below 2 % of synchronous writes, with 128 descriptors as with 2048") {
  double slowest = 0, fastest = 1e9;
  for (const char* ring : {"dwmmc.ring_bytes=4096", "dwmmc.ring_bytes=65536"}) {
    INFO(ring);
    const Json r = json_of(dd({"--platform=e850-96", "--explain", "-p", ring},
                              {"if=/dev/zero", "of=somefile", "bs=1M", "count=5", "oflag=sync"}));
    const Json& e = r["emmc-vp"];
    CHECK(counter(r, "dwmmc.descriptors_fetched") >= 5 * 256);
    double span = -1, wait_us = -1;
    for (const Json& row : e["spans"]["rows"])
      if (row["span"] == "descriptor_fetch") span = row["share_percent"];
    for (const Json& row : e["stalls"])
      if (row["cause"] == "descriptor not here")
        wait_us = row["us_per_request"].get<double>() * e["spans"]["requests"].get<double>();
    const double seconds = r["dd"]["seconds"];
    CHECK(span >= 0);
    CHECK(span < 2);
    CHECK(wait_us > 0);
    CHECK(wait_us < 0.02 * seconds * 1e6);
    slowest = std::max(slowest, seconds);
    fastest = std::min(fastest, seconds);
  }
  CHECK(slowest < 1.04 * fastest);  // the rows of one page size lie within 4 %
}

TEST_CASE("dd on a DW-MMC: wrong pages, rings and segments are one line and status 2") {
  const std::vector<std::vector<std::string>> bad = {
      {"--page-size=5K"},
      {"-p", "dwmmc.ring_byte=4096"},
      {"-p", "dwmmc.ring_bytes=many"},
      {"-p", "dwmmc.max_seg_size=8589934592"},
      {"-p", "dwmmc.fifo_depth=1"},
      {"--platform=e850-69"},
  };
  for (const auto& options : bad) {
    std::vector<std::string> args = {"dd"};
    if (options.front().find("--platform") == std::string::npos) args.push_back("--platform=e850-96");
    args.insert(args.end(), options.begin(), options.end());
    args.insert(args.end(), {"--", "if=/dev/zero", "of=somefile", "bs=1M", "count=1", "oflag=sync"});
    const Outcome o = run(args);
    INFO(options.back() << ": " << o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  }
}
