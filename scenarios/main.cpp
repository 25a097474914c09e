#include "harness/record/environment.h"
#include "scenarios/commands/command.h"
#include "scenarios/commands/process.h"
#include "scenarios/exit_status.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <unistd.h>
#include <vector>

namespace {

namespace scenarios = mirrorscale::scenarios;

int fail(const char* what, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "mirrorscale: %s\n", what);
  return status;
}

/// See kDiesWithVariable.
void die_with_starter() {
  const char* starter = std::getenv(scenarios::kDiesWithVariable);
  if (starter == nullptr) return;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (std::to_string(getppid()) != starter) std::_Exit(scenarios::kCouldNotRun);  // it has ended already
}

/// What is wrong with the command line, and where help is.
std::string explain(const CLI::ParseError& error, const CLI::App& app,
                    const std::vector<std::string>& arguments) {
  if (!app.get_subcommands().empty()) {
    return std::string(error.what()) + "; see mirrorscale " + app.get_subcommands().front()->get_name() +
           " --help";
  }
  std::string known;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_group().empty()) continue;  // not for people
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  if (arguments.size() < 2) return "which command? There are: " + known + "; see mirrorscale --help";
  return "no command '" + arguments[1] + "'; there are: " + known + "; see mirrorscale --help";
}

int run(int argc, char** argv) {
  die_with_starter();
  CLI::App app(
      "Benchmarks and validates mirrored (data-parallel) training: how it scales, and whether it is right.",
      "mirrorscale");
  app.set_version_flag("--version", "mirrorscale " + mirrorscale::harness::version() + " (" +
                                        mirrorscale::harness::git_revision() + ")");
  app.require_subcommand(1);
  app.footer(
      "Exit status: 0 good, 1 a finding (a check failed), 2 misuse, 3 could not run, "
      "128 + n stopped by signal n with a checkpoint.");
  scenarios::CommandContext context{.arguments = {argv, argv + argc}};
  scenarios::add_doctor(app, context);
  scenarios::add_list(app, context);
  scenarios::add_train(app, context);
  scenarios::add_fit_batch(app, context);
  scenarios::add_sweep(app, context);
  scenarios::add_validate(app, context);
  scenarios::add_compare(app, context);
  scenarios::add_compare_worker(app, context);
  scenarios::add_report(app, context);
  scenarios::add_baseline(app, context);
  scenarios::add_gate(app, context);
  scenarios::add_history(app, context);
  scenarios::add_run(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return fail(explain(error, app, context.arguments).c_str(), scenarios::kMisuse);
  }
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return fail("can't write to standard output", scenarios::kCouldNotRun);
  }
  return context.status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::invalid_argument& error) {
    return fail(error.what(), scenarios::kMisuse);
  } catch (const std::exception& error) {
    return fail(error.what(), scenarios::kCouldNotRun);
  }
}
