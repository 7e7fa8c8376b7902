// Faults and bad input through the whole program: the driver recovers, nothing is lost, errors are one line.
#include "sc_tests/system/program.hpp"

using namespace vp::test;

TEST_CASE("one fault on the wire costs a retry and no data") {
  const std::vector<std::string> faults = {
      "read_crc:cmd=18:block=3:skip=5",  "read_end_bit:cmd=18:block=0:skip=5",    "no_response:cmd=18:skip=5",
      "response_crc:cmd=18:skip=5",      "response_index:cmd=18:skip=5",          "command_crc:cmd=18:skip=5",
      "write_crc:cmd=25:block=2:skip=5", "write_no_status:cmd=25:block=1:skip=5", "no_response:cmd=23:skip=9",
      "response_crc:cmd=25:skip=5",
  };
  for (const std::string& fault : faults) {
    for (const auto& [platform, host] : {std::pair{"generic", "sdhci"}, {"e850-96", "dwmmc"}}) {
      for (const char* timing : {"--timing=at", "--timing=lt"}) {
        INFO(fault << " " << platform << " " << timing);
        const Json r = json_of(fio({std::string("--platform=") + platform, timing, "-p",
                                    "mmc_bus.faults=" + fault, "-p", "driver.request_timeout_ms=200"},
                                   {"--rw=randwrite", "--bs=16k", "--size=1M", "--verify=crc32c"}));
        CHECK(counter(r, std::string(host) + ".error_interrupts") >= 1);
        CHECK(counter(r, "mmc_bus.faults_struck") == 1);
        CHECK(r["emmc-vp"]["io_errors"] == 0);
        CHECK(r["emmc-vp"]["verify_errors"] == 0);
      }
    }
  }
}

// No interrupt tells of the end: the driver's own time-out must, and the request is sent again. Each host and each way to
// keep several requests in flight.
TEST_CASE("a lost completion costs one time-out on every host and queue, and no data") {
  struct Case {
    const char *platform, *queue, *fault;
  };
  constexpr std::uint64_t kTimeoutMs = 200;
  const Case cases[] = {
      {"generic", "none", "lost_completion:cmd=18:skip=5"},
      {"generic", "none", "lost_completion:cmd=25:skip=5"},
      {"generic", "cqe", "lost_completion:cmd=46:skip=5"},
      {"generic", "cqe", "lost_completion:cmd=47:skip=5"},
      {"apl-swcmdq", "software", "lost_completion:cmd=46:skip=5"},
      {"apl-swcmdq", "hsq", "lost_completion:cmd=18:skip=5"},
      {"e850-96", "none", "lost_completion:cmd=18:skip=5"},
      {"e850-96", "none", "lost_completion:cmd=25:skip=5"},
      {"am335x", "none", "lost_completion:cmd=18:skip=5"},
      {"am335x", "none", "lost_completion:cmd=25:skip=5"},
  };
  for (const Case& c : cases) {
    for (const char* timing : {"--timing=at", "--timing=lt"}) {
      INFO(c.platform << " " << c.queue << " " << c.fault << " " << timing);
      const auto simulated_ms = [&](const std::string& faults) {
        const Json r = json_of(
            fio({std::string("--platform=") + c.platform, std::string("--queue=") + c.queue, timing, "-p",
                 "mmc_bus.faults=" + faults, "-p", "driver.request_timeout_ms=" + std::to_string(kTimeoutMs)},
                {"--rw=randwrite", "--bs=16k", "--size=1M", "--verify=crc32c", "--ioengine=libaio",
                 "--iodepth=4"}));
        CHECK(r["emmc-vp"]["io_errors"] == 0);
        CHECK(r["emmc-vp"]["verify_errors"] == 0);
        return r["emmc-vp"]["simulated_ns"].get<std::uint64_t>() / 1'000'000;
      };
      const std::uint64_t lost = simulated_ms(c.fault), good = simulated_ms("");
      // In a queue the others go on meanwhile: the wait may hide their time, it does not hide behind it.
      CHECK(lost > good);
      CHECK(lost >= kTimeoutMs);
      CHECK(lost < good + 3 * kTimeoutMs);
    }
  }
}

TEST_CASE("a fault that stays makes the I/O fail, and the run says so") {
  const Outcome o = fio({"--platform=generic", "-p", "mmc_bus.faults=read_crc:cmd=18:count=1000000"},
                        {"--rw=read", "--bs=16k", "--size=64k"});
  CHECK(o.status == 1);
  CHECK(o.err.find("I/O") != std::string::npos);
}

TEST_CASE("an unsplit descriptor across 128 MiB is a finding at the exact byte and status 3") {
  // 512 KiB buffers from 4 KiB below a 128 MiB multiple: the first segment crosses it.
  const std::vector<std::string> place = {"--platform=generic", "-p", "driver.buffer_base=0x4ffff000", "-p",
                                          "driver.buffer_bytes=64M"};
  std::vector<std::string> unsplit = place;
  unsplit.insert(unsplit.end(), {"-p", "driver.split_128m=false"});
  const std::vector<std::string> job = {"--rw=read", "--bs=64k", "--size=64k"};
  const Outcome bad = fio(unsplit, job);
  CHECK(bad.status == 3);
  const Json r = Json::parse(bad.out);
  REQUIRE(r["emmc-vp"]["findings"].size() == 1);
  CHECK(r["emmc-vp"]["findings"][0]["rule"] == "dma.crosses_128m");
  CHECK(r["emmc-vp"]["findings"][0].dump().find("0x50000000") != std::string::npos);
  const Json good = json_of(fio(place, job));
  CHECK(counter(good, "sdhci.boundary_crossings") == 0);
}

TEST_CASE(
    "eight segments of one request across eight windows cost eight more descriptors, or are eight findings") {
  // Runs of 64 KiB from 32 KiB below each multiple of 128 MiB: a 512 KiB request is eight segments.
  const std::vector<std::string> place = {"--platform=generic",
                                          "-p",
                                          "driver.buffer_base=0x4fff8000",
                                          "-p",
                                          "driver.buffer_bytes=0x70000000",
                                          "-p",
                                          "driver.contiguity_pages=16",
                                          "-p",
                                          "driver.run_stride=128M"};
  const std::vector<std::string> job = {"--rw=read", "--bs=512k", "--size=1M"};
  const auto descriptors = [](const Json& r) { return counter(r, "sdhci.descriptors_fetched"); };
  for (const char* engine : {"--cqe=off", "--cqe=on"}) {
    INFO(engine);
    std::vector<std::string> split = place, unsplit = place;
    split.push_back(engine);
    unsplit.insert(unsplit.end(), {engine, "-p", "driver.split_128m=false"});
    const Json good = json_of(fio(split, job));
    CHECK(counter(good, "sdhci.boundary_crossings") == 0);
    const Outcome bad = fio(unsplit, job);
    CHECK(bad.status == 3);
    const Json r = Json::parse(bad.out);
    CHECK(counter(r, "sdhci.boundary_crossings") == 2 * 8);
    CHECK(descriptors(good) == descriptors(r) + 2 * 8);
  }
}

TEST_CASE("at and lt agree on commands and interrupts when every request meets an ADMA error") {
  Json runs[2];
  for (int i = 0; i < 2; ++i)
    runs[i] = Json::parse(fio({"--platform=generic", i == 0 ? "--timing=at" : "--timing=lt", "-p",
                               "driver.buffer_base=0x4ffff000", "-p", "driver.buffer_bytes=64M", "-p",
                               "driver.split_128m=false", "-p", "sdhci.boundary_128m=adma_error"},
                              {"--rw=read", "--bs=64k", "--size=1M"})
                              .out);
  for (const char* name : {"mmc_bus.commands", "mmc_bus.blocks_read", "sdhci.interrupts",
                           "sdhci.error_interrupts", "sdhci.descriptors_fetched", "cpu.interrupts"}) {
    INFO(name);
    CHECK(counter(runs[0], name) == counter(runs[1], name));
  }
}

TEST_CASE("a DMA that stalls at 128 MiB is time on the way to memory, with and without the queue") {
  for (const char* engine : {"--cqe=off", "--cqe=on"}) {
    INFO(engine);
    const Json r = Json::parse(fio({"--platform=generic", engine, "-p", "driver.buffer_base=0x4ffff000", "-p",
                                    "driver.buffer_bytes=64M", "-p", "driver.split_128m=false", "-p",
                                    "sdhci.boundary_128m=stall", "-p", "driver.request_timeout_ms=100"},
                                   {"--rw=read", "--bs=64k", "--size=64k"})
                                   .out);
    CHECK(r["emmc-vp"]["verdict"]["cause"] == "axi_stall");
  }
}

TEST_CASE("a wrapping address counter puts bytes in the wrong place and the check sees it") {
  const Outcome o =
      fio({"--platform=generic", "-p", "driver.buffer_base=0x4ffff000", "-p", "driver.buffer_bytes=64M", "-p",
           "driver.split_128m=false", "-p", "sdhci.boundary_128m=wrap"},
          {"--rw=read", "--bs=64k", "--size=64k"});
  CHECK(o.status == 3);  // the broken rule outranks the mismatch it caused
  CHECK(o.err.find("mismatch") != std::string::npos);
}

TEST_CASE("bad input ends with status 2, one line, and nothing written") {
  const Scratch s;
  std::ofstream(s.file("bad.toml")) << "[sdhci]\nfifo_bytes = \"many\"\n";
  std::ofstream(s.file("broken.toml")) << "[sdhci\n";
  std::ofstream(s.file("key.toml")) << "[sdhci]\nfifo_byte = 1024\n";
  std::ofstream(s.file("short.hex")) << "00112233\n";
  std::ofstream(s.file("odd.img")) << "abc";
  std::ofstream(s.file("bad.fio")) << "[job]\nrw=sideways\n";
  const std::string out = s.file("report.txt");
  struct Case {
    std::vector<std::string> args;
    std::vector<std::string> words;  ///< the line names these
  };
  const std::vector<std::string> ok = {"--", "--name=t", "--filename=/dev/mmcblk0", "--rw=read", "--size=4k"};
  const auto with = [&](std::vector<std::string> platform) {
    std::vector<std::string> a = {"fio", "--output=" + out};
    a.insert(a.end(), platform.begin(), platform.end());
    a.insert(a.end(), ok.begin(), ok.end());
    return a;
  };
  const std::vector<Case> cases = {
      {with({"--plattform=th1520"}), {"plattform", "platform"}},
      {with({"--platform=th1502"}), {"th1502", "th1520"}},
      {with({"-p", "sdhci.fifo_byte=512"}), {"sdhci.fifo_byte", "sdhci.fifo_bytes"}},
      {with({"-p", "sdhci.fifo_bytes=1"}), {"512", "65536"}},
      {with({"-p", "sdhci.boundary_128m=wrapp"}), {"wrapp", "wrap"}},
      {with({"-p", "mmc_bus.faults=red_crc"}), {"red_crc", "read_crc"}},
      {with({"--platform=" + s.file("bad.toml")}), {"bad.toml", "2", "fifo_bytes"}},
      {with({"--platform=" + s.file("broken.toml")}), {"broken.toml", "1"}},
      {with({"--platform=" + s.file("key.toml")}), {"key.toml", "2", "fifo_byte", "fifo_bytes"}},
      {with({"-p", "emmc.ext_csd=" + s.file("short.hex")}), {"short.hex", "1024"}},
      {with({"--image=" + s.file("odd.img")}), {"odd.img", "512"}},
      {with({"--timing=fast"}), {"fast"}},
      {with({"--trace=/dev/null/x.log"}), {"/dev/null/x.log"}},
      {with({"--vcd=/dev/null/x.vcd"}), {"/dev/null/x.vcd"}},
      {{"fio", "--output=" + out, "--", s.file("bad.fio")}, {"bad.fio", "2", "sideways"}},
      {{"fio", "--output=" + out, "--", "--name=t", "--filename=/dev/mmcblk0", "--rw=read", "--bs=1000"},
       {"1000", "512"}},
      {{"fio", "--output=" + out, "--", "--name=t", "--filename=/dev/mmcblk0", "--rw=read", "--size=1T"},
       {"size"}},
      {{"frobnicate"}, {"frobnicate"}},
  };
  for (const Case& c : cases) {
    const Outcome o = run(c.args);
    INFO(o.err << " " << c.words.front());
    CHECK(o.status == 2);
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    for (const std::string& w : c.words) CHECK(o.err.find(w) != std::string::npos);
    CHECK(o.out.empty());
    CHECK_FALSE(std::filesystem::exists(out));
  }
}
