#include "harness/measure/student.h"

#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

constexpr double kTiny = 1e-300;
constexpr int kMostTerms = 10'000;

/// Continued fraction of the incomplete beta function (Lentz's method), for x below (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), result = d;
  for (int m = 1; m < kMostTerms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < 1e-15) return result;
  }
  throw std::logic_error("[student] the continued fraction does not settle");
}

/// Regularised incomplete beta function I_x(a, b), given x and 1 - x apart so that neither loses digits.
double beta_share(double a, double b, double x, double rest) {
  if (x <= 0) return 0;
  if (rest <= 0) return 1;
  const double front =
      std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log(rest));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(a, b, x) / a;
  return 1 - front * beta_fraction(b, a, rest) / b;
}

}  // namespace

double student_upper_tail(double t, double degrees) {
  if (std::isnan(t) || !(degrees > 0)) {
    throw std::invalid_argument(fmt::format(
        "[student] t = {} with {} degrees of freedom; expected a number and more than 0", t, degrees));
  }
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  const double square = t * t;
  const double both = beta_share(degrees / 2, 0.5, degrees / (degrees + square), square / (degrees + square));
  return t >= 0 ? both / 2 : 1 - both / 2;
}

double student_quantile_above(double upper, double degrees) {
  if (!(upper > 0 && upper < 1)) {
    throw std::invalid_argument(fmt::format("[student] a tail of {}; expected above 0 and below 1", upper));
  }
  double low = -1, high = 1;
  while (student_upper_tail(low, degrees) < upper) low *= 2;
  while (student_upper_tail(high, degrees) > upper) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-13 * (1 + std::abs(low)); ++i) {
    const double middle = (low + high) / 2;
    (student_upper_tail(middle, degrees) > upper ? low : high) = middle;
  }
  return (low + high) / 2;
}

}  // namespace mirrorscale::harness
