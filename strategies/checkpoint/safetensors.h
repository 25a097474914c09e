#pragma once
#include "strategies/engine/parameters.h"

#include <filesystem>
#include <span>
#include <vector>

namespace mirrorscale::strategies {

/// The arrays of a .safetensors file (https://huggingface.co/docs/safetensors, "Format"), of type F32, F64
/// (rounded to float) or BF16. Throws DataError for another type (named), and for a file that is cut short or
/// whose header and bytes don't fit.
std::vector<NamedArray> read_safetensors(const std::filesystem::path& file);
/// As F32. The file appears whole or not at all. Throws std::runtime_error when it cannot be written.
void write_safetensors(const std::filesystem::path& file, std::span<const NamedArray> arrays);

}  // namespace mirrorscale::strategies
