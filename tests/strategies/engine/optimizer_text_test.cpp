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
  EXPECT_EQ(make_optimizer("lamb:weight_decay=0.01")->settings(),
            "beta1 0.9, beta2 0.999, epsilon 1e-07, weight decay 0.01");
  EXPECT_EQ(make_optimizer("lars")->settings(), "momentum 0.9, trust 0.001, weight decay 5e-04");
  EXPECT_EQ(rate("lars", 7), 1);
  EXPECT_EQ(make_optimizer("sgd:0.1:clip_norm=2")->clipping(), (Clipping{Clipping::Kind::kNorm, 2}));
}

TEST(OptimizerText, ExclusionsAndAverages) {
  const Exclusions none, both{.bias = true, .normalisation = true};
  EXPECT_EQ(make_optimizer("adamw")->exclusions(), none);  // as Keras
  EXPECT_EQ(make_optimizer("lamb")->exclusions(), both);
  EXPECT_EQ(make_optimizer("lars:exclude=none")->exclusions(), none);
  EXPECT_EQ(make_optimizer("adamw:exclude=bias+norm")->exclusions(), both);
  EXPECT_EQ(make_optimizer("sgd:weight_decay=0.1:exclude=norm")->exclusions(),
            (Exclusions{.bias = false, .normalisation = true}));
  const auto spec = [](Role role) { return ParameterSpec{.name = "v", .role = role}; };
  const auto spares_norms = make_optimizer("adamw:exclude=norm");
  EXPECT_TRUE(spares_norms->decays(spec(Role::kWeight)));
  EXPECT_TRUE(spares_norms->decays(spec(Role::kBias)));
  EXPECT_FALSE(spares_norms->decays(spec(Role::kNormalisation)));
  const auto averaged = make_optimizer("adam:0.01:ema=0.9:ema_overwrite=10");
  EXPECT_EQ(averaged->averaging(), (Averaging{.momentum = 0.9, .overwrite_every = 10}));
  EXPECT_EQ(averaged->all_slots(), (std::vector<std::string>{"m", "v", "average"}));
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
  refused("adamw:exclude=kernel", {"exclude is 'kernel'", "bias+norm"});
  refused("rmsprop:exclude=bias", {"'exclude' is not known"});
  refused("adam:ema=1", {"'ema' must be > 0 and < 1"});
  refused("adam:ema_overwrite=5", {"'ema_overwrite' needs 'ema'"});
  refused("lars:trust=0", {"trust is 0", "> 0"});
  refused("lamb:weight_decay=-1", {"weight_decay is -1"});
  EXPECT_NO_THROW(check_optimizer("sgd:base_batch=256"));
}

}  // namespace
}  // namespace mirrorscale::strategies
