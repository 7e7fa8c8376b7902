// What a fit to all rows of a seed together is worth on a row it has not seen.
//
// The parameters fitted to the seed are varied one at a time by real runs, which gives the sensitivities
// d ln(model) / d ln(parameter) of every row. With them the fit is made again without one row: the least sum of absolute
// logarithmic errors of the others, in the linearised model (iteratively reweighted least squares). The error left on
// the row that was left out is its leave-one-out error.
#pragma once

#include <string>
#include <vector>

#include "platform/measured.hpp"

namespace vp {

/// A number of a preset that was fitted to a seed: its origin is `fitted`, and its source names the seed.
struct FittedValue {
  std::string key;
  double value = 0;
  double step = 0;     ///< factor by which it is varied
  bool whole = false;  ///< takes whole numbers only

  /// `KEY=VALUE` for -p, with the value times the step.
  std::string varied() const;
};

/// In the order of the parameter list. Sizes in bytes are varied by 2, everything else by 5 %. Throws InputError.
std::vector<FittedValue> fitted_values(const std::string& platform, const std::string& seed,
                                       const ConfigSource& source);

/// @param residuals      ln(measured / model) of each row
/// @param sensitivities  of each row to each parameter
/// @return ln(measured / model) of each row after the fit to all others; sizes as `residuals`
std::vector<double> leave_one_out(const std::vector<double>& residuals,
                                  const std::vector<std::vector<double>>& sensitivities);

}  // namespace vp
