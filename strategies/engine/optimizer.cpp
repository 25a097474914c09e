#include "strategies/engine/optimizer.h"

#include <charconv>
#include <cmath>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

void require(bool good, const std::string& text) {
  if (!good) throw std::invalid_argument("[optimizer] " + text);
}

/// The shortest text that reads back as the same number.
std::string number(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

/// base^n by squaring: multiplications only, so the same bits with every C library.
double power(double base, std::int64_t n) {
  double result = 1;
  for (; n > 0; n >>= 1, base *= base) {
    if ((n & 1) != 0) result *= base;
  }
  return result;
}

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
  std::string settings() const override { return "momentum " + number(options_.momentum); }
  std::vector<std::string> slots() const override {
    return options_.momentum > 0 ? std::vector<std::string>{"momentum"} : std::vector<std::string>{};
  }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    const kernels::Sgd step{.terms = r.terms,
                            .rate = static_cast<float>(values.rate),
                            .momentum = static_cast<float>(options_.momentum),
                            .nesterov = options_.nesterov};
    backend.sgd(r.count, step, r.gradient, r.weights, r.slots[0]);
  }

 private:
  const SgdOptions options_;
};

class Adam final : public Optimizer {
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
    return {step, rate, static_cast<float>(corrected)};
  }
  void update(kernels::Backend& backend, const StepValues& values, const UpdateRange& r) const override {
    const kernels::Adam step{
        .terms = r.terms,
        .step_rate = values.corrected_rate,
        .one_minus_beta1 = static_cast<float>(1 - options_.beta1),
        .one_minus_beta2 = static_cast<float>(1 - options_.beta2),
        .epsilon = static_cast<float>(options_.epsilon),
        .decay = r.decayed ? static_cast<float>(values.rate * options_.weight_decay) : 0.0F};
    backend.adam(r.count, step, r.gradient, r.weights, r.slots[0], r.slots[1]);
  }

 private:
  const AdamOptions options_;
};

double rate_or(double preset, std::string_view rate, std::string_view text) {
  if (rate.empty()) return preset;
  double value = 0;
  const auto [end, error] = std::from_chars(rate.data(), rate.data() + rate.size(), value);
  require(error == std::errc() && end == rate.data() + rate.size() && value > 0 && std::isfinite(value),
          "'" + std::string(text) + "': the learning rate after the colon must be a number > 0");
  return value;
}

}  // namespace

StepValues Optimizer::begin(std::int64_t step) const {
  const double rate = learning_rate(step);
  return {step, rate, static_cast<float>(rate)};
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

OptimizerPtr make_optimizer(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view rate = colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  require(colon == std::string_view::npos || !rate.empty(),
          "'" + std::string(text) + "': no number after the colon");
  if (name == "sgd") return sgd({.learning_rate = rate_or(0.01, rate, text)});
  if (name == "momentum") return sgd({.learning_rate = rate_or(0.01, rate, text), .momentum = 0.9});
  if (name == "nesterov")
    return sgd({.learning_rate = rate_or(0.01, rate, text), .momentum = 0.9, .nesterov = true});
  if (name == "adam") return adam({.learning_rate = rate_or(0.001, rate, text)});
  if (name == "adamw") return adamw({.learning_rate = rate_or(0.001, rate, text), .weight_decay = 0.004});
  throw std::invalid_argument(
      "[optimizer] '" + std::string(name) +
      "' is not known; there are: sgd, momentum, nesterov, adam, adamw (a learning rate may "
      "follow, as in adam:0.001)");
}

}  // namespace mirrorscale::strategies
