// Presets, parts and the platform's own command line.
#include "platform/config.hpp"

#include "platform/options.hpp"
#include "platform/param_table.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

struct Small {
  std::uint64_t fifo = 4096, die = 2;
  double t_read = 50, clock = 200e6;
  bool ddr = false;
  std::string mode = "ok";
  ParamRegistry registry;
  Small() {
    registry.add("sdhci.fifo_bytes", fifo, "bytes", 512, 65536, "host FIFO");
    registry.add("nand.dies", die, "", 1, 16, "dies");
    registry.add("nand.t_read_us", t_read, "us", 1, 1000, "t_R");
    registry.add("sdhci.clock_hz", clock, "Hz", 1e5, 3e8, "card clock");
    registry.add("sdhci.ddr", ddr, "double data rate");
    registry.add("sdhci.cross", mode, {"ok", "wrap", "stall"}, "128 MiB");
  }
};

ConfigSource files(std::vector<std::pair<const char*, const char*>> list) {
  ConfigSource source;
  for (const auto& [name, text] : list) source.files.push_back({name, text});
  return source;
}

std::string error_of(const ConfigSource& source, const std::string& preset = "x") {
  Small s;
  try {
    load_preset(s.registry, preset, source);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

std::string error_in(const char* text) { return error_of(files({{"platform/presets/x.toml", text}})); }

std::string option_error(const std::vector<std::string>& args) {
  try {
    parse_options(args);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a preset takes its parents, then its part, then its own values") {
  Small s;
  const ConfigSource source =
      files({{"platform/presets/generic.toml",
              "description = \"base\"\nsdhci.fifo_bytes = 1024\nnand.dies = 8\nsdhci.ddr = true\n"},
             {"platform/parts/mlc.toml",
              "description = \"part\"\n[nand]\ndies = { value = 4, kind = \"datasheet\", source = \"table "
              "3\" }\nt_read_us = 60.5\n"},
             {"platform/presets/x.toml",
              "description = \"mine\"\ninherits = \"generic\"\npart = \"mlc\"\n[sdhci]\nfifo_bytes = { value "
              "= \"2K\", kind = "
              "\"fitted\", source = \"row off\" }\nclock_hz = 198e6\n"}});
  const LoadedPreset loaded = load_preset(s.registry, "x", source);
  CHECK(loaded.description == "mine");
  CHECK(loaded.part == "mlc");
  CHECK(s.fifo == 2048);
  CHECK(s.die == 4);
  CHECK(s.t_read == 60.5);
  CHECK(s.clock == 198e6);
  CHECK(s.ddr);
  CHECK(s.registry.find("sdhci.fifo_bytes")->kind == ParamKind::fitted);
  CHECK(s.registry.find("sdhci.fifo_bytes")->source == "row off");
  CHECK(s.registry.find("nand.dies")->kind == ParamKind::datasheet);
  CHECK(s.registry.find("nand.t_read_us")->kind == ParamKind::choice);
  CHECK(s.registry.find("sdhci.cross")->kind == ParamKind::default_value);
}

TEST_CASE("a wrong preset names file, line, key and the nearest valid word") {
  const std::string at = "platform/presets/x.toml:2: ";
  CHECK(error_in("description = \"d\"\nsdhci.fifo_byts = 1\n") ==
        at + "unknown parameter 'sdhci.fifo_byts': did you mean 'sdhci.fifo_bytes'? (emmc-vp params lists "
             "them)");
  CHECK(error_in("[nand]\ndies = 99\n") == at + "nand.dies = 99: must be 1 to 16");
  CHECK(error_in("[sdhci]\ncross = \"warp\"\n") ==
        at + "sdhci.cross = warp: must be one of ok, wrap, stall; did you mean 'wrap'?");
  CHECK(error_in("[nand]\ndies = { value = 4, kind = \"guess\" }\n")
            .find(at + "nand.dies: kind = guess: must be one of datasheet, "
                       "register, fitted, choice") == 0);
  CHECK(error_in("[nand]\ndies = { value = 4, sauce = \"x\" }\n") ==
        at + "nand.dies: unknown field 'sauce': did you mean 'source'?");
  CHECK(error_in("\npart = \"mcl\"\n").find(at + "unknown part 'mcl'") == 0);
  CHECK(error_in("[nand]\ndies = [1, 2]\n") ==
        at + "nand.dies: must be a number, a word or true/false, or a table with value, kind and source");
}

TEST_CASE("text that is not TOML is refused with file and line") {
  const std::string text = error_in("[nand]\ndies = = 4\n");
  CHECK(text.rfind("platform/presets/x.toml:2: not valid TOML: ", 0) == 0);
  CHECK(text.find('\n') == std::string::npos);
  CHECK(error_in("[nand]\ndies = 4\ndies = 5\n").find('\n') == std::string::npos);
}

TEST_CASE("an unknown preset names the nearest, a circle is an error") {
  const ConfigSource source =
      files({{"platform/presets/th1520.toml", ""}, {"platform/presets/generic.toml", ""}});
  CHECK(error_of(source, "th1502") ==
        "emmc-vp: --platform=th1502: unknown preset 'th1502': did you mean 'th1520'? (there are th1520, "
        "generic)");
  CHECK(error_of(source, "./none.toml") ==
        "./none.toml: cannot read the preset (No such file or directory): check the name");
  CHECK(error_in("inherits = \"x\"\n").find("break the circle") != std::string::npos);
}

TEST_CASE("an override by -p beats the preset and the last one wins") {
  Small s;
  load_preset(s.registry, "x", files({{"platform/presets/x.toml", "nand.dies = 8\n"}}));
  apply_overrides(s.registry, {"nand.dies=4", "nand.dies=16", "sdhci.fifo_bytes=8K"});
  CHECK(s.die == 16);
  CHECK(s.fifo == 8192);
  CHECK(s.registry.find("nand.dies")->kind == ParamKind::user);
  CHECK_THROWS_WITH(
      apply_overrides(s.registry, {"nand.dyes=4"}),
      "-p: unknown parameter 'nand.dyes': did you mean 'nand.dies'? (emmc-vp params lists them)");
}

TEST_CASE("params lists every parameter with value, range, origin and doc") {
  Small s;
  const LoadedPreset preset = load_preset(
      s.registry, "x",
      files(
          {{"platform/presets/x.toml", "nand.dies = { value = 8, kind = \"fitted\", source = \"row\" }\n"}}));
  const Json json = params_json(s.registry, preset);
  CHECK(json["parameters"].size() == 6);
  CHECK(json["parameters"][1] == Json{{"key", "nand.dies"},
                                      {"value", 8},
                                      {"unit", ""},
                                      {"default", "2"},
                                      {"kind", "fitted"},
                                      {"source", "row"},
                                      {"range", "1..16"},
                                      {"doc", "dies"}});
  const Json changed = changed_params_json(s.registry);
  CHECK(changed.size() == 1);
  CHECK(changed["nand.dies"]["value"] == 8);
  const std::string text = params_text(s.registry, preset);
  CHECK(std::count(text.begin(), text.end(), '\n') == 8);  // title, header, six rows
}

TEST_CASE("list shows presets with their descriptions") {
  const ConfigSource source = files({{"platform/presets/b.toml", "description = \"second\""},
                                     {"platform/presets/a.toml", "description = \"first\""},
                                     {"platform/parts/p.toml", ""}});
  CHECK(list_text(source) == "presets\n  a  first\n  b  second\n\nparts\n  p\n\nscenarios\n  none\n");
  CHECK(list_json(source)["presets"][1]["name"] == "b");
}

TEST_CASE("the command line splits at -- and reads every platform option") {
  const Options o =
      parse_options({"fio", "--platform=th1520", "--cqe=off", "--timing=lt", "-p", "a.b=1", "-p", "a.b=2",
                     "--output-format=json", "--output=r.json", "--vcd=w.vcd", "--vcd-window=requests:0..3",
                     "--explain", "--seed=7", "--quiet", "--image=i.img", "--", "--name=x", "--cqe=bogus"});
  CHECK(o.command == Command::fio);
  CHECK(o.platform == "th1520");
  CHECK(o.cqe == false);
  CHECK(o.timing == TimingStyle::lt);
  CHECK(o.overrides == std::vector<std::string>{"a.b=1", "a.b=2"});
  CHECK(o.output_format == OutputFormat::json);
  CHECK(o.output == "r.json");
  CHECK(o.vcd == "w.vcd");
  REQUIRE(o.vcd_window);
  CHECK(o.vcd_window->by == VcdWindow::By::requests);
  CHECK(o.vcd_window->first == 0);
  CHECK(o.vcd_window->last == 3);
  CHECK(o.explain);
  CHECK(o.seed == 7);
  CHECK(o.quiet);
  CHECK(o.image == "i.img");
  CHECK(o.rest == std::vector<std::string>{"--name=x", "--cqe=bogus"});
  CHECK_FALSE(parse_options({"fio"}).cqe);
}

TEST_CASE("a waveform window may be given in time") {
  const Options o = parse_options({"fio", "--vcd=w.vcd", "--vcd-window=time:10us..2ms"});
  CHECK(o.vcd_window->by == VcdWindow::By::time);
  CHECK(o.vcd_window->first == 10'000'000);  // ps
  CHECK(o.vcd_window->last == 2'000'000'000);
  CHECK(option_error({"fio", "--vcd=w", "--vcd-window=time:10..20"}) ==
        "emmc-vp: --vcd-window=time:10..20: '10' is not a time: write for example 10us");
  CHECK(option_error({"fio", "--vcd=w", "--vcd-window=requests:5..2"}) ==
        "emmc-vp: --vcd-window=requests:5..2: ends before it begins: swap the two");
  CHECK(option_error({"fio", "--vcd=w", "--vcd-window=blocks:1..2"}) ==
        "emmc-vp: --vcd-window=blocks:1..2: write requests:A..B or time:10us..20us");
  CHECK(option_error({"fio", "--vcd-window=requests:1..2"}) ==
        "emmc-vp: --vcd-window=requests:1..2: needs --vcd=FILE to write to");
}

TEST_CASE("a wrong platform option says what and how to mend") {
  CHECK(option_error({"fio", "--platfrom=x"}) ==
        "emmc-vp: unknown option '--platfrom=x': did you mean '--platform'? (options of fio itself go after "
        "--)");
  CHECK(option_error({"fio", "--rw=read"}).find("options of fio itself go after --") != std::string::npos);
  CHECK(option_error({"foi"}) == "emmc-vp: unknown command 'foi': did you mean 'fio'?");
  CHECK(option_error({}).find("emmc-vp: no command: say one of fio, dd") == 0);
  CHECK(option_error({"fio", "--cqe=maybe"}) ==
        "emmc-vp: --cqe=maybe: must be one of on, off; did you mean 'on'?");
  CHECK(option_error({"fio", "--seed=abc"}) == "emmc-vp: --seed=abc: 'abc' is not a whole number");
  CHECK(option_error({"fio", "-p", "novalue"}) ==
        "emmc-vp: -p novalue: write -p KEY=VALUE (emmc-vp params lists the keys)");
  CHECK(option_error({"params", "--", "x"}) == "emmc-vp params: takes nothing after --: leave 'x' out");
  CHECK(option_error({"fio", "job.fio"}) ==
        "emmc-vp fio: unexpected 'job.fio': the front end's own words go after --");
  for (const char* command : {"iozone", "validate", "decode"})
    CHECK(option_error({command}) ==
          std::string("emmc-vp ") + command + ": not in this version yet: use emmc-vp fio");
  CHECK(option_error({"fio", "--cpu=rv64"}) ==
        "emmc-vp: --cpu=rv64: not in this version yet: use --cpu=native");
  CHECK(option_error({"fio", "--platform"}).find("emmc-vp: ") == 0);
}
