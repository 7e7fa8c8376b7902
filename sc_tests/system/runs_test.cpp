// Whole runs of the program: what a user sees, held to facts.
#include <cmath>
#include <sstream>

#include "sc_tests/system/program.hpp"

using namespace vp::test;

namespace {

double mean_clat_us(const Json& r, const char* direction = "read") {
  return r["jobs"][0][direction]["clat_ns"]["mean"].get<double>() / 1e3;
}
double bandwidth(const Json& r, const char* direction = "read") {
  return r["jobs"][0][direction]["bw_bytes"].get<double>();
}
const std::vector<std::string> kTh1520Job = {"--rw=randread", "--bs=1M",     "--ioengine=sync",
                                             "--iodepth=256", "--numjobs=1", "--group_reporting",
                                             "--readonly"};

}  // namespace

// The public report of the board without command queueing: 219 MB/s, completion latency 4778.37 us, 8181 requests for
// 4096 calls of 1 MiB, 25682 ms of disk ticks. Each within 5 %.
TEST_CASE("the TH1520 run without command queueing meets the board's report") {
  std::vector<std::string> job = kTh1520Job;
  job.push_back("--size=4G");
  const Json r = json_of(fio({"--platform=th1520", "--cqe=off", "--timing=lt"}, job));
  CHECK(bandwidth(r) / 1e6 == Approx(219).epsilon(0.05));
  CHECK(mean_clat_us(r) == Approx(4778.37).epsilon(0.05));
  CHECK(r["disk_util"][0]["read_ios"].get<double>() == Approx(8181).epsilon(0.05));
  CHECK(r["disk_util"][0]["read_ticks"].get<double>() == Approx(25682).epsilon(0.05));
}

TEST_CASE("a 1 MiB read is two requests of 512 KiB, as Linux makes them") {
  std::vector<std::string> job = kTh1520Job;
  job.push_back("--size=16M");
  const Json r = json_of(fio({"--platform=th1520"}, job));
  CHECK(r["disk_util"][0]["read_ios"] == 2 * 16);
  CHECK(counter(r, "mmc_bus.cmd18") == 2 * 16);
  CHECK(counter(r, "mmc_bus.cmd23") == 2 * 16);
  CHECK(counter(r, "axi.write_bytes") >= 16u << 20);
}

TEST_CASE("at and lt move the same bytes in the same counts, bandwidth within 2 percent") {
  const std::vector<std::vector<std::string>> jobs = {
      {"--rw=randread", "--bs=1M", "--size=64M"},
      {"--rw=randread", "--bs=4k", "--size=4M"},
      {"--rw=randwrite", "--bs=4k", "--size=4M"},
      {"--rw=write", "--bs=128k", "--size=32M"},
      {"--rw=randrw", "--bs=16k", "--size=16M", "--randseed=7"},
  };
  for (const auto& job : jobs) {
    INFO(job[0] << " " << job[1]);
    const Json at = json_of(fio({"--platform=th1520", "--timing=at"}, job));
    const Json lt = json_of(fio({"--platform=th1520", "--timing=lt"}, job));
    for (const char* name :
         {"mmc_bus.commands", "mmc_bus.blocks_read", "mmc_bus.blocks_written", "sdhci.interrupts",
          "sdhci.descriptors_fetched", "axi.read_bytes", "axi.write_bytes", "axi.read_bursts",
          "axi.write_bursts", "check.payload_bytes"}) {
      INFO(name);
      CHECK(counter(at, name) == counter(lt, name));
    }
    for (const char* direction : {"read", "write"})
      if (bandwidth(at, direction) > 0)
        CHECK(bandwidth(lt, direction) == Approx(bandwidth(at, direction)).epsilon(0.02));
  }
}

TEST_CASE("two runs print the same bytes and draw the same waveform") {
  const Scratch s;
  Outcome runs[2];
  std::string waves[2];
  for (int i = 0; i < 2; ++i) {
    const std::string vcd = s.file(i == 0 ? "a.vcd" : "b.vcd");
    runs[i] = fio({"--platform=th1520", "--explain", "--vcd=" + vcd, "--vcd-window=requests:0..2"},
                  {"--rw=randrw", "--bs=8k", "--size=1M", "--iodepth=4", "--ioengine=libaio"});
    waves[i] = slurp(vcd);
  }
  CHECK(runs[0].status == 0);
  CHECK(runs[0].out == runs[1].out);
  CHECK(waves[0].size() > 1000);
  CHECK(waves[0] == waves[1]);
}

// Models take shorter ways where nobody looks at each step; what they report must not depend on it. The one exception: in
// lt a stream of bursts is timed as one, so that the cycles a burst waits for another, and misses by a refresh within the
// stream, are only seen burst by burst.
TEST_CASE("a waveform or a log of the bus changes nothing in the report") {
  const Scratch s;
  for (const char* platform : {"generic", "e850-96", "am335x"})
    for (const char* timing : {"--timing=at", "--timing=lt"})
      for (const char* rw : {"--rw=read", "--rw=write", "--rw=randread"}) {
        INFO(platform << " " << timing << " " << rw);
        const std::string board = std::string("--platform=") + platform;
        const std::vector<std::string> job = {rw, "--bs=32k", "--size=512k"};
        const Outcome alone = fio({board, timing, "--explain"}, job);
        const Outcome watched = fio(
            {board, timing, "--explain", "--vcd=" + s.file("w.vcd"), "--trace=" + s.file("bus.log")}, job);
        CHECK(alone.status == 0);
        Json a = json_of(alone), w = json_of(watched);
        const auto take_rows = [](Json& report) {
          std::uint64_t sum = 0;
          for (const char* kind : {"dram.row_hits", "dram.row_misses", "dram.row_conflicts"}) {
            sum += counter(report, kind);
            report["emmc-vp"]["counters"].erase(kind);
          }
          return sum;
        };
        CHECK(take_rows(a) == take_rows(w));
        if (std::string(timing) == "--timing=lt" && std::string(platform) != "e850-96") {
          CHECK(a["emmc-vp"]["counters"] == w["emmc-vp"]["counters"]);
          CHECK(a["emmc-vp"]["spans"] == w["emmc-vp"]["spans"]);
          CHECK(a["jobs"] == w["jobs"]);
        } else {
          CHECK(a == w);
        }
      }
}

// 16 writes and 16 reads, each CMD23 with its data command, the sixth write's response lost: a line for every command there
// was, in order of time, and one for the fault.
TEST_CASE("the log of the card bus has every command and every fault in order") {
  for (const char* platform : {"generic", "e850-96", "am335x"}) {
    INFO(platform);
    const Scratch s;
    const std::string file = s.file("bus.log");
    const Json r = json_of(fio({std::string("--platform=") + platform, "--trace=" + file, "-p",
                                "mmc_bus.faults=no_response:cmd=25:skip=5; read_crc:cmd=18:skip=1000000"},
                               {"--rw=randwrite", "--bs=16k", "--size=256k", "--verify=crc32c"}));
    CHECK(counter(r, "mmc_bus.faults_struck") == 1);  // the second never gets its chance
    std::istringstream lines(slurp(file));
    std::uint64_t commands = 0, faults = 0, timeouts = 0, writes = 0;
    double before = -1;
    for (std::string line; std::getline(lines, line);) {
      if (line.front() == '#') continue;
      const double at = std::stod(line);
      CHECK(at >= before);
      before = at;
      const bool data_write = line.find(" cmd=25 ") != std::string::npos;
      commands += line.find(": mmc_command: cmd=") != std::string::npos;
      writes += data_write && line.find(": mmc_command: ") != std::string::npos;
      timeouts += data_write && line.find(" error=timeout") != std::string::npos;
      faults += line.ends_with(": mmc_fault: no_response cmd=25");
    }
    CHECK(commands == counter(r, "mmc_bus.commands"));
    CHECK(writes == 16 + 1);
    CHECK(timeouts == 1);
    CHECK(faults == 1);
  }
}

TEST_CASE("another seed visits the blocks in another order") {
  const std::vector<std::string> job = {"--rw=randread", "--bs=4k", "--size=64M", "--io_size=1M"};
  const Json a = json_of(fio({"--platform=generic", "--seed=1"}, job));
  const Json b = json_of(fio({"--platform=generic", "--seed=2"}, job));
  CHECK(a["jobs"][0]["read"]["total_ios"] == b["jobs"][0]["read"]["total_ios"]);
  CHECK(a.dump() != b.dump());
}

// The wire cannot carry more than one frame per block: bytes per second <= 512 * f / frame clocks (JESD84-B51 frames:
// start, data, CRC16, end). And a faster mode is faster.
TEST_CASE("every bus mode stays below its framed limit and above the mode before it") {
  struct Mode {
    const char* name;
    double hz;
    unsigned frame;
  };
  const Mode modes[] = {{"legacy", 26e6, 530}, {"hs52", 52e6, 530},   {"ddr52", 52e6, 274},
                        {"hs200", 200e6, 530}, {"hs400", 200e6, 274}, {"hs400es", 200e6, 274}};
  double before = 0;
  for (const Mode& m : modes) {
    INFO(m.name);
    const Json r = json_of(fio({"--platform=generic", "-p", std::string("driver.max_mode=").append(m.name)},
                               {"--rw=read", "--bs=512k", "--size=8M"}));
    const double limit = 512 * m.hz / m.frame;
    CHECK(bandwidth(r) < limit);
    CHECK(bandwidth(r) > 0.55 * limit);
    if (std::string(m.name) != "hs400es") CHECK(bandwidth(r) > before);
    before = bandwidth(r);
  }
}

TEST_CASE("spans of every workload add up and the verdict names what was slowed down") {
  struct Case {
    std::vector<std::string> platform;
    std::vector<std::string> job;
    std::string cause;
  };
  const std::vector<Case> cases = {
      {{"-p", "driver.max_mode=hs52"}, {"--rw=read", "--bs=512k", "--size=4M"}, "link_rate"},
      {{"-p", "nand.t_r_lsb_us=2000", "-p", "nand.t_r_msb_us=2000"},
       {"--rw=randread", "--bs=4k", "--size=1M"},
       "device_array"},
      {{"-p", "nand.firmware_read_us=2000"}, {"--rw=randread", "--bs=4k", "--size=1M"}, "device_firmware"},
      {{"-p", "cpu.request_prep_ns=2000000"}, {"--rw=randread", "--bs=4k", "--size=1M"}, "driver"},
      {{"-p", "cpu.irq_entry_ns=1000000"}, {"--rw=randread", "--bs=4k", "--size=1M"}, "interrupt"},
      {{"-p", "sdhci.axi.max_burst_beats=1", "-p", "sdhci.axi.outstanding_writes=1", "-p",
        "axi.clock_hz=20e6"},
       {"--rw=read", "--bs=512k", "--size=4M"},
       "axi_stall"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> platform = {"--platform=generic", "--explain"};
    platform.insert(platform.end(), c.platform.begin(), c.platform.end());
    INFO(c.cause);
    const Json r =
        json_of(fio(platform, c.job));  // a span sum that differs from a latency ends with status 1
    CHECK(r["emmc-vp"]["verdict"]["cause"] == c.cause);
  }
}

TEST_CASE("written data survive in the image and nothing else changes") {
  const Scratch s;
  const std::string image = "--image=" + s.file("disk.img");
  json_of(fio({"--platform=generic", image}, {"--rw=randwrite", "--bs=4k", "--size=2M", "--verify=crc32c"}));
  REQUIRE(std::filesystem::exists(s.file("disk.img")));
  const std::string before = slurp(s.file("disk.img"));
  CHECK(before.size() == 2u << 20);
  const Json r = json_of(
      fio({"--platform=generic", image}, {"--rw=randread", "--bs=4k", "--size=2M", "--verify=crc32c"}));
  CHECK(r["emmc-vp"]["verify_errors"] == 0);
  CHECK(slurp(s.file("disk.img")) == before);
}

TEST_CASE("every way to move data carries them unharmed") {
  const std::vector<std::vector<std::string>> ways = {
      {"-p", "driver.dma=pio"},
      {"-p", "driver.dma=sdma"},
      {"-p", "driver.v4_mode=never"},                                          // 96-bit descriptors
      {"-p", "driver.v4_mode=never", "-p", "sdhci.capabilities1=0x226dc881"},  // 32-bit descriptors
      {"-p", "driver.auto_cmd23=false"},
      {"-p", "driver.contiguity_pages=1", "-p", "driver.buffer_byte_offset=260"},
      {"-p", "driver.page_bytes=64K", "-p", "driver.contiguity_pages=1"},
      {"-p", "sdhci.prefetch_depth=0"},
      {"-p", "sdhci.prefetch_depth=16", "-p", "driver.contiguity_pages=1"},
      {"-p", "sdhci.mbiu_reset=0x2"},
      {"-p", "sdhci.fifo_bytes=512"},
  };
  for (const auto& way : ways) {
    for (const char* timing : {"--timing=at", "--timing=lt"}) {
      std::vector<std::string> platform = {"--platform=generic", timing};
      platform.insert(platform.end(), way.begin(), way.end());
      INFO(way[1] << " " << timing);
      const Json r = json_of(fio(platform, {"--rw=randwrite", "--bs=64k", "--size=4M", "--verify=crc32c"}));
      CHECK(r["emmc-vp"]["verify_errors"] == 0);
      CHECK(counter(r, "mmc_bus.blocks_written") == (4u << 20) / 512);
    }
  }
}

TEST_CASE("buffers above 4 GiB are reached by 64-bit descriptors") {
  const Json r = json_of(
      fio({"--platform=generic", "-p", "driver.buffer_base=0x100000000", "-p", "driver.buffer_bytes=256M"},
          {"--rw=randwrite", "--bs=64k", "--size=2M", "--verify=crc32c"}));
  CHECK(r["emmc-vp"]["verify_errors"] == 0);
}
