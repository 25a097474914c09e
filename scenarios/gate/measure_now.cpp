#include "scenarios/gate/measure_now.h"

#include "harness/output/file.h"
#include "harness/output/progress.h"
#include "harness/record/environment.h"
#include "harness/record/json.h"
#include "harness/record/record_file.h"
#include "scenarios/commands/process.h"
#include "scenarios/exit_status.h"

#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <type_traits>
#include <unistd.h>
#include <variant>

namespace mirrorscale::scenarios {
namespace {

std::string toml_value(const harness::PlanValue& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, std::string>) {
          std::string quoted = "\"";
          for (const char c : held)
            quoted += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
          return quoted + "\"";
        } else if constexpr (std::is_same_v<T, bool>) {
          return held ? "true" : "false";
        } else if constexpr (std::is_same_v<T, double>) {
          std::string text = fmt::format("{}", held);  // the shortest that reads back to the same number
          return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
        } else {
          return fmt::format("{}", held);
        }
      },
      value);
}

}  // namespace

std::string plan_file_text(const harness::Plan& plan) {
  // Settings that a plan file calls otherwise, or makes itself from the others.
  static const std::map<std::string, std::string> kNames{
      {"relative_half_width", "half_width"}, {"most_slices", "slices"}, {"fewest_slices", ""}};
  std::string text = "[axes]\n";
  for (const auto& [name, values] : plan.axes) {
    std::string list;
    for (const harness::PlanValue& value : values) list += (list.empty() ? "" : ", ") + toml_value(value);
    text += fmt::format("{} = [{}]\n", name, list);
  }
  text += "\n[settings]\n";
  for (const auto& [name, value] : plan.settings) {
    const auto renamed = kNames.find(name);
    const std::string key = renamed == kNames.end() ? name : renamed->second;
    const bool is_default =
        std::holds_alternative<std::string>(value) && std::get<std::string>(value).empty();
    if (!key.empty() && !is_default) text += fmt::format("{} = {}\n", key, toml_value(value));
  }
  return text;
}

std::vector<std::filesystem::path> measure_now(const harness::Plan& plan, int launches,
                                               const std::filesystem::path& folder) {
  const std::string id = harness::make_run_id();
  const std::filesystem::path plan_file = folder / (id + ".plan.toml");
  harness::write_file_atomically(plan_file, plan_file_text(plan));
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  harness::ProgressLine progress;
  std::vector<std::filesystem::path> files;
  for (int i = 1; i <= launches; ++i) {
    progress.update(fmt::format("launch {} of {}", i, launches));
    const std::filesystem::path records = folder / fmt::format("{}.{}.jsonl", id, i);
    const int status = run_program(
        {.arguments = {self, "sweep", "--plan", plan_file.string(), "--records", records.string()},
         .variables = {{kDiesWithVariable, std::to_string(getpid())}},
         .silent = true});
    if (status != kGood && status != kFinding) {  // a finding is in the records
      throw std::runtime_error(
          fmt::format("[gate] launch {} of {} ended with status {}; try `{} sweep --plan {}`", i, launches,
                      status, self, plan_file.string()));
    }
    for (const harness::RunRecord& run : harness::read_records(records).runs) {
      if (run.plan_fingerprint == harness::plan_fingerprint(plan)) continue;
      throw std::runtime_error(
          fmt::format("[gate] this build measures another plan than the baseline's:\n  baseline: {}\n  now:  "
                      "    {}\nSave a "
                      "new baseline",
                      harness::canonical_text(plan), harness::canonical_text(run.plan)));
    }
    files.push_back(records);
  }
  return files;
}

}  // namespace mirrorscale::scenarios
