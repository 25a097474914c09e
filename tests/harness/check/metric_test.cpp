#include "harness/check/metric.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Parts = std::vector<MetricPart>;

// 39 rows as 20 + 19, the first 20 right, the rest wrong: 20 / 39, not the 0.5 of averaged ratios.
TEST(Pooled, CountsAreAddedBeforeDividing) {
  const Parts parts{{20, 20}, {0, 19}};
  EXPECT_EQ(check_pooled("accuracy", parts, 20.0 / 39.0, 39),
            passed("MET", "accuracy 0.512820513 is pooled from 39 rows on 2 replicas"));
  EXPECT_EQ(
      check_pooled("accuracy", parts, 0.5, 39),
      failed(
          "MET",
          "accuracy is reported as 0.5, pooled from 39 rows on 2 replicas it is 0.51282051282051277; it is "
          "the mean of the replicas' means"));
}

TEST(Pooled, UsualMistakesAreNamed) {
  // 16 rows, 12 right, on 4 replicas: 0.75; summed over replicas 3; divided twice 0.1875; replica 1 alone 1.
  const Parts parts{{3, 4}, {4, 4}, {2, 4}, {3, 4}};
  const auto says = [&](double reported, const char* text) {
    const Verdict verdict = check_pooled("accuracy", parts, reported, 16);
    EXPECT_EQ(verdict.outcome, Outcome::kFailed) << reported;
    EXPECT_NE(verdict.evidence.find(text), std::string::npos) << verdict.evidence;
  };
  says(3, "it is the sum of the replicas' means");
  says(0.1875, "it is the right value divided by the number of replicas");
  says(1, "it is the value of replica 1 alone");
  says(0.7, "it is 0.75");
  EXPECT_EQ(check_pooled("accuracy", parts, 0.75, 16).outcome, Outcome::kPassed);
}

// One replica has no rows: it must not count as a share of 0.
TEST(Pooled, EmptyReplicaIsNoShare) {
  const Parts parts{{6, 1}, {0, 0}};
  EXPECT_EQ(check_pooled("loss", parts, 6, 1).outcome, Outcome::kPassed);
  EXPECT_NE(check_pooled("loss", parts, 3, 1).evidence.find("empty replicas counted as 0"),
            std::string::npos);
}

TEST(Pooled, CountsMustAddUp) {
  EXPECT_EQ(check_pooled("loss", Parts{{1, 11}, {1, 11}}, 1.0 / 11, 21),
            failed("MET", "loss: the replicas counted 22 rows, expected 21"));
  EXPECT_EQ(check_pooled("loss", Parts{{0, 0}}, 0, 0).outcome, Outcome::kSkipped);
}

TEST(Pooled, AllowanceAndNan) {
  EXPECT_EQ(check_pooled("loss", Parts{{1, 3}}, 0.33333334, 3).outcome, Outcome::kFailed);
  EXPECT_EQ(check_pooled("loss", Parts{{1, 3}}, 0.33333334, 3, 1e-7).outcome, Outcome::kPassed);
  EXPECT_EQ(check_pooled("loss", Parts{{1, 3}}, std::nan(""), 3, 1e-7).outcome, Outcome::kFailed);
  EXPECT_THROW(check_pooled("loss", Parts{{1, 3}}, 1, 3, -1), std::invalid_argument);
  EXPECT_THROW(check_pooled("loss", Parts{{1, 3}}, 1, 3, std::numeric_limits<double>::infinity()),
               std::invalid_argument);
}

TEST(Within, ARatioLiesBetweenZeroAndOne) {
  EXPECT_EQ(check_within("accuracy", 1, 0, 1).outcome, Outcome::kPassed);
  EXPECT_EQ(check_within("accuracy", 3.57, 0, 1).outcome, Outcome::kFailed);
  EXPECT_EQ(check_within("accuracy", std::nan(""), 0, 1).outcome, Outcome::kFailed);
}

TEST(SameMetric, BitsAreComparedAcrossReplicaCounts) {
  std::vector<MetricAt> values{{1, 64, 0.75}, {2, 64, 0.75}, {4, 128, 0.75}};
  EXPECT_EQ(check_same_metric("accuracy", values), passed("MET", "accuracy 0.75 is the same in 3 settings"));
  values[2].value = std::nextafter(0.75, 1);
  EXPECT_EQ(check_same_metric("accuracy", values).evidence,
            "accuracy is 0.75000000000000011 on 4 replicas at batch 128, but 0.75 on 1 at batch 64");
  EXPECT_EQ(check_same_metric("accuracy", std::vector<MetricAt>{{1, 64, 0.75}}).outcome, Outcome::kSkipped);
}

}  // namespace
}  // namespace mirrorscale::harness
