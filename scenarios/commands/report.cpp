#include "scenarios/commands/command.h"
#include "scenarios/commands/python.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

struct ReportOptions {
  std::string records, out, title;
};

/// The report's folder lies beside the records unless asked otherwise: runs/a.jsonl gives runs/a-report.
std::filesystem::path default_folder(const std::filesystem::path& records) {
  return records.parent_path() / (records.stem().string() + "-report");
}

int report(const ReportOptions& options) {
  if (!std::filesystem::is_regular_file(options.records)) {
    throw std::runtime_error(options.records +
                             ": no such file; expected records that mirrorscale sweep wrote");
  }
  std::vector<std::string> arguments{
      "mirrorscale_reports", options.records, "--out",
      options.out.empty() ? default_folder(options.records).string() : options.out};
  if (!options.title.empty()) arguments.insert(arguments.end(), {"--title", options.title});
  return run_reports(arguments);
}

}  // namespace

void add_report(CLI::App& app, CommandContext& context) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand(
      "report", "Draw a record file: one self-contained HTML page, and PNG and SVG of each figure");
  command->add_option("records", options->records, "What a sweep wrote (.jsonl)")->required();
  command->add_option("--out", options->out,
                      "Folder for the report; default: beside the records, as in runs/a-report");
  command->add_option("--title", options->title, "Of the page");
  command->footer(
      "Draws with python3 and matplotlib; MIRRORSCALE_PYTHON names another Python.\n"
      "Exit status: 1 when the records hold a failed cell, 3 when they can't be drawn.");
  command->callback([options, &context] { context.status = report(*options); });
}

}  // namespace mirrorscale::scenarios
