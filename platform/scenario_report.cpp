#include "platform/scenario_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/core/params.hpp"
#include "platform/text_table.hpp"

namespace vp {
namespace {

using Row = TextRow;

std::string number(const std::optional<double>& v) {
  if (!v) return "-";
  if (*v == std::floor(*v) && std::fabs(*v) < 9e15) return fmt::format("{}", static_cast<std::int64_t>(*v));
  return fmt::format("{:.{}f}", *v, std::fabs(*v) < 10 ? 3 : std::fabs(*v) < 1000 ? 2 : 1);
}

std::string cause_of(const Outcome& o) {
  return o.verdict.is_object() ? o.verdict.at("cause").get<std::string>() : std::string("-");
}

std::string point_table(const ScenarioResults& r) {
  const std::vector<std::string> outputs = output_names(*r.scenario);
  std::vector<Row> rows(1);
  for (const Axis& a : r.scenario->axes) rows[0].push_back(a.name);
  for (const std::string& name : outputs) rows[0].push_back(name);
  rows[0].push_back("status");
  rows[0].push_back("verdict");
  for (std::size_t i = 0; i < r.points->size(); ++i) {
    Row row;
    for (std::size_t a = 0; a < r.scenario->axes.size(); ++a)
      row.push_back(r.scenario->axes[a].settings[(*r.points)[i].index[a]].label);
    for (const std::string& name : outputs) row.push_back(number(r.numbers[i].metrics.get(name)));
    row.push_back(fmt::format("{}", r.outcomes[i].status));
    row.push_back(cause_of(r.outcomes[i]));
    rows.push_back(std::move(row));
  }
  return aligned(rows, r.scenario->axes.size());
}

std::string errors_text(const ScenarioResults& r) {
  std::string out;
  for (std::size_t i = 0; i < r.outcomes.size(); ++i) {
    const Outcome& o = r.outcomes[i];
    const auto& good = r.scenario->expect;
    if (std::find(good.begin(), good.end(), o.status) != good.end()) continue;
    std::string at;
    for (const auto& [axis, value] : (*r.points)[i].parameters.items())
      at += fmt::format("{}{}={}", at.empty() ? "" : " ", axis,
                        value.is_string() ? value.get<std::string>() : value.dump());
    out += fmt::format("  {}: exit status {}: {}\n", at.empty() ? "point" : at, o.status, o.error);
  }
  return out.empty() ? out : "\nPoints that failed\n" + out;
}

std::string linear_table(const AnalysisResult& a) {
  std::vector<Row> rows(1);
  for (const auto& [axis, label] : a.rows.front().labels) rows[0].push_back(axis);
  for (const char* name : {"points", "intercept us", "slope us/KiB", "worst us", "link use %", "stall us/KiB",
                           "poll us", "CMD13/request"})
    rows[0].push_back(name);
  std::string sentences;
  for (const AnalysisRow& r : a.rows) {
    Row row;
    std::string at;
    for (const auto& [axis, label] : r.labels) {
      row.push_back(label);
      at += fmt::format("{}{}={}", at.empty() ? "" : " ", axis, label);
    }
    if (r.fitted) {
      const Fitted& f = *r.fitted;
      for (const std::string& cell :
           {fmt::format("{}", f.points), fmt::format("{:.2f}", f.service.intercept),
            fmt::format("{:.3f}", f.service.slope * 1.024), fmt::format("{:.2f}", f.service.worst),
            fmt::format("{:.1f}", 100 * f.link_use()), fmt::format("{:.3f}", f.stalls.slope * 1.024),
            fmt::format("{:.2f}", f.poll.intercept), fmt::format("{:.2f}", f.cmd13_per_request)})
        row.push_back(cell);
    } else {
      row.resize(rows[0].size(), "-");
    }
    rows.push_back(std::move(row));
    sentences += fmt::format("  {}: {}\n", at, r.sentence);
  }
  return fmt::format(
             "\n{} over bytes per request (I/Os of one request), compared with {} = {}; a change is more "
             "than {:g} %\n",
             a.analysis->metrics.front(), a.analysis->by, a.analysis->baseline,
             a.analysis->tolerance_percent) +
         aligned(rows, a.rows.front().labels.size()) + sentences;
}

std::string knee_table(const AnalysisResult& a) {
  std::string out = fmt::format("\nKnee of {} over {}: the smallest whose doubling gains less than {:g} %\n",
                                a.analysis->metrics.front(), a.analysis->axis, a.analysis->tolerance_percent);
  std::vector<Row> rows;
  for (const AnalysisRow& r : a.rows) {
    Row row = {" "};
    for (const auto& [axis, label] : r.labels) row.push_back(axis + "=" + label);
    row.push_back(r.sentence);
    rows.push_back(std::move(row));
  }
  return out + aligned(rows, rows.empty() ? 0 : rows.front().size());
}

/// The points a measured value is held against.
bool meant(const Scenario& s, const Point& p, const AxisLabels& at) {
  for (const auto& [axis, label] : at)
    for (std::size_t i = 0; i < s.axes.size(); ++i)
      if (s.axes[i].name == axis && s.axes[i].settings[p.index[i]].label != label) return false;
  return true;
}

bool same_table(const Measured& a, const Measured& b) {
  return a.name == b.name && a.metric == b.metric && a.source == b.source;
}

/// Values that follow each other under one name, metric and source are one table.
std::string measured_table(const ScenarioResults& r) {
  std::string out;
  const std::vector<Measured>& all = r.scenario->measured;
  std::vector<Row> rows;
  for (std::size_t n = 0; n < all.size(); ++n) {
    const Measured& m = all[n];
    if (n == 0 || !same_table(all[n - 1], m)) {
      rows.assign(1, {});
      for (const Axis& a : r.scenario->axes) rows[0].push_back(a.name);
      for (const char* name : {"model", "measured", "model/measured"}) rows[0].push_back(name);
    }
    for (std::size_t i = 0; i < r.points->size(); ++i) {
      if (!meant(*r.scenario, (*r.points)[i], m.at)) continue;
      Row row;
      for (std::size_t a = 0; a < r.scenario->axes.size(); ++a)
        row.push_back(r.scenario->axes[a].settings[(*r.points)[i].index[a]].label);
      const auto model = r.numbers[i].metrics.get(m.metric);
      row.push_back(number(model));
      row.push_back(number(m.value));
      row.push_back(model && m.value != 0 ? fmt::format("{:.3f}", *model / m.value) : "-");
      rows.push_back(std::move(row));
    }
    if (rows.size() == 1 || (n + 1 < all.size() && same_table(m, all[n + 1]))) continue;
    out += fmt::format("\nMeasured: {}, {}{}\n", m.name, m.metric,
                       m.source.empty() ? "" : " (" + m.source + ")");
    out += aligned(rows, r.scenario->axes.size());
  }
  return out;
}

Json line_json(const Line& l) {
  return {{"intercept_us", l.intercept}, {"slope_ns_per_byte", l.slope}, {"worst_us", l.worst}};
}

Json row_json(const AnalysisResult& a, const AnalysisRow& r) {
  Json row;
  row["parameters"] = Json::object();
  for (const auto& [axis, label] : r.labels) row["parameters"][axis] = label;
  if (r.fitted) {
    const Fitted& f = *r.fitted;
    row["points"] = f.points;
    row["intercept_us"] = f.service.intercept;
    row["slope_ns_per_byte"] = f.service.slope;
    row["slope_us_per_kib"] = f.service.slope * 1.024;
    row["worst_us"] = f.service.worst;
    row["link_use_percent"] = 100 * f.link_use();
    row["cmd13_per_request"] = f.cmd13_per_request;
    row["dat"] = line_json(f.dat);
    row["queue_poll_wait"] = line_json(f.poll);
    row["axi_part"] = line_json(f.axi);
    row["axi_stalls"] = line_json(f.stalls);
  }
  if (r.decision) {
    row["intercept_change_us"] = r.decision->intercept_change_us;
    row["slope_change_percent"] = r.decision->slope_change_percent;
  }
  if (r.knee) row["knee"] = {{a.analysis->axis, r.knee->depth}, {"gain_percent", r.knee->gain_percent}};
  if (a.analysis->kind == Analysis::Kind::linear)
    row["verdict"] = {{"cause", to_string(r.decision ? r.decision->cause : Cause::none)},
                      {"evidence", r.decision ? r.decision->evidence : r.sentence}};
  else
    row["sentence"] = r.sentence;
  return row;
}

Json analyses_json(const ScenarioResults& r) {
  Json list = Json::array();
  for (const AnalysisResult& a : r.analyses) {
    const bool is_linear = a.analysis->kind == Analysis::Kind::linear;
    Json one = {{"kind", is_linear ? "linear" : "knee"},
                {"axis", a.analysis->axis},
                {"metric", a.analysis->metrics.front()}};
    if (is_linear) one["by"] = a.analysis->by, one["baseline"] = a.analysis->baseline;
    one["tolerance_percent"] = a.analysis->tolerance_percent;
    one["rows"] = Json::array();
    for (const AnalysisRow& row : a.rows) one["rows"].push_back(row_json(a, row));
    list.push_back(std::move(one));
  }
  return list;
}

Json point_json(const ScenarioResults& r, std::size_t i) {
  const Outcome& o = r.outcomes[i];
  Json p;
  p["parameters"] = (*r.points)[i].parameters;
  p["metrics"] = r.numbers[i].metrics.json();
  p["metrics"]["exit_status"] = o.status;
  p["verdict"] =
      o.verdict.is_object() ? o.verdict : Json{{"cause", "none"}, {"evidence", {{"text", o.error}}}};
  if (!o.error.empty()) p["error"] = o.error;
  p["command"] = pasteable((*r.points)[i].arguments);
  return p;
}

}  // namespace

std::vector<std::string> output_names(const Scenario& scenario) {
  if (!scenario.outputs.empty()) return scenario.outputs;
  return {"iops", "clat_mean_us", "clat_p99_us", "service_us", "util.dat", "findings"};
}

std::vector<std::string> missing_outputs(const ScenarioResults& r) {
  std::vector<std::string> known, lines;
  for (const PointResult& p : r.numbers)
    for (const auto& [name, value] : p.metrics.all())
      if (std::find(known.begin(), known.end(), name) == known.end()) known.push_back(name);
  if (known.empty()) return lines;
  for (const std::string& name : output_names(*r.scenario))
    if (std::none_of(r.numbers.begin(), r.numbers.end(),
                     [&](const PointResult& p) { return p.metrics.get(name); }))
      lines.push_back(fmt::format("{}: outputs: no point has '{}': did you mean '{}'?", r.scenario->file,
                                  name, nearest_word(name, known)));
  return lines;
}

std::string scenario_text(const ScenarioResults& r) {
  std::string out = fmt::format("scenario {}{}\n\n", r.scenario->name,
                                r.scenario->description.empty() ? "" : ": " + r.scenario->description);
  out += point_table(r);
  out += errors_text(r);
  for (const AnalysisResult& a : r.analyses) {
    if (a.rows.empty()) continue;
    out += a.analysis->kind == Analysis::Kind::linear ? linear_table(a) : knee_table(a);
  }
  return out + measured_table(r);
}

Json scenario_json(const ScenarioResults& r) {
  Json out;
  out["scenario"] = r.scenario->name;
  out["description"] = r.scenario->description;
  out["axes"] = Json::object();
  for (const Axis& a : r.scenario->axes) {
    out["axes"][a.name] = Json::array();
    for (const Setting& s : a.settings) out["axes"][a.name].push_back(s.value);
  }
  out["points"] = Json::array();
  for (std::size_t i = 0; i < r.points->size(); ++i) out["points"].push_back(point_json(r, i));
  out["analysis"] = analyses_json(r);
  out["measured"] = Json::array();
  for (const Measured& m : r.scenario->measured) {
    Json at = Json::object();
    for (const auto& [axis, label] : m.at) at[axis] = label;
    out["measured"].push_back(
        {{"name", m.name}, {"metric", m.metric}, {"value", m.value}, {"at", at}, {"source", m.source}});
  }
  return out;
}

}  // namespace vp
