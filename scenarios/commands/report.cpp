#include "scenarios/commands/command.h"
#include "scenarios/commands/process.h"
#include "scenarios/commands/python.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {
namespace {

struct ReportOptions {
  std::string records, out, title;
};

std::string require_python() {
  const auto python = find_python();
  if (!python) {
    throw std::runtime_error(
        "no python3 to draw with; install it (Debian: apt-get install python3-matplotlib), or name one with "
        "MIRRORSCALE_PYTHON");
  }
  if (!python_module_version(*python, "matplotlib")) {
    throw std::runtime_error(
        *python +
        " has no matplotlib; install it (Debian: apt-get install python3-matplotlib), or name "
        "another Python with MIRRORSCALE_PYTHON");
  }
  return *python;
}

/// The report's folder lies beside the records unless asked otherwise: runs/a.jsonl gives runs/a-report.
std::filesystem::path default_folder(const std::filesystem::path& records) {
  return records.parent_path() / (records.stem().string() + "-report");
}

int report(const ReportOptions& options) {
  if (!std::filesystem::is_regular_file(options.records)) {
    throw std::runtime_error(options.records +
                             ": no such file; expected records that mirrorscale sweep wrote");
  }
  const auto package = find_reports();
  if (!package) {
    throw std::runtime_error(
        "the Python package mirrorscale_reports is missing: neither installed beside this command "
        "nor in the source tree it was built from");
  }
  const char* others = std::getenv("PYTHONPATH");
  const std::string path =
      package->string() + (others != nullptr && *others != '\0' ? ":" + std::string(others) : "");
  Program program{{require_python(), "-m", "mirrorscale_reports", options.records, "--out",
                   options.out.empty() ? default_folder(options.records).string() : options.out},
                  {{"PYTHONPATH", path}, {"PYTHONDONTWRITEBYTECODE", "1"}}};
  if (!options.title.empty()) program.arguments.insert(program.arguments.end(), {"--title", options.title});
  return run_program(program);
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
