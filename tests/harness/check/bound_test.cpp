#include "harness/check/bound.h"

#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Doubles = std::vector<double>;
using Floats = std::vector<float>;

TEST(Bound, PassNamesTheLargestRatio) {
  const Verdict verdict =
      check_bound("REF", "w", Doubles{1, 2, 4}, Doubles{0.5, 1, 2}, Floats{1.25f, 2.25f, 4}, 0);
  EXPECT_EQ(verdict, passed("REF",
                            "3 values within their bounds; largest |difference| / bound 0.5 at w[0] "
                            "(difference 0.25, bound 0.5)"));
}

TEST(Bound, TheBoundItselfIsAllowed) {
  EXPECT_EQ(check_bound("REF", "w", Doubles{1}, Doubles{0.5}, Floats{1.5f}).outcome, Outcome::kPassed);
  EXPECT_EQ(check_bound("REF", "w", Doubles{1}, Doubles{0}, Floats{1}).outcome, Outcome::kPassed);
}

TEST(Bound, FailureNamesFirstBrokenElementAndTheWorst) {
  const Verdict verdict =
      check_bound("REF", "w", Doubles{1, 1, 1, 1}, Doubles{1, 0.25, 1, 0.25}, Floats{1, 1.5f, 1, 2}, 2);
  EXPECT_EQ(
      verdict,
      failed("REF",
             "w[0, 1] is 1.5, expected 1 within 0.25; 2 of 4 values break their bound; largest |difference| "
             "/ bound 4 at w[1, 1] (difference 1, bound 0.25)"));
  EXPECT_EQ(check_bound("REF", "w", Doubles{1}, Doubles{0}, Floats{2}).outcome, Outcome::kFailed);
}

TEST(Bound, NanAndInfinityFail) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(check_bound("REF", "w", Doubles{1, 1}, Doubles{9, 9}, Floats{1, bad}).outcome, Outcome::kFailed)
        << bad;
  }
}

TEST(Bound, WorksOnDoublesToo) {
  const Doubles actual{1 + 1e-12};
  EXPECT_EQ(check_bound("REF", "loss", Doubles{1}, Doubles{1e-10}, actual).outcome, Outcome::kPassed);
  EXPECT_EQ(check_bound("REF", "loss", Doubles{1}, Doubles{1e-13}, actual).outcome, Outcome::kFailed);
}

TEST(Bound, ABoundThatCannotFailIsRefused) {
  const double infinity = std::numeric_limits<double>::infinity(),
               nan = std::numeric_limits<double>::quiet_NaN();
  for (const double bad : {infinity, nan, -1.0}) {
    EXPECT_THROW(check_bound("REF", "w", Doubles{1}, Doubles{bad}, Floats{1}), std::invalid_argument) << bad;
  }
  EXPECT_THROW(check_bound("REF", "w", Doubles{nan}, Doubles{1}, Floats{1}), std::invalid_argument);
  EXPECT_THROW(check_bound("REF", "w", Doubles{1, 2}, Doubles{1}, Floats{1, 2}), std::invalid_argument);
}

TEST(Bound, SizesAndEmptiness) {
  EXPECT_EQ(check_bound("REF", "w", Doubles{1, 2}, Doubles{1, 1}, Floats{1}).outcome, Outcome::kFailed);
  EXPECT_EQ(check_bound("REF", "w", Doubles{}, Doubles{}, Floats{}).outcome, Outcome::kSkipped);
}

}  // namespace
}  // namespace mirrorscale::harness
