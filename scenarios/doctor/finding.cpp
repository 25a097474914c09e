#include "scenarios/doctor/finding.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mirrorscale::scenarios {
namespace {

const char* to_word(FindingState state) {
  switch (state) {
    case FindingState::kFine:
      return "fine";
    case FindingState::kNote:
      return "note";
    case FindingState::kMissing:
      return "missing";
    case FindingState::kFailed:
      return "FAILED";
    case FindingState::kBroken:
      return "broken";
  }
  return "";
}

}  // namespace

bool any(FindingState state, const std::vector<FindingSection>& sections) {
  return std::any_of(sections.begin(), sections.end(), [&](const FindingSection& section) {
    return std::any_of(section.findings.begin(), section.findings.end(),
                       [&](const Finding& f) { return f.state == state; });
  });
}

std::string to_text(const std::vector<FindingSection>& sections) {
  std::size_t width = 0;
  for (const FindingSection& section : sections) {
    for (const Finding& f : section.findings) width = std::max(width, f.subject.size());
  }
  std::string text, to_do;
  for (const FindingSection& section : sections) {
    text += section.title + "\n";
    for (const Finding& f : section.findings) {
      text += "  " + f.subject + std::string(width - f.subject.size() + 2, ' ');
      if (f.state != FindingState::kFine) text += std::string("[") + to_word(f.state) + "] ";
      text += f.text + "\n";
      if (!f.mend.empty()) to_do += "  " + f.subject + ": " + f.mend + "\n";
    }
    text += "\n";
  }
  text += any(FindingState::kBroken, sections) ? "The cpu backend does NOT work here.\n"
                                               : "The cpu backend works here.\n";
  if (!to_do.empty()) text += "To do:\n" + to_do;
  return text;
}

std::string to_json(const std::vector<FindingSection>& sections) {
  nlohmann::ordered_json all;
  all["works"] = !any(FindingState::kBroken, sections);
  all["sections"] = nlohmann::ordered_json::array();
  for (const FindingSection& section : sections) {
    nlohmann::ordered_json one{{"title", section.title}, {"findings", nlohmann::ordered_json::array()}};
    for (const Finding& f : section.findings) {
      one["findings"].push_back(
          {{"subject", f.subject}, {"state", to_word(f.state)}, {"text", f.text}, {"mend", f.mend}});
    }
    all["sections"].push_back(std::move(one));
  }
  return all.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace mirrorscale::scenarios
