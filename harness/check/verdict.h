#pragma once
#include <span>
#include <string>
#include <string_view>

namespace mirrorscale::harness {

enum class Outcome { kPassed, kFailed, kSkipped };

/// What became of one invariant, with the evidence in words: what was compared, and where it first went
/// wrong.
struct Verdict {
  std::string invariant;  // code, e.g. "ONE"
  Outcome outcome = Outcome::kSkipped;
  std::string evidence;
  bool operator==(const Verdict&) const = default;
};

Verdict passed(std::string_view invariant, std::string evidence);
Verdict failed(std::string_view invariant, std::string evidence);
/// Not applicable, or nothing to compare; the evidence says why.
Verdict skipped(std::string_view invariant, std::string evidence);

/// One verdict for several looks at the same invariant: failed if any failed (the first failure's evidence,
/// and how many more there are), passed if any passed (all their evidence, joined by "; "), else skipped.
/// Throws std::invalid_argument when `parts` is empty or names different invariants.
Verdict combine(std::span<const Verdict> parts);

/// True if one of them failed.
bool any_failed(std::span<const Verdict> verdicts);

/// "passed", "failed", "skipped": the word in a record.
std::string_view to_word(Outcome outcome);
/// The other way; throws std::invalid_argument for any other word.
Outcome outcome_from_word(std::string_view word);
/// "ok", "FAIL", "-": the mark in a console table.
std::string_view to_table_mark(Outcome outcome);

}  // namespace mirrorscale::harness
