// Ops on rows of a sequence: values computed on paper, every instruction set against the reference, and
// gradients against finite differences in double.
#include "kernels/reference/sequence.h"

#include "kernels/reference/attention.h"
#include "tests/kernels/gradient_check.h"
#include "tests/kernels/support.h"

#include <cmath>

namespace mirrorscale::kernels::testing {
namespace {

/// Random tokens.
Grid<float> ids_below(int tokens, int samples, int time, std::uint64_t seed) {
  auto ids = activations(samples, time).fill(seed, 0, tokens);
  for (int s = 0; s < samples; ++s) {
    for (int t = 0; t < time; ++t) ids.at(s, t) = std::floor(ids.at(s, t));
  }
  return ids;
}

class SequencePaper : public BackendTest {};

TEST_P(SequencePaper, LayerNormOfTwoValues) {
  // Mean 3, variance 4; epsilon 12 makes the deviation 4.
  auto x = activations(1, 2).set({{1, 5}}), y = activations(1, 2), moments = activations(1, 2);
  Line gamma(2), beta(2);
  gamma[0] = 2, gamma[1] = 3, beta[0] = 10, beta[1] = 20;
  backend_->layer_norm(x.read(), gamma.data(), beta.data(), 12, moments.view(), y.view());
  EXPECT_TRUE(same_bits(moments.read(), activations(1, 2).set({{3, 0.25F}}).read()));
  EXPECT_TRUE(same_bits(y.read(), activations(1, 2).set({{9, 21.5F}}).read()));
  // g = (2, 3): mean 2.5; g h: (-1 + 1.5) / 2 = 0.25; dx = (g - 2.5 - h / 4) / 4.
  auto dy = activations(1, 2).set({{1, 1}}), scaled = activations(1, 2), dx = activations(1, 2);
  backend_->layer_norm_backward(x.read(), moments.read(), gamma.data(), dy.read(), scaled.view(), dx.view());
  EXPECT_TRUE(same_bits(scaled.read(), activations(1, 2).set({{-0.5F, 0.5F}}).read()));
  EXPECT_TRUE(same_bits(dx.read(), activations(1, 2).set({{-0.09375F, 0.09375F}}).read()));
}

TEST_P(SequencePaper, AnEmbeddingSumsRepeatsAlongTheTree) {
  // Two samples of two tokens; token 1 occurs three times: (2^24 + 1) + 1 with a sample a leaf.
  auto ids = activations(2, 2).set({{1, 1}, {0, 1}}), table = weights(3, 1).set({{7}, {8}, {9}});
  auto y = activations(4, 1), dy = activations(4, 1).set({{0x1p24F}, {1}, {5}, {3}}), dtable = weights(3, 1);
  backend_->embed(ids.read(), table.read(), y.view());
  EXPECT_TRUE(same_bits(y.read(), activations(4, 1).set({{8}, {8}, {7}, {8}}).read()));
  Line scratch(embed_scratch(4, 3));
  backend_->embed_backward(ids.read(), dy.read(), 1, dtable.view(), scratch.data());
  EXPECT_TRUE(same_bits(dtable.read(), weights(3, 1).set({{5}, {0x1p24F + 4}, {0}}).read()))
      << "2^24 + 1 is 2^24, + 3 is 2^24 + 4";
  for (int v = 3; v < 16; ++v) EXPECT_TRUE(same_bits(dtable.at(v, 0), 0.0F)) << "padding";
}

TEST_P(SequencePaper, PositionsAreAddedAndSummed) {
  auto x = activations(4, 1).set({{1}, {2}, {3}, {4}}), table = weights(2, 1).set({{10}, {20}});
  auto y = activations(4, 1), dtable = weights(2, 1);
  backend_->add_positions(x.read(), table.read(), y.view());
  EXPECT_TRUE(same_bits(y.read(), activations(4, 1).set({{11}, {22}, {13}, {24}}).read()));
  backend_->sum_positions(x.read(), 1, dtable.view());
  EXPECT_TRUE(same_bits(dtable.read(), weights(2, 1).set({{4}, {6}}).read()));
}

TEST_P(SequencePaper, EqualScoresGiveMeans) {
  // Queries of 0: each position is the mean of the values that it sees.
  auto qkv = activations(3, 3).set({{0, 1, 4}, {0, 2, 8}, {0, 3, 3}}), y = activations(3, 1),
       norms = activations(3, 2);
  const Attention causal{3, 1, true}, all{3, 1, false};
  Line scratch(attention_scratch(causal, 3, 1));
  backend_->attention(causal, qkv.read(), norms.view(), y.view(), scratch.data());
  EXPECT_TRUE(same_bits(y.read(), activations(3, 1).set({{4}, {6}, {5}}).read()));
  EXPECT_TRUE(same_bits(norms.read(), activations(3, 2).set({{0, 1}, {0, 2}, {0, 3}}).read()));
  backend_->attention(all, qkv.read(), norms.view(), y.view(), scratch.data());
  EXPECT_TRUE(same_bits(y.read(), activations(3, 1).set({{5}, {5}, {5}}).read()));
}

TEST_P(SequencePaper, DropoutKeepsItsShareAndKnowsEachSample) {
  const int samples = 50, positions = 3, columns = 70;
  auto x = activations(samples * positions, columns), y = activations(samples * positions, columns),
       part = activations(positions, columns);
  for (int r = 0; r < x.rows(); ++r) {
    for (int c = 0; c < columns; ++c) x.at(r, c) = 3;
  }
  Dropout d = Dropout::of(0.25F, positions, 7, 1, 5);
  backend_->dropout(d, x.read(), y.view());
  int zeros = 0;
  for (int r = 0; r < x.rows(); ++r) {
    for (int c = 0; c < columns; ++c) {
      EXPECT_TRUE(y.at(r, c) == 0 || y.at(r, c) == 4.0F);
      zeros += y.at(r, c) == 0;
    }
  }
  const double expected = 0.25 * samples * positions * columns;
  EXPECT_NEAR(zeros, expected, 5 * std::sqrt(expected));
  d.first_sample = 10;
  backend_->dropout(d, x.read().slice_rows(0, positions), part.view());
  EXPECT_TRUE(same_bits(part.read(), y.read().slice_rows(30, positions))) << "sample 10, alone";
  d = Dropout::of(0.25F, positions, 7, 1, 6);
  d.first_sample = 10;
  backend_->dropout(d, x.read().slice_rows(0, positions), part.view());
  EXPECT_FALSE(same_bits(part.read(), y.read().slice_rows(30, positions))) << "another step";
}

MIRRORSCALE_EVERY_BACKEND(SequencePaper);

class SequenceBits : public TargetTest {};

TEST_P(SequenceBits, LayerNormEqualsTheReference) {
  for (const int rows : {1, 3, 17}) {
    for (const int columns : kSizes) {
      auto x = activations(rows, columns).fill(1, -3, 5), dy = activations(rows, columns).fill(2);
      auto gamma = Line(static_cast<std::size_t>(columns)).fill(3), beta = Line(gamma).fill(4);
      auto y = activations(rows, columns), dx = activations(rows, columns),
           scaled = activations(rows, columns);
      auto y2 = activations(rows, columns), dx2 = activations(rows, columns),
           scaled2 = activations(rows, columns);
      auto moments = activations(rows, 2), moments2 = activations(rows, 2);
      cpu_->layer_norm(x.read(), gamma.data(), beta.data(), 1e-5F, moments.view(), y.view());
      reference_->layer_norm(x.read(), gamma.data(), beta.data(), 1e-5F, moments2.view(), y2.view());
      EXPECT_TRUE(same_bits(y.read(), y2.read())) << rows << " x " << columns;
      EXPECT_TRUE(same_bits(moments.read(), moments2.read())) << rows << " x " << columns;
      cpu_->layer_norm_backward(x.read(), moments.read(), gamma.data(), dy.read(), scaled.view(), dx.view());
      reference_->layer_norm_backward(x.read(), moments.read(), gamma.data(), dy.read(), scaled2.view(),
                                      dx2.view());
      EXPECT_TRUE(same_bits(scaled.read(), scaled2.read())) << rows << " x " << columns;
      EXPECT_TRUE(same_bits(dx.read(), dx2.read())) << rows << " x " << columns;
    }
  }
}

TEST_P(SequenceBits, EmbeddingsEqualTheReference) {
  for (const int samples : {1, 2, 5, 33, 70}) {
    for (const auto& [time, tokens, columns] :
         {std::tuple(1, 3, 1), std::tuple(7, 5, 17), std::tuple(16, 40, 33)}) {
      for (const int shard : {1, 4, 32}) {
        const auto ids = ids_below(tokens, samples, time, 1);
        auto dy = activations(samples * time, columns).fill(2), y = activations(samples * time, columns),
             y2 = activations(samples * time, columns);
        auto table = weights(tokens, columns).fill(3), d = weights(tokens, columns),
             d2 = weights(tokens, columns);
        auto places = weights(time, columns).fill(4), p = weights(time, columns), p2 = weights(time, columns);
        Line scratch(embed_scratch(samples * time, tokens));
        cpu_->embed(ids.read(), table.read(), y.view());
        reference_->embed(ids.read(), table.read(), y2.view());
        EXPECT_TRUE(same_bits(y.read(), y2.read()));
        cpu_->embed_backward(ids.read(), dy.read(), shard, d.view(), scratch.data());
        reference_->embed_backward(ids.read(), dy.read(), shard, d2.view(), scratch.data());
        EXPECT_TRUE(same_bits(d.read(), d2.read())) << samples << " samples of " << time << ", S = " << shard;
        cpu_->add_positions(dy.read(), places.read(), y.view());
        reference_->add_positions(dy.read(), places.read(), y2.view());
        EXPECT_TRUE(same_bits(y.read(), y2.read()));
        cpu_->sum_positions(dy.read(), shard, p.view());
        reference_->sum_positions(dy.read(), shard, p2.view());
        EXPECT_TRUE(same_bits(p.read(), p2.read())) << samples << " samples of " << time << ", S = " << shard;
      }
    }
  }
}

TEST_P(SequenceBits, DropoutEqualsTheReference) {
  for (const int columns : {1, 16, 65, 130}) {
    auto x = activations(6, columns).fill(1), y = activations(6, columns), y2 = activations(6, columns);
    const Dropout d = Dropout::of(0.5F, 3, 1, 2, 3);
    cpu_->dropout(d, x.read(), y.view());
    reference_->dropout(d, x.read(), y2.view());
    EXPECT_TRUE(same_bits(y.read(), y2.read())) << columns;
  }
}

struct Case {
  int samples, positions, heads, head_size;
  bool causal;
};

TEST_P(SequenceBits, AttentionEqualsTheReference) {
  for (const Case& c : {Case{2, 1, 1, 1, true}, Case{1, 5, 2, 3, true}, Case{2, 33, 1, 16, true},
                        Case{1, 17, 2, 8, false}, Case{1, 70, 1, 32, true}, Case{1, 64, 1, 5, false}}) {
    const int rows = c.samples * c.positions, columns = c.heads * c.head_size;
    const Attention a{c.positions, c.heads, c.causal};
    auto qkv = activations(rows, 3 * columns).fill(1, -2, 2), dy = activations(rows, columns).fill(2);
    auto y = activations(rows, columns), y2 = activations(rows, columns);
    auto norms = activations(rows, 2 * c.heads), norms2 = activations(rows, 2 * c.heads);
    auto d = activations(rows, 3 * columns), d2 = activations(rows, 3 * columns);
    auto scratch = Line(attention_scratch(a, rows, columns)).fill(3);
    cpu_->attention(a, qkv.read(), norms.view(), y.view(), scratch.data());
    reference_->attention(a, qkv.read(), norms2.view(), y2.view(), nullptr);
    const std::string what =
        std::to_string(c.positions) + " positions, heads of " + std::to_string(c.head_size);
    EXPECT_TRUE(same_bits(norms.read(), norms2.read())) << what;
    EXPECT_TRUE(same_bits(y.read(), y2.read())) << what;
    cpu_->attention_backward(a, qkv.read(), norms.read(), y.read(), dy.read(), d.view(), scratch.data());
    reference_->attention_backward(a, qkv.read(), norms.read(), y.read(), dy.read(), d2.view(), nullptr);
    EXPECT_TRUE(same_bits(d.read(), d2.read())) << what;
  }
}

MIRRORSCALE_EVERY_TARGET(SequenceBits);

TEST(GradientCheckOfSequences, LayerNorm) {
  auto moments = activations<double>(3, 2);
  auto gamma = activations<double>(1, 16).fill(3), beta = activations<double>(1, 16).fill(4);
  auto x = activations<double>(3, 16).fill(1, -2, 2), y = activations<double>(3, 16),
       r = activations<double>(3, 16).fill(2);
  const auto loss = [&] {
    reference::layer_norm<double>(x.read(), &gamma.at(0, 0), &beta.at(0, 0), 1e-3, moments.view(), y.view());
    return weigh(y, r);
  };
  loss();
  auto scaled = activations<double>(3, 16), dx = activations<double>(3, 16),
       dgamma = activations<double>(1, 16);
  reference::layer_norm_backward<double>(x.read(), moments.read(), &gamma.at(0, 0), r.read(), scaled.view(),
                                         dx.view());
  for (int c = 0; c < 16; ++c) dgamma.at(0, c) = scaled.at(0, c) + scaled.at(1, c) + scaled.at(2, c);
  expect_gradient(x, dx, loss, "x");
  expect_gradient(gamma, dgamma, loss, "gamma");
}

TEST(GradientCheckOfSequences, Embeddings) {
  auto ids = activations<double>(3, 2).set({{0, 2}, {2, 2}, {1, 0}}), y = activations<double>(6, 4),
       r = activations<double>(6, 4).fill(1);
  auto table = weights<double>(4, 4).fill(2), places = weights<double>(2, 4).fill(3),
       d = weights<double>(4, 4), p = weights<double>(2, 4);
  const auto loss = [&] {
    reference::embed<double>(ids.read(), table.read(), y.view());
    reference::add_positions<double>(y.read(), places.read(), y.view());
    return weigh(y, r);
  };
  reference::embed_backward<double>(ids.read(), r.read(), 2, d.view());
  reference::sum_positions<double>(r.read(), 2, p.view());
  expect_gradient(table, d, loss, "table");
  expect_gradient(places, p, loss, "positions");
}

TEST(GradientCheckOfSequences, Attention) {
  for (const Attention& a : {Attention{35, 1, true}, Attention{4, 2, true}, Attention{4, 2, false}}) {
    const int rows = a.positions, columns = 2 * a.heads;
    auto qkv = activations<double>(rows, 3 * columns).fill(1), y = activations<double>(rows, columns),
         r = activations<double>(rows, columns).fill(2), norms = activations<double>(rows, 2 * a.heads),
         d = activations<double>(rows, 3 * columns);
    const auto loss = [&] {
      reference::attention<double>(a, qkv.read(), norms.view(), y.view());
      return weigh(y, r);
    };
    loss();
    reference::attention_backward<double>(a, qkv.read(), norms.read(), y.read(), r.read(), d.view());
    expect_gradient(qkv, d, loss, std::to_string(a.positions) + " positions");
  }
}

}  // namespace
}  // namespace mirrorscale::kernels::testing
