#pragma once
#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// The whole file. Throws DataError when it cannot be read.
std::vector<std::byte> read_file(const std::filesystem::path& file);

/// Writes `parts` one after the other under the name `file`.part, and renames that when they are on the disk:
/// `file` appears whole or not at all, even where the process is killed or the machine stops, and is there to
/// stay on return. Throws std::runtime_error.
void write_file(const std::filesystem::path& file, std::span<const std::string_view> parts);

}  // namespace mirrorscale::strategies
