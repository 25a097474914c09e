#pragma once
#include "strategies/engine/parameters.h"

#include <filesystem>
#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// Throws std::invalid_argument unless the name ends in ".npz" or ".safetensors".
void require_weights_name(const std::filesystem::path& file);

/// The weights in `file` for a model whose own are `wanted`, found by name and in that order: to give several
/// frameworks the same start. float64 is rounded to float. Throws DataError when an array is missing, surplus
/// or of another shape, quoting both, and for a file that can't be read.
std::vector<NamedArray> read_weights(const std::filesystem::path& file, std::span<const NamedArray> wanted);

/// The file appears whole or not at all. Throws std::runtime_error when it cannot be written.
void write_weights(const std::filesystem::path& file, std::span<const NamedArray> arrays);

}  // namespace mirrorscale::strategies
