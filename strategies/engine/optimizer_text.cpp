// Optimizers by name.
#include "strategies/engine/optimizer.h"

#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mirrorscale::strategies {
namespace {

/// A text taken apart; keys are taken out as they are read, so that what is left is not known.
class Parts {
 public:
  explicit Parts(std::string_view text) : text_(text) {
    std::string_view rest = text;
    name_ = next(rest);
    for (bool first = true; !rest.empty(); first = false) {
      rest.remove_prefix(1);  // the colon
      const std::string_view part = next(rest);
      const std::size_t equals = part.find('=');
      if (equals == std::string_view::npos) {
        if (!first) refuse("'" + std::string(part) + "' is no key=value");
        if (part.empty()) refuse("no number after the colon");
        rate_ = number("the learning rate after the colon", part);
        if (!(*rate_ > 0)) refuse("the learning rate after the colon must be a number > 0");
      } else if (!values_.emplace(part.substr(0, equals), part.substr(equals + 1)).second) {
        refuse("'" + std::string(part.substr(0, equals)) + "' is there twice");
      }
    }
  }

  std::string_view name() const { return name_; }
  double rate(double preset) const { return rate_.value_or(preset); }

  std::optional<std::string> word(const std::string& key) {
    known_.push_back(key);
    const auto found = values_.find(key);
    if (found == values_.end()) return std::nullopt;
    std::string value = found->second;
    values_.erase(found);
    return value;
  }
  std::optional<double> take(const std::string& key) {
    const auto value = word(key);
    return value ? std::optional(number("'" + key + "'", *value)) : std::nullopt;
  }
  double take(const std::string& key, double preset) { return take(key).value_or(preset); }
  std::optional<std::int64_t> whole(const std::string& key) {
    const auto value = take(key);
    if (!value) return std::nullopt;
    if (*value < 1 || *value > 1e15 || *value != std::floor(*value))
      refuse("'" + key + "' must be a whole number > 0");
    return static_cast<std::int64_t>(*value);
  }

  /// When all that is known was taken.
  void require_nothing_left() const {
    if (values_.empty()) return;
    std::string keys;
    for (const std::string& key : known_) keys += (keys.empty() ? "" : ", ") + key;
    refuse("'" + values_.begin()->first + "' is not known; " + std::string(name_) + " takes: " + keys);
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw std::invalid_argument("[optimizer] '" + std::string(text_) + "': " + what);
  }

 private:
  static std::string_view next(std::string_view& rest) {
    const std::string_view part = rest.substr(0, rest.find(':'));
    rest.remove_prefix(part.size());
    return part;
  }

  double number(const std::string& what, std::string_view text) const {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
      refuse(what + " must be a number" + (what[0] == '\'' ? "" : " > 0"));
    return value;
  }

  std::string_view text_, name_;
  std::optional<double> rate_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> known_;
};

/// bias, norm, or both with a plus sign between them; or none.
Exclusions exclusions_of(Parts& parts, const Exclusions& preset) {
  const auto text = parts.word("exclude");
  if (!text) return preset;
  if (*text == "none") return {};
  if (*text == "bias") return {.bias = true, .normalisation = false};
  if (*text == "norm") return {.bias = false, .normalisation = true};
  if (*text == "bias+norm" || *text == "norm+bias") return {.bias = true, .normalisation = true};
  parts.refuse("exclude is '" + *text + "'; there are: bias, norm, bias+norm, none");
}

OptimizerPtr sparing(OptimizerPtr optimizer, Parts& parts) {
  optimizer->set_exclusions(exclusions_of(parts, optimizer->exclusions()));
  return optimizer;
}

OptimizerPtr make_sgd(Parts& parts, bool momentum, bool nesterov) {
  SgdOptions o{.learning_rate = parts.rate(0.01), .momentum = 0, .nesterov = nesterov, .weight_decay = 0};
  if (momentum) o.momentum = parts.take("momentum", 0.9);
  o.weight_decay = parts.take("weight_decay", 0);
  return sparing(sgd(o), parts);
}

AdamOptions adam_options(Parts& parts, double weight_decay) {
  return {.learning_rate = parts.rate(0.001),
          .beta1 = parts.take("beta1", 0.9),
          .beta2 = parts.take("beta2", 0.999),
          .epsilon = parts.take("epsilon", 1e-7),
          .weight_decay = parts.take("weight_decay", weight_decay)};
}

OptimizerPtr make_named(Parts& parts) {
  const std::string_view name = parts.name();
  if (name == "sgd") return make_sgd(parts, false, false);
  if (name == "momentum") return make_sgd(parts, true, false);
  if (name == "nesterov") return make_sgd(parts, true, true);
  if (name == "adam") return sparing(adam(adam_options(parts, 0)), parts);
  if (name == "adamw") return sparing(adamw(adam_options(parts, 0.004)), parts);
  if (name == "amsgrad") return sparing(amsgrad(adam_options(parts, 0)), parts);
  if (name == "rmsprop") {
    return rmsprop({.learning_rate = parts.rate(0.001),
                    .rho = parts.take("rho", 0.9),
                    .momentum = parts.take("momentum", 0),
                    .epsilon = parts.take("epsilon", 1e-7),
                    .centered = parts.take("centered", 0) != 0});
  }
  if (name == "adagrad") {
    return adagrad({.learning_rate = parts.rate(0.001),
                    .initial = parts.take("initial", 0.1),
                    .epsilon = parts.take("epsilon", 1e-7)});
  }
  if (name == "lamb") {
    return sparing(lamb({.learning_rate = parts.rate(0.001),
                         .beta1 = parts.take("beta1", 0.9),
                         .beta2 = parts.take("beta2", 0.999),
                         .epsilon = parts.take("epsilon", 1e-7),
                         .weight_decay = parts.take("weight_decay", 0)}),
                   parts);
  }
  if (name == "lars") {
    return sparing(lars({.learning_rate = parts.rate(1),
                         .momentum = parts.take("momentum", 0.9),
                         .trust = parts.take("trust", 0.001),
                         .weight_decay = parts.take("weight_decay", 0.0005)}),
                   parts);
  }
  throw std::invalid_argument(
      "[optimizer] '" + std::string(name) +
      "' is not known; there are: sgd, momentum, nesterov, adam, adamw, amsgrad, rmsprop, adagrad, lamb, "
      "lars "
      "(a learning rate may follow, as in adam:0.001, and settings, as in adam:0.001:clip_global_norm=1)");
}

Clipping clipping_of(Parts& parts) {
  Clipping clipping;
  const auto take = [&](const char* key, Clipping::Kind kind) {
    const auto limit = parts.take(key);
    if (!limit) return;
    if (clipping.active()) parts.refuse("clips in two ways; one can be chosen");
    if (!(*limit > 0)) parts.refuse(std::string("'") + key + "' must be > 0");
    clipping = {kind, *limit};
  };
  take("clip_value", Clipping::Kind::kValue);
  take("clip_norm", Clipping::Kind::kNorm);
  take("clip_global_norm", Clipping::Kind::kGlobalNorm);
  return clipping;
}

std::optional<Averaging> averaging_of(Parts& parts) {
  const auto momentum = parts.take("ema");
  const auto every = parts.whole("ema_overwrite");
  if (momentum && !(*momentum > 0 && *momentum < 1)) parts.refuse("'ema' must be > 0 and < 1");
  if (every && !momentum) parts.refuse("'ema_overwrite' needs 'ema', the average that it writes");
  if (!momentum) return std::nullopt;
  return Averaging{.momentum = *momentum, .overwrite_every = every.value_or(0)};
}

Schedule schedule_of(Parts& parts, double rate, const OptimizerContext& context) {
  if (const auto base = parts.whole("base_batch")) {
    if (context.global_batch < 1) parts.refuse("base_batch needs a global batch, and there is none here");
    rate *= static_cast<double>(context.global_batch) / static_cast<double>(*base);
  }
  Schedule schedule = constant_rate(rate);
  const auto steps = parts.whole("decay_steps");
  const std::string kind = parts.word("decay").value_or("cosine");
  const double end = parts.take("end", 0);
  if (kind != "cosine" && kind != "linear")
    parts.refuse("decay is '" + kind + "'; there are: cosine, linear");
  if (steps && kind == "cosine") schedule = cosine_decay({.rate = rate, .end = end, .decay_steps = *steps});
  if (steps && kind == "linear")
    schedule = polynomial_decay({.rate = rate, .end = end * rate, .power = 1, .decay_steps = *steps});
  if (const auto rising = parts.whole("warm_up")) schedule = warm_up(*rising, std::move(schedule));
  return schedule;
}

}  // namespace

OptimizerPtr make_optimizer(std::string_view text, const OptimizerContext& context) {
  Parts parts(text);
  OptimizerPtr optimizer = make_named(parts);
  optimizer->set_clipping(clipping_of(parts));
  if (const auto averaging = averaging_of(parts)) optimizer->set_averaging(*averaging);
  optimizer->set_schedule(schedule_of(parts, optimizer->learning_rate(0), context));
  parts.require_nothing_left();
  return optimizer;
}

void check_optimizer(std::string_view text) {
  make_optimizer(text, {.global_batch = 1});
}

}  // namespace mirrorscale::strategies
