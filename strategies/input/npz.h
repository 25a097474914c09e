#pragma once
#include "strategies/input/npy.h"

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

struct zip;

namespace mirrorscale::strategies {

/// A NumPy archive (numpy.savez, numpy.savez_compressed): arrays by name, each read when asked for, so that
/// arrays nobody asks for may be of any type.
class NpzFile {
 public:
  /// Throws DataError for a file that is missing, damaged or no archive.
  explicit NpzFile(const std::filesystem::path& file);

  const std::string& path() const { return path_; }
  bool has(const std::string& name) const { return members_.contains(name); }
  std::string names() const;  // "x, y", for messages
  std::vector<std::string> list() const;
  /// What errors about this array begin with: "file.npz [x]".
  std::string source(const std::string& name) const { return path_ + " [" + name + "]"; }
  /// Throws DataError for an array that is absent, damaged or refused by parse_npy.
  NpyArray read(const std::string& name) const;

 private:
  struct Close {
    void operator()(zip* archive) const noexcept;
  };
  std::string path_;
  std::unique_ptr<zip, Close> archive_;
  std::map<std::string, std::uint64_t> members_;  // name without .npy -> number
};

/// A member of an archive to be written: `bytes` from npy_bytes.
struct NpzMember {
  std::string name;
  std::string bytes;
};
/// Writes what numpy.load reads, as numpy.savez does (not compressed). The file appears whole or not at all.
/// Throws std::runtime_error when it cannot be written.
void write_npz(const std::filesystem::path& file, std::span<const NpzMember> members);

}  // namespace mirrorscale::strategies
