#pragma once
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace mirrorscale::strategies {

/// The bytes of a file without reading them: the system brings a page when it is touched and may drop it
/// again, so that the file can be larger than memory. They live as long as `owner`. Whoever shortens the file
/// meanwhile ends this process (SIGBUS).
struct MappedFile {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;
};
/// Throws DataError when the file can't be opened or mapped.
MappedFile map_file(const std::filesystem::path& file);

}  // namespace mirrorscale::strategies
