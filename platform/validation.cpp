#include "platform/validation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace vp {
namespace {

std::optional<double> own_error(const RowResult& r) { return r.error_percent(); }
std::optional<double> left_out_error(const RowResult& r) { return r.left_out_error_percent; }

ErrorSummary summary(const std::vector<RowResult>& rows, const std::optional<bool>& fitted,
                     std::optional<double> (*error_of)(const RowResult&) = own_error) {
  ErrorSummary s;
  std::vector<double> errors;
  for (const RowResult& r : rows) {
    const auto error = error_of(r);
    if (!error || (fitted && *fitted != r.row->fitted)) continue;
    errors.push_back(std::fabs(*error));
    if (errors.back() <= s.worst && !s.worst_row.empty()) continue;
    s.worst = errors.back();
    s.worst_row = r.name();
  }
  s.rows = errors.size();
  s.median = median(std::move(errors));
  return s;
}

const RowResult* partner(const SeedResult& result, const RowResult& r) {
  if (!r.run->against) return nullptr;
  const MeasuredRun* const other = &result.seed->runs[*r.run->against];
  const auto it = std::find_if(result.rows.begin(), result.rows.end(), [&](const RowResult& o) {
    return o.run == other && o.row->label == r.row->label;
  });
  return it == result.rows.end() ? nullptr : &*it;
}

double change_percent(double to, double from) { return from == 0 ? 0 : 100 * (to / from - 1); }

SignAgreement signs(const SeedResult& result) {
  SignAgreement s;
  for (const RowResult& r : result.rows) {
    const RowResult* const from = partner(result, r);
    if (!from) continue;
    const double measured = change_percent(r.row->measured, from->row->measured);
    if (std::fabs(measured) <= result.seed->criteria.change_above_percent) continue;
    ++s.considered;
    const bool known = r.model && from->model;
    const double model = known ? change_percent(*r.model, *from->model) : 0;
    if (measured * model > 0)
      ++s.agreeing;
    else
      s.wrong.push_back(
          known ? fmt::format("{} ({:+.1f} % measured, {:+.1f} % model)", r.name(), measured, model)
                : fmt::format("{} ({:+.1f} % measured, no result)", r.name(), measured));
  }
  return s;
}

void judge_criteria(SeedResult& result) {
  const Criteria& c = result.seed->criteria;
  if (c.median_error_percent && (result.all.rows == 0 || result.all.median > *c.median_error_percent))
    result.misses.push_back(fmt::format("median absolute error {:.1f} %, limit {:g} %", result.all.median,
                                        *c.median_error_percent));
  if (c.sign_agreement_percent && result.signs.percent() < *c.sign_agreement_percent)
    result.misses.push_back(fmt::format("sign of the change right in {} of {} rows, limit {:g} %",
                                        result.signs.agreeing, result.signs.considered,
                                        *c.sign_agreement_percent));
}

}  // namespace

std::optional<double> RowResult::error_percent() const {
  if (!model || row->measured == 0) return std::nullopt;
  return change_percent(*model, row->measured);
}

std::optional<bool> RowResult::in_band() const {
  if (!row->band_percent) return std::nullopt;
  const auto error = error_percent();
  return error && std::fabs(*error) <= *row->band_percent;
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void judge(SeedResult& result) {
  result.all = summary(result.rows, std::nullopt);
  result.fitted = summary(result.rows, true);
  result.predicted = summary(result.rows, false);
  result.left_out = summary(result.rows, std::nullopt, left_out_error);
  result.signs = signs(result);
  result.misses = result.failures;
  for (const RowResult& r : result.rows) {
    const auto inside = r.in_band();
    if (!inside) continue;
    ++result.banded;
    if (*inside)
      ++result.in_band;
    else if (const auto error = r.error_percent())
      result.misses.push_back(
          fmt::format("{} ({:+.1f} %, band {:g} %)", r.name(), *error, *r.row->band_percent));
    else
      result.misses.push_back(fmt::format("{} (no result)", r.name()));
  }
  judge_criteria(result);
}

}  // namespace vp
