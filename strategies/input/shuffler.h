#pragma once
#include <cstdint>
#include <vector>

namespace mirrorscale::strategies {

/// Decides the order in which the rows of an epoch are consumed, for all replicas together.
class Shuffler {
 public:
  virtual ~Shuffler() = default;
  /// A permutation of 0 .. rows - 1 that depends on nothing but its arguments.
  virtual std::vector<std::int64_t> order(std::int64_t rows, std::uint64_t seed, int epoch) const = 0;
};

/// Rows as they are.
class InOrder final : public Shuffler {
 public:
  std::vector<std::int64_t> order(std::int64_t rows, std::uint64_t seed, int epoch) const override;
};

/// A uniform permutation (Fisher & Yates; Durstenfeld 1964), swaps keyed by (seed, epoch, position) through
/// Philox.
class UniformShuffle final : public Shuffler {
 public:
  std::vector<std::int64_t> order(std::int64_t rows, std::uint64_t seed, int epoch) const override;
};

}  // namespace mirrorscale::strategies
