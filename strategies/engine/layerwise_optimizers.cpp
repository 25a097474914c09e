// Rules whose rate is scaled by norms over each parameter.
#include "strategies/engine/optimizer.h"
#include "strategies/engine/optimizer_numbers.h"

namespace mirrorscale::strategies {
namespace {

using internal::number;
using internal::power;
using internal::require;

class Lars final : public Optimizer {
 public:
  explicit Lars(const LarsOptions& o) : Optimizer(constant_rate(o.learning_rate)), options_(o) {
    require(o.momentum >= 0 && o.momentum < 1, "momentum is " + number(o.momentum) + "; must be in [0, 1)");
    require(o.trust > 0, "trust is " + number(o.trust) + "; must be > 0");
    require(o.weight_decay >= 0, "weight_decay is " + number(o.weight_decay) + "; must be >= 0");
    set_exclusions(o.exclude);
  }
  std::string name() const override { return "lars"; }
  std::string settings() const override {
    return "momentum " + number(options_.momentum) + ", trust " + number(options_.trust) + ", weight decay " +
           number(options_.weight_decay);
  }
  std::vector<std::string> slots() const override {
    return options_.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
  }
  bool layerwise() const override { return true; }
  /// The gradient: decay joins in the update, since the norm is without it.
  void direct(kernels::Backend& backend, const StepValues&, const UpdateRange& r,
              float* direction) const override {
    backend.effective_gradient(r.count, r.terms, 0, r.gradient, r.weights, direction);
  }
  double trust(double weight_norm, double direction_norm) const override {
    if (weight_norm == 0 || direction_norm == 0) return 1;
    return options_.trust * weight_norm / (direction_norm + options_.weight_decay * weight_norm);
  }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    const float decay = r.decayed ? static_cast<float>(options_.weight_decay) : 0.0F;
    const kernels::Sgd step{.terms = {.scale = r.trust, .l2 = r.trust * decay / 2},
                            .rate = static_cast<float>(values.rate),
                            .momentum = static_cast<float>(options_.momentum)};
    backend.sgd(r.count, step, r.gradient, r.weights, r.slots[0]);
  }

 private:
  const LarsOptions options_;
};

class Lamb final : public Optimizer {
 public:
  explicit Lamb(const LambOptions& o) : Optimizer(constant_rate(o.learning_rate)), options_(o) {
    require(o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1,
            "beta1 and beta2 are " + number(o.beta1) + " and " + number(o.beta2) + "; must be in [0, 1)");
    require(o.epsilon > 0, "epsilon is " + number(o.epsilon) + "; must be > 0");
    require(o.weight_decay >= 0, "weight_decay is " + number(o.weight_decay) + "; must be >= 0");
    set_exclusions(o.exclude);
  }
  std::string name() const override { return "lamb"; }
  std::string settings() const override {
    return "beta1 " + number(options_.beta1) + ", beta2 " + number(options_.beta2) + ", epsilon " +
           number(options_.epsilon) + ", weight decay " + number(options_.weight_decay);
  }
  std::vector<std::string> slots() const override { return {"m", "v"}; }
  StepValues begin(std::int64_t step) const override {
    StepValues values = Optimizer::begin(step);
    values.mean_factor = static_cast<float>(1 / (1 - power(options_.beta1, step + 1)));
    values.square_factor = static_cast<float>(1 / (1 - power(options_.beta2, step + 1)));
    return values;
  }
  bool layerwise() const override { return true; }
  void direct(kernels::Backend& backend, const StepValues& values, const UpdateRange& r,
              float* direction) const override {
    const kernels::Lamb step{.terms = r.terms,
                             .one_minus_beta1 = static_cast<float>(1 - options_.beta1),
                             .one_minus_beta2 = static_cast<float>(1 - options_.beta2),
                             .mean_factor = values.mean_factor,
                             .square_factor = values.square_factor,
                             .epsilon = static_cast<float>(options_.epsilon),
                             .weight_decay = r.decayed ? static_cast<float>(options_.weight_decay) : 0.0F};
    backend.lamb_direction(r.count, step, r.gradient, r.weights, r.slots[0], r.slots[1], direction);
  }
  double trust(double weight_norm, double direction_norm) const override {
    return weight_norm == 0 || direction_norm == 0 ? 1 : weight_norm / direction_norm;
  }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    backend.sgd(r.count, {.terms = {.scale = r.trust}, .rate = static_cast<float>(values.rate)}, r.gradient,
                r.weights, nullptr);
  }

 private:
  const LambOptions options_;
};

}  // namespace

OptimizerPtr lars(const LarsOptions& options) {
  return std::make_shared<Lars>(options);
}
OptimizerPtr lamb(const LambOptions& options) {
  return std::make_shared<Lamb>(options);
}

}  // namespace mirrorscale::strategies
