#pragma once
#include "harness/check/verdict.h"
#include "scenarios/cells/cell.h"

#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A build, as it says itself.
struct BuildInfo {
  std::string program, version, revision;
};
/// Asks the program which protocol it speaks. Throws std::runtime_error where it speaks none, or another one
/// than this build.
BuildInfo build_info(const std::string& program, const char* side);

/// A cell in the words of the build that is to run it.
struct SideCheck {
  std::string weight_hash, target;
  bool exact = true, emulated = false, oversubscribed = false;
  std::vector<harness::Verdict> verdicts;
  /// "REF: evidence; …" of those that failed; empty where all hold.
  std::string failures() const;
};
/// Lets the build validate the cell as a sweep does. Throws std::runtime_error with what the build said where
/// it can't.
SideCheck check_side(const std::string& program, const CellSpec& cell, const char* side);

}  // namespace mirrorscale::scenarios
