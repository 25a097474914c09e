#pragma once
#include "kernels/backend.h"
#include "strategies/engine/clipping.h"
#include "strategies/engine/parameters.h"
#include "strategies/engine/schedule.h"
#include "strategies/engine/scope_tag.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// What is the same for all parameters in one optimizer step, computed once.
struct StepValues {
  std::int64_t step = 0;                     // from 0
  double rate = 0;                           // learning rate
  float corrected_rate = 0;                  // with bias correction, where the rule has one
  float mean_factor = 1, square_factor = 1;  // the bias corrections one by one, where the rule has them
};

/// Slots that an optimizer may have.
inline constexpr std::size_t kMostSlots = 8;

/// A range of one parameter's slice that one update runs over. It includes padding, where gradient, weights
/// and slots are 0; a rule must leave 0 there, as one that makes no step of a zero gradient does.
struct UpdateRange {
  std::size_t count = 0;            // floats, a multiple of 16
  const float* gradient = nullptr;  // sum over the rows of the global batch
  float* weights = nullptr;
  std::array<float*, kMostSlots> slots = {};
  kernels::GradientTerms terms;
  bool decayed = true;       // whether weight decay applies
  float trust = 1;           // what a layerwise rule multiplies its step by
  float* average = nullptr;  // of the weights, where the optimizer keeps one
};

/// Parameters that weight decay, and the rates by array of LARS and LAMB, leave alone; beside those with
/// ParameterSpec::decayed = false.
struct Exclusions {
  bool bias = false, normalisation = false;
  bool operator==(const Exclusions&) const = default;
};

/// An exponential moving average of the weights as in Keras (use_ema): after each step a = momentum * a +
/// (1 - momentum) * w, after the first a = w; and w = a after every `overwrite_every` steps (0: never).
struct Averaging {
  double momentum = 0;  // in (0, 1); 0: none
  std::int64_t overwrite_every = 0;
  bool active() const { return momentum != 0; }
  bool operator==(const Averaging&) const = default;
};

/// An update rule with its settings. Slots lie with the reducer; the learning rate is the only thing that
/// changes between steps. User-made optimizers derive from it: `update` runs on every replica's thread at
/// once.
class Optimizer : public MadeInScope {
 public:
  explicit Optimizer(Schedule schedule) : schedule_(std::move(schedule)) {}
  virtual ~Optimizer() = default;
  virtual std::string name() const = 0;
  /// What tells it from another of its name, the learning rate aside: "beta1 0.9, beta2 0.999". A training
  /// goes on from a checkpoint only with an optimizer of the same name and settings.
  virtual std::string settings() const { return {}; }
  /// Names of the slots ("momentum", "m", "v"); at most kMostSlots.
  virtual std::vector<std::string> slots() const = 0;
  /// What the slots begin with, in the order of slots().
  virtual float initial(std::size_t /*slot*/) const { return 0; }
  virtual StepValues begin(std::int64_t step) const;
  virtual void update(kernels::Backend& backend, const StepValues& values,
                      const UpdateRange& range) const = 0;

  /// A rule of layerwise rates (LARS, LAMB) steps in two: `direct` writes the direction of a range in place
  /// of its gradient; when that is done for all ranges, `update` gets the direction as the gradient, ready
  /// but for `range.trust`, which is trust(norm of the weights, norm of the direction) of the whole
  /// parameter, or 1 where the parameter is not decayed.
  virtual bool layerwise() const { return false; }
  /// `direction` may be range.gradient. Throws std::logic_error unless layerwise.
  virtual void direct(kernels::Backend& backend, const StepValues& values, const UpdateRange& range,
                      float* direction) const;
  virtual double trust(double /*weight_norm*/, double /*direction_norm*/) const { return 1; }

  /// update, and then the average of the weights.
  void apply(kernels::Backend& backend, const StepValues& values, const UpdateRange& range) const;
  /// slots(), and "average" at the end where there is one.
  std::vector<std::string> all_slots() const;

  bool decays(const ParameterSpec& spec) const;
  const Exclusions& exclusions() const { return exclusions_; }
  void set_exclusions(const Exclusions& exclusions) { exclusions_ = exclusions; }

  const Averaging& averaging() const { return averaging_; }
  /// Before the model is compiled. Throws std::invalid_argument for values that can't be.
  void set_averaging(const Averaging& averaging);

  double learning_rate(std::int64_t step) const { return schedule_(step); }
  /// From the next step on. Not while a step runs.
  void set_schedule(Schedule schedule) { schedule_ = std::move(schedule); }
  void set_learning_rate(double rate) { schedule_ = constant_rate(rate); }

  const Clipping& clipping() const { return clipping_; }
  /// Before the model is compiled. Throws std::invalid_argument for a limit that is not > 0.
  void set_clipping(const Clipping& clipping);

 private:
  Schedule schedule_;
  Clipping clipping_;
  Exclusions exclusions_;
  Averaging averaging_;
};
using OptimizerPtr = std::shared_ptr<Optimizer>;

struct SgdOptions {
  double learning_rate = 0.01, momentum = 0;
  bool nesterov = false;
  double weight_decay = 0;  // decoupled
};
/// See kernels/update.h for the formulas.
OptimizerPtr sgd(const SgdOptions& options = {});

struct AdamOptions {
  double learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7;
  double weight_decay = 0;  // decoupled (AdamW) where not 0
};
OptimizerPtr adam(const AdamOptions& options = {});
/// adam with weight_decay 0.004, the default of Keras' AdamW.
OptimizerPtr adamw(AdamOptions options = {.weight_decay = 0.004});

/// adam with the largest v so far in the divisor.
OptimizerPtr amsgrad(const AdamOptions& options = {});

struct RmsPropOptions {
  double learning_rate = 0.001, rho = 0.9, momentum = 0, epsilon = 1e-7;
  bool centered = false;
};
OptimizerPtr rmsprop(const RmsPropOptions& options = {});

struct AdagradOptions {
  double learning_rate = 0.001, initial = 0.1, epsilon = 1e-7;
};
OptimizerPtr adagrad(const AdagradOptions& options = {});

/// You et al., "Large Batch Training of Convolutional Networks" (2017), algorithm 1: momentum, where each
/// parameter w of gradient g has the rate  learning_rate * trust * |w| / (|g| + weight_decay * |w|)  and its
/// gradient is  g + weight_decay * w.  Where |w| or |g| is 0, and for excluded parameters, the rate is
/// learning_rate; those have no decay either.
struct LarsOptions {
  double learning_rate = 1, momentum = 0.9, trust = 0.001, weight_decay = 0.0005;
  Exclusions exclude = {.bias = true, .normalisation = true};
};
OptimizerPtr lars(const LarsOptions& options = {});

/// You et al., "Large Batch Optimization for Deep Learning: Training BERT in 76 minutes" (2020), algorithm 2:
/// Adam's direction u with bias correction and decay (kernels/update.h), then
/// w = w - learning_rate * |w| / |u| * u  for each parameter. Where |w| or |u| is 0, and for excluded
/// parameters, the factor is 1; those have no decay either.
struct LambOptions {
  double learning_rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7, weight_decay = 0;
  Exclusions exclude = {.bias = true, .normalisation = true};
};
OptimizerPtr lamb(const LambOptions& options = {});

/// What the learning rate scales with, where a text asks for it.
struct OptimizerContext {
  int global_batch = 0;  // 0: not known
};

/// NAME[:RATE][:KEY=VALUE ...], as in "adam:0.001:clip_global_norm=1". Names, with Keras' presets: "sgd"
/// (0.01), "momentum" (0.01, 0.9), "nesterov" (0.01, 0.9), "adam" (0.001), "adamw" (0.001, decay 0.004),
/// "amsgrad" (0.001), "rmsprop" (0.001), "adagrad" (0.001), "lamb" (0.001), "lars" (1). Keys of each:
/// make_optimizer's message lists them. Keys of all:
///   clip_value, clip_norm, clip_global_norm   see Clipping; one of them
///   ema=M, ema_overwrite=N   see Averaging
///   decay_steps=N  the rate falls over N steps: decay=cosine (the preset), linear; to end=E times the rate
///   warm_up=N      the rate rises over the first N steps; decay counts after them
///   base_batch=B   the rate is multiplied by global batch / B
/// Throws std::invalid_argument that lists the names or keys; also for base_batch where `context` has no
/// global batch.
OptimizerPtr make_optimizer(std::string_view text, const OptimizerContext& context = {});
/// The same with any batch in place of the global one, to see whether `text` is right.
void check_optimizer(std::string_view text);

}  // namespace mirrorscale::strategies
