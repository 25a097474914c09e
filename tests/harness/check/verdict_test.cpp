#include "harness/check/verdict.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

TEST(Verdict, WordsAndMarks) {
  EXPECT_EQ(to_word(Outcome::kPassed), "passed");
  EXPECT_EQ(to_word(Outcome::kFailed), "failed");
  EXPECT_EQ(to_word(Outcome::kSkipped), "skipped");
  EXPECT_EQ(to_table_mark(Outcome::kPassed), "ok");
  EXPECT_EQ(to_table_mark(Outcome::kFailed), "FAIL");
  EXPECT_EQ(to_table_mark(Outcome::kSkipped), "-");
  for (const Outcome outcome : {Outcome::kPassed, Outcome::kFailed, Outcome::kSkipped}) {
    EXPECT_EQ(outcome_from_word(to_word(outcome)), outcome);
  }
  EXPECT_THROW(outcome_from_word("Passed"), std::invalid_argument);
}

TEST(Verdict, CombineKeepsTheFirstFailureAndCountsTheOthers) {
  const std::vector<Verdict> parts{passed("ONE", "a"), failed("ONE", "b"), skipped("ONE", "c"),
                                   failed("ONE", "d")};
  const Verdict whole = combine(parts);
  EXPECT_EQ(whole.outcome, Outcome::kFailed);
  EXPECT_EQ(whole.evidence, "b; and 1 more failures of ONE");
  EXPECT_TRUE(any_failed(parts));
}

TEST(Verdict, CombinePassesWhenOnePassedAndNoneFailed) {
  const std::vector<Verdict> parts{skipped("MET", "x"), passed("MET", "a"), passed("MET", "b")};
  EXPECT_EQ(combine(parts), passed("MET", "a; b"));
  EXPECT_FALSE(any_failed(parts));
}

TEST(Verdict, CombineOfSkippedOnesIsSkipped) {
  EXPECT_EQ(combine(std::vector<Verdict>{skipped("MIR", "one replica")}), skipped("MIR", "one replica"));
}

TEST(Verdict, CombineRefusesNothingAndMixedInvariants) {
  EXPECT_THROW(combine({}), std::invalid_argument);
  EXPECT_THROW(combine(std::vector<Verdict>{passed("ONE", ""), passed("REF", "")}), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::harness
