#include "strategies/model.h"
#include "tests/strategies/support/data.h"
#include "tests/strategies/support/expect_throw.h"

#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <stdexcept>
#include <thread>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;

std::unique_ptr<Model> small_model() {
  return std::make_unique<Model>(2, std::vector<LayerPtr>{dense(1)}, ModelOptions{.name = "small"});
}

TEST(Scope, MakesTheStrategyCurrentAndEndsIt) {
  const Mirrored strategy(2);
  EXPECT_EQ(current_strategy().name(), "one_device(cpu:0)");
  {
    const Scope scope = strategy.scope();
    EXPECT_TRUE(current_strategy() == strategy);
    {
      const Scope again = strategy.scope();  // the same strategy nests
      EXPECT_TRUE(current_strategy() == strategy);
    }
    EXPECT_TRUE(current_strategy() == strategy);
  }
  EXPECT_EQ(current_strategy().name(), "one_device(cpu:0)");
  EXPECT_TRUE(current_strategy() == current_strategy()) << "the default strategy is one";
}

TEST(Scope, OfADifferentStrategyDoesNotNest) {
  const Mirrored outer(2), inner(2);
  const Scope scope = outer.scope();
  expect_throw<std::invalid_argument>([&] { (void)inner.scope(); },
                                      {"[scope]", "mirrored(cpu:0, cpu:1)", "end the outer scope first"});
  EXPECT_TRUE(current_strategy() == outer) << "the refused scope has changed nothing";
}

TEST(Scope, BelongsToItsThread) {
  const Mirrored strategy(2);
  const Scope scope = strategy.scope();
  bool inside = true;
  std::thread([&] { inside = current_strategy() == strategy; }).join();
  EXPECT_FALSE(inside);
}

TEST(Scope, EndsWhenAnExceptionLeavesIt) {
  const Mirrored strategy(2);
  try {
    const Scope scope = strategy.scope();
    throw std::runtime_error("out");
  } catch (const std::runtime_error&) {
  }
  EXPECT_FALSE(current_strategy() == strategy);
}

TEST(Scope, AModelRemembersItsStrategyAndWorksOutside) {
  const Mirrored strategy(2);
  std::unique_ptr<Model> model;
  {
    const Scope scope = strategy.scope();
    model = small_model();
    model->compile("sgd", "mse");
  }
  EXPECT_TRUE(model->strategy() == strategy);
  const auto data = testing::random_data({.rows = 5, .features = 2, .target_columns = 1});
  EXPECT_EQ(model->fit(data, {.global_batch = 2}).epochs, 1);
  EXPECT_EQ(model->evaluate(data).count("loss"), 1U);
  EXPECT_EQ(model->predict(data).rows, 5);
}

TEST(Scope, CompileByNameWorksAnywhere) {
  const Mirrored strategy(2);
  std::unique_ptr<Model> model;
  {
    const Scope scope = strategy.scope();
    model = small_model();
  }
  EXPECT_NO_THROW(model->compile("adam", "mse", {"mae"}));  // made for the model's own scope
  EXPECT_EQ(current_scope().id, 0U);
  EXPECT_THROW(model->compile("adm", "mse"), std::invalid_argument);
  EXPECT_EQ(current_scope().id, 0U) << "a failed compile leaves no scope behind";
}

TEST(Scope, BuildingOutsideAndCompilingInsideIsRefused) {
  const auto model = small_model();
  const Mirrored strategy(2);
  const Scope scope = strategy.scope();
  for (const bool by_name : {true, false}) {
    expect_throw<std::invalid_argument>(
        [&] { by_name ? model->compile("sgd", "mse") : model->compile(sgd(), mean_squared_error()); },
        {"[compile]", "model 'small' was built outside of any scope", "scope of mirrored(cpu:0, cpu:1)",
         "Move the construction of the model inside"});
  }
}

TEST(Scope, BuildingInOneScopeAndCompilingInAnotherIsRefused) {
  const Mirrored one(2), other(3);
  std::unique_ptr<Model> model;
  {
    const Scope scope = one.scope();
    model = small_model();
  }
  const Scope scope = other.scope();
  expect_throw<std::invalid_argument>([&] { model->compile("sgd", "mse"); },
                                      {"built in the scope of mirrored(cpu:0, cpu:1)",
                                       "compiled in the scope of mirrored(cpu:0, cpu:1, cpu:2)", "Move"});
}

TEST(Scope, AnOptimizerFromElsewhereIsRefused) {
  const OptimizerPtr outside = sgd();
  const Mirrored strategy(2), other(3);
  OptimizerPtr elsewhere;
  {
    const Scope scope = other.scope();
    elsewhere = sgd();
  }
  const Scope scope = strategy.scope();
  const auto model = small_model();
  expect_throw<std::invalid_argument>(
      [&] { model->compile(outside, mean_squared_error()); },
      {"optimizer 'sgd' was made outside of any scope", "built in the scope of mirrored(cpu:0, cpu:1)",
       "Move it inside `auto scope = strategy.scope();` of mirrored(cpu:0, cpu:1)"});
  expect_throw<std::invalid_argument>(
      [&] { model->compile(elsewhere, mean_squared_error()); },
      {"optimizer 'sgd' was made in the scope of mirrored(cpu:0, cpu:1, cpu:2)"});
  EXPECT_NO_THROW(model->compile(sgd(), mean_squared_error()));
}

TEST(Scope, AnOptimizerFromInsideForAModelFromOutsideIsRefused) {
  const Mirrored strategy(2);
  OptimizerPtr inside;
  {
    const Scope scope = strategy.scope();
    inside = sgd();
  }
  const auto model = small_model();
  expect_throw<std::invalid_argument>([&] { model->compile(inside, mean_squared_error()); },
                                      {"made in the scope of mirrored(cpu:0, cpu:1)",
                                       "built outside of any scope", "Move it out of the scope"});
}

TEST(Scope, AMetricFromElsewhereIsRefused) {
  const LossPtr loss = mean_squared_error();  // a loss has no state: it belongs to no scope
  const MetricPtr outside = make_metric("mae", *loss);
  const Mirrored strategy(2);
  const Scope scope = strategy.scope();
  const auto model = small_model();
  expect_throw<std::invalid_argument>([&] { model->compile(sgd(), loss, {outside}); },
                                      {"metric 'mae' was made outside of any scope", "Move it inside"});
  EXPECT_NO_THROW(model->compile(sgd(), loss, {make_metric("mae", *loss)}));
}

TEST(Scope, CompileNeedsItsParts) {
  const auto model = small_model();
  expect_throw<std::invalid_argument>([&] { model->compile(nullptr, mean_squared_error()); }, {"null"});
  expect_throw<std::invalid_argument>([&] { model->compile(sgd(), nullptr); }, {"null"});
  expect_throw<std::invalid_argument>([&] { model->compile(sgd(), mean_squared_error(), {nullptr}); },
                                      {"metric is null"});
}

}  // namespace
}  // namespace mirrorscale::strategies
