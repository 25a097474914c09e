#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace mirrorscale::harness {

/// Writes all or nothing: to a temporary file beside it, fsync, rename, fsync of the folder, which is created
/// if need be. Whoever reads `path` sees the old content or the new one. Throws std::runtime_error with path
/// and reason.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Throws what write_file_atomically would throw for a path that can't be written, before hours of work are
/// lost.
void require_writable(const std::filesystem::path& path);

/// Creates the folder that `path` lies in and returns it.
std::filesystem::path make_parent_folder(const std::filesystem::path& path);

/// Makes new and renamed entries of a folder last through a power cut.
void sync_folder(const std::filesystem::path& folder);

/// The whole file. Throws std::runtime_error with path and reason.
std::string read_file(const std::filesystem::path& path);

}  // namespace mirrorscale::harness
