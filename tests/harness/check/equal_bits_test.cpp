#include "harness/check/equal_bits.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Floats = std::vector<float>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

TEST(UlpDistance, KnownValues) {
  EXPECT_EQ(ulp_distance(1.0f, 1.0f), 0u);
  EXPECT_EQ(ulp_distance(1.0f, std::nextafter(1.0f, 2.0f)), 1u);
  EXPECT_EQ(ulp_distance(1.0f, 2.0f), 1u << 23);
  EXPECT_EQ(ulp_distance(0.0f, -0.0f), 1u);
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(ulp_distance(tiny, -tiny), 3u);  // tiny, 0, -0, -tiny
  EXPECT_EQ(ulp_distance(1.0, std::nextafter(1.0, 0.0)), 1u);
  EXPECT_EQ(ulp_distance(-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()),
            2 * 0x7fefffffffffffffu + 1);
  EXPECT_EQ(ulp_distance(kNan, 1.0f), std::numeric_limits<std::uint64_t>::max());
}

TEST(EqualBits, EqualSpansPass) {
  const Floats a{1, 2, 3}, b{1, 2, 3};
  EXPECT_EQ(check_equal_bits("ONE", "w", a, b), passed("ONE", "w: 3 values equal in every bit"));
}

TEST(EqualBits, FailureNamesFirstElementBothValuesAndDistance) {
  const Floats a{1, 2, 0.5f, 4}, b{1, 2, std::nextafter(0.5f, 1.0f), 5};
  const Verdict verdict = check_equal_bits("ONE", "w", a, b);
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.evidence, "w[2] is 0.50000006, expected 0.5 (1 ULP, 5.96e-08); 2 of 4 values differ");
}

TEST(EqualBits, ColumnsNameRowAndColumn) {
  const Floats a{1, 2, 3, 4, 5, 6}, b{1, 2, 3, 4, 7, 6};
  EXPECT_EQ(check_equal_bits("ONE", "w", a, b, 3).evidence.substr(0, 7), "w[1, 1]");
}

TEST(EqualBits, SignOfZeroCounts) {
  EXPECT_EQ(check_equal_bits("ONE", "w", Floats{0.0f}, Floats{-0.0f}).outcome, Outcome::kFailed);
}

TEST(EqualBits, NanEqualsItselfAndIsCounted) {
  const Verdict verdict = check_equal_bits("ONE", "w", Floats{1, kNan}, Floats{1, kNan});
  EXPECT_EQ(verdict, passed("ONE", "w: 2 values equal in every bit (1 of them NaN)"));
  EXPECT_EQ(check_equal_bits("ONE", "w", Floats{1}, Floats{kNan}).evidence,
            "w[0] is nan, expected 1 (not comparable); 1 of 1 values differ");
}

TEST(EqualBits, SizesThatDifferFailAndNothingIsSkipped) {
  EXPECT_EQ(check_equal_bits("ONE", "w", Floats{1, 2}, Floats{1}), failed("ONE", "w: 1 values, expected 2"));
  EXPECT_EQ(check_equal_bits("ONE", "w", Floats{}, Floats{}).outcome, Outcome::kSkipped);
  EXPECT_EQ(check_equal_bits("ONE", "w", Floats{}, Floats{1}).outcome, Outcome::kFailed);
}

TEST(EqualBits, DoublesAreComparedInFull) {
  const std::vector<double> a{1.0}, b{std::nextafter(1.0, 2.0)};
  EXPECT_EQ(check_equal_bits("ONE", "loss", a, b).evidence,
            "loss[0] is 1.0000000000000002, expected 1 (1 ULP, 2.22e-16); 1 of 1 values differ");
  EXPECT_EQ(check_equal_bits("ONE", "loss", a, a).outcome, Outcome::kPassed);
}

struct Model {
  Floats kernel{1, 2, 3, 4}, bias{5, 6};
  std::vector<NamedValues> values() const { return {{"kernel", kernel, 2}, {"bias", bias}}; }
};

TEST(EqualBits, NamedGroupsNameTheGroup) {
  Model one, two;
  EXPECT_EQ(check_equal_bits("ONE", one.values(), two.values()),
            passed("ONE", "6 values in 2 groups equal in every bit"));
  two.bias[1] = 7;
  const Verdict verdict = check_equal_bits("ONE", one.values(), two.values());
  EXPECT_EQ(verdict.evidence, "bias[1] is 7, expected 6 (2097152 ULP, 1); 1 of 2 values differ");
  two.kernel[2] = 0;
  EXPECT_EQ(check_equal_bits("ONE", one.values(), two.values()).evidence,
            "kernel[1, 0] is 0, expected 3 (1077936128 ULP, 3); 1 of 4 values differ; 2 of 2 groups differ");
}

TEST(EqualBits, NamedGroupsMustHaveTheSameNames) {
  const Floats a{1};
  const std::vector<NamedValues> one{{"a", a}}, other{{"b", a}}, two{{"a", a}, {"b", a}};
  EXPECT_EQ(check_equal_bits("ONE", one, other).outcome, Outcome::kFailed);
  EXPECT_EQ(check_equal_bits("ONE", one, two).outcome, Outcome::kFailed);
  EXPECT_EQ(check_equal_bits("ONE", std::vector<NamedValues>{}, std::vector<NamedValues>{}).outcome,
            Outcome::kSkipped);
}

// Two replicas that start at 0 and 10 and take the same gradients: 2.5 on both is right, -2.5 and 7.5 is not.
TEST(Mirrored, NamesReplicaStepAndElement) {
  const Floats right{2.5f}, left{-2.5f}, other{7.5f};
  const auto replica = [](const char* name, const Floats& w) { return ReplicaValues{name, {{"w", w}}}; };
  EXPECT_EQ(check_mirrored(std::vector{replica("replica 0", right), replica("replica 1", right)}, 1),
            passed("MIR", "2 replicas bit-equal in 1 values after step 1"));
  const Verdict verdict = check_mirrored(
      std::vector{replica("replica 0", left), replica("replica 1", left), replica("replica 2", other)}, 0);
  EXPECT_EQ(verdict.outcome, Outcome::kFailed);
  EXPECT_EQ(verdict.evidence.substr(0, 82),
            "replica 2 differs from replica 0 before the first step: w[0] is 7.5, expected -2.5");
  EXPECT_EQ(check_mirrored(std::vector{replica("replica 0", left)}, 1).outcome, Outcome::kSkipped);
}

TEST(Mirrored, JudgeKeepsTheFirstFailureOfARun) {
  Floats a{1, 2}, b{1, 2};
  const std::vector<ReplicaValues> replicas{{"replica 0", {{"w", a}}}, {"replica 1", {{"w", b}}}};
  MirrorJudge judge;
  EXPECT_EQ(judge.verdict().outcome, Outcome::kSkipped);
  for (int step = 1; step <= 3; ++step) judge.observe(replicas, step);
  EXPECT_EQ(judge.verdict(), passed("MIR", "2 replicas bit-equal in 2 values each of the 3 times looked"));
  b[0] = 5;
  judge.observe(replicas, 4);
  b[0] = 6;
  judge.observe(replicas, 5);
  b[0] = 1;
  judge.observe(replicas, 6);
  EXPECT_EQ(judge.verdict().outcome, Outcome::kFailed);
  EXPECT_NE(judge.verdict().evidence.find("after step 4: w[0] is 5, expected 1"), std::string::npos);
}

}  // namespace
}  // namespace mirrorscale::harness
