// The program's command line: a subcommand, platform options, `--`, and the front end's own command line.
//
//   emmc-vp fio --platform=th1520 --cqe=off --explain -- --filename=/dev/mmcblk0 --rw=randread …
//
// Unknown options name the nearest one; numbers and choices are checked here, presets and parameter keys in
// config.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/core/context.hpp"

namespace vp {

enum class Command : std::uint8_t {
  help,
  version,
  fio,
  dd,
  iozone,
  run,
  validate,
  params,
  list,
  linux_guest
};
enum class OutputFormat : std::uint8_t { normal, json };

/// --vcd-window=requests:A..B (both included, counted from 0) or time:10us..20us.
struct VcdWindow {
  enum class By : std::uint8_t { requests, time } by = By::requests;
  std::uint64_t first = 0, last = 0;  ///< request serials, or picoseconds
};

struct Options {
  Command command = Command::help;
  std::string platform = "generic";  ///< a preset's name, or the path of a TOML file
  std::optional<std::string> part;   ///< not given: as the preset says
  std::optional<bool> cqe;           ///< --cqe as given: on is --queue=cqe, off is --queue=none
  std::optional<std::string> queue;  ///< none, software, cqe, hsq; not given: as --cqe, or the preset, says
  TimingStyle timing = TimingStyle::at;
  std::string cpu = "native";
  std::vector<std::string> overrides;  ///< "key=value", in order
  std::optional<OutputFormat> output_format;
  std::optional<std::string> output;
  std::optional<std::string> vcd;
  std::optional<VcdWindow> vcd_window;
  std::optional<std::string> trace;  ///< the card bus, command by command
  std::optional<std::string> image;
  bool explain = false;
  bool quiet = false;
  std::uint64_t seed = 1;
  /// Said on the command line, as against the default: `run` lets them replace the scenario's.
  bool platform_given = false, timing_given = false, cpu_given = false, seed_given = false;
  std::string scenario;               ///< of `run`: a name, or the path of a TOML file
  std::optional<unsigned> jobs;       ///< of `run` and `validate`: runs at once; not given: one per core
  std::vector<std::string> only;      ///< of `run`: "axis=value", the points to run
  std::string measured_seed;          ///< of `validate`: empty means all
  std::optional<std::string> kernel;  ///< of `linux`: the folder with the guest's kernel
  std::vector<std::string> rest;      ///< the words after `--`
};

/// `args` without the program's name. Throws InputError.
Options parse_options(const std::vector<std::string>& args);
std::string help_text();
std::string version_text();
/// "0.1.0".
const char* version_number();

}  // namespace vp
