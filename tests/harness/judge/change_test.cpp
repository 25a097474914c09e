#include "harness/judge/change.h"

#include <cmath>
#include <gtest/gtest.h>
#include <random>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

/// A shift that is known to 0.1 % with plenty of degrees.
ShiftTest sure(double shift) {
  return {shift, 0.001, 1000, false};
}
ShiftTest unsure(double shift) {
  return {shift, 0.1, 8, false};
}
Answer judge(const Question& question) {
  return judge_changes(std::vector{question}).front();
}

constexpr ChangeLimits kLimits{.effect = 0.05, .drift = 0.2, .relative_drift = 0.02};

TEST(ChangeTest, VerdictsOnItsOwn) {
  EXPECT_EQ(judge({sure(0.25), {}, {}, kLimits}).change, Change::kWorse);
  EXPECT_EQ(judge({sure(0.15), {}, {}, kLimits}).change, Change::kSame) << "within drift";
  EXPECT_EQ(judge({sure(-0.25), {}, {}, kLimits}).change, Change::kBetter);
  EXPECT_EQ(judge({unsure(0.25), {}, {}, kLimits}).change, Change::kAmbiguous);
  EXPECT_EQ(judge({sure(0), {}, {}, kLimits}).change, Change::kSame);
}

TEST(ChangeTest, ASmallEffectIsNoFindingHoweverSure) {
  ChangeLimits limits = kLimits;
  limits.drift = 0;
  EXPECT_EQ(judge({sure(0.04), {}, {}, limits}).change, Change::kSame);
  EXPECT_EQ(judge({sure(0.06), {}, {}, limits}).change, Change::kWorse);
}

TEST(ChangeTest, AMachineThatIsSlowerTodayIsNoFinding) {
  // The reference loop slowed down as much: nothing is left of the loss.
  EXPECT_NE(judge({sure(0.3), sure(0.01), {}, kLimits}).change, Change::kWorse);
  EXPECT_EQ(judge({sure(0.3), sure(0.28), {}, kLimits}).change, Change::kWorse);
}

TEST(ChangeTest, OneCellAgainstTheOthers) {
  const Answer found = judge({sure(0.1), sure(0.1), sure(0.1), kLimits});
  EXPECT_EQ(found.change, Change::kWorse) << "drift of all is 0.2, but this one stands out";
  EXPECT_TRUE(found.against_others);
  EXPECT_FALSE(judge({sure(0.3), sure(0.3), sure(0), kLimits}).against_others);
  EXPECT_EQ(judge({sure(0.3), sure(0.3), sure(0), kLimits}).change, Change::kWorse);
}

TEST(ChangeTest, OthersThatGotBetterMakeNobodyWorse) {
  EXPECT_EQ(judge({sure(0), sure(0), sure(0.3), kLimits}).change, Change::kSame);
  EXPECT_EQ(judge({sure(-0.3), sure(-0.3), sure(0.3), kLimits}).change, Change::kBetter);
}

TEST(ChangeTest, StandingOutIsNotEnough) {
  EXPECT_EQ(judge({unsure(0.1), {}, sure(0.3), kLimits}).change, Change::kAmbiguous) << "raw: 0.1 +- 0.1";
  EXPECT_EQ(judge({sure(0.1), unsure(0.1), sure(0.3), kLimits}).change, Change::kSame);
}

// t = 3 with many degrees: p = 0.0014, and 20 times that is not below 0.01.
TEST(ChangeTest, ManyQuestionsArePaidFor) {
  const Question question{{0.3, 0.1, 1000, false}, {}, {}, {.effect = 0.05}};
  EXPECT_EQ(judge(question).change, Change::kWorse);
  const auto answers = judge_changes(std::vector(20, question));
  EXPECT_EQ(answers.front().change, Change::kAmbiguous);
  EXPECT_NEAR(answers.front().p_worse, 20 * judge(question).p_worse, 1e-12);
}

TEST(ChangeTest, SessionsNeedNoMargin) {
  const ShiftTest by_session{0.15, 0.001, 1000, true};
  EXPECT_EQ(judge({by_session, {}, {}, kLimits}).change, Change::kWorse);
}

TEST(ChangeTest, DetectableIsTheEasierWayAndNeverBelowTheEffect) {
  EXPECT_NEAR(judge({sure(0), {}, {}, kLimits}).detectable, 0.2 + 0.001 * (2.330 + 1.282), 1e-4);
  EXPECT_DOUBLE_EQ(judge({sure(0), sure(0), sure(0), kLimits}).detectable, 0.05);
  const Question two{sure(0), sure(0), unsure(0), kLimits};
  EXPECT_LT(judge(two).detectable, judge_changes(std::vector(30, two)).front().detectable)
      << "more cells, more caution";
}

TEST(ChangeTest, Misuse) {
  EXPECT_THROW(judge_changes({}, {.alpha = 0}), std::invalid_argument);
  EXPECT_THROW(judge_changes({}, {.alpha = 0.6}), std::invalid_argument);
  EXPECT_TRUE(judge_changes({}).empty());
}

TEST(ChangeTest, WordsOfAllVerdicts) {
  EXPECT_EQ(to_word(Change::kAmbiguous), "ambiguous");
  EXPECT_EQ(to_word(Change::kMissing), "missing");
  EXPECT_EQ(to_word(Change::kNew), "new");
}

// 8 cells, two metrics, 5 launches each side, all cells of a launch pushed by the machine: whole gates that
// alarm without a change.
TEST(ChangeTest, WholeGatesAlarmInAtMostOnePercent) {
  std::mt19937_64 random(9);
  std::normal_distribution<double> normal;
  int alarms = 0, careless = 0;
  constexpr int kGates = 3000;
  for (int gate = 0; gate < kGates; ++gate) {
    const double machine_now = 0.06 * normal(random);  // well within the drift of 0.2
    std::vector<double> push;
    for (int l = 0; l < 10; ++l) push.push_back((l < 5 ? 0 : machine_now) + 0.02 * normal(random));
    std::vector<Question> questions;
    for (int cell = 0; cell < 16; ++cell) {
      std::vector<LaunchValue> raw[2], own[2];
      for (int l = 0; l < 10; ++l) {
        const double noise = 0.02 * normal(random);
        raw[l / 5].push_back({push[static_cast<std::size_t>(l)] + noise, 0});
        own[l / 5].push_back({noise, 0});
      }
      questions.push_back({*test_shift(raw[0], raw[1]), {}, *test_shift(own[0], own[1]), kLimits});
    }
    bool alarm = false;
    for (const Answer& a : judge_changes(questions)) alarm = alarm || a.change == Change::kWorse;
    alarms += alarm;
    for (Question& q : questions) q = {q.raw, {}, {}, {.effect = 0.05}};
    alarm = false;
    for (const Answer& a : judge_changes(questions)) alarm = alarm || a.change == Change::kWorse;
    careless += alarm;
  }
  EXPECT_LE(alarms, kGates / 100);
  EXPECT_GT(careless, kGates / 10) << "without a margin for drift a test of launches is wrong";
}

}  // namespace
}  // namespace mirrorscale::harness
