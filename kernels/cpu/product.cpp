// Forward products and input gradients. Every element is one FMA chain over k = 0 .. depth - 1 from +0.
#include "kernels/cpu/parts.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/product.cpp"
// foreach_target.h comes before highway.h, so:
// clang-format off
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/cpu/finish-inl.h"
#include "kernels/cpu/thin_product-inl.h"
#include "kernels/cpu/tile-inl.h"
// clang-format on

HWY_BEFORE_NAMESPACE();
namespace mirrorscale::kernels::cpu::HWY_NAMESPACE {
namespace {

// Register blocking. All sums, one row of b and one broadcast must fit in the registers: AVX-512 9 * 3 + 3 +
// 1 of 32 (12 loads for 27 FMAs; 14 x 2 has 16 for 28), AVX2 6 * 2 + 2 + 1 of 16.
#if HWY_CAP_GE512
inline constexpr int kRows = 9, kPanels = 3;
#elif HWY_CAP_GE256
inline constexpr int kRows = 6, kPanels = 1;
#else
inline constexpr int kRows = 1, kPanels = 1;
#endif
inline constexpr int kRowBlock = kRows * (168 / kRows);  // rows of `a` that stay in L2 while all of b passes

struct Product {
  ConstMatrix a, b;
  Matrix out;
  const float* bias = kNoBias;
  std::size_t bias_step = 0;  // floats from one panel's bias to the next
  ConstMatrix saved;
};

/// kR rows x kP panels of a Product, at row `m` and panel `n`.
template <Pass kPass, Activation kFunction, int kR, int kP>
HWY_NOINLINE void product_tile(const Product& p, int m, int n) {
  const float* a = p.a.data + m * kPanel;
  const float* b = p.b.data + static_cast<std::size_t>(n) * p.b.panel_stride;
  const std::size_t at =
      static_cast<std::size_t>(n) * p.out.panel_stride + static_cast<std::size_t>(m * kPanel);
  if (p.a.columns >= kPanel) {  // with time to fetch the lines to be written
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      MIRRORSCALE_UNROLL for (int v = 0; v < kP; ++v) {
        __builtin_prefetch(p.out.data + at + static_cast<std::size_t>(v) * p.out.panel_stride + r * kPanel,
                           1);
      }
    }
  }
  Tile<kR, kP> c;
  if constexpr (kPass == Pass::kContinue) {
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
      MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) {
        c[r][v] = load(vector_at(p.out.data + at, p.out.panel_stride, v) + r * kPanel);
      }
    }
  } else {
    clear<kR, kP>(c);
  }
  int k = p.a.columns;
  for (; k >= kPanel; k -= kPanel, a += p.a.panel_stride, b += kBlock) {
    MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) __builtin_prefetch(a + p.a.panel_stride + r * kPanel);
    accumulate<kR, kP, kPanel, 1, 16>(kPanel, a, b, p.b.panel_stride, c);
  }
  // Only the real steps: fma(0, 0, -0) is +0, so padding with zeros would change bits.
  accumulate<kR, kP, kPanel, 1, 0>(k, a, b, p.b.panel_stride, c);
  const float* bias = p.bias + static_cast<std::size_t>(n) * p.bias_step;
  const float* saved =
      p.saved ? p.saved.data + static_cast<std::size_t>(n) * p.saved.panel_stride + m * kPanel : nullptr;
  MIRRORSCALE_UNROLL for (int r = 0; r < kR; ++r) {
    MIRRORSCALE_UNROLL for (int v = 0; v < kP * kVectors; ++v) {
      store(finish<kPass, kFunction>(c[r][v], vector_at(bias, p.bias_step, v),
                                     vector_at(saved, p.saved.panel_stride, v) + r * kPanel),
            vector_at(p.out.data + at, p.out.panel_stride, v) + r * kPanel);
    }
  }
}

template <Pass kPass, Activation kFunction>
void product(const Product& p) {
  using Run = void (*)(const Product&, int, int);
  // [panels - 1][rows - 1]
  constexpr auto kTiles = []<int... r>(std::integer_sequence<int, r...>) {
    return std::array<std::array<Run, kRows>, 3>{
        std::array<Run, kRows>{&product_tile<kPass, kFunction, r + 1, 1>...},
        std::array<Run, kRows>{&product_tile<kPass, kFunction, r + 1, std::min(2, kPanels)>...},
        std::array<Run, kRows>{&product_tile<kPass, kFunction, r + 1, kPanels>...},
    };
  }
  (std::make_integer_sequence<int, kRows>());
  const int all = panels(p.out.columns);
  for (int m0 = 0; m0 < p.out.rows; m0 += kRowBlock) {
    const int m1 = std::min(p.out.rows, m0 + kRowBlock);
    const int tiles = (m1 - m0 + kRows - 1) / kRows;  // of even height: no thin last tile
    for (int n = 0; n < all;) {
      const int wide = std::min(kPanels, all - n);
      for (int t = 0, m = m0; t < tiles; ++t) {
        const int rows = (m1 - m) / (tiles - t);
        kTiles[static_cast<std::size_t>(wide - 1)][static_cast<std::size_t>(rows - 1)](p, m, n);
        m += rows;
      }
      n += wide;
    }
  }
}

/// The first rows, in blocks of 16, of a thin layer: returns how many.
template <Activation kFunction>
int thin_product(const Product& p) {
  int row = 0;
  for (; row + kPanel <= p.out.rows; row += kPanel) {
    alignas(64) float sums[kBlock];
    thin_product_rows(p.a, p.b, row, sums);
    for (int i = 0; i < kBlock; i += kLanes) {
      const F32 sum = load(sums + i);
      store(finish<Pass::kForward, kFunction>(sum, p.bias + i % kPanel, nullptr),
            p.out.data + row * kPanel + i);
    }
  }
  return row;
}

void linear(ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y) {
  Product p{.a = x, .b = w, .out = y, .saved = {}};
  if (b != nullptr) {
    p.bias = b;
    p.bias_step = kPanel;
  }
  exact::with_activation(f, [&](auto kind) {
    if (kThinTile > 0 && y.columns <= kThinOutputs) {
      const int done = thin_product<kind()>(p);
      p.a = x.slice_rows(done, x.rows - done);
      p.out = y.slice_rows(done, y.rows - done);
    }
    product<Pass::kForward, kind()>(p);
  });
}

void linear_backward_input(ConstMatrix dy, ConstMatrix wt, Activation f, ConstMatrix saved, Matrix dx) {
  const Product p{.a = dy, .b = wt, .out = dx, .saved = saved};
  exact::with_activation(f, [&](auto kind) { product<Pass::kBackward, kind()>(p); });
}

void linear_continue(ConstMatrix x, ConstMatrix w, Matrix y) {
  const Product p{.a = x, .b = w, .out = y, .saved = {}};
  product<Pass::kContinue, Activation::kLinear>(p);
}

const ProductTable kTable = {&linear, &linear_backward_input, &linear_continue};

}  // namespace

const ProductTable* product_table() {
  return &kTable;
}

}  // namespace mirrorscale::kernels::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mirrorscale::kernels::cpu {
HWY_EXPORT(product_table);
const ProductTable* chosen_product_table() {
  return HWY_DYNAMIC_DISPATCH(product_table)();
}
}  // namespace mirrorscale::kernels::cpu
#endif
