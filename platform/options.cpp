#include "platform/options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <sstream>

#include "models/core/params.hpp"

#ifndef EMMC_VP_VERSION
#define EMMC_VP_VERSION "0.0.0"
#endif

namespace vp {
namespace po = boost::program_options;

namespace {

const std::vector<std::string>& commands() {
  static const std::vector<std::string> names = {"fio",    "dd",   "iozone", "run",  "validate",
                                                 "params", "list", "decode", "linux"};
  return names;
}

po::options_description platform_options() {
  po::options_description d("platform options");
  // clang-format off
  d.add_options()
    ("platform", po::value<std::string>()->value_name("PRESET"), "a preset (emmc-vp list), or the path of a TOML file")
    ("part", po::value<std::string>()->value_name("PART"), "a device part (emmc-vp list); as the preset says when not given")
    ("queue", po::value<std::string>()->value_name("MODE"), "none, software (the driver works the device's queue), cqe (the host's engine), hsq (two requests at the host); as the preset says when not given")
    ("cqe", po::value<std::string>()->value_name("on|off"), "the same as --queue=cqe or --queue=none")
    ("timing", po::value<std::string>()->value_name("at|lt"), "at: non-blocking, contention by event (default); lt: fast")
    ("page-size", po::value<std::string>()->value_name("4K|16K|64K"), "memory page: the same as -p driver.page_bytes")
    ("cpu", po::value<std::string>()->value_name("native|rv64"), "the core that runs the firmware")
    ("param,p", po::value<std::vector<std::string>>()->composing()->value_name("KEY=VALUE"), "sets a parameter (emmc-vp params); the last one wins")
    ("output-format", po::value<std::string>()->value_name("normal|json"), "of the report")
    ("output", po::value<std::string>()->value_name("FILE"), "writes the report to a file")
    ("vcd", po::value<std::string>()->value_name("FILE"), "writes waveforms, and a GTKWave save file beside them")
    ("trace", po::value<std::string>()->value_name("FILE"), "writes every command on the card bus and every fault, one line each")
    ("vcd-window", po::value<std::string>()->value_name("WINDOW"), "requests:A..B or time:10us..20us: the part to write")
    ("image", po::value<std::string>()->value_name("FILE"), "the medium: loaded when it exists, kept after the run")
    ("explain", po::bool_switch(), "adds where the time went: spans, stalls, utilisation, verdict")
    ("seed", po::value<std::string>()->value_name("N"), "of everything random (default 1)")
    ("jobs", po::value<std::string>()->value_name("N"), "run, validate: runs at once (default: one per core)")
    ("only", po::value<std::vector<std::string>>()->composing()->value_name("AXIS=VALUE"), "run: only the points with this value")
    ("kernel", po::value<std::string>()->value_name("DIR"), "linux: the guest kernel's folder (scripts/linux.sh makes it)")
    ("quiet", po::bool_switch(), "no progress, no logs")
    ("help,h", po::bool_switch(), "this text")
    ("version", po::bool_switch(), "the version");
  // clang-format on
  return d;
}

std::vector<std::string> option_names() {
  std::vector<std::string> names;
  const po::options_description described = platform_options();
  for (const auto& option : described.options()) names.push_back("--" + option->long_name());
  return names;
}

[[noreturn]] void bad_option(const std::string& name, const std::string& value, const std::string& remedy) {
  throw InputError(fmt::format("emmc-vp: --{}={}: {}", name, value, remedy));
}

std::string choice(const po::variables_map& map, const std::string& name,
                   const std::vector<std::string>& choices) {
  std::string value = map[name].as<std::string>();
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
  bad_option(name, value,
             fmt::format("must be one of {}; did you mean '{}'?", fmt::join(choices, ", "),
                         nearest_word(value, choices)));
}

std::uint64_t whole(const std::string& option, const std::string& value, const std::string& text) {
  std::uint64_t n = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (text.empty() || error != std::errc{} || rest != text.data() + text.size())
    bad_option(option, value, fmt::format("'{}' is not a whole number", text));
  return n;
}

std::uint64_t picoseconds(const std::string& value, const std::string& text) {
  static constexpr std::pair<const char*, std::uint64_t> kUnits[] = {
      {"ps", 1}, {"ns", 1'000}, {"us", 1'000'000}, {"ms", 1'000'000'000}, {"s", 1'000'000'000'000}};
  std::uint64_t n = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const std::string suffix(rest, text.data() + text.size());
  for (const auto& [unit, ps] : kUnits)
    if (error == std::errc{} && suffix == unit && n <= ~0ULL / ps) return n * ps;
  bad_option("vcd-window", value, fmt::format("'{}' is not a time: write for example 10us", text));
}

VcdWindow parse_window(const std::string& value) {
  const auto colon = value.find(':');
  const auto dots = value.find("..");
  const std::string kind = value.substr(0, colon);
  if (colon == std::string::npos || dots == std::string::npos || dots < colon ||
      (kind != "requests" && kind != "time"))
    bad_option("vcd-window", value, "write requests:A..B or time:10us..20us");
  const std::string first = value.substr(colon + 1, dots - colon - 1), last = value.substr(dots + 2);
  VcdWindow w;
  w.by = kind == "time" ? VcdWindow::By::time : VcdWindow::By::requests;
  const bool by_time = w.by == VcdWindow::By::time;
  w.first = by_time ? picoseconds(value, first) : whole("vcd-window", value, first);
  w.last = by_time ? picoseconds(value, last) : whole("vcd-window", value, last);
  if (w.last < w.first) bad_option("vcd-window", value, "ends before it begins: swap the two");
  return w;
}

/// The part before `--`, through Boost; an unknown word is our own error.
po::variables_map read_map(const std::vector<std::string>& args, std::vector<std::string>& positional) {
  const po::options_description described = platform_options();
  po::variables_map map;
  try {
    const po::parsed_options parsed =
        po::command_line_parser(args)
            .options(described)
            .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
            .allow_unregistered()
            .run();
    for (const auto& option : parsed.options)
      if (option.unregistered)
        throw InputError(fmt::format(
            "emmc-vp: unknown option '{}': did you mean '{}'? (options of fio itself go after --)",
            option.original_tokens.front(),
            nearest_word(option.original_tokens.front().substr(0, option.original_tokens.front().find('=')),
                         option_names())));
    positional = po::collect_unrecognized(parsed.options, po::include_positional);
    po::store(parsed, map);
  } catch (const po::error& e) {
    throw InputError(fmt::format("emmc-vp: {}: see emmc-vp --help", e.what()));
  }
  return map;
}

Command command_of(const std::vector<std::string>& positional) {
  if (positional.empty())
    throw InputError(
        fmt::format("emmc-vp: no command: say one of {}, or --help", fmt::join(commands(), ", ")));
  const std::string& name = positional.front();
  if (std::find(commands().begin(), commands().end(), name) == commands().end())
    throw InputError(fmt::format("emmc-vp: unknown command '{}': did you mean '{}'?", name,
                                 nearest_word(name, commands())));
  if (name != "fio" && name != "dd" && name != "iozone" && name != "run" && name != "validate" &&
      name != "params" && name != "list" && name != "linux")
    throw InputError(fmt::format("emmc-vp {}: not in this version yet: use emmc-vp fio", name));
  if (name == "run" && positional.size() != 2)
    throw InputError("emmc-vp run: name one scenario: a name of emmc-vp list, or a TOML file");
  if (name == "validate" && positional.size() > 2)
    throw InputError("emmc-vp validate: name one seed, or none for all");
  if (name != "run" && name != "validate" && positional.size() > 1)
    throw InputError(fmt::format("emmc-vp {}: unexpected '{}': the front end's own words go after --", name,
                                 positional[1]));
  if (name == "run") return Command::run;
  if (name == "validate") return Command::validate;
  if (name == "iozone") return Command::iozone;
  if (name == "linux") return Command::linux_guest;
  if (name == "dd") return Command::dd;
  return name == "fio" ? Command::fio : name == "params" ? Command::params : Command::list;
}

void read_choices(const po::variables_map& map, Options& o) {
  if (map.count("platform")) o.platform = map["platform"].as<std::string>();
  if (map.count("part")) o.part = map["part"].as<std::string>();
  o.platform_given = map.count("platform") != 0;
  o.timing_given = map.count("timing") != 0;
  o.cpu_given = map.count("cpu") != 0;
  o.seed_given = map.count("seed") != 0;
  if (map.count("cqe")) o.cqe = choice(map, "cqe", {"on", "off"}) == "on";
  if (map.count("queue")) o.queue = choice(map, "queue", {"none", "software", "cqe", "hsq"});
  if (o.queue && o.cqe && *o.queue != (*o.cqe ? "cqe" : "none"))
    bad_option("queue", *o.queue,
               fmt::format("contradicts --cqe={}: leave one of them out", *o.cqe ? "on" : "off"));
  if (map.count("timing"))
    o.timing = choice(map, "timing", {"at", "lt"}) == "at" ? TimingStyle::at : TimingStyle::lt;
  if (map.count("cpu")) o.cpu = choice(map, "cpu", {"native", "rv64"});
  if (map.count("output-format"))
    o.output_format = choice(map, "output-format", {"normal", "json"}) == "json" ? OutputFormat::json
                                                                                 : OutputFormat::normal;
  if (map.count("seed")) {
    const std::string text = map["seed"].as<std::string>();
    o.seed = whole("seed", text, text);
  }
  if (map.count("vcd-window")) o.vcd_window = parse_window(map["vcd-window"].as<std::string>());
  if (o.vcd_window && !map.count("vcd"))
    bad_option("vcd-window", map["vcd-window"].as<std::string>(), "needs --vcd=FILE to write to");
  if (o.cpu == "rv64") bad_option("cpu", "rv64", "not in this version yet: use --cpu=native");
}

/// What only `run` and `validate` understand.
void read_sweep(const po::variables_map& map, const std::vector<std::string>& positional, Options& o) {
  const auto belongs = [&](const char* name, const char* to) {
    if (map.count(name))
      throw InputError(
          fmt::format("emmc-vp {}: --{} belongs to emmc-vp {}: leave it out", positional.front(), name, to));
  };
  if (o.command != Command::run && o.command != Command::validate) belongs("jobs", "run");
  if (o.command != Command::run) belongs("only", "run");
  if (o.command == Command::validate && positional.size() > 1) o.measured_seed = positional[1];
  if (o.command == Command::run) o.scenario = positional[1];
  if (map.count("only")) o.only = map["only"].as<std::vector<std::string>>();
  if (!map.count("jobs")) return;
  const std::string text = map["jobs"].as<std::string>();
  const std::uint64_t n = whole("jobs", text, text);
  constexpr std::uint64_t kMost = 1024;
  if (n == 0 || n > kMost) bad_option("jobs", text, fmt::format("must be 1 to {}", kMost));
  o.jobs = static_cast<unsigned>(n);
}

/// What only `linux` understands.
void read_guest(const po::variables_map& map, const std::vector<std::string>& positional, Options& o) {
  if (map.count("kernel") && o.command != Command::linux_guest)
    throw InputError(
        fmt::format("emmc-vp {}: --kernel belongs to emmc-vp linux: leave it out", positional.front()));
  if (o.command == Command::linux_guest && o.queue && *o.queue != "cqe" && *o.queue != "none")
    bad_option("queue", *o.queue, "the guest's driver has cqe or none");
  if (map.count("kernel")) o.kernel = map["kernel"].as<std::string>();
}

void read_files(const po::variables_map& map, Options& o) {
  const auto file = [&](const char* name, std::optional<std::string>& to) {
    if (!map.count(name)) return;
    to = map[name].as<std::string>();
    if (to->empty()) bad_option(name, "", "name a file");
  };
  file("output", o.output);
  file("vcd", o.vcd);
  file("trace", o.trace);
  file("image", o.image);
  if (map.count("page-size"))
    o.overrides.push_back("driver.page_bytes=" + map["page-size"].as<std::string>());
  if (!map.count("param")) return;
  const auto& given = map["param"].as<std::vector<std::string>>();
  o.overrides.insert(o.overrides.end(), given.begin(), given.end());
  for (const std::string& text : o.overrides)
    if (text.find('=') == std::string::npos || text.front() == '=')
      throw InputError(
          fmt::format("emmc-vp: -p {}: write -p KEY=VALUE (emmc-vp params lists the keys)", text));
}

}  // namespace

Options parse_options(const std::vector<std::string>& args) {
  const auto split = std::find(args.begin(), args.end(), "--");
  std::vector<std::string> positional;
  const po::variables_map map = read_map({args.begin(), split}, positional);
  Options o;
  if (split != args.end()) o.rest.assign(split + 1, args.end());
  if (map["help"].as<bool>()) return o;
  if (map["version"].as<bool>()) {
    o.command = Command::version;
    return o;
  }
  o.command = command_of(positional);
  read_choices(map, o);
  read_files(map, o);
  read_sweep(map, positional, o);
  read_guest(map, positional, o);
  o.explain = map["explain"].as<bool>();
  o.quiet = map["quiet"].as<bool>();
  const bool takes_rest = o.command == Command::fio || o.command == Command::dd ||
                          o.command == Command::iozone || o.command == Command::linux_guest;
  if (!takes_rest && !o.rest.empty())
    throw InputError(fmt::format("emmc-vp {}: takes nothing after --: leave '{}' out", positional.front(),
                                 o.rest.front()));
  return o;
}

std::string help_text() {
  std::ostringstream options;
  options << platform_options();
  return fmt::format(
      "emmc-vp: a virtual eMMC subsystem that says where each microsecond goes\n\n"
      "  emmc-vp fio [platform options] -- <fio options or job file>\n"
      "  emmc-vp dd [platform options] -- <dd operands, e.g. if=/dev/zero of=f bs=1M count=500 oflag=sync>\n"
      "  emmc-vp iozone [platform options] -- -s 8192k -r 4k -i 0 -i 1 -i 2 -i 8 -I -t 4   its throughput "
      "mode\n"
      "  emmc-vp run SCENARIO [platform options] [--jobs=N] [--only=AXIS=VALUE]   a sweep, one table\n"
      "  emmc-vp validate [SEED] [--jobs=N]                  the measured tables beside the model's\n"
      "  emmc-vp params [--platform=PRESET] [-p KEY=VALUE]   every parameter: value, unit, range, origin\n"
      "  emmc-vp list                                        presets, device parts, scenarios\n"
      "  emmc-vp linux --kernel=DIR [--queue=cqe|none] [platform options] -- COMMAND   in a Linux guest "
      "(scripts/linux.sh)\n\n"
      "decode is not in this version yet.\n\n"
      "{}\n"
      "exit status: 0 good; 1 internal error; 2 bad input; 3 a hardware rule was broken (a finding); 4 data "
      "mismatch\n",
      options.str());
}

std::string version_text() { return fmt::format("emmc-vp {}\n", EMMC_VP_VERSION); }
const char* version_number() { return EMMC_VP_VERSION; }

}  // namespace vp
