#include "harness/record/environment.h"
#include "scenarios/commands/command.h"
#include "scenarios/exit_status.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <stdexcept>

namespace {

namespace scenarios = mirrorscale::scenarios;

int fail(const char* what, int status) {
  std::fflush(stdout);
  std::fprintf(stderr, "mirrorscale: %s\n", what);
  return status;
}

int run(int argc, char** argv) {
  CLI::App app(
      "Benchmarks and validates mirrored (data-parallel) training: how it scales, and whether it is right.",
      "mirrorscale");
  app.set_version_flag("--version", "mirrorscale " + mirrorscale::harness::version() + " (" +
                                        mirrorscale::harness::git_revision() + ")");
  app.require_subcommand(1);
  app.footer("Exit status: 0 good, 1 a finding (a check failed), 2 misuse, 3 could not run.");
  scenarios::CommandContext context{.arguments = {argv, argv + argc}};
  scenarios::add_train(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    const std::string hint =
        std::string(error.what()) + "; see mirrorscale " +
        (app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " ") + "--help";
    return fail(hint.c_str(), scenarios::kMisuse);
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
