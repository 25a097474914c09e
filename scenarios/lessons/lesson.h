#pragma once
#include "harness/check/verdict.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::scenarios {

struct LessonOptions {
  std::string data;  // empty: fashion-mnist, or synthetic clusters when quick
  int devices = 0;   // 0: as many as there are cores, but 2 to 4
  int epochs = 0;    // 0: the lesson's own
  std::uint64_t seed = 1;
  bool quick = false;  // a small model on few rows, for tests: speed is not judged
};

/// Lines for a person, and what was found.
struct LessonResult {
  std::vector<std::string> lines;
  std::vector<harness::Verdict> verdicts;
};

/// A question of the distributed-training tutorials, answered by an experiment with a verdict.
struct Lesson {
  std::string key, question;
  std::function<LessonResult(const LessonOptions&)> run;
};

const std::vector<Lesson>& lessons();
/// Throws std::invalid_argument that lists the keys.
const Lesson& find_lesson(std::string_view key);

}  // namespace mirrorscale::scenarios
