#pragma once
#include "harness/record/record.h"

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// One launch of a sweep: the unit of every comparison with a baseline.
struct Launch {
  harness::RunRecord run;
  std::vector<harness::CellRecord> cells;
  bool operator==(const Launch&) const = default;
};

struct LaunchFiles {
  std::vector<Launch> launches;    // in order of time
  std::vector<std::string> notes;  // what was dropped, for the reader of the report
};

enum class TornLine { kRefuse, kDrop };

/// The launches in record files, all of one plan on one kind of machine. Throws std::runtime_error for a file
/// that can't be read, is no record file, or holds numbers that contradict each other (a clock that jumped, a
/// wrong unit; see harness/record/plausible.h), and for a torn last line where `torn` says so;
/// std::invalid_argument for launches of several plans or machines, for a launch given twice, and for none.
LaunchFiles read_launches(std::span<const std::filesystem::path> files, TornLine torn);

/// What read_launches asks of a set of launches, however it came together; errors begin with `what`.
void require_alike(const std::vector<Launch>& launches, const std::string& what);

/// "AMD EPYC, 2 cores, AVX2".
std::string machine_words(const harness::RunRecord& run);

}  // namespace mirrorscale::scenarios
