// Scenario files: what they say, the order they unfold in, and one line for every mistake.
#include "platform/platform_choice.hpp"
#include "platform/scenario.hpp"
#include "platform/scenario_sweep.hpp"
#include "platform/session.hpp"
#include "sc_tests/catch.hpp"

using namespace vp;

namespace {

const std::string kWorkload = "workload = \"--name=a --rw=randread\"\n";

Scenario scenario(const std::string& text) { return parse_scenario("s.toml", text); }

std::string error_of(const std::string& text) {
  try {
    scenario(text);
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

Options run_options(const std::vector<std::string>& words = {}) {
  std::vector<std::string> args = {"run", "s.toml"};
  args.insert(args.end(), words.begin(), words.end());
  return parse_options(args);
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
  return out;
}

std::string check_error(const std::string& text) {
  const Scenario s = scenario(text);
  try {
    check_points(s, expand(s, run_options()), make_machine, ConfigSource::embedded());
  } catch (const InputError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a workload table becomes a job whose name comes first, a string is split like a command line") {
  CHECK(
      joined(scenario(
                 "[workload]\nrw = \"randread\"\nbs = \"4k\"\ndirect = true\nreadonly = true\nname = \"j\"\n")
                 .workload) == "--name=j --rw=randread --bs=4k --direct=1 --readonly");
  CHECK(joined(scenario("[workload]\nrw = \"read\"\n").workload) == "--name=job --rw=read");
  const auto words = scenario("workload = \"fio --name='a b' --rw=read\"\n").workload;
  CHECK(words == std::vector<std::string>{"--name=a b", "--rw=read"});
  CHECK(error_of("workload = \"--name='a\"\n").find("s.toml:1: workload: a quote ' is not closed") == 0);
}

TEST_CASE("axes unfold in the order of the file, the last one fastest") {
  const Scenario s =
      scenario(kWorkload +
               "[[sweep]]\nkey = \"workload.bs\"\nvalues = [\"4k\", \"1M\"]\n"
               "[[sweep]]\nname = \"setting\"\n[sweep.settings.zebra]\nsdhci.fifo_bytes = 1024\n"
               "[sweep.settings.ant]\n[sweep.settings.\"b c\"]\nsdhci.fifo_bytes = 2048.0\ncqe = false\n");
  const auto points = expand(s, run_options());
  REQUIRE(points.size() == 6);
  std::string order;
  for (const Point& p : points)
    order += p.parameters["bs"].get<std::string>() + "/" + p.parameters["setting"].get<std::string>() + " ";
  CHECK(order == "4k/zebra 4k/ant 4k/b c 1M/zebra 1M/ant 1M/b c ");
  CHECK(joined(points[2].arguments) ==
        "fio --quiet --cqe=off -p sdhci.fifo_bytes=2048 --output-format=json -- --bs=4k --name=a "
        "--rw=randread");
  CHECK(points[0].index == std::vector<std::size_t>{0, 0});
  CHECK(points[5].index == std::vector<std::size_t>{1, 2});
}

TEST_CASE("a scenario without axes is one point") {
  CHECK(expand(scenario(kWorkload), run_options()).size() == 1);
}

TEST_CASE("an axis wins over the command line, which wins over the scenario") {
  const Scenario s = scenario("platform = \"rk3588\"\ntiming = \"at\"\n" + kWorkload +
                              "[parameters]\nsdhci.fifo_bytes = 512\n"
                              "[[sweep]]\nkey = \"sdhci.fifo_bytes\"\nvalues = [4096]\n");
  const auto points =
      expand(s, run_options({"--platform=th1520", "-p", "sdhci.fifo_bytes=1024", "--seed=7"}));
  CHECK(joined(points.at(0).arguments) ==
        "fio --quiet --platform=th1520 --timing=at --seed=7 -p sdhci.fifo_bytes=512 -p sdhci.fifo_bytes=1024 "
        "-p sdhci.fifo_bytes=4096 --output-format=json -- --name=a --rw=randread");
}

TEST_CASE("the option --only keeps the points of a value, in the sweep's order") {
  const Scenario s = scenario(kWorkload + "[[sweep]]\nkey = \"workload.iodepth\"\nvalues = [1, 2, 4]\n");
  const auto points = expand(s, run_options({"--only", "iodepth=4", "--only=iodepth=1"}));
  REQUIRE(points.size() == 2);
  CHECK(points[0].parameters["iodepth"] == 1);
  CHECK(points[1].parameters["iodepth"] == 4);
  CHECK_THROWS_WITH(expand(s, run_options({"--only=iodepht=4"})),
                    "emmc-vp run: --only=iodepht=4: did you mean 'iodepth=4'?");
  CHECK_THROWS_WITH(expand(s, run_options({"--only=iodepth=3"})),
                    "emmc-vp run: --only=iodepth=3: did you mean 'iodepth=1'?");
}

TEST_CASE("a fio option is replaced where it stands, and a new one goes before the first job") {
  std::vector<std::string> words = {"--name=a", "--bs", "4k", "--name=b", "--bs=8k"};
  set_fio_word(words, "bs", "1M");
  CHECK(joined(words) == "--name=a --bs=1M --name=b --bs=1M");
  set_fio_word(words, "iodepth", "4");
  CHECK(joined(words) == "--iodepth=4 --name=a --bs=1M --name=b --bs=1M");
}

TEST_CASE("every mistake in a scenario is one line with file, line and remedy") {
  struct Row {
    std::string text, error;
  };
  const std::string axis = kWorkload + "[[sweep]]\nkey = \"workload.bs\"\nvalues = [\"4k\", \"8k\"]\n";
  const Row rows[] = {
      {"worklaod = 1\n", "s.toml:1: unknown key 'worklaod': did you mean 'workload'?"},
      {kWorkload + "cqe = \n", "s.toml:2: not valid TOML: "},
      {"platform = \"x\"\n", "s.toml: workload: missing: "},
      {kWorkload + "[[sweep]]\nname = \"a\"\n", "s.toml:2: sweep: needs either key and values, or settings"},
      {kWorkload + "[[sweep]]\nkey = \"a\"\nvalues = []\n",
       "s.toml:4: sweep.values: must be a list of values, not empty"},
      {kWorkload + "[[sweep]]\nkey = \"a\"\nvalues = [1, 1]\n",
       "s.toml:2: sweep: '1' is there twice on axis a"},
      {axis + "[[sweep]]\nkey = \"workload.bs\"\nvalues = [\"4k\"]\n",
       "s.toml:5: sweep.name: 'bs' is there twice"},
      {axis + "[analysis]\nkind = \"liner\"\n", "s.toml:6: unknown analysis 'liner': did you mean 'linear'?"},
      {axis + "[analysis]\nkind = \"knee\"\naxis = \"sb\"\n",
       "s.toml:5: analysis.axis: there is no axis 'sb': did you mean 'bs'?"},
      {axis + "[analysis]\nkind = \"linear\"\naxis = \"bs\"\nby = \"bs\"\nbaseline = \"4K\"\n",
       "s.toml:5: analysis.baseline: axis bs has no '4K': did you mean '4k'?"},
      {axis + "[[measured]]\nname = \"m\"\nmetric = \"iops\"\nvalue = 1\nat = { bs = \"9k\" }\n",
       "s.toml:5: measured.at.bs: axis bs has no '9k': did you mean '"},
      {axis + "[measured]\nname = \"m\"\n", "s.toml:5: measured: needs name, metric and value"},
      {kWorkload + "expect = [7]\n", "s.toml:2: expect: an exit status is 0 to 4"},
  };
  for (const Row& r : rows) {
    INFO(r.text);
    const std::string error = error_of(r.text);
    CHECK(error.substr(0, r.error.size()) == r.error);
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("keys and values of every point are read before the first one runs") {
  const std::string sweep = "[[sweep]]\nkey = \"sdhci.fifo_bytes\"\nvalues = [4096, 7]\n";
  CHECK(check_error("platform = \"generic\"\n" + kWorkload + sweep).find("s.toml:5: sdhci.fifo_bytes") == 0);
  CHECK(check_error(kWorkload + "[parameters]\nsdhci.fifo_byte = 1\n").find("s.toml:3: ") == 0);
  CHECK(check_error("platform = \"th1502\"\n" + kWorkload).find("s.toml:1: ") == 0);
  CHECK(check_error("part = \"mlc-33g\"\n" + kWorkload)
            .find("s.toml:1: emmc-vp: --part=mlc-33g: unknown part 'mlc-33g': did you mean 'mlc-32g'?") == 0);
  CHECK(check_error(kWorkload + "[[sweep]]\nkey = \"workload.bs\"\nvalues = [\"4k\", \"4q\"]\n")
            .find("s.toml:4: workload.bs: fio: --bs=4q") == 0);
  CHECK(check_error("workload = \"--name=a --rw=read --output=x\"\n")
            .find("s.toml:1: workload: output and output-format belong to emmc-vp run") == 0);
  CHECK(check_error("cqe = \"maybe\"\n" + kWorkload).find("no error") == std::string::npos);
  CHECK(check_error(kWorkload) == "no error");
}

TEST_CASE(
    "the scenarios that are built in can be read, and every value of theirs that is here today is valid") {
  const ConfigSource source = ConfigSource::embedded();
  const auto names = list_config(source, "scenarios");
  CHECK(names.size() >= 3);
  for (const ConfigEntry& e : names) {
    INFO(e.name);
    CHECK_FALSE(e.description.empty());
    CHECK(load_scenario(e.name, source).name == e.name);
  }
  CHECK_THROWS_WITH(load_scenario("cqe-slwo", source),
                    Catch::Contains("unknown scenario 'cqe-slwo': did you mean 'cqe-slow'?"));
}

TEST_CASE("another part stands in the place of the preset's own and nothing of the old one stays") {
  const ConfigSource source{
      {{"platform/presets/p.toml", "part = \"old\"\nsdhci.fifo_bytes = 1024\nnand.dies = 1\n"},
       {"platform/parts/old.toml", "nand.channels = 2\nnand.t_r_lsb_us = 99\n"},
       {"platform/parts/new.toml", "nand.dies = 4\n"}}};
  const auto machine = make_machine();
  ParamRegistry registry;
  machine->declare(registry);
  const std::string channels = registry.find("nand.channels")->value_text(),
                    t_r = registry.find("nand.t_r_lsb_us")->value_text();
  Options options;
  options.platform = "p";
  options.part = "new";
  const LoadedPreset loaded = load_platform(registry, options, source);
  CHECK(loaded.part == "new");
  CHECK(registry.find("nand.dies")->value_text() == "4");
  CHECK(registry.find("sdhci.fifo_bytes")->value_text() == "1024");
  CHECK(registry.find("nand.channels")->value_text() == channels);
  CHECK(registry.find("nand.t_r_lsb_us")->value_text() == t_r);
}
