#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/verdict.h"

namespace mirrorscale::scenarios {

struct LessonOptions {
  std::string data = "fashion-mnist";
  int devices = 2;
  int epochs = 0;  // 0: the lesson's own
  std::uint64_t seed = 1;
  bool quick = false;  // fewer rows, for tests
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
