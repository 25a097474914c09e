#include "scenarios/commands/process.h"

#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

Program shell(const std::string& script) {
  return {{"/bin/sh", "-c", script}, {}};
}

TEST(RunProgram, ReturnsTheExitStatus) {
  EXPECT_EQ(run_program(shell("exit 0")), 0);
  EXPECT_EQ(run_program(shell("exit 7")), 7);
}

TEST(RunProgram, ASignalIs128AndItsNumber) {
  EXPECT_EQ(run_program(shell("kill -9 $$")), 137);
}

TEST(RunProgram, ThrowsWithTheNameOfWhatCanNotBeStarted) {
  try {
    run_program({{"/no/such/program"}, {}});
    FAIL() << "it was started";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/no/such/program"), std::string::npos);
  }
}

TEST(RunProgram, VariablesComeOnTopOfTheEnvironment) {
  setenv("MIRRORSCALE_TEST_KEPT", "kept", 1);
  setenv("MIRRORSCALE_TEST_REPLACED", "old", 1);
  Program program = shell("test \"$MIRRORSCALE_TEST_KEPT $MIRRORSCALE_TEST_REPLACED\" = \"kept a 'b'\"");
  program.variables = {{"MIRRORSCALE_TEST_REPLACED", "a 'b'"}};
  EXPECT_EQ(run_program(program), 0);
}

TEST(OutputOf, ReturnsAllThatWasWritten) {
  EXPECT_EQ(output_of(shell("printf hello; printf dropped >&2")), "hello");
  EXPECT_EQ(output_of(shell("i=0; while [ $i -lt 20000 ]; do echo 0123456789; i=$((i+1)); done"))->size(),
            220000u);
}

TEST(OutputOf, IsEmptyForFailure) {
  EXPECT_EQ(output_of(shell("printf some; exit 1")), std::nullopt);
  EXPECT_EQ(output_of({{"/no/such/program"}, {}}), std::nullopt);
}

TEST(OutputOf, LooksPlainNamesUpInThePath) {
  EXPECT_EQ(output_of({{"echo", "a b"}, {}}), "a b\n");
}

TEST(OutputOf, EndsWhatIsLate) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(output_of({{"sleep", "60"}, {}}, std::chrono::milliseconds(200)), std::nullopt);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

}  // namespace
}  // namespace mirrorscale::scenarios
