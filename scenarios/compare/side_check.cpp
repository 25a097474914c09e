#include "scenarios/compare/side_check.h"

#include "scenarios/commands/process.h"
#include "scenarios/compare/lockstep_memory.h"
#include "scenarios/compare/plan.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

namespace mirrorscale::scenarios {
namespace {

constexpr std::chrono::seconds kAnswerLimit{20};
constexpr std::chrono::minutes kCheckLimit{10};

std::string told(const Captured& output) {
  std::string text = output.errors.empty() ? output.text : output.errors;
  text = text.substr(0, text.find('\n'));
  return "status " + std::to_string(output.status) + (text.empty() ? "" : ", \"" + text + "\"");
}

/// What stands in `line` between two words; empty where one of them is missing.
std::optional<std::string_view> between(std::string_view line, std::string_view before,
                                        std::string_view after) {
  const auto start = line.find(before);
  if (start == std::string_view::npos) return {};
  const auto begin = start + before.size(), end = line.find(after, begin);
  if (end == std::string_view::npos) return {};
  return line.substr(begin, end - begin);
}

}  // namespace

BuildInfo build_info(const std::string& program, const char* side) {
  const std::string who = std::string("[compare] side ") + side + " (" + program + ") ";
  const auto output = captured({{program, "compare-worker", "--protocol"}, {}}, kAnswerLimit);
  if (!output) throw std::runtime_error(who + "can't be started, or said nothing within 20 s");
  const std::string_view line(output->text);
  const auto protocol = between(line, "mirrorscale compare protocol ", ", version ");
  const auto version = between(line, ", version ", ", revision "),
             revision = between(line, ", revision ", "\n");
  if (output->status != 0 || !protocol || !version || !revision) {
    throw std::runtime_error(who + "doesn't know how to be compared (" + told(*output) +
                             "); build it from a revision that has `mirrorscale compare`");
  }
  if (*protocol != std::to_string(kLockstepProtocol)) {
    throw std::runtime_error(who + "speaks compare protocol " + std::string(*protocol) + ", this build " +
                             std::to_string(kLockstepProtocol) +
                             "; builds of different protocols can't be compared: rebuild the older one");
  }
  return {program, std::string(*version), std::string(*revision)};
}

std::string SideCheck::failures() const {
  std::string text;
  for (const harness::Verdict& verdict : verdicts) {
    if (verdict.outcome != harness::Outcome::kFailed) continue;
    text += (text.empty() ? "" : "; ") + verdict.invariant + ": " + verdict.evidence;
  }
  return text;
}

SideCheck check_side(const std::string& program, const CellSpec& cell, const char* side) {
  const std::string who = std::string("[compare] side ") + side + " (" + program + ") ";
  Program worker{{program, "compare-worker", "--check"}, {}};
  const std::vector<std::string> arguments = arguments_of(cell);
  worker.arguments.insert(worker.arguments.end(), arguments.begin(), arguments.end());
  const auto output = captured(worker, kCheckLimit);
  if (!output)
    throw std::runtime_error(who + "did not finish the check of " + cell.key() + " within 10 minutes");
  if (output->status != 0) {
    throw std::runtime_error(who + "can't check " + cell.key() + ": " + told(*output));
  }
  try {
    const auto line = nlohmann::json::parse(output->text);
    SideCheck check{line.at("weight_hash"), line.at("target"),         line.at("exact"),
                    line.at("emulated"),    line.at("oversubscribed"), {}};
    for (const auto& verdict : line.at("checks")) {
      check.verdicts.push_back({verdict.at("invariant"),
                                harness::outcome_from_word(verdict.at("verdict").get<std::string>()),
                                verdict.at("evidence")});
    }
    return check;
  } catch (const std::exception& error) {
    throw std::runtime_error(who + "answered its check with something else: " + error.what());
  }
}

}  // namespace mirrorscale::scenarios
