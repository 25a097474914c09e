#include "scenarios/compare/worker_process.h"

#include <csignal>
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {
namespace {

using Seconds = std::chrono::duration<double>;

/// What carry_out says where the worker is this program.
std::string complaint(std::vector<std::string> program, double limit_s, int signal = 0) {
  SharedLockstep memory;
  WorkerProcess worker(std::move(program), memory, 1, "side B (toy)");
  if (signal != 0) kill(worker.pid(), signal);
  try {
    worker.carry_out(Order::kSlice, 3, Seconds(limit_s));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(WorkerProcess, OneThatDoesNotAnswerIsNamed) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string text = complaint({"/bin/sleep", "60"}, 0.1);
  EXPECT_NE(text.find("side B (toy)"), std::string::npos) << text;
  EXPECT_NE(text.find("was missing"), std::string::npos) << text;
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST(WorkerProcess, OneThatLeavesIsSeenLongBeforeTheLimit) {
  const std::string text = complaint({"/bin/sh", "-c", "exit 7"}, 60);
  EXPECT_NE(text.find("left with status 7"), std::string::npos) << text;
}

TEST(WorkerProcess, OneThatIsKilledIsToldWithItsSignal) {
  const std::string text = complaint({"/bin/sleep", "60"}, 60, SIGKILL);
  EXPECT_NE(text.find("was ended by signal 9"), std::string::npos) << text;
}

TEST(WorkerProcess, AProgramThatIsNotThereIsTold) {
  EXPECT_NE(
      [] {
        try {
          return complaint({"/no/such/program"}, 1);
        } catch (const std::runtime_error& error) {
          return std::string(error.what());
        }
      }()
          .find("can't be started"),
      std::string::npos);
}

}  // namespace
}  // namespace mirrorscale::scenarios
