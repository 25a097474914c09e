#include "scenarios/commands/command.h"
#include "scenarios/commands/devices.h"
#include "scenarios/exit_status.h"
#include "scenarios/lessons/lesson.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

struct RunOptions {
  std::vector<std::string> keys;
  LessonOptions lesson;
};

std::vector<const Lesson*> chosen(const std::vector<std::string>& keys) {
  std::vector<const Lesson*> found;
  for (const std::string& key : keys) {
    if (key == "all") {
      found.clear();
      for (const Lesson& lesson : lessons()) found.push_back(&lesson);
      return found;
    }
    found.push_back(&find_lesson(key));
  }
  return found;
}

/// Returns whether a verdict failed.
bool run_lesson(const Lesson& lesson, const LessonOptions& options) {
  std::printf("%s: %s\n", lesson.key.c_str(), lesson.question.c_str());
  std::fflush(stdout);
  const LessonResult result = lesson.run(options);
  for (const std::string& line : result.lines) std::printf("  %s\n", line.c_str());
  for (const harness::Verdict& verdict : result.verdicts) {
    std::printf("  [%s] %s: %s\n", std::string(harness::to_word(verdict.outcome)).c_str(),
                verdict.invariant.c_str(), verdict.evidence.c_str());
  }
  std::printf("\n");
  std::fflush(stdout);
  return harness::any_failed(result.verdicts);
}

int run(const RunOptions& options) {
  std::string failed;
  for (const Lesson* lesson : chosen(options.keys)) {
    if (run_lesson(*lesson, options.lesson)) failed += (failed.empty() ? "" : ", ") + lesson->key;
  }
  if (!failed.empty()) std::printf("FAILED: %s\n", failed.c_str());
  return failed.empty() ? kGood : kFinding;
}

}  // namespace

void add_run(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run",
                                         "Run lessons: questions of the distributed-training tutorials, "
                                         "answered by an experiment with a verdict");
  command->add_option("lessons", options->keys, "Keys as mirrorscale list shows them, or all")->required();
  command->add_flag("--quick", options->lesson.quick, "A small model on few rows; speed is not judged");
  command->add_option("--data", options->lesson.data,
                      "Default: fashion-mnist, or synthetic clusters when quick");
  command->add_option("--devices", options->lesson.devices, "Default: one a core, but 2 to 4")
      ->check(CLI::Range(1, kMostDevices));
  command->add_option("--epochs", options->lesson.epochs, "Default: the lesson's own")
      ->check(CLI::Range(1, 10000));
  command->add_option("--seed", options->lesson.seed)
      ->check(CLI::Range(std::int64_t{0}, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  command->footer("Exit status: 1 when a verdict failed.");
  command->callback([options, &context] { context.status = run(*options); });
}

}  // namespace mirrorscale::scenarios
