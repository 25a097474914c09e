#include "strategies/gradient_clip.h"
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
      }
    }
    Part& part = parts_[static_cast<std::size_t>(rank)];
    const std::size_t blocks = size_ / kernels::kBlock;
    const auto r = static_cast<std::size_t>(rank);
    const auto n = static_cast<std::size_t>(replicas);
    part.first = blocks * r / n * kernels::kBlock;
    part.last = blocks * (r + 1) / n * kernels::kBlock;
    for (std::size_t s = 0; s < optimizer.slots().size(); ++s)
      part.slots.push_back(mine.backend().make_buffer(part.last - part.first));
    part.sum = TreeSum(mine.backend());
    if (!optimizer.clipping().active()) return;
    part.gradient = mine.backend().make_buffer(part.last - part.first);
    part.factors.assign(network.parameters().slices().size(), 1.0F);
  }

  void reserve(int rank, std::size_t roots) override {
    Part& part = parts_[static_cast<std::size_t>(rank)];
    part.roots.reserve(roots);
    part.sum.reserve(roots);
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
    const float scale = step.normaliser.scale(result.statistics[StatisticsColumns::kWeight],
                                              static_cast<int>(step.replicas.size()));
    const bool clipped = step.optimizer.clipping().active();
    if (clipped) clip(step, part, mine, scale);
    const StepValues values = step.optimizer.begin(step.step);
    const ParameterLayout& parameters = mine.network().parameters();
    for_each_chunk(parameters, part.first, part.last, TreeSum::kChunk,
                   [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
                     UpdateRange range;
                     range.count = count;
                     range.weights = mine.weights() + at;
                     range.decayed = slice.spec.decayed;
                     range.gradient =
                         clipped ? part.gradient.get() + (at - part.first) : part.sum.sum(at, count);
                     range.terms = terms_of(parameters, slice, scale, part.factors);
                     for (std::size_t s = 0; s < part.slots.size(); ++s)
                       range.slots[s] = part.slots[s].get() + (at - part.first);
                     step.optimizer.update(backend, values, range);
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
                            std::size_t roots) const override {
    const std::size_t blocks = network.parameters().size() / kernels::kBlock;
    const auto n = static_cast<std::size_t>(replicas);
    const std::size_t slices = optimizer.slots().size() + (optimizer.clipping().active() ? 1 : 0);
    return ((blocks + n - 1) / n * kernels::kBlock * slices + TreeSum::size(roots)) * sizeof(float);
  }

 private:
  /// The slice [first, last) of the arena that one replica sums and updates.
  struct Part {
    std::size_t first = 0, last = 0;
    std::vector<kernels::Buffer> slots;
    std::vector<const float*> roots;
    TreeSum sum;
    // Where the optimizer clips:
    kernels::Buffer gradient;    // of the slice, ready but for the factors
    std::vector<float> factors;  // by parameter
  };

  /// Fills part.gradient and part.factors. Norms are over all slices, so all meet in between.
  void clip(const ReductionStep& step, Part& part, Replica& mine, float scale) {
    const Clipping& clipping = step.optimizer.clipping();
    const ParameterLayout& parameters = mine.network().parameters();
    for_each_chunk(parameters, part.first, part.last, TreeSum::kChunk,
                   [&](const ParameterLayout::Slice& slice, std::size_t at, std::size_t count) {
                     mine.backend().effective_gradient(count, terms_of(slice.spec, scale),
                                                       clipping.element_limit(), part.sum.sum(at, count),
                                                       mine.weights() + at,
                                                       part.gradient.get() + (at - part.first));
                   });
    if (!clipping.wants_norms()) return;
    const std::size_t first = part.first / kernels::kBlock,
                      blocks = (part.last - part.first) / kernels::kBlock;
    if (blocks > 0) {  // there are fewer blocks than replicas where a model is tiny
      squares_of_blocks(mine, part.gradient.get() - part.first, first, blocks, squares_.data() + first);
    }
    step.host.barrier("norms of all gradients");
    clip_factors(parameters, squares_, clipping, part.factors);
  }

  std::mutex mutex_;  // of the first prepare
  std::vector<Part> parts_;
  std::vector<float> squares_;  // of each block of the gradient, where norms are wanted
  std::size_t size_ = 0;
};

}  // namespace

std::unique_ptr<Reducer> fused_reducer() {
  return std::make_unique<FusedReducer>();
}

}  // namespace mirrorscale::strategies
