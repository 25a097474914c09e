#include "harness/check/verdict.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>

namespace mirrorscale::harness {

Verdict passed(std::string_view invariant, std::string evidence) {
  return {std::string(invariant), Outcome::kPassed, std::move(evidence)};
}

Verdict failed(std::string_view invariant, std::string evidence) {
  return {std::string(invariant), Outcome::kFailed, std::move(evidence)};
}

Verdict skipped(std::string_view invariant, std::string evidence) {
  return {std::string(invariant), Outcome::kSkipped, std::move(evidence)};
}

Verdict combine(std::span<const Verdict> parts) {
  if (parts.empty()) throw std::invalid_argument("[combine] no verdicts: nothing was looked at");
  for (const Verdict& part : parts) {
    if (part.invariant != parts.front().invariant) {
      throw std::invalid_argument(fmt::format("[combine] verdicts of different invariants: {} and {}",
                                              parts.front().invariant, part.invariant));
    }
  }
  const auto count = [&](Outcome outcome) { return std::ranges::count(parts, outcome, &Verdict::outcome); };
  const auto failures = count(Outcome::kFailed);
  if (failures > 0) {
    Verdict first = *std::ranges::find(parts, Outcome::kFailed, &Verdict::outcome);
    if (failures > 1)
      first.evidence += fmt::format("; and {} more failures of {}", failures - 1, first.invariant);
    return first;
  }
  const Outcome outcome = count(Outcome::kPassed) > 0 ? Outcome::kPassed : Outcome::kSkipped;
  std::string evidence;
  for (const Verdict& part : parts) {
    if (part.outcome != outcome || part.evidence.empty()) continue;
    evidence += (evidence.empty() ? "" : "; ") + part.evidence;
  }
  return {parts.front().invariant, outcome, evidence};
}

bool any_failed(std::span<const Verdict> verdicts) {
  return std::ranges::find(verdicts, Outcome::kFailed, &Verdict::outcome) != verdicts.end();
}

std::string_view to_word(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "passed";
    case Outcome::kFailed:
      return "failed";
    case Outcome::kSkipped:
      return "skipped";
  }
  throw std::logic_error("[to_word] no such outcome");
}

Outcome outcome_from_word(std::string_view word) {
  for (const Outcome outcome : {Outcome::kPassed, Outcome::kFailed, Outcome::kSkipped}) {
    if (word == to_word(outcome)) return outcome;
  }
  throw std::invalid_argument(fmt::format("verdict \"{}\"; expected passed, failed or skipped", word));
}

std::string_view to_table_mark(Outcome outcome) {
  switch (outcome) {
    case Outcome::kPassed:
      return "ok";
    case Outcome::kFailed:
      return "FAIL";
    case Outcome::kSkipped:
      return "-";
  }
  throw std::logic_error("[to_table_mark] no such outcome");
}

}  // namespace mirrorscale::harness
