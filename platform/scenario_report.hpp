// A scenario's result: one table for people, and JSON
//   {"scenario", "axes", "points": [{"parameters", "metrics", "verdict": {"cause", "evidence"}, "command", …}],
//    "analysis", "measured"}.
#pragma once

#include <string>
#include <vector>

#include "platform/scenario_analysis.hpp"
#include "platform/scenario_sweep.hpp"

namespace vp {

/// What became of one point.
struct Outcome {
  int status = 0;     ///< exit status of its run; 128 + n when signal n ended it
  std::string error;  ///< its last line on stderr, when the status is not 0
  Json verdict;       ///< of its own report; null without one
};

struct ScenarioResults {
  const Scenario* scenario = nullptr;
  const std::vector<Point>* points = nullptr;
  std::vector<Outcome> outcomes;
  std::vector<PointResult> numbers;  ///< per point; no metrics when there was no report
  std::vector<AnalysisResult> analyses;
};

std::string scenario_text(const ScenarioResults& results);
Json scenario_json(const ScenarioResults& results);
/// The columns of the table: the scenario's outputs, or the usual ones.
std::vector<std::string> output_names(const Scenario& scenario);
/// Outputs that no point has, with the nearest metric there is, one line each.
std::vector<std::string> missing_outputs(const ScenarioResults& results);

}  // namespace vp
