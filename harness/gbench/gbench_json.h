#pragma once
#include "harness/gbench/interleaved.h"
#include "harness/record/record.h"

#include <filesystem>
#include <map>
#include <span>
#include <string>

namespace mirrorscale::harness {

/// Google Benchmark's JSON, as its own tools/compare.py reads it: per cell one entry a slice (time per step),
/// then mean, median, stddev and cv. A cell with an error is one entry with error_occurred. `command` is
/// argv[0] of the context; `custom` is added to the context.
std::string to_gbench_json(std::span<const CellTiming> cells, const Environment& environment,
                           const std::string& command, const std::map<std::string, std::string>& custom = {});

/// Writes it atomically.
void write_gbench_json(const std::filesystem::path& path, std::span<const CellTiming> cells,
                       const Environment& environment, const std::string& command,
                       const std::map<std::string, std::string>& custom = {});

}  // namespace mirrorscale::harness
