#pragma once
#include "strategies/input/dataset.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// Windows of a long sequence of tokens, side by side: row i has the tokens at i T .. i T + T - 1 as
/// features, and the token after each of them as its T labels. What is left at the end and doesn't fill a
/// window is unused.
class TokenWindows final : public Dataset {
 public:
  using Tokens = std::shared_ptr<const std::vector<std::uint8_t>>;
  struct Contents {
    std::string name;
    Tokens tokens;
    int window = 0;   // T
    int classes = 0;  // tokens are below it
    std::int64_t first_window = 0, windows = 0;
    bool synthetic = false;
  };
  /// Throws std::invalid_argument for a window, classes or a number of windows below 1, and for windows that
  /// the tokens don't have.
  explicit TokenWindows(Contents contents);

  const std::string& name() const override { return contents_.name; }
  std::int64_t rows() const override { return contents_.windows; }
  int features() const override { return contents_.window; }
  int classes() const override { return contents_.classes; }
  int target_columns() const override { return 0; }
  int labels_per_row() const override { return contents_.window; }
  bool synthetic() const override { return contents_.synthetic; }

  void copy_features(std::span<const std::int64_t> rows, kernels::Matrix x) const override;
  void copy_labels(std::span<const std::int64_t> rows, int* labels) const override;
  void copy_targets(std::span<const std::int64_t> rows, kernels::Matrix t) const override;

 private:
  const std::uint8_t* window(std::int64_t row) const;

  Contents contents_;
};

/// Any file, byte by byte, in windows of `window` bytes; the last tenth of the windows is the test set.
/// Throws DataError for a file that can't be read or has fewer than two windows, std::invalid_argument for a
/// window below 1.
SplitDataset load_text(const std::filesystem::path& file, int window);

/// A synthetic twin of it with `classes` tokens (2 to 256): three times of four a token follows from the one
/// before by a fixed rule, else it is random; from a seed.
SplitDataset make_tokens(std::int64_t train_windows, std::int64_t test_windows, int window, int classes,
                         std::uint64_t seed);

}  // namespace mirrorscale::strategies
