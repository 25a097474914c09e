#include "harness/check/shape.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Floats = std::vector<float>;

// The lesson: 64 rows of 20 features through Dense(10) give (64, 10) on any number of devices.
TEST(Shape, RowsInAreRowsOut) {
  EXPECT_EQ(check_shape("predict", {64, 10}, {64, 10}), passed("SHP", "predict: 64 rows in, (64, 10) out"));
  EXPECT_EQ(check_shape("predict", {81, 10}, {84, 10}),
            failed("SHP", "predict: shape (84, 10), expected (81, 10)"));
  EXPECT_EQ(check_shape("predict", {64, 10}, {64, 1}).outcome, Outcome::kFailed);
}

TEST(RowOrder, IdentityRows) {
  const Floats rows{0, 1, 2, 3, 4, 5};
  EXPECT_EQ(check_row_order("predict", rows, rows, 1),
            passed("SHP", "predict: row i of 6 belongs to input i"));
}

TEST(RowOrder, InterleavedSplitJoinedShardByShard) {
  EXPECT_EQ(check_row_order("predict", Floats{0, 1, 2, 3, 4, 5}, Floats{0, 2, 4, 1, 3, 5}, 1),
            failed("SHP", "predict: row 1 holds the row of input 2; 4 of 6 rows are not their input's"));
}

TEST(RowOrder, WholeRowsCount) {
  const Floats expected{0, 1, 0, 2, 0, 3};
  EXPECT_EQ(check_row_order("predict", expected, Floats{0, 1, 0, 2, 0, 4}, 2).evidence,
            "predict: row 2 holds the row of no input; 1 of 3 rows are not their input's");
}

TEST(RowOrder, PaddedOrMissingRows) {
  EXPECT_EQ(check_row_order("predict", Floats{0, 1}, Floats{0, 1, 0}, 1),
            failed("SHP", "predict: 3 rows out, 2 rows in"));
  EXPECT_EQ(check_row_order("predict", Floats{0, 1}, Floats{}, 1).outcome, Outcome::kFailed);
  EXPECT_EQ(check_row_order("predict", Floats{}, Floats{}, 1).outcome, Outcome::kSkipped);
}

TEST(RowOrder, RowsThatAreAllAlikeShowNothing) {
  EXPECT_EQ(check_row_order("predict", Floats{7, 7}, Floats{7, 7}, 1).outcome, Outcome::kSkipped);
  EXPECT_EQ(check_row_order("predict", Floats{7, 7}, Floats{7, 8}, 1).outcome, Outcome::kFailed);
  EXPECT_EQ(check_row_order("predict", Floats{7}, Floats{7}, 1).outcome, Outcome::kPassed);
}

TEST(RowOrder, MisuseIsRefused) {
  EXPECT_THROW(check_row_order("predict", Floats{1, 2, 3}, Floats{1, 2, 3}, 2), std::invalid_argument);
  EXPECT_THROW(check_row_order("predict", Floats{1}, Floats{1}, 0), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::harness
