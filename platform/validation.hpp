// The model beside the measurements: errors, bands, and what holds of a seed as a whole.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "platform/measured.hpp"

namespace vp {

/// One measured row with what its run gave.
struct RowResult {
  const MeasuredRun* run = nullptr;
  const MeasuredRow* row = nullptr;
  std::optional<double> model;  ///< none: the run failed, or its report has no such number
  std::optional<double>
      left_out_error_percent;  ///< as error_percent, of the fit to the other rows (leave_one_out.hpp)

  std::string name() const { return run->label + ": " + row->label; }
  /// 100 (model / measured - 1). None without a model, or when 0 was measured.
  std::optional<double> error_percent() const;
  /// None when the row has no band. A row without a model is outside its band.
  std::optional<bool> in_band() const;
};

/// Over the rows that have an error.
struct ErrorSummary {
  std::size_t rows = 0;
  double median = 0, worst = 0;  ///< of the absolute errors, percent; 0 without rows
  std::string worst_row;
};

/// Runs that stand against another: does the model move to the same side as the measurement?
struct SignAgreement {
  std::size_t considered = 0, agreeing = 0;
  std::vector<std::string> wrong;  ///< rows, with both changes
  double percent() const {
    return considered == 0 ? 100.0 : 100.0 * static_cast<double>(agreeing) / static_cast<double>(considered);
  }
};

struct SeedResult {
  const MeasuredSeed* seed = nullptr;
  std::vector<RowResult> rows;
  std::vector<std::string> failures;  ///< runs without a result: label and why

  std::vector<std::string> fit_keys;  ///< parameters of the leave-one-out fit; empty: none was made

  ErrorSummary all, fitted, predicted, left_out;
  std::size_t banded = 0, in_band = 0;
  SignAgreement signs;
  /// What does not hold: rows outside their bands, criteria missed, runs that failed. Empty: the seed holds.
  std::vector<std::string> misses;
};

/// The middle one, or the mean of the two middle ones. 0 of none.
double median(std::vector<double> values);
/// Fills what follows from `rows` (in the order of the seed) and `failures`.
void judge(SeedResult& result);

/// Tables for people, totals last.
std::string validation_text(const std::vector<SeedResult>& results);
/// {"rows": [{"seed", "row", "measured", "model", "error_percent", "kind", …}], "seeds": […]}. `command` gives the words of
/// a run as it was made.
Json validation_json(const std::vector<SeedResult>& results,
                     const std::function<std::string(const MeasuredRun&)>& command);

}  // namespace vp
