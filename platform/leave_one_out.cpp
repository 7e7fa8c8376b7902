#include "platform/leave_one_out.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "platform/builder.hpp"
#include "platform/platform_choice.hpp"

namespace vp {
namespace {

using Row = std::vector<double>;

constexpr double kByteStep = 2, kStep = 1.05;
constexpr int kRounds = 200;
constexpr double kSmallest = 1e-4;  // absolute error (of a logarithm) below which a row weighs no more
constexpr double kRidge = 1e-9;     // holds what no row depends on where it is

/// Solves a x = b for a symmetric, positive definite `a` (Cholesky: a = l l^T).
Row solved(const std::vector<Row>& a, Row b) {
  const std::size_t n = b.size();
  std::vector<Row> l(n, Row(n, 0));
  const auto rest = [&](std::size_t i, std::size_t k) {
    double v = a[i][k];
    for (std::size_t m = 0; m < k; ++m) v -= l[i][m] * l[k][m];
    return v;
  };
  for (std::size_t k = 0; k < n; ++k) {
    l[k][k] = std::sqrt(rest(k, k));
    for (std::size_t i = k + 1; i < n; ++i) l[i][k] = rest(i, k) / l[k][k];
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t m = 0; m < i; ++m) b[i] -= l[i][m] * b[m];
    b[i] /= l[i][i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t m = i + 1; m < n; ++m) b[i] -= l[m][i] * b[m];
    b[i] /= l[i][i];
  }
  return b;
}

double left_over(double residual, const Row& sensitivity, const Row& shift) {
  for (std::size_t k = 0; k < shift.size(); ++k) residual -= sensitivity[k] * shift[k];
  return residual;
}

/// The shift of the parameters' logarithms with the least sum of absolute errors over all rows but `without`.
Row fit(const Row& residuals, const std::vector<Row>& s, std::size_t without) {
  const std::size_t n = s.front().size();
  Row shift(n, 0);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<Row> normal(n, Row(n, 0));
    Row right(n, 0);
    for (std::size_t k = 0; k < n; ++k) normal[k][k] = kRidge;
    for (std::size_t i = 0; i < residuals.size(); ++i) {
      if (i == without) continue;
      const double weight = 1 / std::max(std::fabs(left_over(residuals[i], s[i], shift)), kSmallest);
      for (std::size_t k = 0; k < n; ++k) {
        right[k] += weight * s[i][k] * residuals[i];
        for (std::size_t m = 0; m < n; ++m) normal[k][m] += weight * s[i][k] * s[i][m];
      }
    }
    shift = solved(normal, right);
  }
  return shift;
}

}  // namespace

std::string FittedValue::varied() const {
  const double v = value * step;
  return whole ? fmt::format("{}={}", key, std::llround(v)) : fmt::format("{}={}", key, v);
}

std::vector<FittedValue> fitted_values(const std::string& platform, const std::string& seed,
                                       const ConfigSource& source) {
  PlatformConfig config;
  ParamRegistry registry;
  config.declare(registry);
  Options options;
  options.platform = platform;
  load_platform(registry, options, source);
  std::vector<FittedValue> values;
  for (const Param& p : registry.all()) {
    if (p.kind != ParamKind::fitted || p.source.find(seed) == std::string::npos) continue;
    const double step = p.unit == "B" ? kByteStep : kStep;
    if (const auto* whole = std::get_if<std::uint64_t*>(&p.ref))
      values.push_back({p.key, static_cast<double>(**whole), step, true});
    else if (const auto* real = std::get_if<double*>(&p.ref))
      values.push_back({p.key, **real, step, false});
  }
  return values;
}

std::vector<double> leave_one_out(const std::vector<double>& residuals,
                                  const std::vector<std::vector<double>>& sensitivities) {
  std::vector<double> out;
  for (std::size_t i = 0; i < residuals.size(); ++i)
    out.push_back(left_over(residuals[i], sensitivities[i], fit(residuals, sensitivities, i)));
  return out;
}

}  // namespace vp
