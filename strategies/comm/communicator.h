#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace mirrorscale::strategies {

enum class ReduceOp { kSum, kMean };

/// How partial sums of several ranks become one: each rank holds `roots[rank]` vectors; operand i of an
/// addition is root i (rank by rank), or the result of addition i - (number of roots). The sum is the last
/// result, or root 0.
struct TreePlan {
  struct Pair {
    int left = 0, right = 0;
  };
  std::vector<int> roots;
  std::vector<Pair> additions;
};

/// A seat in a group of ranks that work together. All ranks call the same functions in the same order. Every
/// wait has a limit: when a rank fails or is late, the others get GroupBroken (comm/failure.h), which names
/// it. Results are bit-identical on every rank and, but for all_reduce over NCCL, sums are a binary tree over
/// ranks, ((0 + 1) + (2 + 3)) + …, whatever the timing.
///
/// On host memory a function is finished when it returns. On a device's memory it comes after the ops that
/// the rank's backend has enqueued, and ops enqueued later come after it; only barrier waits on the host.
class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// Returns when all ranks are here. `what` names the place in error messages.
  virtual void barrier(const char* what) = 0;
  /// In place: values[i] becomes the sum (or sum / size) over ranks of values[i].
  virtual void all_reduce(std::span<float> values, ReduceOp op) = 0;
  /// In place: every rank gets what `root` holds.
  virtual void broadcast(std::span<float> values, int root) = 0;
  /// `all` becomes the ranks' values in rank order. Lengths may differ (0 too); all.size() must be their sum.
  virtual void all_gather(std::span<const float> mine, std::span<float> all) = 0;
  /// sum = the tree sum of all ranks' vectors of sum.size() floats; roots.size() must be plan.roots[rank()].
  virtual void all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                               std::span<float> sum) = 0;
  /// values becomes this rank's part of the sum over ranks: part r is values[r * part.size() …].
  /// values.size() must be size() * part.size().
  virtual void reduce_scatter(std::span<const float> values, std::span<float> part) = 0;

  /// A hint: many collectives will work on this memory, which outlives the communicator.
  virtual void register_memory(std::span<float> /*values*/) {}

  /// As all_reduce with kSum, but beside later ops of the rank where the device can: the result is there
  /// after finish_all_reduces.
  virtual void start_all_reduce(std::span<float> values) { all_reduce(values, ReduceOp::kSum); }
  virtual void finish_all_reduces() {}
};

}  // namespace mirrorscale::strategies
