#include "harness/check/coverage.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Ids = std::vector<std::int64_t>;

/// Six samples on two replicas, two steps of (2 + 1): replica 0 takes 0 1 | 3 4, replica 1 takes 2 | 5.
SampleLedger right_ledger(std::int64_t epoch = 0) {
  SampleLedger ledger(2);
  ledger.record(0, epoch, 0, Ids{0, 1});
  ledger.record(1, epoch, 0, Ids{2});
  ledger.record(0, epoch, 1, Ids{3, 4});
  ledger.record(1, epoch, 1, Ids{5});
  return ledger;
}

TEST(Coverage, EachSampleOnce) {
  EXPECT_EQ(check_coverage(right_ledger(), {.samples = 6}),
            passed("COV", "6 samples, each taken once in each of 1 epochs by 2 replicas"));
}

TEST(Coverage, MissingSampleIsNamed) {
  EXPECT_EQ(
      check_coverage(right_ledger(), {.samples = 8}),
      failed("COV",
             "epoch 0: sample 6 was taken 0 times, expected 1, by nobody; 0 samples were taken too often, 2 "
             "too seldom"));
}

TEST(Coverage, DuplicatedShardIsNamedWithItsTakers) {
  SampleLedger ledger(2);  // both replicas were given the first half
  ledger.record(0, 0, 0, Ids{0, 1});
  ledger.record(1, 0, 0, Ids{0, 1});
  EXPECT_EQ(
      check_coverage(ledger, {.samples = 4}),
      failed("COV",
             "epoch 0: sample 0 was taken 2 times, expected 1, by replica 0 in step 0, replica 1 in step 0; "
             "2 samples were taken too often, 2 too seldom"));
}

TEST(Coverage, UnknownIdAndUnexpectedEpochFail) {
  SampleLedger unknown = right_ledger();
  unknown.record(1, 0, 2, Ids{6});
  EXPECT_EQ(check_coverage(unknown, {.samples = 6}).evidence,
            "epoch 0: unknown sample 6 (there are 6), taken by replica 1 in step 2");
  SampleLedger late = right_ledger();
  late.record(1, 1, 2, Ids{0});
  EXPECT_EQ(check_coverage(late, {.samples = 6}).evidence,
            "replica 1 took rows in epoch 1 (step 2), expected epochs 0 to 0");
}

TEST(Coverage, EveryEpochIsChecked) {
  SampleLedger ledger = right_ledger(3);
  ledger.record(0, 4, 2, Ids{0, 1, 2, 3, 4});
  const Verdict verdict = check_coverage(ledger, {.samples = 6, .first_epoch = 3, .epochs = 2});
  EXPECT_EQ(verdict.evidence.substr(0, 31), "epoch 4: sample 5 was taken 0 t");
  ledger.record(1, 4, 2, Ids{5});
  EXPECT_EQ(check_coverage(ledger, {.samples = 6, .first_epoch = 3, .epochs = 2}).outcome, Outcome::kPassed);
}

TEST(Coverage, DeclaredRepetition) {
  SampleLedger ledger(1);
  ledger.record(0, 0, 0, Ids{0, 1, 1, 0});
  EXPECT_EQ(check_coverage(ledger, {.samples = 2, .times = 2}).outcome, Outcome::kPassed);
  EXPECT_EQ(check_coverage(ledger, {.samples = 2, .times = 1}).outcome, Outcome::kFailed);
  EXPECT_EQ(check_coverage(ledger, {.samples = 2, .times = 3}).outcome, Outcome::kFailed);
}

// Ten rows in batches of 4 with the remainder dropped: eight rows, none twice.
TEST(Coverage, DeclaredRemainder) {
  SampleLedger ledger(1);
  ledger.record(0, 0, 0, Ids{9, 1, 2, 3});
  ledger.record(0, 0, 1, Ids{4, 5, 6, 7});
  EXPECT_EQ(check_coverage(ledger, {.samples = 10, .rows_per_epoch = 8}).outcome, Outcome::kPassed);
  EXPECT_EQ(check_coverage(ledger, {.samples = 10, .rows_per_epoch = 10}).outcome, Outcome::kFailed);
  ledger.record(0, 0, 2, Ids{9});
  EXPECT_EQ(check_coverage(ledger, {.samples = 10, .rows_per_epoch = 9}).evidence.substr(0, 60),
            "epoch 0: sample 9 was taken 2 times, expected at most 1, by ");
}

TEST(Coverage, NothingConsumedIsAFailureAndABadRuleIsRefused) {
  EXPECT_EQ(check_coverage(SampleLedger(2), {.samples = 1}).outcome, Outcome::kFailed);
  EXPECT_THROW(check_coverage(SampleLedger(2), {.samples = 0}), std::invalid_argument);
  EXPECT_THROW(SampleLedger(0), std::invalid_argument);
  SampleLedger ledger(2);
  EXPECT_THROW(ledger.record(2, 0, 0, Ids{1}), std::out_of_range);
}

TEST(Coverage, ReplicasRecordAtTheSameTime) {
  constexpr int kReplicas = 4, kSteps = 1000;
  SampleLedger ledger(kReplicas);
  std::vector<std::thread> threads;
  for (int replica = 0; replica < kReplicas; ++replica) {
    threads.emplace_back([&ledger, replica] {
      for (std::int64_t step = 0; step < kSteps; ++step) {
        ledger.record(replica, 0, step, Ids{step * kReplicas + replica});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(check_coverage(ledger, {.samples = kReplicas * kSteps}).outcome, Outcome::kPassed);
}

}  // namespace
}  // namespace mirrorscale::harness
