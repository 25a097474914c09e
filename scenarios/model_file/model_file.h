#pragma once
#include "scenarios/workloads/workload.h"

#include <filesystem>
#include <string>
#include <string_view>

namespace mirrorscale::scenarios {

/// True for the name of a workload that is read from a file: it ends in ".toml".
bool names_a_model_file(std::string_view workload);

/// A workload from a TOML file (docs/model_file.md): data, optimizer, loss, metrics, and its layers as a list
/// of tables
/// [[layers]]. Its name is `path` as given. Throws std::runtime_error for a file that can't be read, and
/// std::invalid_argument with file, line, layer and shapes for what is wrong in it; what only the data show
/// (shapes) when its layers are made.
Workload read_model_file(const std::string& path);

/// SHA-256 of the file: a plan made with it is another plan when it changes.
std::string model_file_hash(const std::string& path);

}  // namespace mirrorscale::scenarios
