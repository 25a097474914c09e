// Products whose factors are rounded to fewer digits first, as a GPU's matrix units do: within the bound,
// which without the rounding in it would be broken.
#include "scenarios/oracle/products.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace mirrorscale::scenarios::oracle {
namespace {

double rounded(double value, int digits) {
  if (value == 0) return 0;
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, digits)), exponent - digits);
}

Tracked random_matrix(std::size_t rows, std::size_t columns, std::mt19937& random) {
  Tracked m;
  m.resize(rows, columns);
  std::normal_distribution<float> normal;
  for (double& v : m.value) v = static_cast<double>(normal(random));
  std::fill(m.scale.begin(), m.scale.end(), 0.0);
  return m;
}

Tracked with_rounded_values(Tracked m, int digits) {
  for (double& v : m.value) v = rounded(v, digits);
  return m;
}

/// Largest |difference| / bound.
double worst(const ErrorModel& errors, const Tracked& expected, const Tracked& actual) {
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double bound = errors.bound_of(expected.scale[i]);
    largest = std::max(largest, std::fabs(expected.value[i] - actual.value[i]) / bound);
  }
  return largest;
}

class RoundedFactors : public testing::TestWithParam<int> {};

TEST_P(RoundedFactors, AreWithinTheBoundAndNeedIt) {
  const int digits = GetParam();
  ErrorModel errors;
  errors.factor_unit = std::ldexp(1.0, -digits);
  const FactorRounding rounding = errors.factors(), none{};
  std::mt19937 random(7);
  const Tracked a = random_matrix(24, 70, random), b = random_matrix(70, 19, random),
                c = random_matrix(24, 19, random);
  const Tracked ra = with_rounded_values(a, digits), rb = with_rounded_values(b, digits),
                rc = with_rounded_values(c, digits);
  Tracked with, without, judged;
  const auto look = [&](const char* what) {
    EXPECT_LT(worst(errors, with, judged), 1) << what;
    EXPECT_GT(worst(errors, with, judged), 0.02) << what << ": so wide a bound judges nothing";
    EXPECT_GT(worst(errors, without, judged), 10) << what;
  };
  multiply(a, b, rounding, 1, with);
  multiply(a, b, none, 1, without);
  multiply(ra, rb, none, 1, judged);
  look("x w");
  multiply_transposed(c, b, rounding, 1, with);
  multiply_transposed(c, b, none, 1, without);
  multiply_transposed(rc, rb, none, 1, judged);
  look("dz w'");
  multiply_rows(a, c, 32, rounding, 1, with);
  multiply_rows(a, c, 32, none, 1, without);
  multiply_rows(ra, rc, 32, none, 1, judged);
  look("x' dz");
}
INSTANTIATE_TEST_SUITE_P(Digits, RoundedFactors, testing::Values(8, 11));

TEST(RoundedFactors, UnderflowIsInTheBound) {
  ErrorModel errors;
  errors.factor_underflow = 0x1p-25;
  Tracked x, w, z;
  x.resize(1, 2);
  w.resize(2, 1);
  x.value = {0x1p-26, 3};
  w.value = {1, 0x1p-27};
  std::fill(x.scale.begin(), x.scale.end(), 0.0);
  std::fill(w.scale.begin(), w.scale.end(), 0.0);
  multiply(x, w, errors.factors(), 1, z);
  EXPECT_GE(errors.bound_of(z.scale[0]), z.value[0]);  // both products may be lost
}

}  // namespace
}  // namespace mirrorscale::scenarios::oracle
