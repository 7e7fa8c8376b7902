#include "platform/run_scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "platform/output_file.hpp"
#include "platform/scenario_report.hpp"

namespace vp {
namespace {

/// The point's numbers and outcome, from what its run printed.
void take_report(const ChildResult& child, PointResult& numbers, Outcome& outcome) {
  outcome.status = child.status;
  outcome.error = error_of(child);
  const Json report = Json::parse(child.out, nullptr, false);
  if (report.is_discarded() || !report.contains("emmc-vp")) return;
  numbers.metrics = metrics_of(report, child.status);
  outcome.verdict = report.at("emmc-vp").at("verdict");
}

int status_of(const ScenarioResults& r, std::ostream& err) {
  const auto& good = r.scenario->expect;
  std::size_t failed = 0;
  int status = kGood;
  std::string first;
  for (const Outcome& o : r.outcomes) {
    if (std::find(good.begin(), good.end(), o.status) != good.end()) continue;
    if (failed++ == 0) {
      status = o.status > kDataMismatch ? static_cast<int>(kInternalError) : o.status;
      first = o.error;
    }
  }
  // A point may be expected to break a rule; it is then not good that it did not.
  if (failed != 0)
    err << fmt::format("emmc-vp run: {} of {} point(s) failed, the first: {}\n", failed, r.outcomes.size(),
                       first);
  return failed != 0 && status == kGood ? static_cast<int>(kInternalError) : status;
}

void refuse_single_run_options(const Options& o) {
  const auto refuse = [](const char* name) {
    throw InputError(fmt::format(
        "emmc-vp run: --{} is for one run: take a point's command from the JSON report and add it there",
        name));
  };
  if (o.vcd) refuse("vcd");
  if (o.trace) refuse("trace");
  if (o.image) refuse("image");
  if (o.explain) refuse("explain");
}

}  // namespace

int run_scenario(const Options& options, const MachineFactory& factory, const ConfigSource& source,
                 Streams streams) {
  refuse_single_run_options(options);
  const Scenario scenario = load_scenario(options.scenario, source);
  const std::vector<Point> points = expand(scenario, options);
  check_points(scenario, points, factory, source);
  if (options.output) check_writable(*options.output, "emmc-vp: --output");

  std::vector<std::vector<std::string>> arguments;
  for (const Point& p : points) arguments.push_back(p.arguments);
  const bool bar = streams.err_is_terminal && !options.quiet;
  const auto on_done = [&](std::size_t n) {
    if (bar) streams.err << fmt::format("\r{} of {} points\x1b[K", n, points.size()) << std::flush;
  };
  on_done(0);
  const std::string program = own_program();
  const auto children = run_children(program, arguments, options.jobs.value_or(cores()), on_done);
  if (bar) streams.err << "\r\x1b[K" << std::flush;

  ScenarioResults r;
  r.scenario = &scenario;
  r.points = &points;
  r.outcomes.resize(points.size());
  r.numbers.resize(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    r.numbers[i].index = points[i].index;
    take_report(children[i], r.numbers[i], r.outcomes[i]);
  }
  for (const Analysis& a : scenario.analyses)
    if (a.kind == Analysis::Kind::compare) compare(scenario, a, r.numbers);
  for (const Analysis& a : scenario.analyses)
    if (a.kind != Analysis::Kind::compare) r.analyses.push_back(analyse(scenario, a, r.numbers));
  if (!options.quiet)
    for (const std::string& line : missing_outputs(r)) streams.err << line << "\n";

  const std::string text =
      options.output_format == OutputFormat::json ? json_text(scenario_json(r)) : scenario_text(r);
  if (options.output)
    write_whole_file(*options.output, text, "emmc-vp: --output");
  else
    streams.out << text << std::flush;
  return status_of(r, streams.err);
}

}  // namespace vp
