#include "harness/measure/stopping.h"

#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {

std::string_view to_word(StopReason reason) {
  switch (reason) {
    case StopReason::kInterval:
      return "interval";
    case StopReason::kBudget:
      return "budget";
    case StopReason::kSlices:
      return "slices";
  }
  throw std::logic_error("[to_word] no such stop reason");
}

StopReason stop_reason_from_word(std::string_view word) {
  for (const StopReason reason : {StopReason::kInterval, StopReason::kBudget, StopReason::kSlices}) {
    if (word == to_word(reason)) return reason;
  }
  throw std::invalid_argument(fmt::format("stop reason \"{}\"; expected interval, budget or slices", word));
}

void validate(const StoppingRule& rule) {
  const auto refuse = [](const char* field, double value, const char* expected) {
    throw std::invalid_argument(fmt::format("[StoppingRule] {} is {}; expected {}", field, value, expected));
  };
  if (!(rule.relative_half_width >= 0) || std::isinf(rule.relative_half_width)) {
    refuse("relative_half_width", rule.relative_half_width, "0 or more");
  }
  if (!(rule.budget_s > 0) || std::isinf(rule.budget_s)) refuse("budget_s", rule.budget_s, "more than 0");
  if (rule.fewest_slices < 1) refuse("fewest_slices", rule.fewest_slices, "at least 1");
  if (rule.most_slices < 1) refuse("most_slices", rule.most_slices, "at least 1");
}

std::optional<StopReason> stop_reason(const StoppingRule& rule, const Progress& progress) {
  if (progress.slices < 1) return {};
  if (progress.slices >= rule.fewest_slices && progress.interval &&
      progress.interval->relative_half_width() <= rule.relative_half_width && rule.relative_half_width > 0) {
    return StopReason::kInterval;
  }
  if (progress.slices >= rule.most_slices) return StopReason::kSlices;
  if (progress.elapsed_s >= rule.budget_s) return StopReason::kBudget;
  return {};
}

}  // namespace mirrorscale::harness
