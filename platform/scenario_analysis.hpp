// What a sweep says: intercept and slope of the service time over the request size with the cause that tells one
// setting from the baseline, the knee of a queue, differences from a baseline point.
//
// The linear model: service time = intercept + slope x bytes per request, least squares, over the points whose I/Os are
// one request each (two requests of one I/O overlap, so their time is not one request's) and went without a driver error
// (a timeout is no service time). The time on the DAT lines and
// the parts of the service time (spans) are fitted on the same points, so the change of each is split the same way.
// The decision is a table, first row that holds:
//
//   link_rate        slope rises, and the DAT lines take longer per byte by most of it; link use does not fall
//   axi_stall        slope rises; link use falls while stall time per byte and the AXI part of the slope rise
//   queue_poll_wait  slope does not rise, intercept does, and the queue-poll part by most of it
//   none             anything else; the numbers say what moved
//
// link use = slope of DAT time / slope of service time: near its maximum (1 less the device's gaps between blocks) when
// the lines are the bottleneck. No threshold is fitted to a measurement.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "platform/explain.hpp"
#include "platform/scenario.hpp"
#include "platform/scenario_metrics.hpp"

namespace vp {

struct Line {
  double intercept = 0, slope = 0;
  double worst = 0;  ///< the largest |y - line|
};
/// Least squares over at least two different x; else null.
std::optional<Line> fit(const std::vector<double>& x, const std::vector<double>& y);

/// One setting's fits. Intercepts in us per request, slopes in ns per byte.
struct Fitted {
  Line service, dat, poll, axi, stalls;
  double cmd13_per_request = 0;
  unsigned points = 0;
  /// DAT time per byte / service time per byte.
  double link_use() const { return service.slope > 0 ? dat.slope / service.slope : 0; }
};

struct Decision {
  Cause cause = Cause::none;
  std::string evidence;
  double intercept_change_us = 0, slope_change_percent = 0;
  bool intercept_rises = false, slope_rises = false;
};
inline constexpr double kMostOf = 2.0 / 3;  ///< a part explains a change when it is this much of it
inline constexpr double kLinkFalls = 0.05;  ///< link use has fallen when it lost more than this
/// The decision table. `tolerance_percent`: what counts as a change of slope, and of intercept (at least 1 us).
Decision decide(const Fitted& setting, const Fitted& baseline, double tolerance_percent);

/// The smallest depth whose doubling gains less than `gain_percent`; depths ascending. Null: it grows to the end.
struct Knee {
  double depth = 0, gain_percent = 0;
};
std::optional<Knee> knee(const std::vector<std::pair<double, double>>& value_at_depth, double gain_percent);

/// A point's place and numbers, as analyses see them.
struct PointResult {
  std::vector<std::size_t> index;
  Metrics metrics;
};

/// One line of an analysis: the points that share all labels but the axis's.
struct AnalysisRow {
  AxisLabels labels;
  std::optional<Fitted> fitted;
  std::optional<Decision> decision;  ///< linear; not for the baseline itself
  bool is_baseline = false;
  std::optional<Knee> knee;
  std::string sentence;
};
struct AnalysisResult {
  const Analysis* analysis = nullptr;
  std::vector<AnalysisRow> rows;
};

/// linear and knee.
AnalysisResult analyse(const Scenario& scenario, const Analysis& analysis,
                       const std::vector<PointResult>& points);
/// compare: sets "delta.METRIC" in every point whose baseline is there.
void compare(const Scenario& scenario, const Analysis& analysis, std::vector<PointResult>& points);

}  // namespace vp
