// A scenario: one question put to the platform, in a TOML file.
//
//   description = "…"                  platform = "th1520"      part, timing, cqe, cpu, seed: as on the command line
//   workload = "--rw=randread …"       or [workload] rw = "randread" …: fio's own options; "dd if=… of=…": dd's
//   [parameters]                       fixed ones, as -p would set them
//   [[sweep]] key = "workload.bs"      values = ["4k", "1M"]: one axis; later axes vary fastest
//   [[sweep]] name = "setting"         [sweep.settings.none] … [sweep.settings.slow] sdhci.fifo_bytes = 1024: named
//                                      settings, each a list of overrides
//   [[analysis]] kind = "linear"       what to make of an axis: linear, knee or compare (scenario_analysis.hpp)
//   [[measured]] name, metric, value   printed beside the model; at = { bs = "1M" } says for which points
//   outputs = ["iops", "span.wire"]    the table's columns; "/request" divides a count by the requests
//   expect = [0, 3]                    exit statuses of a point that are a result, not a failure
//
// A key is "workload.OPTION" (fio or dd), a platform option (platform, part, timing, cqe, cpu, seed) or a parameter. Errors
// name file, line, key and a remedy; everything is checked before the first point runs.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/config.hpp"
#include "platform/json_text.hpp"

namespace vp {

/// One override: where it was written, for errors.
struct Assignment {
  std::string key, text, where;
};

struct Setting {
  Json value;         ///< as the point's JSON shows it: a value, or the setting's name
  std::string label;  ///< the same as text
  std::vector<Assignment> set;
};

struct Axis {
  std::string name, where;
  std::vector<Setting> settings;
};

/// Axis name and label: which points are meant.
using AxisLabels = std::vector<std::pair<std::string, std::string>>;

struct Analysis {
  enum class Kind : std::uint8_t { linear, knee, compare } kind = Kind::linear;
  std::string axis;           ///< linear: bytes vary along it; knee: the depth
  std::string by;             ///< linear: the axis whose settings are compared
  std::string baseline;       ///< linear: the setting of `by` the others are compared with
  AxisLabels baseline_point;  ///< compare: labels that differ from the point's own
  std::vector<std::string>
      metrics;                    ///< linear: the time fitted; knee: what should grow; compare: differences
  double tolerance_percent = 10;  ///< what counts as a change; for a knee: the gain of a doubling
  std::string where;
};

struct Measured {
  std::string name, metric, source, where;
  double value = 0;
  AxisLabels at;
};

struct Scenario {
  std::string name, file, description;
  std::vector<Assignment> fixed;      ///< platform options and parameters
  std::string tool = "fio";           ///< the front end: fio or dd
  std::vector<std::string> workload;  ///< its command line
  std::string workload_where;
  std::vector<Axis> axes;
  std::vector<Analysis> analyses;
  std::vector<Measured> measured;
  std::vector<std::string> outputs;
  std::vector<int> expect = {0};

  const Axis* axis(const std::string& name) const;
};

/// A compiled-in scenario by its name, or a file by its path. Throws InputError.
Scenario load_scenario(const std::string& name, const ConfigSource& source);
Scenario parse_scenario(const std::string& file, const std::string& text);

/// The keys of platform options ("platform", "cqe" …), as against parameters.
const std::vector<std::string>& scenario_option_keys();

}  // namespace vp
