#include "scenarios/lessons/lessons.h"
#include "scenarios/lessons/material.h"
#include "strategies/input/synthetic.h"

#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

using strategies::Model;
using strategies::Strategy;

constexpr const char* kOptimizer = "adam";
constexpr const char* kLoss = "sparse_categorical_crossentropy_from_logits";

Model small_model() {
  return {20, {strategies::dense(16, "relu"), strategies::dense(10)}};
}

void build_outside_compile_inside(const Strategy& strategy) {
  Model model = small_model();
  const auto scope = strategy.scope();
  model.compile(kOptimizer, kLoss);
}

void foreign_optimizer(const Strategy& strategy) {
  const strategies::OptimizerPtr made_outside = strategies::adam();
  const auto scope = strategy.scope();
  Model model = small_model();
  model.compile(made_outside, strategies::make_loss(kLoss));
}

void nested_scopes(const Strategy& strategy) {
  const strategies::OneDevice other;
  const auto outer = strategy.scope();
  const auto inner = other.scope();
}

struct Mistake {
  const char* what;
  void (*make)(const Strategy&);
  const char* mend;  // what the message must tell
};
constexpr Mistake kMistakes[] = {
    {"built outside, compiled inside the scope", build_outside_compile_inside,
     "Move the construction of the model"},
    {"an optimizer made outside of the scope", foreign_optimizer, "Move it inside"},
    {"a scope of another strategy inside", nested_scopes, "end the outer scope first"}};

harness::Verdict refused(const Mistake& mistake, const Strategy& strategy, std::vector<std::string>& lines) {
  try {
    mistake.make(strategy);
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    lines.push_back(std::string(mistake.what) + ": " + message);
    if (message.find(mistake.mend) != std::string::npos) {
      return harness::passed("SCOPE", std::string(mistake.what) + " is refused, with the mend");
    }
    return harness::failed("SCOPE",
                           std::string(mistake.what) + " is refused without saying \"" + mistake.mend + "\"");
  }
  return harness::failed("SCOPE", std::string(mistake.what) + " was not refused");
}

/// Built without a scope, a model trains on one device, whatever strategy stands beside it: no error, no
/// speed-up.
harness::Verdict outside(std::vector<std::string>& lines) {
  const Model model = small_model();
  lines.push_back("built outside of any scope: " + model.strategy().name() +
                  ", no error, and no help from other devices");
  return model.strategy().replicas() == 1
             ? harness::passed("SCOPE", "outside of any scope a model has one replica")
             : harness::failed("SCOPE", "outside of any scope a model has " +
                                            std::to_string(model.strategy().replicas()) +
                                            " replicas; expected 1");
}

harness::Verdict mended(const Strategy& strategy, std::uint64_t seed, std::vector<std::string>& lines) {
  const auto data = strategies::make_clusters({.rows = {256, 0}, .seed = seed}).train;
  std::vector<Model> built;
  {
    const auto scope = strategy.scope();
    built.push_back(small_model());
    built.back().compile(kOptimizer, kLoss);
  }
  Model& model = built.back();
  model.fit(data, {});  // the scope is over: the model remembers
  lines.push_back("built and compiled inside: " + model.strategy().name() +
                  ", fit works after the scope too");
  const bool right =
      model.strategy() == strategy && model.steps() == 256 / strategies::FitOptions{}.global_batch;
  return right ? harness::passed("SCOPE", "built and compiled inside, it trains on every replica")
               : harness::failed("SCOPE", "built inside " + strategy.name() + " it trained " +
                                              std::to_string(model.steps()) + " steps on " +
                                              model.strategy().name());
}

}  // namespace

LessonResult scope_rules(const LessonOptions& options) {
  const strategies::Mirrored strategy(device_count(options));
  LessonResult result;
  for (const Mistake& mistake : kMistakes)
    result.verdicts.push_back(refused(mistake, strategy, result.lines));
  result.verdicts.push_back(outside(result.lines));
  result.verdicts.push_back(mended(strategy, options.seed, result.lines));
  return result;
}

}  // namespace mirrorscale::scenarios
