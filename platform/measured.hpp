// Measured results the platform is held against: platform/measured/*.toml, one file per published report (a seed).
//
//   description = "…"   metric, kind, band_percent: defaults of the rows below, in the file, a run or a row; the nearest wins
//   [criteria]          median_error_percent, sign_agreement_percent, change_above_percent: of the seed as a whole;
//                       leave_one_out = true: one preset was fitted to all rows together
//   [[run]]             label, command (what to paste after `emmc-vp`), against (the label of the run it is compared with)
//   rows = [ { metric, measured, kind = fitted|predicted, band_percent, label } ]
//
// A row without band_percent is reported and not judged. Commands carry no --timing: `validate` adds it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/config.hpp"
#include "platform/json_text.hpp"

namespace vp {

struct MeasuredRow {
  std::string label;  ///< the metric's name unless given
  std::string metric;
  double measured = 0;  ///< in the metric's unit
  bool fitted = false;  ///< a parameter was fitted to it, or to what it follows from
  std::optional<double> band_percent;
};

struct MeasuredRun {
  std::string label;
  std::vector<std::string> command;  ///< front end, platform options, `--`, the tool's own words
  std::optional<std::size_t> against;
  std::vector<MeasuredRow> rows;
};

struct Criteria {
  std::optional<double> median_error_percent;    ///< at most, over all rows
  std::optional<double> sign_agreement_percent;  ///< at least, of the changes above change_above_percent
  double change_above_percent = 0;
  bool leave_one_out = false;  ///< all rows were fitted together: how well is each predicted by the others?
};

struct MeasuredSeed {
  std::string name;  ///< of the file
  std::string description;
  Criteria criteria;
  std::vector<MeasuredRun> runs;
};

/// Throws InputError: file, line, what, remedy.
MeasuredSeed parse_measured(const std::string& file, const std::string& text);
/// All seeds in the order of their names. Throws InputError.
std::vector<MeasuredSeed> load_measured(const ConfigSource& source);
/// The seeds a name means: all when empty, else the one of that name or that alone begins so. Throws InputError.
std::vector<MeasuredSeed> choose_seeds(std::vector<MeasuredSeed> seeds, const std::string& name);

/// What can be compared: names, units and where a front end's JSON report has them.
std::vector<std::string> metric_names();
std::string metric_unit(const std::string& metric);
/// Nothing when the report has no such number.
std::optional<double> metric_value(const std::string& metric, const Json& report);

}  // namespace vp
