#include "scenarios/workloads/workload.h"

#include "scenarios/workloads/data_source.h"
#include "strategies/input/subset.h"
#include "strategies/input/synthetic.h"

#include <gtest/gtest.h>
#include <set>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

/// Small rows of the kind a workload's own data have.
strategies::DatasetPtr rows_for(const Workload& workload) {
  const std::string source = workload.data == "fashion-mnist" ? "fashion-twin" : workload.data;
  return strategies::first_rows(load_data(source, 1).train, 50);
}

TEST(Workloads, EachTrainsOnItsOwnKindOfData) {
  for (const Workload& workload : workloads()) {
    const auto data = rows_for(workload);
    strategies::Model model = make_model(workload, *data, strategies::Mirrored(2));
    strategies::FitOptions fit;
    fit.epochs = 5;
    fit.global_batch = 16;
    const strategies::History history = model.fit(data, fit);
    EXPECT_LT(history.values.at("loss").back(), history.values.at("loss").front()) << workload.name;
    EXPECT_EQ(model.steps(), 5 * 4) << workload.name;
  }
}

TEST(Workloads, NamesAreDifferentAndFound) {
  std::set<std::string> names;
  for (const Workload& workload : workloads()) {
    EXPECT_TRUE(names.insert(workload.name).second) << workload.name;
    EXPECT_EQ(&find_workload(workload.name), &workload);
  }
}

TEST(Workloads, AnUnknownNameIsAnsweredWithAllNames) {
  try {
    find_workload("resnet");
    FAIL() << "there is no such workload";
  } catch (const std::invalid_argument& error) {
    for (const Workload& workload : workloads()) {
      EXPECT_NE(std::string(error.what()).find(workload.name), std::string::npos) << error.what();
    }
  }
}

TEST(Workloads, TheMlpHasTheParametersOfThePaperSum) {
  const auto data = rows_for(find_workload("mlp"));
  const strategies::Model model = make_model(find_workload("mlp"), *data, strategies::OneDevice());
  EXPECT_EQ(model.network().parameters().count(), 784u * 512 + 512 + 512 * 512 + 512 + 512 * 10 + 10);
}

TEST(MakeModel, BelongsToTheStrategyAndTakesSettings) {
  const strategies::Mirrored strategy(3);
  const auto data = rows_for(find_workload("mlp-small"));
  strategies::Model model =
      make_model(find_workload("mlp-small"), *data, strategy, {.optimizer = "momentum:0.5", .seed = 7});
  EXPECT_TRUE(model.strategy() == strategy);
  EXPECT_EQ(model.optimizer().slots(), std::vector<std::string>{"momentum"});
  EXPECT_DOUBLE_EQ(model.optimizer().learning_rate(0), 0.5);
  const strategies::Model other =
      make_model(find_workload("mlp-small"), *data, strategy, {.optimizer = "", .seed = 8});
  EXPECT_NE(model.weight_hash(), other.weight_hash());
}

TEST(MakeModel, DataThatDoNotFitAreRefused) {
  const auto line = strategies::make_line({10, 0}, 1).train;
  const auto clusters = strategies::make_clusters({.rows = {10, 0}}).train;
  EXPECT_THROW(make_model(find_workload("mlp"), *line, strategies::OneDevice()), std::invalid_argument);
  EXPECT_THROW(make_model(find_workload("binary"), *clusters, strategies::OneDevice()),
               std::invalid_argument);
  EXPECT_THROW(make_model(find_workload("regression"), *clusters, strategies::OneDevice()),
               std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::scenarios
