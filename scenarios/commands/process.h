#pragma once
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A mirrorscale that is started with its starter's process number here ends when that one ends, however it
/// does: a cancelled CI job leaves nothing behind that disturbs the next measurement.
inline constexpr const char* kDiesWithVariable = "MIRRORSCALE_DIES_WITH";

/// A program to run: no shell in between.
struct Program {
  std::vector<std::string> arguments;            // the program first; without a slash it is looked up in PATH
  std::map<std::string, std::string> variables;  // on top of this process's environment
  bool silent = false;                           // run_program drops its standard output
};

/// Runs it to its end; input and output are this process's (but see `silent`). Returns its exit status, 128 +
/// n when signal n ended it. Throws std::runtime_error when it can't be started.
int run_program(const Program& program);

/// How a program ended and what it wrote.
struct Captured {
  int status = 0;  // 128 + n: signal n
  std::string text, errors;
};
/// Runs it with no input. Empty when it can't be started, or is late (then it is ended).
std::optional<Captured> captured(const Program& program,
                                 std::chrono::milliseconds limit = std::chrono::seconds(30));

/// What it writes to standard output, if it exits with 0 within `limit`; its standard error is dropped. Empty
/// when it can't be started, fails, or is late (then it is ended).
std::optional<std::string> output_of(const Program& program,
                                     std::chrono::milliseconds limit = std::chrono::seconds(30));

}  // namespace mirrorscale::scenarios
