// --queue on whole platforms: exact counts of commands and interrupts, every byte compared, refusals.
#include "sc_tests/system/program.hpp"

using namespace vp::test;

namespace {

/// 1 MiB in requests of 4 KiB: 256 of them.
constexpr std::uint64_t kRequests = 256;
std::vector<std::string> small(const char* rw, const char* depth) {
  return {std::string("--rw=") + rw, "--bs=4k", "--size=1M", "--ioengine=libaio",
          std::string("--iodepth=") + depth};
}
/// Commands of card set-up, which every mode has: counted with one read less of what is asked.
std::uint64_t of(const Json& r, const char* name) { return counter(r, name); }
std::uint64_t span_ns(const Json& report) {
  return report.at("emmc-vp").at("simulated_ns").get<std::uint64_t>();
}

}  // namespace

TEST_CASE("software queueing sends CMD44, CMD45 and CMD46 once per read and checks every byte") {
  for (const char* depth : {"1", "8"}) {
    INFO(depth);
    const Json r = json_of(fio({"--platform=apl-swcmdq", "--queue=software"}, small("randread", depth)));
    CHECK(of(r, "mmc_bus.cmd44") == kRequests);
    CHECK(of(r, "mmc_bus.cmd45") == kRequests);
    CHECK(of(r, "mmc_bus.cmd46") == kRequests);
    CHECK(of(r, "mmc_bus.cmd47") == 0);
    CHECK(of(r, "mmc_bus.cmd17") == 0);
    CHECK(of(r, "mmc_bus.cmd18") == 0);
    CHECK(of(r, "emmc.tasks_executed") == kRequests);
    CHECK(of(r, "check.payload_bytes") == kRequests * 4096);
    CHECK(r["emmc-vp"]["queue"] == "software");
    CHECK(r["emmc-vp"]["io_errors"] == 0);
  }
}

// At depth 1 the QSR that shows the task is the last CMD13 before its CMD46. Two runs of 256 and 128 requests: what
// they have more than set-up is per request: one interrupt for each of CMD44, CMD45, CMD13 and CMD46 and one for the
// transfer.
TEST_CASE("software queueing takes one interrupt per command and one per transfer") {
  std::vector<std::string> half = small("read", "1");
  half.push_back("--io_size=512k");
  const Json a = json_of(fio({"--platform=apl-swcmdq", "--queue=software"}, small("read", "1")));
  const Json b = json_of(fio({"--platform=apl-swcmdq", "--queue=software"}, half));
  const auto more = [&](const char* name) { return of(a, name) - of(b, name); };
  const std::uint64_t n = kRequests / 2;
  CHECK(more("mmc_bus.cmd44") == n);
  CHECK(more("mmc_bus.cmd46") == n);
  CHECK(more("mmc_bus.cmd13") >= n);
  CHECK(more("sdhci.interrupts") == 3 * n + more("mmc_bus.cmd13") + n);
  CHECK(more("mmc_bus.commands") == 3 * n + more("mmc_bus.cmd13"));
}

TEST_CASE("software queueing writes and reads back, mixed and deep, and the spans of every request add up") {
  const Json r = json_of(
      fio({"--platform=apl-swcmdq", "--queue=software"},
          {"--rw=randrw", "--bs=16k", "--size=2M", "--ioengine=libaio", "--iodepth=16", "--fsync=16"}));
  CHECK(of(r, "mmc_bus.cmd44") == 128);
  CHECK(of(r, "mmc_bus.cmd46") + of(r, "mmc_bus.cmd47") == 128);
  CHECK(of(r, "emmc.tasks_most") > 4);
  CHECK(r["emmc-vp"]["verify_errors"] == 0);
}

TEST_CASE("at and lt do the same with software queueing: bytes and commands, bandwidth within 2 percent") {
  for (const char* rw : {"randread", "randwrite"}) {
    INFO(rw);
    const std::vector<std::string> job = {std::string("--rw=") + rw, "--bs=32k", "--size=4M",
                                          "--ioengine=libaio", "--iodepth=1"};
    const Json at = json_of(fio({"--platform=apl-swcmdq", "--queue=software", "--timing=at"}, job));
    const Json lt = json_of(fio({"--platform=apl-swcmdq", "--queue=software", "--timing=lt"}, job));
    for (const char* name : {"mmc_bus.cmd44", "mmc_bus.cmd46", "mmc_bus.cmd47", "mmc_bus.blocks_read",
                             "mmc_bus.blocks_written", "check.payload_bytes"})
      CHECK(of(at, name) == of(lt, name));
    CHECK(static_cast<double>(span_ns(at)) == Approx(static_cast<double>(span_ns(lt))).epsilon(0.02));
  }
}

TEST_CASE("hsq moves the same commands as no queue, without the CMD13 after writes, in less time") {
  for (const char* rw : {"randread", "randwrite"}) {
    INFO(rw);
    const Json none = json_of(fio({"--platform=apl-swcmdq", "--queue=none"}, small(rw, "8")));
    const Json hsq = json_of(fio({"--platform=apl-swcmdq", "--queue=hsq"}, small(rw, "8")));
    const bool write = std::string(rw) == "randwrite";
    for (const char* name : {"mmc_bus.cmd18", "mmc_bus.cmd25", "check.payload_bytes"})
      CHECK(of(none, name) == of(hsq, name));
    CHECK(of(none, "mmc_bus.cmd13") - of(hsq, "mmc_bus.cmd13") == (write ? kRequests : 0));
    CHECK(span_ns(hsq) < span_ns(none));
  }
}

// The gap between requests is what hsq takes away, and it is a smaller part of a longer request (cases of the mmc_hsq
// reports: gains at 4 KiB, none at 512 KiB).
TEST_CASE("hsq gains with small requests and next to nothing with large ones") {
  const auto gain = [](const char* bs, const char* size) {
    const std::vector<std::string> job = {"--rw=read", std::string("--bs=") + bs,
                                          std::string("--size=") + size, "--ioengine=libaio", "--iodepth=8"};
    const auto bandwidth = [&](const char* queue) {
      return json_of(fio({"--platform=apl-swcmdq", std::string("--queue=") + queue},
                         job))["jobs"][0]["read"]["bw_bytes"]
          .get<double>();
    };
    return bandwidth("hsq") / bandwidth("none");
  };
  const double small_gain = gain("4k", "2M"), large_gain = gain("512k", "32M");
  CHECK(small_gain > 1.05);
  CHECK(large_gain < 1.03);
  CHECK(large_gain > 0.99);
}

// JESD84-B51 6.6.39: CMD6 is illegal with tasks in the queue, so read-ahead that outlives its job must end first. The log
// names every command the device refuses.
TEST_CASE("read-ahead still under way at a job's end has ended when queue mode is left") {
  for (const char* mode : {"software", "cqe", "hsq", "none"}) {
    INFO(mode);
    const char* platform = std::string(mode) == "cqe" ? "--platform=th1520" : "--platform=apl-swcmdq";
    const Outcome o = run({"fio", platform, std::string("--queue=") + mode, "--timing=lt", "--", "--name=x",
                           "--filename=/dev/mmcblk0", "--rw=read", "--bs=4k", "--size=1M"});
    CHECK(o.status == 0);
    CHECK(o.err.find("illegal") == std::string::npos);
  }
}

// The response's interrupt wakes the CPU too, but 512 KiB take longer than that: what is left at the end is one wake-up.
TEST_CASE("a CPU that wakes late adds its wake-up to every long read, and the link idles meanwhile") {
  const auto with_wake = [](const char* wake) {
    return json_of(fio({"--platform=apl-swcmdq", "--queue=none", "--timing=lt", "-p", wake},
                       {"--rw=randread", "--bs=512k", "--size=8M"}));
  };
  const Json fast = with_wake("cpu.wfi_wake_ns=500"), slow = with_wake("cpu.wfi_wake_ns=500000");
  const auto latency = [](const Json& r) { return r["jobs"][0]["read"]["clat_ns"]["mean"].get<double>(); };
  CHECK(latency(slow) - latency(fast) == Approx(500'000 - 500).epsilon(0.001));
  CHECK(counter(slow, "mmc_bus.commands") == counter(fast, "mmc_bus.commands"));
}

TEST_CASE("queue modes that host or device cannot do are one line and status 2") {
  const auto refused = [](const Outcome& o) {
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    return o.err;
  };
  CHECK(refused(fio({"--platform=apl-swcmdq", "--queue=cqe"}, small("read", "1")))
            .find("no command queue engine") != std::string::npos);
  CHECK(refused(fio({"--platform=apl-swcmdq", "--cqe=on"}, small("read", "1"))).find("--cqe=on") !=
        std::string::npos);
  CHECK(refused(fio({"--platform=apl-swcmdq", "-p", "emmc.ext_csd=4g-emmc441.hex", "--queue=software"},
                    small("read", "1")))
            .find("CMDQ_SUPPORT") != std::string::npos);
  CHECK(refused(fio({"--platform=th1520", "--queue=software", "--cqe=on"}, small("read", "1")))
            .find("contradicts") != std::string::npos);
}

TEST_CASE("iozone prints its blocks in order and each thread's file is its own") {
  const Outcome o = run({"iozone",
                         "--quiet",
                         "--platform=apl-swcmdq",
                         "--queue=software",
                         "--",
                         "-s",
                         "64k",
                         "-r",
                         "4k",
                         "-i",
                         "0",
                         "-i",
                         "1",
                         "-i",
                         "2",
                         "-i",
                         "8",
                         "-I",
                         "-t",
                         "2"});
  INFO(o.err);
  REQUIRE(o.status == 0);
  std::size_t at = 0;
  for (const char* name : {"initial writers", "rewriters", "readers", "re-readers", "random readers",
                           "mixed workload", "random writers"}) {
    at = o.out.find(std::string("Children see throughput for  2 ") + name, at);
    REQUIRE(at != std::string::npos);
  }
  CHECK(o.out.find("Throughput test with 2 processes") != std::string::npos);
}

TEST_CASE("bad iozone lines are one line and status 2") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"-s", "10k", "-r", "4k", "-i", "0", "-I", "-t", "1"},
        {"-s", "64k", "-i", "0", "-I", "-t", "1", "-Q"},
        {"-s", "64g", "-i", "0", "-I", "-t", "4"}}) {
    std::vector<std::string> args = {"iozone", "--quiet", "--platform=apl-swcmdq", "--"};
    args.insert(args.end(), words.begin(), words.end());
    const Outcome o = run(args);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  }
}
