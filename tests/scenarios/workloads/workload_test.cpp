#include "scenarios/workloads/workload.h"

#include "scenarios/cells/cell.h"
#include "scenarios/workloads/data_source.h"
#include "strategies/input/subset.h"
#include "strategies/input/synthetic.h"
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/expect_throw.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <map>
#include <set>
#include <stdexcept>
#include <unistd.h>
#include <utility>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

/// Small rows of the kind a workload's own data have.
strategies::DatasetPtr rows_for(const Workload& workload, std::int64_t count = 50) {
  const std::string source = workload.data == "fashion-mnist" ? "fashion-twin"
                             : workload.data == "tokens"      ? "tokens-small"
                                                              : workload.data;
  return strategies::first_rows(load_data(source, 1).train, count);
}

/// All but those of which a test would take minutes: their smaller forms are the same code.
std::vector<const Workload*> workloads_at_test_scale() {
  std::vector<const Workload*> found;
  for (const Workload& workload : workloads()) {
    if (workload.name != "vgg") found.push_back(&workload);
  }
  return found;
}

TEST(Workloads, EachTrainsOnItsOwnKindOfData) {
  for (const Workload* each : workloads_at_test_scale()) {
    const Workload& workload = *each;
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

/// Weights, slots, losses, metrics and predictions after 20 steps, the last one short, on any number of
/// replicas.
TEST(Workloads, HaveTheBitsOfOneDeviceOnUpToEight) {
  constexpr int kSteps = 20, kBatch = 9, kRows = kSteps * kBatch - 4;
  for (const Workload* workload : workloads_at_test_scale()) {
    const auto data = rows_for(*workload, kRows);
    struct Seen {
      std::string weights;
      std::vector<strategies::NamedArray> slots;
      std::map<std::string, std::vector<double>> history;
      std::vector<float> predictions;
    } one;
    for (int n = 1; n <= 8; ++n) {
      strategies::Model model = make_model(*workload, *data, strategies::Mirrored(n));
      const strategies::History history = model.fit(data, {.global_batch = kBatch, .validation = data});
      ASSERT_EQ(model.steps(), kSteps);
      Seen seen{model.weight_hash(),
                model.slots(),
                {history.values.begin(), history.values.end()},
                model.predict(data, 50).values};
      if (n == 1) {
        one = std::move(seen);
        continue;
      }
      EXPECT_EQ(seen.weights, one.weights) << workload->name << " on " << n;
      EXPECT_TRUE(strategies::testing::same_bits(seen.slots, one.slots)) << workload->name << " on " << n;
      EXPECT_EQ(seen.history, one.history) << workload->name << " on " << n;
      EXPECT_TRUE(strategies::testing::same_bits(seen.predictions, one.predictions))
          << workload->name << " on " << n;
    }
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

/// A model file in the tests' folder, gone afterwards.
class ModelFile {
 public:
  explicit ModelFile(const std::string& text)
      : path_((std::filesystem::path(::testing::TempDir()) /
               ("model_" + std::to_string(::getpid()) + "_" + std::to_string(++count_) + ".toml"))
                  .string()) {
    std::ofstream(path_) << text;
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  static inline int count_ = 0;
  const std::string path_;
};

TEST(ModelFile, IsTheModelOfTheSameLayers) {
  const ModelFile file(R"(data = "clusters"
metrics = ["accuracy"]
[[layers]]
kind = "dense"
units = 64
activation = "relu"
[[layers]]
kind = "dense"
units = 32
activation = "tanh"
[[layers]]
kind = "dense"
units = "outputs"
)");
  const auto data = rows_for(find_workload("mlp-small"));
  std::string hashes[2];
  for (int i = 0; i < 2; ++i) {
    const Workload& workload = find_workload(i == 0 ? "mlp-small" : file.path());
    strategies::Model model = make_model(workload, *data, strategies::Mirrored(2));
    model.fit(data, {.epochs = 2, .global_batch = 16});
    hashes[i] = model.weight_hash();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST(ModelFile, KnowsTheLayersOfImages) {
  const ModelFile file(R"([[layers]]
kind = "conv2d"
filters = 32
padding = "same"
activation = "relu"
[[layers]]
kind = "max_pool"
[[layers]]
kind = "conv2d"
filters = 64
kernel = [3, 3]
padding = "same"
activation = "relu"
[[layers]]
kind = "max_pool"
[[layers]]
kind = "flatten"
[[layers]]
kind = "dense"
units = 128
activation = "relu"
[[layers]]
kind = "dense"
units = "outputs"
)");
  const auto data = rows_for(find_workload("cnn"));
  const strategies::Model a = make_model(find_workload("cnn"), *data, strategies::OneDevice());
  const strategies::Model b = make_model(find_workload(file.path()), *data, strategies::OneDevice());
  EXPECT_EQ(a.weight_hash(), b.weight_hash());
  EXPECT_EQ(a.network().summary(), b.network().summary());
}

TEST(ModelFile, ItsInputIsThatOfACellToo) {
  const ModelFile file(R"(input = [4, 5, 1]
[[layers]]
kind = "conv2d"
filters = 3
[[layers]]
kind = "flatten"
[[layers]]
kind = "dense"
units = "outputs"
)");
  const auto data = rows_for(find_workload("mlp-small"));  // 20 features
  CellSpec cell;
  cell.workload = file.path();
  cell.optimizer = "sgd";
  const strategies::Model model = make_model(cell, *data, strategies::OneDevice());
  EXPECT_EQ(model.network().summary(), network_of(cell, *data).summary());
}

TEST(ModelFile, AMistakeIsToldWithItsLine) {
  const auto data = rows_for(find_workload("mlp-small"));
  const auto refused = [&](const std::string& text, std::initializer_list<const char*> parts) {
    const ModelFile file(text);
    strategies::testing::expect_throw<std::invalid_argument>(
        [&] { make_model(find_workload(file.path()), *data, strategies::OneDevice()); }, parts);
  };
  refused("data = [", {".toml:1:"});
  refused("data = 3", {".toml:1:", "'data' needs a text"});
  refused("data = \"clusters\"", {"no layers"});
  refused("optimizer = \"lion\"\n[[layers]]\nkind = \"dense\"\nunits = 1", {"lion", "adam"});
  refused("[[layers]]\nkind = \"dens\"", {".toml:1:", "'dens'", "conv2d, dense, dropout"});
  refused("[[layers]]\nkind = \"dense\"", {"'units' is missing"});
  refused("[[layers]]\nkind = \"dense\"\nunits = 0", {".toml:3:", "'units'", "at least 1"});
  refused("[[layers]]\nkind = \"dense\"\nunits = 2\nunit = 3", {".toml:4:", "'unit'", "activation"});
  refused("[[layers]]\nkind = \"dense\"\nunits = 2\nactivation = \"swish\"", {".toml:1:", "swish", "relu"});
  refused("layers = 3", {".toml:1:", "[[layers]]"});
  refused("input = [2, 2, 1]\n[[layers]]\nkind = \"dense\"\nunits = 2",
          {"[2, 2, 1]", "4 values", "a row of the data"});
  refused("[[layers]]\nkind = \"dense\"\nunits = 2", {".toml:1:", "makes [2]", "outputs to predict"});
  refused(
      "[[layers]]\nkind = \"dense\"\nunits = 4\n[[layers]]\nkind = \"residual\"\n[[layers.branch]]\nkind = "
      "\"dense\"\nunits = 5",
      {".toml:4:", "layer 2, for an input of [4]", "[5]"});
  strategies::testing::expect_throw<std::runtime_error>([] { find_workload("nowhere.toml"); },
                                                        {"nowhere.toml", "no such file"});
}

}  // namespace
}  // namespace mirrorscale::scenarios
