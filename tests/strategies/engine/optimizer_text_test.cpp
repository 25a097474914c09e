#include "strategies/engine/optimizer.h"
#include "tests/strategies/support/expect_throw.h"

#include <cmath>
#include <gtest/gtest.h>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;

double rate(const char* text, std::int64_t step, int global_batch = 0) {
  return make_optimizer(text, {.global_batch = global_batch})->learning_rate(step);
}

TEST(OptimizerText, NamesPresetsAndSettings) {
  EXPECT_EQ(make_optimizer("amsgrad")->slots(), (std::vector<std::string>{"m", "v", "largest_v"}));
  EXPECT_EQ(make_optimizer("rmsprop:0.01:centered=1:momentum=0.5")->slots(),
            (std::vector<std::string>{"v", "mean", "momentum"}));
  EXPECT_EQ(make_optimizer("adagrad")->initial(0), 0.1F);
  EXPECT_EQ(rate("adam", 7), 0.001);
  EXPECT_EQ(rate("momentum:0.5:momentum=0.8", 7), 0.5);
  EXPECT_EQ(make_optimizer("adamw:0.1:weight_decay=0.25")->settings(),
            "beta1 0.9, beta2 0.999, epsilon 1e-07, weight decay 0.25");
  EXPECT_EQ(make_optimizer("sgd:0.1:clip_norm=2")->clipping(), (Clipping{Clipping::Kind::kNorm, 2}));
}

TEST(OptimizerText, Schedules) {
  EXPECT_EQ(rate("sgd:0.4:decay_steps=100", 0), 0.4);
  EXPECT_NEAR(rate("sgd:0.4:decay_steps=100", 50), 0.2, 1e-16);
  for (const int step : {0, 1, 17, 63, 99}) {
    EXPECT_NEAR(rate("sgd:1:decay_steps=100", step), (1 + std::cos(M_PI * step / 100)) / 2, 1e-15);
  }
  EXPECT_NEAR(rate("sgd:0.4:decay_steps=100:end=0.1", 100), 0.04, 1e-15);
  EXPECT_NEAR(rate("sgd:0.4:decay_steps=100:end=0.1", 5000), 0.04, 1e-15);
  EXPECT_EQ(rate("sgd:0.4:decay=linear:decay_steps=4", 1), 0.4 * 0.75);
  EXPECT_EQ(rate("sgd:0.4:warm_up=4", 0), 0.1);
  EXPECT_EQ(rate("sgd:0.4:warm_up=4", 3), 0.4);
  EXPECT_NEAR(rate("sgd:0.4:warm_up=4:decay_steps=100", 54), 0.2, 1e-16);
  EXPECT_EQ(rate("sgd:0.1:base_batch=256", 0, 1024), 0.4);
  EXPECT_EQ(rate("sgd:0.1:base_batch=256:warm_up=2", 0, 1024), 0.2);
}

TEST(OptimizerText, MistakesAreNamed) {
  const auto refused = [](const char* text, std::initializer_list<const char*> parts) {
    expect_throw<std::invalid_argument>([&] { make_optimizer(text); }, parts);
  };
  refused("adma", {"'adma'", "rmsprop", "adagrad"});
  refused("adam:", {"'adam:'", "number"});
  refused("adam:x", {"'adam:x'", "learning rate", "> 0"});
  refused("adam:-1", {"learning rate", "> 0"});
  refused("adam:0.1:0.2", {"'0.2' is no key=value"});
  refused("adam:rho=0.5", {"'rho' is not known", "beta1"});
  refused("sgd:momentum=0.5", {"'momentum' is not known"});
  refused("adam:beta1=a", {"'beta1' must be a number"});
  refused("adam:beta1=2", {"beta1", "[0, 1)"});
  refused("adam:beta1=0.5:beta1=0.6", {"twice"});
  refused("sgd:clip_norm=1:clip_value=1", {"clips in two ways"});
  refused("sgd:clip_norm=0", {"'clip_norm' must be > 0"});
  refused("sgd:decay_steps=1.5", {"'decay_steps'", "whole number"});
  refused("sgd:decay=step", {"'step'", "cosine, linear"});
  refused("sgd:base_batch=256", {"base_batch", "global batch"});
  EXPECT_NO_THROW(check_optimizer("sgd:base_batch=256"));
}

}  // namespace
}  // namespace mirrorscale::strategies
