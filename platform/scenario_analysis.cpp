#include "platform/scenario_analysis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace vp {
namespace {

constexpr double kSmallestInterceptUs = 1;  // below this a change is the rounding of a mean

std::size_t axis_index(const Scenario& s, const std::string& name) {
  for (std::size_t i = 0; i < s.axes.size(); ++i)
    if (s.axes[i].name == name) return i;
  return s.axes.size();
}

std::string signed_us(double us) { return fmt::format("{:+.2f} us", us); }
std::string per_kib(double ns_per_byte) { return fmt::format("{:.3f} us/KiB", ns_per_byte * 1.024); }
std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

/// us over bytes -> us and ns per byte.
Line in_ns_per_byte(Line l) {
  l.slope *= 1e3;
  return l;
}

double sum_of(const Metrics& m, std::initializer_list<const char*> names) {
  double sum = 0;
  for (const char* n : names) sum += m.get(n).value_or(0);
  return sum;
}

/// A run in which the driver saw an error holds timeouts and retries: no service time.
bool clean(const Metrics& m) { return m.get("driver_errors").value_or(0) == 0; }

/// The time the memory side held the request up.
double axi_part(const Metrics& m) {
  return sum_of(m, {"part.clock_stop_fifo_full", "part.axi_write", "part.axi_read"});
}

/// Cycles lost on AXI, whether they delayed anything or not: outstanding limit, first beat (R), W and B.
double stall_time(const Metrics& m) {
  return sum_of(m, {"stall.no_grant", "stall.outstanding_limit", "stall.waiting_for_first_beat",
                    "stall.w_back_pressure", "stall.waiting_for_b"});
}

std::optional<Fitted> fit_points(const std::vector<const Metrics*>& points, const std::string& time) {
  std::vector<double> x, service, dat, poll, axi, stalls;
  double cmd13 = 0;
  for (const Metrics* m : points) {
    const auto bytes = m->get("bytes_per_request"), us = m->get(time);
    if (!bytes || !us || m->get("ios") != m->get("requests") || !clean(*m)) continue;
    x.push_back(*bytes);
    service.push_back(*us);
    dat.push_back(m->get("dat_us").value_or(0));
    poll.push_back(m->get("part.queue_poll_wait").value_or(0));
    axi.push_back(axi_part(*m));
    stalls.push_back(stall_time(*m));
    cmd13 += m->get("mmc_bus.cmd13/request").value_or(0);
  }
  const auto line = fit(x, service);
  if (!line) return std::nullopt;
  Fitted f;
  f.points = static_cast<unsigned>(x.size());
  f.service = in_ns_per_byte(*line);
  f.dat = in_ns_per_byte(*fit(x, dat));
  f.poll = in_ns_per_byte(*fit(x, poll));
  f.axi = in_ns_per_byte(*fit(x, axi));
  f.stalls = in_ns_per_byte(*fit(x, stalls));
  f.cmd13_per_request = cmd13 / f.points;
  return f;
}

struct Changes {
  double intercept = 0, slope = 0, poll = 0, dat_slope = 0, axi_slope = 0, stall_slope = 0;
  double link = 0, base_link = 0;
  bool intercept_rises = false, intercept_falls = false, slope_rises = false, slope_falls = false;
};

Changes changes(const Fitted& s, const Fitted& b, double tolerance) {
  Changes c;
  c.intercept = s.service.intercept - b.service.intercept;
  c.slope = s.service.slope - b.service.slope;
  c.poll = s.poll.intercept - b.poll.intercept;
  c.dat_slope = s.dat.slope - b.dat.slope;
  c.axi_slope = s.axi.slope - b.axi.slope;
  c.stall_slope = s.stalls.slope - b.stalls.slope;
  c.link = s.link_use();
  c.base_link = b.link_use();
  const double slope_margin = tolerance * b.service.slope;
  const double intercept_margin = std::max(tolerance * std::fabs(b.service.intercept), kSmallestInterceptUs);
  c.slope_rises = c.slope > slope_margin;
  c.slope_falls = c.slope < -slope_margin;
  c.intercept_rises = c.intercept > intercept_margin;
  c.intercept_falls = c.intercept < -intercept_margin;
  return c;
}

struct Rule {
  Cause cause;
  bool (*holds)(const Changes&);
  std::string (*evidence)(const Changes&);
};

constexpr Rule kRules[] = {
    {Cause::link_rate,
     [](const Changes& c) {
       return c.slope_rises && c.link >= c.base_link - kLinkFalls && c.dat_slope >= kMostOf * c.slope;
     },
     [](const Changes& c) {
       return fmt::format(
           "the DAT lines are busy for {} of the time per byte (baseline {}) and take {} more per KiB, "
           "while the AXI part changes by {}",
           percent(c.link), percent(c.base_link), fmt::format("{:.3f} us", c.dat_slope * 1.024),
           fmt::format("{:+.3f} us", c.axi_slope * 1.024));
     }},
    {Cause::axi_stall,
     [](const Changes& c) {
       return c.slope_rises && c.link < c.base_link - kLinkFalls && c.stall_slope >= kMostOf * c.slope &&
              c.axi_slope > 0;
     },
     [](const Changes& c) {
       return fmt::format(
           "the DAT lines are busy for only {} of the time per byte (baseline {}) while AXI stalls "
           "(outstanding limit, first beat, W, B) rise by {} per KiB, {} of it in the request's path",
           percent(c.link), percent(c.base_link), fmt::format("{:.3f} us", c.stall_slope * 1.024),
           fmt::format("{:.3f} us", c.axi_slope * 1.024));
     }},
    {Cause::queue_poll_wait,
     [](const Changes& c) { return c.intercept_rises && !c.slope_rises && c.poll >= kMostOf * c.intercept; },
     [](const Changes& c) {
       return fmt::format("waiting for the queue status is {} of the change", signed_us(c.poll));
     }},
};

std::vector<AxisLabels::value_type> labels_of(const Scenario& s, const std::vector<std::size_t>& index,
                                              std::size_t left_out) {
  AxisLabels labels;
  for (std::size_t i = 0; i < s.axes.size(); ++i)
    if (i != left_out) labels.emplace_back(s.axes[i].name, s.axes[i].settings[index[i]].label);
  return labels;
}

/// Points that differ in axis `along` only, in order of their first.
struct Group {
  std::vector<std::size_t> index;
  std::vector<const PointResult*> points;
};
std::vector<Group> groups(const std::vector<PointResult>& points, std::size_t along) {
  std::vector<Group> list;
  for (const PointResult& p : points) {
    std::vector<std::size_t> key = p.index;
    key[along] = 0;
    auto it = std::find_if(list.begin(), list.end(), [&](const Group& g) { return g.index == key; });
    if (it == list.end()) it = list.insert(list.end(), {key, {}});
    it->points.push_back(&p);
  }
  return list;
}

void linear(const Scenario& s, const Analysis& a, const std::vector<Group>& list, std::size_t along,
            AnalysisResult& result) {
  const std::size_t by = axis_index(s, a.by);
  std::size_t base = 0;
  while (s.axes[by].settings[base].label != a.baseline) ++base;
  std::vector<std::optional<Fitted>> fits;
  for (const Group& g : list) {
    std::vector<const Metrics*> metrics;
    for (const PointResult* p : g.points) metrics.push_back(&p->metrics);
    fits.push_back(fit_points(metrics, a.metrics.front()));
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    AnalysisRow row;
    row.labels = labels_of(s, list[i].index, along);
    row.fitted = fits[i];
    row.is_baseline = list[i].index[by] == base;
    std::vector<std::size_t> wanted = list[i].index;
    wanted[by] = base;
    const auto at = std::find_if(list.begin(), list.end(), [&](const Group& g) { return g.index == wanted; });
    if (!row.fitted)
      row.sentence = "too few good points for a line";
    else if (row.is_baseline)
      row.sentence = "none: the baseline the others are compared with";
    else if (at == list.end() || !fits[static_cast<std::size_t>(at - list.begin())])
      row.sentence = "the baseline has no line to compare with";
    else
      row.decision =
          decide(*row.fitted, *fits[static_cast<std::size_t>(at - list.begin())], a.tolerance_percent);
    if (row.decision)
      row.sentence = fmt::format("{}: {}", to_string(row.decision->cause), row.decision->evidence);
    result.rows.push_back(std::move(row));
  }
}

void knees(const Scenario& s, const Analysis& a, const std::vector<Group>& list, std::size_t along,
           AnalysisResult& result) {
  for (const Group& g : list) {
    std::vector<std::pair<double, double>> values;
    for (const PointResult* p : g.points)
      if (const auto v = p->metrics.get(a.metrics.front()); v && clean(p->metrics))
        values.emplace_back(std::strtod(s.axes[along].settings[p->index[along]].label.c_str(), nullptr), *v);
    std::sort(values.begin(), values.end());
    const auto left_out = std::count_if(g.points.begin(), g.points.end(),
                                        [](const PointResult* p) { return !clean(p->metrics); });
    AnalysisRow row;
    row.labels = labels_of(s, g.index, along);
    row.knee = knee(values, a.tolerance_percent);
    if (row.knee)
      row.sentence = fmt::format("knee at {} {:g}: twice as much gains {:+.1f} % {}", a.axis, row.knee->depth,
                                 row.knee->gain_percent, a.metrics.front());
    else if (values.empty())
      row.sentence = "no good point";
    else
      row.sentence = fmt::format("no knee up to {} {:g}: every doubling gains {:g} % {} or more", a.axis,
                                 values.back().first, a.tolerance_percent, a.metrics.front());
    if (left_out != 0) row.sentence += fmt::format("; {} point(s) with driver errors left out", left_out);
    result.rows.push_back(std::move(row));
  }
}

}  // namespace

std::optional<Line> fit(const std::vector<double>& x, const std::vector<double>& y) {
  const double n = static_cast<double>(x.size());
  double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) mean_x += x[i] / n, mean_y += y[i] / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mean_x) * (x[i] - mean_x);
    xy += (x[i] - mean_x) * (y[i] - mean_y);
  }
  if (x.size() < 2 || xx == 0) return std::nullopt;
  Line l;
  l.slope = xy / xx;
  l.intercept = mean_y - l.slope * mean_x;
  for (std::size_t i = 0; i < x.size(); ++i)
    l.worst = std::max(l.worst, std::fabs(y[i] - l.intercept - l.slope * x[i]));
  return l;
}

Decision decide(const Fitted& setting, const Fitted& baseline, double tolerance_percent) {
  const Changes c = changes(setting, baseline, tolerance_percent / 100);
  Decision d;
  d.intercept_change_us = c.intercept;
  d.slope_change_percent = baseline.service.slope > 0 ? 100 * c.slope / baseline.service.slope : 0;
  d.intercept_rises = c.intercept_rises;
  d.slope_rises = c.slope_rises;
  const auto word = [](bool rises, bool falls) { return rises ? "rises" : falls ? "falls" : "unchanged"; };
  const std::string moved = fmt::format("intercept {} ({}), slope {:+.1f} % ({})", signed_us(c.intercept),
                                        word(c.intercept_rises, c.intercept_falls), d.slope_change_percent,
                                        word(c.slope_rises, c.slope_falls));
  for (const Rule& r : kRules) {
    if (!r.holds(c)) continue;
    d.cause = r.cause;
    d.evidence = moved + "; " + r.evidence(c);
    return d;
  }
  d.evidence = moved;
  if (c.slope_rises || c.intercept_rises)
    d.evidence += fmt::format(
        "; no row of the table holds: link use {} (baseline {}), AXI stalls {} against {}, queue-poll part "
        "{}",
        percent(c.link), percent(c.base_link), per_kib(setting.stalls.slope), per_kib(baseline.stalls.slope),
        signed_us(c.poll));
  else
    d.evidence += fmt::format(": nothing rises by more than {:g} %", tolerance_percent);
  return d;
}

std::optional<Knee> knee(const std::vector<std::pair<double, double>>& values, double gain_percent) {
  for (const auto& [depth, value] : values)
    for (const auto& [other, more] : values)
      if (other == 2 * depth && value > 0) {
        const double gain = 100 * (more / value - 1);
        if (gain < gain_percent) return Knee{depth, gain};
      }
  return std::nullopt;
}

AnalysisResult analyse(const Scenario& s, const Analysis& a, const std::vector<PointResult>& points) {
  AnalysisResult result;
  result.analysis = &a;
  const std::size_t along = axis_index(s, a.axis);
  if (a.kind == Analysis::Kind::linear) linear(s, a, groups(points, along), along, result);
  if (a.kind == Analysis::Kind::knee) knees(s, a, groups(points, along), along, result);
  return result;
}

void compare(const Scenario& s, const Analysis& a, std::vector<PointResult>& points) {
  std::vector<std::vector<std::pair<std::string, double>>> deltas(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    std::vector<std::size_t> wanted = points[i].index;
    for (const auto& [axis, label] : a.baseline_point) {
      const std::size_t at = axis_index(s, axis);
      for (std::size_t k = 0; k < s.axes[at].settings.size(); ++k)
        if (s.axes[at].settings[k].label == label) wanted[at] = k;
    }
    const auto base =
        std::find_if(points.begin(), points.end(), [&](const PointResult& p) { return p.index == wanted; });
    if (base == points.end()) continue;
    for (const std::string& m : a.metrics) {
      const auto own = points[i].metrics.get(m), other = base->metrics.get(m);
      if (own && other) deltas[i].emplace_back("delta." + m, *own - *other);
    }
  }
  for (std::size_t i = 0; i < points.size(); ++i)
    for (const auto& [name, value] : deltas[i]) points[i].metrics.set(name, value);
}

}  // namespace vp
