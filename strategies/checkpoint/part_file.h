#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// A checkpoint that can't be used: which file, which part of it, and what is wrong with that part.
class CheckpointError : public std::runtime_error {
 public:
  CheckpointError(const std::string& source, const std::string& part, const std::string& what)
      : std::runtime_error("[checkpoint] " + source + ": part '" + part + "' " + what) {}
};

/// A named array of a checkpoint, values in C order.
struct Part {
  enum class Type { kFloat32, kFloat64, kInt64 };
  std::string name;
  Type type = Type::kFloat32;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;  // little-endian

  /// T: float, double, std::int64_t.
  template <class T>
  static Part of(std::string name, std::vector<std::int64_t> shape, std::span<const T> values);
  /// Throws CheckpointError unless it holds `T`s. `source` begins the text.
  template <class T>
  std::vector<T> values(const std::string& source) const;
};

/// What a checkpoint file holds: words about it, and arrays. On disk (docs/checkpoints.md): a front of 28
/// bytes, a JSON text that names every part, the parts one after the other; each of these with a check sum
/// (CRC-32), none with bytes that no check sum covers.
struct PartFile {
  std::map<std::string, std::string> about;
  std::vector<Part> parts;

  const Part* find(std::string_view name) const;
  /// Throws CheckpointError when there is none.
  const Part& at(const std::string& name, const std::string& source) const;
};

/// Durable and atomic: see write_file (strategies/input/file_bytes.h).
void write_part_file(const std::filesystem::path& file, const PartFile& content);
/// Throws CheckpointError for a file that is no checkpoint, is of a newer version, cut short, longer than it
/// should be, or damaged anywhere, naming the part ("front" and "table" are the first two); DataError for one
/// that can't be read at all.
PartFile read_part_file(const std::filesystem::path& file);
PartFile parse_part_file(std::span<const std::byte> bytes, const std::string& source);

}  // namespace mirrorscale::strategies
