// `emmc-vp run` through real child processes.
#include <algorithm>

#include "sc_tests/system/program.hpp"

using namespace vp::test;

namespace {

const std::string kTiny =
    "description = \"two sizes\"\n"
    "platform = \"generic\"\n"
    "timing = \"lt\"\n"
    "[workload]\nrw = \"randread\"\nsize = \"1M\"\nio_size = \"64k\"\ndirect = true\n"
    "[[sweep]]\nname = \"link\"\n[sweep.settings.full]\n[sweep.settings.narrow]\ndriver.max_mode = "
    "\"hs52\"\ndriver.bus_width = 1\n"
    "[[sweep]]\nkey = \"workload.bs\"\nvalues = [\"4k\", \"16k\", \"64k\"]\n"
    "[analysis]\nkind = \"linear\"\naxis = \"bs\"\nby = \"link\"\nbaseline = \"full\"\n";

std::string written(const Scratch& s, const std::string& text) {
  const std::string file = s.file("tiny.toml");
  std::ofstream(file) << text;
  return file;
}

}  // namespace

TEST_CASE("a sweep's points are runs of their own, in the sweep's order, whatever runs at once") {
  const Scratch s;
  const std::string file = written(s, kTiny);
  const Outcome one = run({"run", file, "--jobs=1", "--output-format=json"});
  const Outcome four = run({"run", file, "--jobs=4", "--output-format=json"});
  const Json r = json_of(one);
  CHECK(one.out == four.out);
  REQUIRE(r["points"].size() == 6);
  const unsigned requests[] = {16, 4, 1};  // 64 KiB in blocks of 4, 16 and 64 KiB
  for (std::size_t i = 0; i < 6; ++i) {
    const Json& p = r["points"][i];
    CHECK(p["parameters"]["link"] == (i < 3 ? "full" : "narrow"));
    CHECK(p["parameters"]["bs"] == std::vector<std::string>{"4k", "16k", "64k"}[i % 3]);
    CHECK(p["metrics"]["requests"] == requests[i % 3]);
    CHECK(p["metrics"]["check.payload_bytes"] == 65536);
    CHECK(p["metrics"]["exit_status"] == 0);
    CHECK(p["verdict"].contains("cause"));
    CHECK(p["verdict"].contains("evidence"));
    CHECK(p["command"].get<std::string>().rfind("emmc-vp fio ", 0) == 0);
  }
  // High speed asks for 52 MHz and gets 200 MHz / 4 = 50 MHz. One line moves a bit per clock: a block's frame is
  // 1 + 4096 + 16 + 1 = 4114 clocks, and 8 clocks lie between blocks.
  const Json& rows = r["analysis"][0]["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[1]["slope_ns_per_byte"].get<double>() == Approx((4114 + 8) / 50e6 / 512 * 1e9).epsilon(0.01));
  CHECK(rows[1]["verdict"]["cause"] == "link_rate");
}

TEST_CASE("a point's command is the run it was") {
  const Scratch s;
  const Json r =
      json_of(run({"run", written(s, kTiny), "--only=bs=16k", "--only=link=full", "--output-format=json"}));
  REQUIRE(r["points"].size() == 1);
  std::vector<std::string> words;
  std::istringstream in(r["points"][0]["command"].get<std::string>());
  for (std::string w; in >> w;) words.push_back(w);
  words.erase(words.begin());  // "emmc-vp"
  const Json alone = json_of(run(words));
  CHECK(alone["jobs"][0]["read"]["clat_ns"]["mean"].get<double>() / 1e3 ==
        Approx(r["points"][0]["metrics"]["clat_mean_us"].get<double>()));
}

TEST_CASE(
    "a point that breaks a hardware rule keeps its status and its one line, and the others their numbers") {
  const Scratch s;
  const std::string text =
      "platform = \"generic\"\ntiming = \"lt\"\n"
      "workload = \"--name=a --rw=randread --direct=1 --bs=8k --size=1M --io_size=64k\"\n"
      "[parameters]\ndriver.buffer_base = 0x4FFFF000\n"
      "[[sweep]]\nkey = \"driver.split_128m\"\nname = \"split\"\nvalues = [true, false]\n";
  const Outcome o = run({"run", written(s, text), "--output-format=json"});
  CHECK(o.status == 3);
  CHECK(o.err.find("1 of 2 point(s) failed, the first: emmc-vp: 1 hardware rule(s) broken") !=
        std::string::npos);
  const Json r = Json::parse(o.out);
  CHECK(r["points"][0]["metrics"]["exit_status"] == 0);
  CHECK(r["points"][0]["metrics"]["findings"] == 0);
  CHECK(r["points"][1]["metrics"]["exit_status"] == 3);
  CHECK(r["points"][1]["metrics"]["finding.dma.crosses_128m"] ==
        8);  // 64 KiB / 8 KiB, each across 0x5000_0000
  CHECK(r["points"][1]["error"].get<std::string>().find("0x50000000") != std::string::npos);
  CHECK(run({"run", written(s, "expect = [0, 3]\n" + text)}).status == 0);
}

TEST_CASE("bad input to run is one line and exit 2, before any point runs, and leaves no file") {
  const Scratch s;
  const std::string out = s.file("result.json");
  const Outcome o =
      run({"run", written(s, kTiny + "[parameters]\nsdhci.fifo_byts = 4096\n"), "--output=" + out});
  CHECK(o.status == 2);
  CHECK(o.err.find("tiny.toml:24: ") != std::string::npos);
  CHECK(o.err.find("sdhci.fifo_bytes") != std::string::npos);
  CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
  CHECK_FALSE(std::filesystem::exists(out));
  CHECK(run({"run", "no-such"}).status == 2);
  CHECK(run({"run"}).status == 2);
  CHECK(run({"run", "cqe-slow", "--jobs=0"}).status == 2);
  CHECK(run({"run", "cqe-slow", "--vcd=x"}).status == 2);
  CHECK(run({"run", "cqe-slow", "--trace=x"}).status == 2);
  CHECK(run({"fio", "--jobs=2", "--", "--name=a"}).status == 2);
}
