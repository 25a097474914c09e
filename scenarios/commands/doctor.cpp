#include "scenarios/doctor/doctor.h"

#include "scenarios/commands/command.h"
#include "scenarios/exit_status.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <utility>

namespace mirrorscale::scenarios {

void add_doctor(CLI::App& app, CommandContext& context) {
  struct Options {
    bool json = false, no_speed = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "doctor", "What this machine has, how many devices make sense, what is missing and how to get it");
  command->add_flag("--json", options->json, "The same as one JSON object");
  command->add_flag("--no-speed", options->no_speed, "Measure nothing");
  command->footer(
      "Exit status: 0 when the cpu backend works, 1 when it does but a GPU fails, 3 when it doesn't.");
  command->callback([options, &context] {
    std::vector<FindingSection> sections{examine_machine(), examine_engine(), examine_cuda()};
    if (!options->no_speed) {
      sections.push_back(measure_speed());
      if (FindingSection gpus = measure_cuda_speed(); !gpus.findings.empty())
        sections.push_back(std::move(gpus));
    }
    sections.push_back(examine_software());
    std::fputs((options->json ? to_json(sections) : to_text(sections)).c_str(), stdout);
    context.status = any(FindingState::kBroken, sections)   ? kCouldNotRun
                     : any(FindingState::kFailed, sections) ? kFinding
                                                            : kGood;
  });
}

}  // namespace mirrorscale::scenarios
