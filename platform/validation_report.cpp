// The validation table, as text and as JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/text_table.hpp"
#include "platform/validation.hpp"

namespace vp {
namespace {

std::string number(double v) {
  if (v == std::floor(v) && std::fabs(v) < 9e15) return fmt::format("{}", static_cast<std::int64_t>(v));
  return fmt::format("{:.{}f}", v, std::fabs(v) < 10 ? 3 : std::fabs(v) < 1000 ? 2 : 1);
}

const char* kind_of(const MeasuredRow& row) { return row.fitted ? "fitted" : "predicted"; }

std::string band_of(const RowResult& r) {
  const auto inside = r.in_band();
  return inside ? fmt::format("{:g} % {}", *r.row->band_percent, *inside ? "in" : "OUTSIDE")
                : std::string("-");
}

std::string seed_table(const SeedResult& s) {
  std::vector<TextRow> rows = {{"row", "unit", "kind", "measured", "model", "error %", "band"}};
  for (const RowResult& r : s.rows) {
    const auto error = r.error_percent();
    rows.push_back({r.name(), metric_unit(r.row->metric), kind_of(*r.row), number(r.row->measured),
                    r.model ? number(*r.model) : "-", error ? fmt::format("{:+.1f}", *error) : "-",
                    band_of(r)});
  }
  constexpr std::size_t kLeft = 3;
  return fmt::format("{}: {}\n", s.seed->name, s.seed->description) + aligned(rows, kLeft);
}

std::string signs_text(const SeedResult& s) {
  if (s.signs.considered == 0) return {};
  std::string out =
      fmt::format("Sign of the change: right in {} of {} rows that change by more than {:g} %\n",
                  s.signs.agreeing, s.signs.considered, s.seed->criteria.change_above_percent);
  for (const std::string& w : s.signs.wrong) out += "  not: " + w + "\n";
  return out;
}

std::string left_out_text(const SeedResult& s) {
  if (s.left_out.rows == 0) return {};
  return fmt::format(
      "Leave one out: median |error| {:.1f} %, worst {:.1f} % ({}); each row by a fit of {} parameters to "
      "the other {} "
      "rows\n",
      s.left_out.median, s.left_out.worst, s.left_out.worst_row, s.fit_keys.size(), s.left_out.rows - 1);
}

std::string failures_text(const SeedResult& s) {
  std::string out;
  for (const std::string& f : s.failures) out += "  no result: " + f + "\n";
  return out;
}

std::string median_text(const ErrorSummary& e) { return e.rows == 0 ? "-" : fmt::format("{:.1f}", e.median); }

std::string totals_table(const std::vector<SeedResult>& results) {
  std::vector<TextRow> rows = {{"seed", "rows", "median |error| %", "of fitted", "of predicted",
                                "worst |error| %", "in band", "signs", "holds"}};
  for (const SeedResult& s : results)
    rows.push_back(
        {s.seed->name, fmt::format("{}", s.rows.size()), median_text(s.all), median_text(s.fitted),
         median_text(s.predicted), s.all.rows == 0 ? "-" : fmt::format("{:.1f}", s.all.worst),
         s.banded == 0 ? "-" : fmt::format("{} of {}", s.in_band, s.banded),
         s.signs.considered == 0 ? "-" : fmt::format("{} of {}", s.signs.agreeing, s.signs.considered),
         s.misses.empty() ? "yes" : "NO"});
  return "Totals\n" + aligned(rows, 1);
}

Json or_null(const std::optional<double>& v) { return v ? Json(*v) : Json(nullptr); }

Json row_json(const SeedResult& s, const RowResult& r, const std::string& command) {
  const auto inside = r.in_band();
  return {{"seed", s.seed->name},
          {"row", r.name()},
          {"measured", r.row->measured},
          {"model", or_null(r.model)},
          {"error_percent", or_null(r.error_percent())},
          {"leave_one_out_error_percent", or_null(r.left_out_error_percent)},
          {"kind", kind_of(*r.row)},
          {"metric", r.row->metric},
          {"unit", metric_unit(r.row->metric)},
          {"band_percent", or_null(r.row->band_percent)},
          {"in_band", inside ? Json(*inside) : Json(nullptr)},
          {"command", command}};
}

Json summary_json(const ErrorSummary& e) {
  if (e.rows == 0) return {{"rows", 0}};
  return {{"rows", e.rows},
          {"median_error_percent", e.median},
          {"worst_error_percent", e.worst},
          {"worst_row", e.worst_row}};
}

Json seed_json(const SeedResult& s) {
  return {{"seed", s.seed->name},
          {"description", s.seed->description},
          {"all", summary_json(s.all)},
          {"fitted", summary_json(s.fitted)},
          {"predicted", summary_json(s.predicted)},
          {"leave_one_out", summary_json(s.left_out)},
          {"leave_one_out_parameters", s.fit_keys},
          {"rows_with_band", s.banded},
          {"rows_in_band", s.in_band},
          {"sign_rows", s.signs.considered},
          {"sign_agreeing", s.signs.agreeing},
          {"sign_wrong", s.signs.wrong},
          {"median_limit_percent", or_null(s.seed->criteria.median_error_percent)},
          {"sign_limit_percent", or_null(s.seed->criteria.sign_agreement_percent)},
          {"holds", s.misses.empty()},
          {"misses", s.misses}};
}

}  // namespace

std::string validation_text(const std::vector<SeedResult>& results) {
  std::string out;
  for (const SeedResult& s : results)
    out += seed_table(s) + signs_text(s) + left_out_text(s) + failures_text(s) + "\n";
  return out + totals_table(results);
}

Json validation_json(const std::vector<SeedResult>& results,
                     const std::function<std::string(const MeasuredRun&)>& command) {
  Json out;
  out["rows"] = Json::array();
  out["seeds"] = Json::array();
  for (const SeedResult& s : results) {
    for (const RowResult& r : s.rows) out["rows"].push_back(row_json(s, r, command(*r.run)));
    out["seeds"].push_back(seed_json(s));
  }
  return out;
}

}  // namespace vp
