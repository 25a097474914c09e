#include "strategies/engine/optimizer.h"

#include "strategies/engine/optimizer_numbers.h"

#include <cmath>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using internal::number;
using internal::power;
using internal::require;

class Sgd final : public Optimizer {
 public:
  explicit Sgd(const SgdOptions& o) : Optimizer(constant_rate(o.learning_rate)), options_(o) {
    require(o.momentum >= 0 && o.momentum < 1,
            "momentum is " + std::to_string(o.momentum) + "; must be in [0, 1)");
    require(!o.nesterov || o.momentum > 0, "nesterov needs a momentum > 0");
  }
  std::string name() const override {
    return options_.nesterov ? "nesterov" : options_.momentum > 0 ? "momentum" : "sgd";
  }
  std::string settings() const override {
    return "momentum " + number(options_.momentum) +
           (options_.weight_decay != 0 ? ", weight decay " + number(options_.weight_decay) : "");
  }
  std::vector<std::string> slots() const override {
    return options_.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
  }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    const kernels::Sgd step{
        .terms = r.terms,
        .rate = static_cast<float>(values.rate),
        .momentum = static_cast<float>(options_.momentum),
        .nesterov = options_.nesterov,
        .decay = r.decayed ? static_cast<float>(values.rate * options_.weight_decay) : 0.0F};
    backend.sgd(r.count, step, r.gradient, r.weights, r.slots[0]);
  }

 private:
  const SgdOptions options_;
};

class Adam : public Optimizer {
 public:
  explicit Adam(const AdamOptions& o) : Optimizer(constant_rate(o.learning_rate)), options_(o) {
    require(o.beta1 >= 0 && o.beta1 < 1 && o.beta2 >= 0 && o.beta2 < 1,
            "beta1 and beta2 are " + std::to_string(o.beta1) + " and " + std::to_string(o.beta2) +
                "; must be in [0, 1)");
    require(o.epsilon > 0, "epsilon is " + std::to_string(o.epsilon) + "; must be > 0");
  }
  std::string name() const override { return options_.weight_decay != 0 ? "adamw" : "adam"; }
  std::string settings() const override {
    return "beta1 " + number(options_.beta1) + ", beta2 " + number(options_.beta2) + ", epsilon " +
           number(options_.epsilon) + ", weight decay " + number(options_.weight_decay);
  }
  std::vector<std::string> slots() const override { return {"m", "v"}; }
  StepValues begin(std::int64_t step) const override {
    const double rate = learning_rate(step);
    const double corrected =
        rate * std::sqrt(1 - power(options_.beta2, step + 1)) / (1 - power(options_.beta1, step + 1));
    return {.step = step, .rate = rate, .corrected_rate = static_cast<float>(corrected)};
  }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    backend.adam(r.count, step_of(values, r), r.gradient, r.weights, r.slots[0], r.slots[1]);
  }

 protected:
  kernels::Adam step_of(const StepValues& values, const UpdateRange& r) const {
    return {.terms = r.terms,
            .step_rate = values.corrected_rate,
            .one_minus_beta1 = static_cast<float>(1 - options_.beta1),
            .one_minus_beta2 = static_cast<float>(1 - options_.beta2),
            .epsilon = static_cast<float>(options_.epsilon),
            .decay = r.decayed ? static_cast<float>(values.rate * options_.weight_decay) : 0.0F};
  }

 private:
  const AdamOptions options_;
};

class Amsgrad final : public Adam {
 public:
  explicit Amsgrad(const AdamOptions& o) : Adam(o) {}
  std::string name() const override { return "amsgrad"; }
  std::vector<std::string> slots() const override { return {"m", "v", "largest_v"}; }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    backend.amsgrad(r.count, step_of(values, r), r.gradient, r.weights, r.slots[0], r.slots[1], r.slots[2]);
  }
};

class RmsProp final : public Optimizer {
 public:
  explicit RmsProp(const RmsPropOptions& o) : Optimizer(constant_rate(o.learning_rate)), options_(o) {
    require(o.rho >= 0 && o.rho < 1, "rho is " + number(o.rho) + "; must be in [0, 1)");
    require(o.momentum >= 0 && o.momentum < 1, "momentum is " + number(o.momentum) + "; must be in [0, 1)");
    require(o.epsilon > 0, "epsilon is " + number(o.epsilon) + "; must be > 0");
  }
  std::string name() const override { return "rmsprop"; }
  std::string settings() const override {
    return "rho " + number(options_.rho) + ", momentum " + number(options_.momentum) + ", epsilon " +
           number(options_.epsilon) + (options_.centered ? ", centered" : "");
  }
  std::vector<std::string> slots() const override {
    std::vector<std::string> names = {"v"};
    if (options_.centered) names.emplace_back("mean");
    if (options_.momentum > 0) names.emplace_back("momentum");
    return names;
  }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    const kernels::RmsProp step{.terms = r.terms,
                                .rate = static_cast<float>(values.rate),
                                .one_minus_rho = static_cast<float>(1 - options_.rho),
                                .momentum = static_cast<float>(options_.momentum),
                                .epsilon = static_cast<float>(options_.epsilon)};
    float* mean = options_.centered ? r.slots[1] : nullptr;
    float* momentum = options_.momentum > 0 ? r.slots[options_.centered ? 2 : 1] : nullptr;
    backend.rms_prop(r.count, step, r.gradient, r.weights, r.slots[0], mean, momentum);
  }

 private:
  const RmsPropOptions options_;
};

class Adagrad final : public Optimizer {
 public:
  explicit Adagrad(const AdagradOptions& o) : Optimizer(constant_rate(o.learning_rate)), options_(o) {
    require(o.initial >= 0, "the accumulator begins with " + number(o.initial) + "; must be >= 0");
    require(o.epsilon > 0, "epsilon is " + number(o.epsilon) + "; must be > 0");
  }
  std::string name() const override { return "adagrad"; }
  std::string settings() const override {
    return "initial " + number(options_.initial) + ", epsilon " + number(options_.epsilon);
  }
  std::vector<std::string> slots() const override { return {"accumulator"}; }
  float initial(std::size_t) const override { return static_cast<float>(options_.initial); }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    const kernels::Adagrad step{.terms = r.terms,
                                .rate = static_cast<float>(values.rate),
                                .epsilon = static_cast<float>(options_.epsilon)};
    backend.adagrad(r.count, step, r.gradient, r.weights, r.slots[0]);
  }

 private:
  const AdagradOptions options_;
};

}  // namespace

void Optimizer::set_clipping(const Clipping& clipping) {
  require(!clipping.active() || clipping.limit > 0,
          "the clipping limit is " + number(clipping.limit) + "; must be > 0");
  clipping_ = clipping;
}

StepValues Optimizer::begin(std::int64_t step) const {
  const double rate = learning_rate(step);
  return {.step = step, .rate = rate, .corrected_rate = static_cast<float>(rate)};
}

void Optimizer::direct(kernels::Backend&, const StepValues&, const UpdateRange&, float*) const {
  throw std::logic_error("[optimizer] '" + name() + "' is layerwise and has no direction");
}

bool Optimizer::decays(const ParameterSpec& spec) const {
  return spec.decayed && !(exclusions_.bias && spec.role == Role::kBias) &&
         !(exclusions_.normalisation && spec.role == Role::kNormalisation);
}

void Optimizer::set_averaging(const Averaging& averaging) {
  require(averaging.momentum >= 0 && averaging.momentum < 1,
          "the momentum of the weights' average is " + number(averaging.momentum) + "; must be in (0, 1)");
  require(averaging.overwrite_every >= 0 && (averaging.overwrite_every == 0 || averaging.active()),
          "weights can be overwritten by their average every so many steps > 0, where there is one");
  averaging_ = averaging;
}

std::vector<std::string> Optimizer::all_slots() const {
  std::vector<std::string> names = slots();
  if (averaging_.active()) names.emplace_back("average");
  return names;
}

void Optimizer::apply(kernels::Backend& backend, const StepValues& values, const UpdateRange& range) const {
  update(backend, values, range);
  if (!averaging_.active()) return;
  const auto fresh = values.step == 0 ? 1.0F : static_cast<float>(1 - averaging_.momentum);
  backend.average(range.count, fresh, range.weights, range.average);
  if (averaging_.overwrite_every != 0 && (values.step + 1) % averaging_.overwrite_every == 0)
    backend.copy(range.average, range.count, range.weights);
}

OptimizerPtr sgd(const SgdOptions& options) {
  return std::make_shared<Sgd>(options);
}
OptimizerPtr adam(const AdamOptions& options) {
  return std::make_shared<Adam>(options);
}
OptimizerPtr adamw(AdamOptions options) {
  return std::make_shared<Adam>(options);
}
OptimizerPtr amsgrad(const AdamOptions& options) {
  return std::make_shared<Amsgrad>(options);
}
OptimizerPtr rmsprop(const RmsPropOptions& options) {
  return std::make_shared<RmsProp>(options);
}
OptimizerPtr adagrad(const AdagradOptions& options) {
  return std::make_shared<Adagrad>(options);
}

}  // namespace mirrorscale::strategies
