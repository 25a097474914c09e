#include "strategies/comm/nccl/calls.h"

#include "tests/strategies/support/expect_throw.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace mirrorscale::strategies::nccl {
namespace {

using testing::expect_throw;

TEST(Calls, NobodyIsLateWhileAllHaveCalledTheSame) {
  Calls calls(3);
  for (int r = 0; r < 3; ++r) calls.join(r);
  EXPECT_EQ(calls.late(), "");
  for (int i = 0; i < 5; ++i) {
    for (int r = 0; r < 3; ++r) calls.note((r + i) % 3, {"all_reduce", 16, 0});
    EXPECT_EQ(calls.late(), "");
  }
}

TEST(Calls, NamesWhoIsLateAndForWhat) {
  Calls calls(3);
  for (int r = 0; r < 3; ++r) calls.join(r);
  for (int r = 0; r < 3; ++r) calls.note(r, {"all_reduce", 16, 0});
  calls.note(0, {"broadcast", 5, 1});
  EXPECT_EQ(calls.late(),
            "rank 1 did not call broadcast of 5 floats (collective 2), "
            "rank 2 did not call broadcast of 5 floats (collective 2)");
  calls.note(2, {"broadcast", 5, 1});
  calls.note(2, {"all_gather", 7, 0});
  EXPECT_EQ(calls.late(),
            "rank 0 did not call all_gather of 7 floats (collective 3), "
            "rank 1 did not call broadcast of 5 floats (collective 2)");
}

TEST(Calls, RanksOfOtherProcessesAreNotLate) {
  Calls calls(3);
  calls.join(1);
  for (int i = 0; i < 3; ++i) calls.note(1, {"all_reduce", 16, 0});
  EXPECT_EQ(calls.late(), "");
}

TEST(Calls, RefusesAnotherCallThanTheOthers) {
  const auto second = [](const Call& call) {
    Calls calls(2);
    calls.join(0);
    calls.join(1);
    calls.note(0, {"broadcast", 16, 1});
    calls.note(1, call);
  };
  EXPECT_NO_THROW(second({"broadcast", 16, 1}));
  expect_throw<std::invalid_argument>(
      [&] {
        second({"broadcast", 17, 1});
      },
      {"[broadcast]", "rank 1 calls broadcast of 17 floats", "rank 0 calls broadcast of 16 floats",
       "collective 1"});
  expect_throw<std::invalid_argument>([&] { second({"broadcast", 16, 0}); }, {"(0)", "(1)"});
  expect_throw<std::invalid_argument>([&] { second({"all_reduce", 16, 1}); }, {"[all_reduce]", "broadcast"});
}

}  // namespace
}  // namespace mirrorscale::strategies::nccl
