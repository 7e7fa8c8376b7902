// dd and buffered fio through the whole program.
#include <algorithm>
#include <cstring>
#include <regex>

#include "sc_tests/system/program.hpp"

using namespace vp::test;

namespace {

double seconds(const Json& r) { return r["dd"]["seconds"].get<double>(); }
const Json& os(const Json& r) { return r["emmc-vp"]["os"]; }
std::uint64_t step(const Json& r, const std::string& name) {
  const Json& steps = os(r)["cpu_steps_ns"];
  return steps.contains(name) ? steps[name].get<std::uint64_t>() : 0;
}
std::uint64_t sum_of_states(const Json& r) {
  std::uint64_t sum = 0;
  for (const Json& s : os(r)["states"])
    sum += s["disk_busy_ps"].get<std::uint64_t>() + s["disk_idle_ps"].get<std::uint64_t>();
  return sum;
}

}  // namespace

TEST_CASE("the study's command prints dd's own lines on the TH1520 board") {
  const Outcome o = run({"dd", "--platform=th1520", "--quiet", "--", "if=/dev/zero", "of=somefile", "bs=1M",
                         "count=4", "oflag=sync"});
  CHECK(o.status == 0);
  CHECK(o.err.empty());
  CHECK(std::regex_match(o.out, std::regex(R"(4\+0 records in
4\+0 records out
4194304 bytes \(4\.2 MB, 4\.0 MiB\) copied, 0\.0[0-9]+ s, [0-9.]+ MB/s
)")));
}

// Per record: 150 ns of dd, two calls of 400 ns, and 0.12 ns per byte of zeros: 1000 x (950 + 491.52) ns.
TEST_CASE("copying zeros to nothing takes what its calls and bytes cost, to the nanosecond") {
  const Json r =
      json_of(dd({"--platform=generic"}, {"if=/dev/zero", "of=/dev/null", "bs=4096", "count=1000"}));
  CHECK(os(r)["elapsed_ps"] == 1'441'520'000ull);
  CHECK(r["disk_util"][0]["write_ios"] == 0);
}

TEST_CASE(
    "an O_SYNC write on ext4 is data, journal and record with their flush, and the wait is in the books") {
  const Json r = json_of(dd({"--platform=generic", "-p", "os.fua=false"},
                            {"if=/dev/zero", "of=f", "bs=1M", "count=4", "oflag=sync"}));
  // per call: 1 MiB in two requests of 512 KiB, the journal's run and its record; a flush before and behind the record
  CHECK(r["disk_util"][0]["write_ios"] == 4 * 4);
  CHECK(r["disk_util"][0]["flush_ios"] == 4 * 2);
  CHECK(os(r)["ios"]["commits"] == 4);
  CHECK(sum_of_states(r) == os(r)["elapsed_ps"].get<std::uint64_t>());
  // 4 x 256 pages of 4 KiB at 900 ns, and 4 MiB at 0.35 ns a byte
  CHECK(step(r, "page_dirty") == 1024ull * 900);
  CHECK(step(r, "copy_byte") == (4ull << 20) * 350 / 1000);
}

TEST_CASE("larger pages make synchronous writes faster, by what pages cost and no more") {
  double last = 1e9;
  for (const char* page : {"4096", "16384", "65536"}) {
    const Json r = json_of(dd({"--platform=generic", "-p", std::string("driver.page_bytes=") + page},
                              {"if=/dev/zero", "of=f", "bs=1M", "count=8", "oflag=sync"}));
    CHECK(seconds(r) < last);
    last = seconds(r);
    const std::uint64_t pages = (8u << 20) / std::stoul(page);
    CHECK(step(r, "page_add") == pages * 500);
    CHECK(step(r, "copy_byte") == (8ull << 20) * 350 / 1000);
  }
}

TEST_CASE("read-ahead works while the reader copies: less time than both one after the other") {
  const Json r =
      json_of(dd({"--platform=th1520", "-p", "os.file_bytes=16000000"}, {"if=big.img", "of=/dev/null"}));
  CHECK(r["dd"]["records_in"]["full"] == 31250);
  CHECK(r["dd"]["bytes"] == 16'000'000);
  const auto overlap = os(r)["overlap_ps"].get<std::uint64_t>(),
             all = os(r)["elapsed_ps"].get<std::uint64_t>();
  CHECK(sum_of_states(r) == all);
  CHECK(overlap > all / 4);
  // 16000000 bytes are 3907 pages: 4 on the first miss, 8, 16 and then 32 at a mark each
  CHECK(os(r)["read_ahead"]["pages"] == 3907);
  CHECK(os(r)["read_ahead"]["sync_windows"] == 1);
  CHECK(os(r)["read_ahead"]["async_windows"] == 2 + (3907 - 28 + 31) / 32);
  CHECK(r["emmc-vp"]["verify_errors"] == 0);
}

TEST_CASE("the read-ahead window is the largest request of a buffered read") {
  const Json small =
      json_of(dd({"--platform=generic", "-p", "os.file_bytes=32M"}, {"if=f", "of=/dev/null", "bs=4k"}));
  const Json large =
      json_of(dd({"--platform=generic", "-p", "os.file_bytes=32M", "-p", "os.read_ahead_kib=1024"},
                 {"if=f", "of=/dev/null", "bs=4k"}));
  CHECK(small["disk_util"][0]["read_ios"] ==
        3 + (8192 - 28) / 32 + 1);  // the last window is cut by the file's end
  // 4, 16, 32, 64 pages; 128 pages are one request of 512 KiB; then 256 pages are two
  CHECK(large["disk_util"][0]["read_ios"] == 5 + 2 * ((8192 - 244) / 256) + 1);
}

TEST_CASE("at and lt agree on what goes to the disk") {
  Json runs[2];
  for (int i = 0; i < 2; ++i)
    runs[i] = json_of(dd({"--platform=th1520", i ? "--timing=lt" : "--timing=at", "--cqe=on"},
                         {"if=/dev/mmcblk0", "of=/dev/mmcblk0p1", "bs=256k", "count=32", "conv=fsync"}));
  for (const char* name : {"read_bytes", "write_bytes", "flush_ios"})
    CHECK(runs[0]["disk_util"][0][name] == runs[1]["disk_util"][0][name]);
  CHECK(seconds(runs[0]) == Approx(seconds(runs[1])).epsilon(0.02));
}

TEST_CASE("two runs of one command give the same bytes") {
  const std::vector<std::string> operands = {"if=/dev/mmcblk0", "of=f", "bs=100000", "count=20",
                                             "oflag=dsync"};
  CHECK(dd({"--platform=generic"}, operands).out == dd({"--platform=generic"}, operands).out);
}

TEST_CASE("what dd wrote is in the image, zeros over what was there") {
  const Scratch s;
  const std::string image = "--image=" + s.file("disk.img");
  json_of(dd({"--platform=generic", image}, {"if=/dev/mmcblk0p1", "of=/dev/mmcblk0", "bs=64k", "count=4"}));
  const std::string first = slurp(s.file("disk.img"));
  REQUIRE(first.size() == 262144);
  // word 0 of block b is 0x9E3779B97F4A7C15 * (64 b + 1); partition 1 begins at block 8192
  std::uint64_t word = 0;
  std::memcpy(&word, first.data(), 8);
  CHECK(word == 0x9E37'79B9'7F4A'7C15ull * (64 * 8192 + 1));
  json_of(dd({"--platform=generic", image}, {"if=/dev/zero", "of=/dev/mmcblk0", "bs=1000", "count=100"}));
  const std::string second = slurp(s.file("disk.img"));
  CHECK(second.substr(0, 100'000) == std::string(100'000, '\0'));
  CHECK(second.substr(100'000) == first.substr(100'000));
}

TEST_CASE("buffered fio goes through the page cache and verifies") {
  const Json r = json_of(fio({"--platform=generic"},
                             {"--direct=0", "--rw=randwrite", "--bs=3k", "--size=3M", "--verify=crc32c"}));
  CHECK(r["emmc-vp"]["verify_errors"] == 0);
  CHECK(os(r)["ios"]["left_dirty_bytes"].get<std::uint64_t>() <= 16u << 20);
  const Json s = json_of(fio({"--platform=generic"}, {"--direct=0", "--rw=read", "--bs=4k", "--size=8M"}));
  // fio's advice doubles the window to 64 pages: 4, 8, 16, 32, then 64 from page 60 on. The last of the 2048 pages lies in
  // the window from 60 + 31 x 64 = 2044 on, whose mark sets off one more.
  CHECK(os(s)["read_ahead"]["sync_windows"] == 1);
  CHECK(os(s)["read_ahead"]["async_windows"] == 3 + 32 + 1);
}

TEST_CASE("a fault on the wire costs a retry and no data, and one that stays fails the copy") {
  const Json r = json_of(dd({"--platform=generic", "-p", "mmc_bus.faults=read_crc:cmd=18:block=3:skip=2"},
                            {"if=/dev/mmcblk0", "of=f", "bs=64k", "count=16", "oflag=sync"}));
  CHECK(counter(r, "sdhci.error_interrupts") >= 1);
  CHECK(r["dd"]["bytes"] == 16 * 65536);
  const Outcome o = dd({"--platform=generic", "-p", "mmc_bus.faults=write_crc:cmd=25:count=1000000"},
                       {"if=/dev/zero", "of=f", "bs=64k", "count=4", "oflag=sync"});
  CHECK(o.status == 1);
  CHECK(o.err.find("I/O") != std::string::npos);
}

TEST_CASE("bad operands and parameters end with status 2 and one line") {
  const std::vector<std::vector<std::string>> bad = {
      {"dd", "--", "if=/dev/zero", "of=f"},
      {"dd", "--", "if=/dev/zero", "of=f", "bs=1M", "count=5", "oflag=snyc"},
      {"dd", "--", "if=/dev/zero", "of=f", "bs=1000", "count=5", "oflag=direct"},
      {"dd", "--", "if=/dev/zero", "of=f", "bs=1M", "count=999999"},
      {"dd", "--", "if=/dev/zero", "of=f", "conv=sparse", "count=1"},
      {"dd", "--", "--if=/dev/zero", "of=f", "count=1"},
      {"dd", "-p", "os.read_ahead_kib=16384", "--", "if=f", "of=/dev/null"},
      {"dd", "-p", "os.dirty_limit_bytes=64M", "--", "if=f", "of=/dev/null"},
      {"dd", "-p", "os.file_bytes=64G", "--", "if=f", "of=/dev/null"},
      {"dd", "-p", "os.read_ahaed_kib=64", "--", "if=f", "of=/dev/null"},
      {"dd", "if=/dev/zero"},
  };
  for (const auto& args : bad) {
    const Outcome o = run(args);
    INFO(args.back() << ": " << o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  }
}
