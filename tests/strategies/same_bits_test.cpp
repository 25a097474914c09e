// The `exact` contract end to end: weights after every step, slots, losses, metrics and predictions have the
// same bits at any number of replicas, with either reducer, on either backend, whatever the batch.
#include "kernels/backend.h"
#include "strategies/input/token_windows.h"
#include "tests/strategies/support/net_cases.h"
#include "tests/strategies/support/toy_parts.h"
#include "tests/strategies/support/trajectory.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::data_of;
using testing::NetCase;
using testing::same_bits;
using testing::train;
using testing::Trajectory;
using testing::with_reducer;

/// One strategy (and one team of threads) for all tests.
const Mirrored& mirrored(int n, const std::string& reducer, const std::string& backend) {
  static std::map<std::string, Mirrored> made;
  const std::string key = reducer + backend + std::to_string(n);
  return made.try_emplace(key, device_names(n, backend), with_reducer(reducer)).first->second;
}

struct Batching {
  int rows, batch;
};
std::string to_text(const Batching& b) {
  return std::to_string(b.rows) + " rows in batches of " + std::to_string(b.batch);
}

// A short last batch in all but two; a data set smaller than a batch; smaller than the number of replicas.
constexpr Batching kBatchings[] = {{3, 1},   {5, 2},     {8, 3},     {15, 7},   {64, 31}, {96, 32},
                                   {67, 33}, {230, 100}, {300, 256}, {41, 256}, {3, 32},  {2, 3}};

class SameBits : public ::testing::TestWithParam<NetCase> {};
INSTANTIATE_TEST_SUITE_P(Nets, SameBits, ::testing::ValuesIn(testing::net_cases()),
                         [](const auto& net) { return net.param.name; });

TEST_P(SameBits, AtAnyNumberOfReplicasWithEitherReducer) {
  for (const Batching& b : kBatchings) {
    const auto data = data_of(GetParam(), b.rows);
    const Trajectory one = train(OneDevice(), GetParam().recipe, data, b.batch);
    for (int n = 1; n <= 8; ++n) {
      for (const char* reducer : {"fused", "replicated"}) {
        EXPECT_TRUE(same_bits(train(mirrored(n, reducer, "cpu"), GetParam().recipe, data, b.batch), one))
            << n << " replicas, " << reducer << ", " << to_text(b);
      }
    }
  }
}

TEST_P(SameBits, InAnyNumberOfPieces) {
  for (const Batching& b : {Batching{5, 2}, Batching{67, 33}, Batching{230, 100}, Batching{41, 256}}) {
    const auto data = data_of(GetParam(), b.rows);
    const Trajectory one = train(OneDevice(), GetParam().recipe, data, b.batch);
    for (const int pieces : {2, 3, 7, 1000}) {
      for (const int n : {1, 3}) {
        EXPECT_TRUE(
            same_bits(train(mirrored(n, "fused", "cpu"), GetParam().recipe, data, b.batch, pieces), one))
            << n << " replicas, " << pieces << " pieces, " << to_text(b);
      }
    }
  }
}

TEST_P(SameBits, OnTheReferenceBackend) {
  for (const Batching& b : kBatchings) {
    const auto data = data_of(GetParam(), b.rows);
    const Trajectory one = train(OneDevice(), GetParam().recipe, data, b.batch);
    for (const int n : {1, 3}) {
      EXPECT_TRUE(same_bits(train(mirrored(n, "fused", "reference"), GetParam().recipe, data, b.batch), one))
          << n << " replicas, " << to_text(b);
    }
  }
}

TEST_P(SameBits, OnEveryInstructionSet) {
  const auto data = data_of(GetParam(), 67);
  const Trajectory best = train(mirrored(2, "fused", "cpu"), GetParam().recipe, data, 33);
  for (const std::string& target : kernels::cpu_targets()) {
    ::setenv("MIRRORSCALE_CPU_TARGET", target.c_str(), 1);
    const Trajectory forced = train(mirrored(2, "fused", "cpu"), GetParam().recipe, data, 33);
    ::unsetenv("MIRRORSCALE_CPU_TARGET");
    EXPECT_TRUE(same_bits(forced, best)) << target;
  }
}

TEST_P(SameBits, OneStepAtATimeOrAllInOneRun) {
  const auto data = data_of(GetParam(), 67);
  const auto order = UniformShuffle().order(67, 5, 0);
  const auto whole = build(mirrored(3, "fused", "cpu"), GetParam().recipe);
  whole->session().start_training(data, 16);
  std::vector<Pooled> steps;
  const Pooled sum = whole->session().train(order, 0, 5, nullptr, &steps);
  ASSERT_EQ(steps.size(), 5U);
  const auto single = build(mirrored(3, "fused", "cpu"), GetParam().recipe);
  single->session().start_training(data, 16);
  for (std::int64_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(same_bits(single->session().train(order, i, 1), steps[static_cast<std::size_t>(i)]));
  }
  EXPECT_TRUE(same_bits(whole->weights(), single->weights()));
  EXPECT_EQ(sum.rows, 67);
  EXPECT_EQ(whole->steps(), 5);
  EXPECT_EQ(single->steps(), 5);
}

TEST_P(SameBits, EvaluationAndPredictionInAnyBatch) {
  const auto data = data_of(GetParam(), 100);
  const auto model = build(mirrored(3, "fused", "cpu"), GetParam().recipe);
  model->fit(data, {.global_batch = 32});
  const Logs logs = model->evaluate(data, {.global_batch = 100});
  const auto predictions = model->predict(data, 100).values;
  for (const int batch : {1, 2, 7, 33, 64, 1000}) {
    EXPECT_TRUE(same_bits(model->evaluate(data, {.global_batch = batch}), logs)) << batch;
    EXPECT_TRUE(same_bits(model->predict(data, batch).values, predictions)) << batch;
  }
}

/// What the devices hold after a training is what Session::planned_bytes says, within 5 %: with a short last
/// batch, in pieces, and with a validation batch that is larger than a piece.
TEST_P(SameBits, InTheMemoryThatWasPlanned) {
  const auto data = data_of(GetParam(), 230);
  for (const int n : {1, 2, 3}) {
    for (const char* reducer : {"fused", "replicated"}) {
      for (const int pieces : {1, 3}) {
        const Mirrored& strategy = mirrored(n, reducer, "cpu");
        const auto model = build(strategy, GetParam().recipe);
        model->fit(data, {.global_batch = 100, .accumulate = pieces, .validation = data});
        const auto planned = static_cast<double>(Session::planned_bytes(
            strategy, model->network(), *data, 100, model->optimizer(), data.get(), pieces));
        EXPECT_NEAR(static_cast<double>(model->session().used_bytes()), planned, 0.05 * planned)
            << n << " replicas, " << reducer << ", in pieces: " << pieces;
      }
    }
  }
}

/// Wants batches, and does nothing with them.
class Onlooker final : public Callback {
 public:
  bool wants_batches() const override { return true; }
};

TEST_P(SameBits, WhateverTheStepsPerExecution) {
  const auto data = data_of(GetParam(), 67);
  const auto run = [&](int steps, bool callbacks) {
    const auto model = build(mirrored(2, "fused", "cpu"), GetParam().recipe);
    FitOptions options{.epochs = 3, .global_batch = 7, .validation = data, .steps_per_execution = steps};
    if (callbacks) options.callbacks = {std::make_shared<Onlooker>()};
    const History history = model->fit(data, options);
    return std::pair(history.values, model->weights());
  };
  const auto plain = run(1, false);
  for (const int steps : {1, 2, 3, 100}) {
    const auto other = run(steps, true);
    EXPECT_TRUE(same_bits(other.second, plain.second)) << steps;
    EXPECT_EQ(other.first, plain.first) << "history at " << steps << " steps an execution";
  }
}

TEST_P(SameBits, AreOtherBitsForAnotherSeed) {
  // So that the comparisons above can fail at all.
  auto other = GetParam().recipe;
  other.seed = 2;
  const auto data = data_of(GetParam(), 40);
  const Trajectory a = train(OneDevice(), GetParam().recipe, data, 8), b = train(OneDevice(), other, data, 8);
  EXPECT_FALSE(same_bits(a.weights.back(), b.weights.back()));
  EXPECT_FALSE(same_bits(a.predictions, b.predictions));
  EXPECT_FALSE(same_bits(a.losses[0], b.losses[0]));
  EXPECT_FALSE(same_bits(a.weights[0], a.weights[1])) << "a step changes something";
}

TEST_P(SameBits, PaddingStaysZero) {
  const auto data = data_of(GetParam(), 67);
  for (const char* reducer : {"fused", "replicated"}) {
    for (const char* backend : {"cpu", "reference"}) {
      const auto model = build(mirrored(3, reducer, backend), GetParam().recipe);
      model->fit(data, {.epochs = 4, .global_batch = 16});
      const ParameterLayout& layout = model->network().parameters();
      for (int r = 0; r < 3; ++r) {
        const auto arena = model->session().arena(r);
        std::vector<float> cleared(arena.begin(), arena.end());
        // Writing 0 to every element leaves what is in the padding.
        auto zeros = layout.pack(cleared);
        for (NamedArray& array : zeros) array.values.assign(array.values.size(), 0.0F);
        layout.unpack(zeros, cleared);
        EXPECT_EQ(cleared, std::vector<float>(cleared.size(), 0.0F)) << reducer << " " << backend;
      }
    }
  }
}

/// Every optimizer, so that the table below has them all.
constexpr const char* kOptimizers[] = {"sgd:0.1:weight_decay=0.01",
                                       "momentum:0.05",
                                       "nesterov:0.05",
                                       "adam:0.01",
                                       "adamw:0.01:exclude=bias+norm",
                                       "amsgrad:0.01",
                                       "rmsprop:0.01",
                                       "adagrad:0.05",
                                       "lamb:0.01",
                                       "lars:1:trust=0.01",
                                       "adam:0.01:ema=0.9:ema_overwrite=2"};

TEST(SameBitsTable, OfOptimizersAccumulationAndClipping) {
  // 19 rows in batches of 9: a short last batch of one row, and shares of unequal rows at most N.
  std::printf("The bits of one device at N = 1 .. 8, on %d nets:\n%-36s %14s %14s %14s %14s\n", 3,
              "optimizer", "accumulate 1", "and clipped", "accumulate 3", "and clipped");
  for (const char* optimizer : kOptimizers) {
    std::printf("%-36s", optimizer);
    for (const int pieces : {1, 3}) {
      for (const char* clip : {"", ":clip_global_norm=0.05"}) {
        int same = 0, all = 0;
        for (NetCase net : testing::net_cases()) {
          if (net.name != "normalised_lamb_averaged" && net.name != "convolutions_pools_momentum" &&
              net.name != "binary_logits_penalties_adam")
            continue;
          net.recipe.optimizer = [=] { return make_optimizer(std::string(optimizer) + clip); };
          const auto data = data_of(net, 19);
          const Trajectory one = train(OneDevice(), net.recipe, data, 9);
          for (int n = 1; n <= 8; ++n, ++all) {
            const auto result =
                same_bits(train(mirrored(n, "fused", "cpu"), net.recipe, data, 9, pieces), one);
            EXPECT_TRUE(result) << optimizer << clip << ", " << pieces << " pieces, " << n << " replicas, "
                                << net.name;
            same += result ? 1 : 0;
          }
        }
        EXPECT_EQ(all, 3 * 8);
        std::printf(" %11d/%2d", same, all);
      }
    }
    std::printf("\n");
  }
}

/// A decoder with dropout, a token to predict at each of 9 positions.
testing::Recipe decoder() {
  return {.features = 9,
          .layers =
              [] {
                return std::vector<LayerPtr>{
                    embedding(11, 24),
                    position_embedding(),
                    dropout(0.1),
                    residual({layer_norm(), dense(72), self_attention({.heads = 3, .causal = true}),
                              dense(24), dropout(0.2)}),
                    residual({layer_norm(), dense(40, "gelu"), dense(24)}),
                    layer_norm(),
                    dense(11)};
              },
          .optimizer = [] { return make_optimizer("adam:0.01"); },
          .loss = make_loss("sparse_categorical_crossentropy_from_logits"),
          .metrics = {"accuracy", "perplexity"}};
}
DatasetPtr tokens(int rows) {
  return make_tokens(rows, 0, 9, 11, 3).train;
}

// 20 steps with short last batches; and micro-shards of several samples.
constexpr Batching kTokenBatchings[] = {{75, 8}, {41, 33}, {5, 64}};

TEST(SameBitsOfSequences, AtAnyNumberOfReplicasWithEitherReducer) {
  for (const Batching& b : kTokenBatchings) {
    const Trajectory one = train(OneDevice(), decoder(), tokens(b.rows), b.batch);
    for (int n = 1; n <= 8; ++n) {
      for (const char* reducer : {"fused", "replicated"}) {
        EXPECT_TRUE(same_bits(train(mirrored(n, reducer, "cpu"), decoder(), tokens(b.rows), b.batch), one))
            << n << " replicas, " << reducer << ", " << to_text(b);
      }
    }
  }
}

TEST(SameBitsOfSequences, InAnyNumberOfAccumulatedPieces) {
  // Dropout knows where in the global batch a piece's samples are.
  const Trajectory one = train(OneDevice(), decoder(), tokens(75), 33);
  for (const int n : {1, 3}) {
    EXPECT_TRUE(same_bits(train(mirrored(n, "fused", "cpu"), decoder(), tokens(75), 33, 3), one)) << n;
  }
}

TEST(SameBitsOfSequences, OnTheReferenceBackendAndEveryInstructionSet) {
  const Trajectory one = train(OneDevice(), decoder(), tokens(21), 16);
  EXPECT_TRUE(same_bits(train(mirrored(2, "fused", "reference"), decoder(), tokens(21), 16), one));
  for (const std::string& target : kernels::cpu_targets()) {
    ::setenv("MIRRORSCALE_CPU_TARGET", target.c_str(), 1);
    const Trajectory forced = train(mirrored(2, "fused", "cpu"), decoder(), tokens(21), 16);
    ::unsetenv("MIRRORSCALE_CPU_TARGET");
    EXPECT_TRUE(same_bits(forced, one)) << target;
  }
}

TEST(SameBitsOfSequences, EvaluationAndPredictionInAnyBatch) {
  const auto model = build(mirrored(3, "fused", "cpu"), decoder());
  const auto data = tokens(50);
  model->fit(data, {.global_batch = 16});
  const Logs logs = model->evaluate(data, {.global_batch = 50});
  const Predictions whole = model->predict(data, 50);
  EXPECT_EQ(whole.columns, 9 * 11);
  for (const int batch : {1, 7, 1000}) {
    EXPECT_TRUE(same_bits(model->evaluate(data, {.global_batch = batch}), logs)) << batch;
    EXPECT_TRUE(same_bits(model->predict(data, batch).values, whole.values)) << batch;
  }
  EXPECT_NEAR(logs.at("perplexity"), std::exp(logs.at("loss")), 1e-6 * logs.at("perplexity"));
}

TEST(SameBitsOfSequences, DropoutDrawsAnewInEachStepAndKnowsTheSeed) {
  // A rate so small that nothing moves: what differs is what dropout left out.
  const auto losses = [](std::uint64_t seed, double rate) {
    testing::Recipe recipe = decoder();
    recipe.layers = [rate] { return std::vector<LayerPtr>{embedding(11, 24), dropout(rate), dense(11)}; };
    recipe.optimizer = [] { return make_optimizer("sgd:1e-30"); };
    const auto start = build(OneDevice(), recipe)->weights();
    recipe.seed = seed;
    const auto model = build(OneDevice(), recipe);
    model->set_weights(start);
    model->session().start_training(tokens(4), 4);
    const std::vector<std::int64_t> order{0, 1, 2, 3};
    const double first = model->session().train(order, 0, 1).loss();
    return std::pair(first, model->session().train(order, 0, 1).loss());
  };
  const auto with = losses(1, 0.5), other = losses(2, 0.5), without = losses(1, 0);
  EXPECT_NE(with.first, with.second) << "another step";
  EXPECT_NE(with.first, other.first) << "another seed";
  EXPECT_EQ(without.first, without.second);
  EXPECT_NE(with.first, without.first);
}

}  // namespace
}  // namespace mirrorscale::strategies
