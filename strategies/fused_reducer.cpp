#include "strategies/norms.h"
#include "strategies/reducer.h"
#include "strategies/slice_update.h"
#include "strategies/tree_sum.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

class FusedReducer final : public Reducer {
 public:
  std::string name() const override { return "fused"; }

  void prepare(int rank, int replicas, Replica& mine, const Optimizer& optimizer) override {
    const Network& network = mine.network();
    {
      const std::lock_guard lock(mutex_);
      if (parts_.empty()) {
        parts_.resize(static_cast<std::size_t>(replicas));
        size_ = network.parameters().size();
        if (optimizer.clipping().wants_norms()) squares_.resize(blocks_of(network.parameters()));
        if (optimizer.layerwise()) {
          direction_squares_.resize(blocks_of(network.parameters()));
          weight_squares_.resize(blocks_of(network.parameters()));
        }
      }
    }
    Part& part = parts_[static_cast<std::size_t>(rank)];
    const std::size_t blocks = size_ / kernels::kBlock;
    const auto r = static_cast<std::size_t>(rank);
    const auto n = static_cast<std::size_t>(replicas);
    part.first = blocks * r / n * kernels::kBlock;
    part.last = blocks * (r + 1) / n * kernels::kBlock;
    for (std::size_t s = 0; s < optimizer.all_slots().size(); ++s)
      part.slots.push_back(mine.backend().make_buffer(part.last - part.first));
    part.sum = TreeSum(mine.backend());
    const std::size_t parameters = network.parameters().slices().size();
    if (optimizer.clipping().active()) part.factors.assign(parameters, 1.0F);
    if (optimizer.layerwise()) part.ratios.assign(parameters, 1.0F);
    if (optimizer.clipping().active() || optimizer.layerwise())
      part.gradient = mine.backend().make_buffer(part.last - part.first);
  }

  void reserve(int rank, std::size_t roots) override {
    Part& part = parts_[static_cast<std::size_t>(rank)];
    part.roots.reserve(roots);
    part.sum.reserve(roots);
  }

  void guard(int rank, Replica& mine) override {
    {
      const std::lock_guard lock(mutex_);
      guard_squares_.resize(blocks_of(mine.network().parameters()));
    }
    Part& part = parts_[static_cast<std::size_t>(rank)];
    if (!part.gradient) part.gradient = mine.backend().make_buffer(part.last - part.first);
  }

  ReductionResult reduce_and_update(const ReductionStep& step) override {
    Part& part = parts_[static_cast<std::size_t>(step.rank)];
    Replica& mine = *step.replicas[static_cast<std::size_t>(step.rank)];
    kernels::Backend& backend = mine.backend();
    part.roots.clear();
    for (std::size_t r = 0; r < step.replicas.size(); ++r) {
      for (std::size_t i = 0; i < step.plan.shares[r].roots.size(); ++i) {
        part.roots.push_back(step.replicas[r]->gradient(static_cast<int>(i)));
      }
    }
    part.sum.begin(part.roots, step.plan.additions);
    ReductionResult result;
    std::copy_n(part.sum.sum(size_, kernels::kPanel), kernels::kPanel, result.statistics.begin());
    part.summed = step.guarded;
    if (step.guarded) result.non_finite = look(step, part, mine, result.statistics);
    if (result.non_finite != NonFinite::kNone) return result;
    const float scale = step.normaliser.scale(result.statistics[StatisticsColumns::kWeight],
                                              static_cast<int>(step.replicas.size()));
    const StepValues values = step.optimizer.begin(step.step);
    StepFactors factors{.scale = scale, .clip = {}, .trust = {}};
    if (step.optimizer.clipping().active()) factors.clip = clip(step, part, mine, scale);
    if (step.optimizer.layerwise()) factors.trust = direct(step, part, mine, values, factors);
    for_each_chunk(mine.network().parameters(), part.first, part.last, TreeSum::kChunk,
                   [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
                     step.optimizer.apply(backend, values,
                                          part.range(step.optimizer, mine, slice, at, count, factors));
                     for (const auto& other : step.replicas) {
                       if (other.get() != &mine) {
                         std::memcpy(other->weights() + at, mine.weights() + at, count * sizeof(float));
                       }
                       transpose_chunk(backend, slice, at, count, mine.weights(), *other);
                     }
                   });
    return result;
  }

  void read_slots(int rank, Replica&, std::span<std::vector<float>> arenas) const override {
    const Part& part = parts_[static_cast<std::size_t>(rank)];
    for (std::size_t s = 0; s < arenas.size(); ++s) {
      std::copy_n(part.slots[s].get(), part.last - part.first,
                  arenas[s].begin() + static_cast<std::ptrdiff_t>(part.first));
    }
  }

  void write_slots(int rank, Replica&, std::span<const std::vector<float>> arenas) override {
    Part& part = parts_[static_cast<std::size_t>(rank)];
    for (std::size_t s = 0; s < arenas.size(); ++s) {
      std::copy_n(arenas[s].begin() + static_cast<std::ptrdiff_t>(part.first), part.last - part.first,
                  part.slots[s].get());
    }
  }

  std::string why_not(const kernels::BackendInfo& info) const override {
    return info.on_host ? ""
                        : "it writes into the other replicas' memory, which devices of '" + info.name +
                              "' don't share";
  }

  std::size_t planned_bytes(const Network& network, const Optimizer& optimizer, int replicas,
                            std::size_t roots, bool guarded) const override {
    const std::size_t blocks = network.parameters().size() / kernels::kBlock;
    const auto n = static_cast<std::size_t>(replicas);
    const bool gradient = optimizer.clipping().active() || optimizer.layerwise() || guarded;
    const std::size_t slices = optimizer.all_slots().size() + (gradient ? 1 : 0);
    return ((blocks + n - 1) / n * kernels::kBlock * slices + TreeSum::size(roots)) * sizeof(float);
  }

 private:
  /// The slice [first, last) of the arena that one replica sums and updates.
  struct Part {
    std::size_t first = 0, last = 0;
    std::vector<kernels::Buffer> slots;
    std::vector<const float*> roots;
    TreeSum sum;
    // Where the optimizer clips or is layerwise, or the step is guarded:
    kernels::Buffer gradient;            // of the slice: the sum, ready but for the factors, the direction
    bool summed = false;                 // `gradient` is the sum already
    std::vector<float> factors, ratios;  // by parameter

    const float* sum_at(std::size_t at, std::size_t count) {
      return summed ? gradient.get() + (at - first) : sum.sum(at, count);
    }

    /// Floats at .. at + count - 1 of the arena, with the gradient as far as it is.
    UpdateRange range(const Optimizer& optimizer, Replica& mine, const ParameterLayout::Slice& slice,
                      std::size_t at, std::size_t count, const StepFactors& step) {
      UpdateRange range = range_of(optimizer, mine.network().parameters(), slice, step);
      range.count = count;
      range.weights = mine.weights() + at;
      const bool in_gradient = !step.clip.empty() || !step.trust.empty();
      range.gradient = in_gradient ? gradient.get() + (at - first) : sum_at(at, count);
      for (std::size_t s = 0; s < slots.size(); ++s) range.slots[s] = slots[s].get() + (at - first);
      if (optimizer.averaging().active()) range.average = slots.back().get() + (at - first);
      return range;
    }
  };

  /// Squares of the part's blocks of an arena of which `arena` is that part. All meet: the squares of the
  /// other parts are there when it returns.
  void share_squares(const ReductionStep& step, const Part& part, Replica& mine, const float* arena,
                     std::vector<float>& squares) {
    const std::size_t first = part.first / kernels::kBlock,
                      blocks = (part.last - part.first) / kernels::kBlock;
    if (blocks > 0)  // there are fewer blocks than replicas where a model is tiny
      squares_of_blocks(mine, arena - part.first, first, blocks, squares.data() + first);
    step.host.barrier("norms of all parts");
  }

  /// Makes part.gradient the sum, and looks at all parts' and the statistics: the same on all ranks.
  NonFinite look(const ReductionStep& step, Part& part, Replica& mine, const StepStatistics& statistics) {
    if (!finite(statistics)) return NonFinite::kLoss;
    for (std::size_t at = part.first; at < part.last; at += TreeSum::kChunk) {
      const std::size_t count = std::min(TreeSum::kChunk, part.last - at);
      std::copy_n(part.sum.sum(at, count), count, part.gradient.get() + (at - part.first));
    }
    share_squares(step, part, mine, part.gradient.get(), guard_squares_);
    return finite(guard_squares_) ? NonFinite::kNone : NonFinite::kGradient;
  }

  /// Makes part.gradient the directions; returns the trust ratios.
  std::span<const float> direct(const ReductionStep& step, Part& part, Replica& mine,
                                const StepValues& values, const StepFactors& factors) {
    const ParameterLayout& parameters = mine.network().parameters();
    for_each_chunk(parameters, part.first, part.last, TreeSum::kChunk,
                   [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
                     step.optimizer.direct(mine.backend(), values,
                                           part.range(step.optimizer, mine, slice, at, count, factors),
                                           part.gradient.get() + (at - part.first));
                   });
    share_squares(step, part, mine, mine.weights() + part.first, weight_squares_);
    share_squares(step, part, mine, part.gradient.get(), direction_squares_);
    trust_ratios(parameters, step.optimizer, weight_squares_, direction_squares_, part.ratios);
    return part.ratios;
  }

  /// Fills part.gradient; returns the factors that are left.
  std::span<const float> clip(const ReductionStep& step, Part& part, Replica& mine, float scale) {
    const Clipping& clipping = step.optimizer.clipping();
    const ParameterLayout& parameters = mine.network().parameters();
    for_each_chunk(parameters, part.first, part.last, TreeSum::kChunk,
                   [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
                     mine.backend().effective_gradient(
                         count, terms_of(slice.spec, scale), clipping.element_limit(), part.sum_at(at, count),
                         mine.weights() + at, part.gradient.get() + (at - part.first));
                   });
    if (!clipping.wants_norms()) return part.factors;
    share_squares(step, part, mine, part.gradient.get(), squares_);
    clip_factors(parameters, squares_, clipping, part.factors);
    return part.factors;
  }

  std::mutex mutex_;  // of the first prepare
  std::vector<Part> parts_;
  // Of each block of the gradient, the directions, the weights and the sums, where they are wanted. Apart: a
  // rank may still read one when another is written.
  std::vector<float> squares_, direction_squares_, weight_squares_, guard_squares_;
  std::size_t size_ = 0;
};

}  // namespace

std::unique_ptr<Reducer> fused_reducer() {
  return std::make_unique<FusedReducer>();
}

}  // namespace mirrorscale::strategies
