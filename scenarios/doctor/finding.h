#pragma once
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

enum class FindingState {
  kFine,
  kNote,     // works, but someone should know
  kMissing,  // something is left out until it is there
  kFailed,   // a device that is there doesn't work; the cpu backend does
  kBroken,   // the cpu backend can't do its work
};

/// One thing looked at.
struct Finding {
  std::string subject, text;
  FindingState state = FindingState::kFine;
  std::string mend = {};  // what to do about it, where there is something to do
};

struct FindingSection {
  std::string title;
  std::vector<Finding> findings;
};

bool any(FindingState state, const std::vector<FindingSection>& sections);

/// Aligned text for people; what needs doing is gathered at the end.
std::string to_text(const std::vector<FindingSection>& sections);
/// One JSON object: "works", and "sections" with the fields of Finding ("state" as a word).
std::string to_json(const std::vector<FindingSection>& sections);

}  // namespace mirrorscale::scenarios
