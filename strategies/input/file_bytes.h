#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// The whole file. Throws DataError when it cannot be read.
std::vector<std::byte> read_file(const std::filesystem::path& file);

/// Writes `parts` one after the other, first under another name beside `file`: it appears whole or not at
/// all. Throws std::runtime_error.
void write_file(const std::filesystem::path& file, std::span<const std::string_view> parts);

}  // namespace mirrorscale::strategies
