#include "strategies/checkpoint/folder.h"
#include "strategies/checkpoint/save_checkpoints.h"
#include "strategies/checkpoint/training_state.h"
#include "strategies/checkpoint/weights_file.h"
#include "strategies/input/data_error.h"
#include "strategies/input/file_bytes.h"
#include "tests/strategies/input/temp_folder.h"
#include "tests/strategies/support/bits.h"
#include "tests/strategies/support/expect_throw.h"
#include "tests/strategies/support/net_cases.h"

#include <fstream>
#include <gtest/gtest.h>
#include <utility>

namespace mirrorscale::strategies {
namespace {

using testing::build;
using testing::data_of;
using testing::expect_throw;
using testing::NetCase;
using testing::same_bits;

NetCase net_named(const std::string& name) {
  for (NetCase& net : testing::net_cases()) {
    if (net.name == name) return net;
  }
  throw std::logic_error("no net " + name);
}

/// 53 rows in batches of 8: 7 steps an epoch, the last one short.
constexpr int kRows = 53, kBatch = 8, kEpochs = 3;

FitOptions fit_options(const DatasetPtr& validation, std::vector<CallbackPtr> callbacks) {
  return {.epochs = kEpochs,
          .global_batch = kBatch,
          .seed = 5,
          .validation = validation,
          .callbacks = std::move(callbacks)};
}

CallbackPtr saver(const TempFolder& folder, std::int64_t every, int keep = 100) {
  return save_checkpoints({.folder = folder.path(), .every_steps = every, .keep_last = keep});
}

/// A rate that depends on the epoch before, and stopping: callbacks with a state.
std::vector<CallbackPtr> stateful() {
  return {learning_rate_scheduler([](int, double rate) { return 0.9 * rate; }),
          early_stopping({.monitor = "val_loss", .patience = 2})};
}

struct Outcome {
  std::vector<NamedArray> weights, slots;
  std::map<std::string, std::vector<double>> history;
};

Outcome run(const NetCase& net, const Strategy& strategy, std::vector<CallbackPtr> callbacks,
            const std::optional<std::filesystem::path>& from = {}) {
  const auto model = build(strategy, net.recipe);
  const DatasetPtr data = data_of(net, kRows);
  FitOptions options = fit_options(data, std::move(callbacks));
  if (from) restore(read_part_file(*from), from->string(), *model, *data, options);
  const History history = model->fit(data, options);
  return {model->weights(), model->slots(), history.values};
}

struct Pair {
  int saved_on, resumed_on;
};
class Resumed : public ::testing::TestWithParam<Pair> {};

TEST_P(Resumed, TrainingHasTheBitsOfOneThatWasNeverInterrupted) {
  for (const char* name :
       {"wide_adamw_clipped", "gelu_softmax_adam_weighted", "penalties_adagrad_clipped_together",
        "softmax_inside_rmsprop_clipped", "activation_layers_amsgrad_clipped", "normalised_lamb_averaged"}) {
    SCOPED_TRACE(name);
    const NetCase net = net_named(name);
    const TempFolder folder;
    const Outcome whole = run(net, Mirrored(GetParam().saved_on), stateful());
    std::vector<CallbackPtr> callbacks = stateful();
    callbacks.push_back(saver(folder, 5));
    const Outcome saving = run(net, Mirrored(GetParam().saved_on), callbacks);
    EXPECT_TRUE(same_bits(saving.weights, whole.weights));
    const auto files = CheckpointFolder(folder.path(), 100).saved();
    ASSERT_EQ(files.size(), 5U);  // after 5, 10, 15, 20 steps and at the end, 21
    for (const auto& file : files) {
      SCOPED_TRACE(file.filename().string());
      const Outcome resumed = run(net, Mirrored(GetParam().resumed_on), stateful(), file);
      EXPECT_TRUE(same_bits(resumed.weights, whole.weights));
      EXPECT_TRUE(same_bits(resumed.slots, whole.slots));
      for (const auto& [key, values] : resumed.history) {  // of the epochs that were left
        const auto& all = whole.history.at(key);
        ASSERT_LE(values.size(), all.size());
        for (std::size_t i = 0; i < values.size(); ++i)
          EXPECT_TRUE(same_bits(values[i], all[all.size() - values.size() + i])) << key;
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Replicas, Resumed, ::testing::Values(Pair{1, 2}, Pair{2, 1}, Pair{4, 3}, Pair{3, 8}),
                         [](const auto& pair) {
                           return "From" + std::to_string(pair.param.saved_on) + "To" +
                                  std::to_string(pair.param.resumed_on);
                         });

TEST(Stateful, EarlyStoppingDoesNotForgetWhatItWaitedFor) {
  const NetCase net = net_named("tanh_mse_momentum");
  const TempFolder folder;
  const auto callbacks = [&](const TempFolder& to) {
    return std::vector<CallbackPtr>{
        early_stopping({.monitor = "loss", .min_delta = 1e9, .patience = 2}),
        save_checkpoints({.folder = to.path(), .every_steps = 0, .keep_last = 9})};
  };
  run(net, OneDevice(), callbacks(folder));
  const auto files = CheckpointFolder(folder.path(), 9).saved();
  ASSERT_EQ(files.size(), 3U);
  // The first epoch is the best, and two have passed after the third.
  for (std::size_t i = 0; i < files.size(); ++i) {
    const TempFolder unused;
    const Outcome resumed = run(net, OneDevice(), callbacks(unused), files[i]);
    const auto epochs = resumed.history.contains("loss") ? resumed.history.at("loss").size() : 0;
    EXPECT_EQ(epochs, 2 - i);
  }
}

TEST(SaveCheckpoints, KeepsTheLastAndTheBest) {
  const NetCase net = net_named("tanh_mse_momentum");
  const TempFolder folder;
  std::ofstream(folder.path() / "step-000000099.ckpt.part") << "left by a save that was killed";
  std::ofstream(folder.path() / "notes.txt") << "not ours";
  const auto model = build(OneDevice(), net.recipe);
  const DatasetPtr data = data_of(net, kRows);
  std::vector<double> losses;
  std::vector<std::vector<NamedArray>> weights;
  FitOptions options = fit_options(data, {on_epoch_end([&](int, const Logs& logs) {
                                            losses.push_back(logs.at("val_mae"));
                                            weights.push_back(model->weights());
                                          }),
                                          save_checkpoints({.folder = folder.path(),
                                                            .every_steps = 4,
                                                            .keep_last = 2,
                                                            .best = "val_mae",
                                                            .larger_is_better = true})});
  model->fit(data, options);
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"best.ckpt", "notes.txt", "step-000000020.ckpt",
                                             "step-000000021.ckpt"}));
  const auto best = std::max_element(losses.begin(), losses.end()) - losses.begin();
  const PartFile kept = read_part_file(folder.path() / "best.ckpt");
  const auto& wanted = weights[static_cast<std::size_t>(best)];
  for (const NamedArray& array : wanted)
    EXPECT_TRUE(same_bits(kept.at("weights/" + array.name, "best").values<float>("best"), array.values));
}

/// A checkpoint in the middle of the first epoch, its file and its bytes.
class Files : public ::testing::Test {
 protected:
  Files() {
    run(net_, OneDevice(), {saver(folder_, 3)});
    file_ = CheckpointFolder(folder_.path(), 100).saved().front();
    bytes_ = read_file(file_);
  }
  void resume(const NetCase& net, const DatasetPtr& data, FitOptions options) const {
    restore(read_part_file(file_), "old.ckpt", *build(OneDevice(), net.recipe), *data, options);
  }

  const NetCase net_ = net_named("tanh_mse_momentum");
  const TempFolder folder_;
  std::filesystem::path file_;
  std::vector<std::byte> bytes_;
};

TEST_F(Files, AnyByteThatDiffersIsRefusedWithThePartNamed) {
  const PartFile content = parse_part_file(bytes_, "good");
  std::size_t data = bytes_.size();
  for (const Part& part : content.parts) data -= part.bytes.size();
  for (std::size_t at = 0; at < bytes_.size(); at += at < data ? 1 : 7) {
    std::vector<std::byte> damaged = bytes_;
    damaged[at] ^= static_cast<std::byte>(1U << (at % 8));
    std::string part = at < 28 ? "front" : "table";
    for (std::size_t i = 0, end = data; at >= data && at >= end; ++i) {
      part = content.parts[i].name;
      end += content.parts[i].bytes.size();
    }
    expect_throw<CheckpointError>([&] { parse_part_file(damaged, "old.ckpt"); },
                                  {"old.ckpt", ("part '" + part + "'").c_str()});
  }
}

TEST_F(Files, AnyLengthButTheRightOneIsRefused) {
  for (std::size_t length = 0; length < bytes_.size(); length += length < 40 ? 1 : 61) {
    expect_throw<CheckpointError>([&] { parse_part_file(std::span(bytes_).first(length), "old.ckpt"); },
                                  {"part '", "cut short"});
  }
  std::vector<std::byte> longer = bytes_;
  longer.push_back({});
  expect_throw<CheckpointError>([&] { parse_part_file(longer, "old.ckpt"); }, {"end of file", "1 bytes"});
}

TEST_F(Files, OtherKindsAndNewerVersionsAreToldApart) {
  const std::string zip = "PK\x03\x04 and so on, an archive";
  expect_throw<CheckpointError>([&] { parse_part_file(std::as_bytes(std::span(zip)), "w.npz"); },
                                {"w.npz", "front", "another kind of file"});
  // A whole front of version 2: the check sum (of 24 bytes) is right.
  const std::string newer("MSCKPT\r\n\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xd3\xfd\x6e\xb0", 28);
  expect_throw<CheckpointError>([&] { parse_part_file(std::as_bytes(std::span(newer)), "new.ckpt"); },
                                {"front", "version 2", "reads version 1"});
  expect_throw<DataError>([&] { read_part_file(folder_.path() / "none.ckpt"); }, {"none.ckpt"});
}

TEST_F(Files, AnotherTrainingIsRefusedAndNothingChanges) {
  const DatasetPtr data = data_of(net_, kRows);
  const FitOptions good = fit_options(data, {});
  EXPECT_NO_THROW(resume(net_, data, good));
  NetCase other = net_;
  other.recipe.optimizer = [] { return make_optimizer("nesterov:0.05"); };
  expect_throw<CheckpointError>([&] { resume(other, data, good); },
                                {"old.ckpt", "another training", "momentum(", "nesterov("});
  other = net_;
  other.recipe.optimizer = [] { return make_optimizer("momentum:0.06"); };
  expect_throw<CheckpointError>([&] { resume(other, data, good); }, {"learning_rate", "0.05", "0.06"});
  other = net_;
  other.recipe.layers = [] { return std::vector<LayerPtr>{dense(6, "tanh"), dense(3)}; };
  expect_throw<CheckpointError>([&] { resume(other, data, good); }, {"part 'weights/", "[33, 5]", "[33, 6]"});
  other.recipe.layers = [] { return std::vector<LayerPtr>{dense(3, "tanh")}; };
  expect_throw<CheckpointError>([&] { resume(other, data, good); }, {"part 'weights/"});
  expect_throw<CheckpointError>([&] { resume(net_, data_of(net_, kRows - 1), good); }, {"data", "52 rows"});
  FitOptions options = good;
  options.global_batch = 9;
  expect_throw<CheckpointError>([&] { resume(net_, data, options); }, {"global_batch", "\"8\"", "\"9\""});
  options = good;
  options.seed = 6;
  expect_throw<CheckpointError>([&] { resume(net_, data, options); }, {"order", "seed 5", "seed 6"});
}

TEST_F(Files, ACallbackThatIsMissingIsNamed) {
  const TempFolder folder;
  const DatasetPtr data = data_of(net_, kRows);
  std::vector<CallbackPtr> callbacks = stateful();
  callbacks.push_back(saver(folder, 9));
  run(net_, OneDevice(), callbacks);
  const PartFile saved = read_part_file(*CheckpointFolder(folder.path(), 100).newest());
  FitOptions options = fit_options(data, {stateful()[0]});
  expect_throw<CheckpointError>(
      [&] { restore(saved, "old.ckpt", *build(OneDevice(), net_.recipe), *data, options); },
      {"callbacks/early_stopping/"});
}

TEST(SaveCheckpoints, ModelAveragingIsRefusedBeforeTheFirstStep) {
  const NetCase net = net_named("tanh_mse_momentum");
  const TempFolder folder;
  expect_throw<std::invalid_argument>([&] { run(net, ModelAveraging(device_names(2)), {saver(folder, 3)}); },
                                      {"model averaging"});
}

TEST(WeightsFile, GivesBackTheBits) {
  const TempFolder folder;
  const auto model = build(Mirrored(2), net_named("wide_adamw_clipped").recipe);
  const auto weights = model->weights();
  for (const char* name : {"w.npz", "w.safetensors"}) {
    const auto file = folder.path() / name;
    write_weights(file, weights);
    EXPECT_TRUE(same_bits(read_weights(file, weights), weights)) << name;
    auto wanted = weights;
    wanted[1].shape[0] += 1;
    expect_throw<DataError>([&] { read_weights(file, wanted); }, {name, wanted[1].name.c_str(), "shape"});
    wanted = weights;
    wanted[0].name = "other";
    expect_throw<DataError>([&] { read_weights(file, wanted); }, {name, "other"});
    wanted = weights;
    wanted.pop_back();
    expect_throw<DataError>([&] { read_weights(file, wanted); }, {name, weights.back().name.c_str()});
    const auto bytes = read_file(file);
    for (const std::size_t length : {std::size_t{0}, std::size_t{5}, bytes.size() / 2, bytes.size() - 1}) {
      const std::string_view text(reinterpret_cast<const char*>(bytes.data()), length);
      write_file(file, std::array<std::string_view, 1>{text});
      expect_throw<DataError>([&] { read_weights(file, weights); }, {name});
    }
  }
  expect_throw<std::invalid_argument>([&] { write_weights(folder.path() / "w.h5", weights); }, {"w.h5"});
}

}  // namespace
}  // namespace mirrorscale::strategies
