#pragma once
#include "strategies/checkpoint/part_file.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace mirrorscale::strategies {

/// A folder of the checkpoints of one training: "step-000000042.ckpt" by optimizer steps done, the last few
/// of them, and "best.ckpt". Leaves alone what it didn't make. One process at a time.
class CheckpointFolder {
 public:
  /// Makes the folder when there is none, and removes what a save that was killed has left. Throws
  /// std::runtime_error when it can't be made or is a file, std::invalid_argument for keep_last < 1.
  CheckpointFolder(std::filesystem::path folder, int keep_last);

  const std::filesystem::path& path() const { return folder_; }
  /// By steps, ascending.
  std::vector<std::filesystem::path> saved() const;
  std::optional<std::filesystem::path> newest() const;
  std::filesystem::path best() const { return folder_ / "best.ckpt"; }

  /// On disk when it returns; then the oldest beyond keep_last go.
  void save(std::int64_t step, const PartFile& checkpoint) const;
  void save_best(const PartFile& checkpoint) const;

 private:
  std::filesystem::path folder_;
  std::size_t keep_last_;
};

}  // namespace mirrorscale::strategies
