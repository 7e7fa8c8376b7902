#include "models/core/trace.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

sc_time ps(std::uint64_t v) { return sc_time::from_value(v); }

std::string slurp(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::stringstream s;
  s << in.rdbuf();
  return s.str();
}

/// A fresh directory of this test case.
struct Scratch {
  std::filesystem::path dir;
  explicit Scratch(const std::string& name)
      : dir(std::filesystem::temp_directory_path() /
            ("vp_trace_" + name + "_" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(dir);
  }
  ~Scratch() { std::filesystem::remove_all(dir); }
  std::string file(const std::string& name) const { return (dir / name).string(); }
};

const std::string kHeader =
    "$version emmc-vp $end\n"
    "$timescale 1 ps $end\n"
    "$scope module host $end\n"
    "$var wire 1 ! irq $end\n"
    "$var wire 8 \" level [7:0] $end\n"
    "$scope module dma $end\n"
    "$var string 1 # state $end\n"
    "$upscope $end\n"
    "$upscope $end\n"
    "$scope module card $end\n"
    "$var real 64 $ mhz $end\n"
    "$upscope $end\n"
    "$enddefinitions $end\n";

struct Signals {
  SignalId irq, level, state, mhz;
  explicit Signals(Trace& t)
      : irq(t.add_vector("host.irq", 1)),
        level(t.add_vector("host.level", 8, 3)),
        state(t.add_state("host.dma.state", "idle")),
        mhz(t.add_real("card.mhz", 0.4)) {}
};

/// The part after the header.
std::string body(const std::string& vcd) {
  REQUIRE(vcd.substr(0, kHeader.size()) == kHeader);
  return vcd.substr(kHeader.size());
}

}  // namespace

TEST_CASE("a waveform has every kind of signal in its scope and starts with their values") {
  Scratch scratch("kinds");
  Trace t;
  const Signals s(t);
  t.open(scratch.file("a.vcd"));
  t.change(s.irq, ps(10), 1);
  t.change(s.level, ps(10), 0x105);  // 8 bits: 0x05
  t.change_state(s.state, ps(20), "fetch descriptor");
  t.change_real(s.mhz, ps(30), 200);
  t.change(s.level, ps(40), 5);  // redundant
  t.close(ps(50));
  CHECK(body(slurp(scratch.file("a.vcd"))) ==
        "#0\n$dumpvars\n0!\nb11 \"\nsidle #\nr0.4 $\n$end\n"
        "#10\n1!\nb101 \"\n"
        "#20\nsfetch_descriptor #\n"
        "#30\nr200 $\n"
        "#50\n");
  CHECK_FALSE(std::filesystem::exists(scratch.file("a.vcd.tmp")));
}

TEST_CASE("changes stamped in the future are written in order of time, then of arrival") {
  Scratch scratch("future");
  Trace t;
  const Signals s(t);
  t.open(scratch.file("a.vcd"));
  t.change(s.level, ps(300), 30);
  t.change(s.level, ps(100), 10);
  t.change(s.irq, ps(200), 1);
  t.flush(ps(200));                // 100 is due, 200 is not before 200
  t.change(s.level, ps(150), 15);  // still in time: nothing later is written
  t.change(s.level, ps(300), 31);
  t.flush(ps(400));
  t.close(ps(400));
  CHECK(body(slurp(scratch.file("a.vcd"))) ==
        "#0\n$dumpvars\n0!\nb11 \"\nsidle #\nr0.4 $\n$end\n"
        "#100\nb1010 \"\n#150\nb1111 \"\n#200\n1!\n#300\nb11110 \"\nb11111 \"\n#400\n");
  CHECK(t.late_changes() == 0);
}

TEST_CASE("a change that comes too late is written at the earliest time and counted") {
  Scratch scratch("late");
  Trace t;
  const Signals s(t);
  t.open(scratch.file("a.vcd"));
  t.change(s.level, ps(300), 30);
  t.flush(ps(301));
  t.change(s.irq, ps(100), 1);
  t.close(ps(400));
  CHECK(body(slurp(scratch.file("a.vcd"))) ==
        "#0\n$dumpvars\n0!\nb11 \"\nsidle #\nr0.4 $\n$end\n#300\nb11110 \"\n1!\n#400\n");
  CHECK(t.late_changes() == 1);
}

TEST_CASE("windows limit a waveform and begin with the values that hold there") {
  Scratch scratch("window");
  Trace t;
  const Signals s(t);
  t.start_closed();
  t.open(scratch.file("a.vcd"));
  t.change(s.level, ps(50), 7);
  t.change(s.irq, ps(100), 1);
  t.change(s.level, ps(150), 8);
  t.change(s.level, ps(200), 9);  // the end belongs to the window
  t.change(s.level, ps(250), 10);
  t.change_state(s.state, ps(450), "run");
  t.window_begin(ps(100));
  t.window_end(ps(200));
  t.window_begin(ps(400));
  t.close(ps(500));
  CHECK(body(slurp(scratch.file("a.vcd"))) ==
        "#100\n$dumpvars\n1!\nb111 \"\nsidle #\nr0.4 $\n$end\n"
        "#150\nb1000 \"\n#200\nb1001 \"\n"
        "$dumpoff\nx!\nbx \"\ns- #\n$end\n"
        "#400\n$dumpon\n1!\nb1010 \"\nsidle #\nr0.4 $\n$end\n"
        "#450\nsrun #\n#500\n");
}

TEST_CASE("a window that the run ends in is closed at the end of the run") {
  Scratch scratch("open_window");
  Trace t;
  const Signals s(t);
  t.open(scratch.file("a.vcd"));
  t.window_begin(ps(100));  // limits the default, which is everything
  t.window_end(ps(900));
  t.change(s.irq, ps(50), 1);
  t.change(s.irq, ps(150), 0);
  t.close(ps(300));
  CHECK(body(slurp(scratch.file("a.vcd"))) ==
        "#100\n$dumpvars\n1!\nb11 \"\nsidle #\nr0.4 $\n$end\n#150\n0!\n#300\n");
}

TEST_CASE("two runs write byte-identical waveforms and memory stays bounded") {
  Scratch scratch("same");
  for (const char* name : {"a.vcd", "b.vcd"}) {
    Trace t;
    const Signals s(t);
    t.open(scratch.file(name));
    for (std::uint64_t i = 0; i < 200'000; ++i) {
      t.change(s.level, ps(i * 10 + (i * 7919) % 500), i);
      if (i % 1000 == 0) t.flush(ps(i * 10));
    }
    t.close(ps(3'000'000));
    CHECK(t.late_changes() == 0);
  }
  const std::string a = slurp(scratch.file("a.vcd"));
  CHECK(a.size() > 1'000'000);
  CHECK(a == slurp(scratch.file("b.vcd")));
}

TEST_CASE("the save file groups signals by block, with formats, at the first change") {
  Scratch scratch("gtkw");
  Trace t;
  const Signals s(t);
  t.add_vector("host.dma.address", 64);
  t.open(scratch.file("a.vcd"));
  t.change(s.irq, ps(1000), 1);
  t.close(ps(3000));
  const std::string g = slurp(scratch.file("a.gtkw"));
  // 2000 ps over 1000 pixels: zoom -log2(2) = -1
  CHECK(g.find("[dumpfile] \"a.vcd\"\n[timestart] 1000\n") == 0);
  CHECK(g.find("\n*-1.000000 1000 -1 ") != std::string::npos);
  CHECK(g.find("@800200\n-host\n@28\nhost.irq\n@24\nhost.level[7:0]\n@820\nhost.dma.state\n"
               "@22\nhost.dma.address[63:0]\n@1000200\n-host\n"
               "@800200\n-card\n@420\ncard.mhz\n@1000200\n-card\n") != std::string::npos);
}

TEST_CASE("a run that dies leaves no half-written waveform") {
  Scratch scratch("dies");
  {
    Trace t;
    const Signals s(t);
    t.open(scratch.file("a.vcd"));
    t.change(s.irq, ps(1), 1);
    CHECK(std::filesystem::exists(scratch.file("a.vcd.tmp")));
  }
  CHECK(std::filesystem::is_empty(scratch.dir));
  Trace t;
  CHECK_THROWS_AS(t.open(scratch.file("no/such/dir/a.vcd")), std::runtime_error);
}

TEST_CASE("signals may not be registered twice or with more than 64 bits") {
  Trace t;
  t.add_vector("a.b", 64);
  CHECK_THROWS_AS(t.add_real("a.b"), std::logic_error);
  CHECK_THROWS_AS(t.add_vector("a.c", 65), std::logic_error);
}

TEST_CASE("the readers of GTKWave accept a waveform") {
  if (std::system("command -v vcd2fst >/dev/null 2>&1 && command -v fst2vcd >/dev/null 2>&1") != 0) {
    WARN("vcd2fst is not installed: not checked");
    return;
  }
  Scratch scratch("reader");
  Trace t;
  const Signals s(t);
  t.start_closed();
  t.window_begin(ps(0));
  t.window_end(ps(100));
  t.window_begin(ps(400));
  t.open(scratch.file("a.vcd"));
  t.change(s.level, ps(50), 0xA5);
  t.change_state(s.state, ps(60), "run now");
  t.change_real(s.mhz, ps(450), 52.5);
  t.close(ps(500));
  REQUIRE(std::system(("vcd2fst " + scratch.file("a.vcd") + " " + scratch.file("a.fst") +
                       " >/dev/null && fst2vcd " + scratch.file("a.fst") + " > " + scratch.file("back.vcd"))
                          .c_str()) == 0);
  const std::string back = slurp(scratch.file("back.vcd"));
  CHECK(back.find("#50\nb10100101 ") != std::string::npos);
  CHECK(back.find("#60\nsrun_now ") != std::string::npos);
  CHECK(back.find("#450\nr52.5 ") != std::string::npos);
}
