// Flat arenas: transposition, addition, optimizer steps, norms.
#include "kernels/cpu/parts.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/arenas.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/transpose-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

void transpose(ConstMatrix w, Matrix wt, std::size_t first_block, std::size_t blocks) {
  const auto in = static_cast<std::size_t>(panels(w.rows));
  std::size_t row = first_block % in, column = first_block / in;
  for (std::size_t block = 0; block < blocks; ++block) {
    transpose_block(w.data + column * w.panel_stride + row * kBlock,
                    wt.data + row * wt.panel_stride + column * kBlock);
    if (++row == in) {
      row = 0;
      ++column;
    }
  }
}

void add(std::size_t count, const float* a, const float* b, float* sum) {
  for (std::size_t i = 0; i < count; i += kLanes) store(load(a + i) + load(b + i), sum + i);
}

template <Momentum kMomentum>
void sgd_all(std::size_t count, const Sgd& step, const float* gradient, float* w, float* m) {
  for (std::size_t i = 0; i < count; i += kLanes) {
    F32 weight = load(w + i), moment = kMomentum == Momentum::kNone ? zero() : load(m + i);
    sgd_step<kMomentum>(step, load(gradient + i), weight, moment);
    store(weight, w + i);
    if (kMomentum != Momentum::kNone) store(moment, m + i);
  }
}
void sgd(std::size_t count, const Sgd& step, const float* gradient, float* w, float* m) {
  if (step.momentum == 0) return sgd_all<Momentum::kNone>(count, step, gradient, w, m);
  if (step.nesterov) return sgd_all<Momentum::kNesterov>(count, step, gradient, w, m);
  sgd_all<Momentum::kPlain>(count, step, gradient, w, m);
}

void adam(std::size_t count, const Adam& given, const float* gradient, float* w, float* m, float* v) {
  const Adam step = given;  // a copy that stores to the arenas can't change: its constants stay in registers
  for (std::size_t i = 0; i < count; i += kLanes) {
    F32 weight = load(w + i), first = load(m + i), second = load(v + i);
    adam_step(step, load(gradient + i), weight, first, second);
    store(weight, w + i);
    store(first, m + i);
    store(second, v + i);
  }
}

void amsgrad(std::size_t count, const Adam& given, const float* gradient, float* w, float* m, float* v,
             float* largest) {
  const Adam step = given;
  for (std::size_t i = 0; i < count; i += kLanes) {
    F32 weight = load(w + i), first = load(m + i), second = load(v + i), most = load(largest + i);
    amsgrad_step(step, load(gradient + i), weight, first, second, most);
    store(weight, w + i);
    store(first, m + i);
    store(second, v + i);
    store(most, largest + i);
  }
}

template <bool kCentred, bool kMomentum>
void rms_prop_all(std::size_t count, const RmsProp& given, const float* gradient, float* w, float* v,
                  float* a, float* m) {
  const RmsProp step = given;
  for (std::size_t i = 0; i < count; i += kLanes) {
    F32 weight = load(w + i), square = load(v + i);
    F32 mean = kCentred ? load(a + i) : zero(), moment = kMomentum ? load(m + i) : zero();
    rms_prop_step<kCentred, kMomentum>(step, load(gradient + i), weight, square, mean, moment);
    store(weight, w + i);
    store(square, v + i);
    if (kCentred) store(mean, a + i);
    if (kMomentum) store(moment, m + i);
  }
}
void rms_prop(std::size_t count, const RmsProp& step, const float* gradient, float* w, float* v, float* a,
              float* m) {
  const auto all = a != nullptr ? (m != nullptr ? &rms_prop_all<true, true> : &rms_prop_all<true, false>)
                                : (m != nullptr ? &rms_prop_all<false, true> : &rms_prop_all<false, false>);
  all(count, step, gradient, w, v, a, m);
}

void adagrad(std::size_t count, const Adagrad& given, const float* gradient, float* w, float* a) {
  const Adagrad step = given;
  for (std::size_t i = 0; i < count; i += kLanes) {
    F32 weight = load(w + i), sum = load(a + i);
    adagrad_step(step, load(gradient + i), weight, sum);
    store(weight, w + i);
    store(sum, a + i);
  }
}

void lamb_direction(std::size_t count, const Lamb& given, const float* gradient, const float* w, float* m,
                    float* v, float* u) {
  const Lamb step = given;
  for (std::size_t i = 0; i < count; i += kLanes) {
    F32 first = load(m + i), second = load(v + i);
    const F32 direction = lamb_direction(step, load(gradient + i), load(w + i), first, second);
    store(first, m + i);
    store(second, v + i);
    store(direction, u + i);
  }
}

void average(std::size_t count, float one_minus_momentum, const float* w, float* a) {
  for (std::size_t i = 0; i < count; i += kLanes)
    store(moved_average(one_minus_momentum, load(w + i), load(a + i)), a + i);
}

void effective_gradient(std::size_t count, const GradientTerms& given, float most, const float* sum,
                        const float* w, float* g) {
  const GradientTerms terms = given;
  for (std::size_t i = 0; i < count; i += kLanes)
    store(limited_gradient(terms, most, load(sum + i), load(w + i)), g + i);
}

void squares_of_blocks(ConstMatrix w, std::size_t first_block, std::size_t blocks, float* squares) {
  for (std::size_t b = 0; b < blocks; ++b) {
    const float* block = w.data + (first_block + b) * kBlock;  // in panels a block is in one piece
    Chains sum = same_chains(0);
    for (int r = 0; r < kPanel; ++r) {
      MIRRORSCALE_UNROLL for (int v = 0; v < kVectors; ++v) {
        const F32 x = load(block + r * kPanel + v * kLanes);
        sum.v[v] = fma(x, x, sum.v[v]);
      }
    }
    squares[b] = sum_of(sum);
  }
}

float sum_of_squares(std::size_t count, const float* w) {
  Chains sum = same_chains(0);
  for (std::size_t i = 0; i < count; i += kPanel) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kVectors; ++v) {
      const F32 x = load(w + i + v * kLanes);
      sum.v[v] = fma(x, x, sum.v[v]);
    }
  }
  return sum_of(sum);
}
float sum_of_magnitudes(std::size_t count, const float* w) {
  Chains sum = same_chains(0);
  for (std::size_t i = 0; i < count; i += kPanel) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kVectors; ++v) sum.v[v] =
        sum.v[v] + magnitude(load(w + i + v * kLanes));
  }
  return sum_of(sum);
}

double run_fma_peak(double flops, float* sink) {
  constexpr int kChains = kLanes == 16 ? 24 : 12;  // enough to hide the latency, few enough for the registers
  F32 c[kChains];
  MIRRORSCALE_UNROLL for (int i = 0; i < kChains; ++i) c[i] = broadcast(0.01F * static_cast<float>(i));
  const F32 x = broadcast(0.999F), y = broadcast(0.001F);
  const auto rounds = static_cast<long>(flops / (2.0 * kChains * kLanes)) + 1;
  for (long r = 0; r < rounds; ++r) {
    MIRRORSCALE_UNROLL for (int i = 0; i < kChains; ++i) c[i] = fma(c[i], x, y);
  }
  alignas(64) float flat[kPanel];
  MIRRORSCALE_UNROLL for (int i = 1; i < kChains; ++i) c[0] = c[0] + c[i];
  store(c[0], flat);
  *sink = flat[0];
  return static_cast<double>(rounds) * 2.0 * kChains * kLanes;
}

const ArenaTable kTable = {&transpose,
                           &add,
                           &sgd,
                           &adam,
                           &amsgrad,
                           &rms_prop,
                           &adagrad,
                           &lamb_direction,
                           &average,
                           &effective_gradient,
                           &squares_of_blocks,
                           &sum_of_squares,
                           &sum_of_magnitudes,
                           &run_fma_peak};

}  // namespace

const ArenaTable* arena_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(arena_table);
const ArenaTable* chosen_arena_table() {
  return HWY_DYNAMIC_DISPATCH(arena_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif
