#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace mirrorscale::scenarios {

/// What a command needs beside its own options.
struct CommandContext {
  std::vector<std::string> arguments;  // as typed, argv[0] included
  int status = 0;                      // set by the command that ran
};

// Each adds one subcommand to `app`: its options, help, and a callback that sets context.status. Exceptions
// pass: std::invalid_argument is misuse, everything else could not run (see exit_status.h).
void add_list(CLI::App& app, CommandContext& context);
void add_train(CLI::App& app, CommandContext& context);
void add_fit_batch(CLI::App& app, CommandContext& context);
void add_sweep(CLI::App& app, CommandContext& context);
void add_validate(CLI::App& app, CommandContext& context);
void add_doctor(CLI::App& app, CommandContext& context);
void add_compare(CLI::App& app, CommandContext& context);
void add_compare_worker(CLI::App& app, CommandContext& context);  // hidden: what compare starts
void add_report(CLI::App& app, CommandContext& context);
void add_baseline(CLI::App& app, CommandContext& context);
void add_gate(CLI::App& app, CommandContext& context);
void add_history(CLI::App& app, CommandContext& context);
void add_run(CLI::App& app, CommandContext& context);

}  // namespace mirrorscale::scenarios
