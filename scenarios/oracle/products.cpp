#include "scenarios/oracle/products.h"

#include "scenarios/oracle/product_tiles.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

namespace mirrorscale::scenarios::oracle {

namespace {

/// body(i) for i in [0, count), in contiguous runs, one a thread.
void share_out(std::size_t count, int threads, const std::function<void(std::size_t)>& body) {
  const std::size_t runs = std::min(count, static_cast<std::size_t>(std::max(threads, 1)));
  std::vector<std::jthread> others;
  for (std::size_t run = 1; run < runs; ++run) {
    others.emplace_back([=, &body] {
      for (std::size_t i = count * run / runs; i < count * (run + 1) / runs; ++i) body(i);
    });
  }
  for (std::size_t i = 0; runs > 0 && i < count / runs; ++i) body(i);
}

std::size_t tile_columns(std::size_t columns) {
  return (columns + kTileColumns - 1) / kTileColumns;
}

/// Where fewer operations than this are to be done, starting threads costs more than it gains.
constexpr std::size_t kWorthThreads = std::size_t{1} << 18;

int useful(int threads, std::size_t operations) {
  return operations < kWorthThreads ? 1 : threads;
}

/// to[k * width + j] = value_of(k, first + j), 0 past `count`.
template <class ValueOf>
void pack(std::size_t depth, std::size_t first, std::size_t count, std::size_t width, const ValueOf& value_of,
          std::vector<double>& to) {
  to.resize(depth * width);
  for (std::size_t k = 0; k < depth; ++k) {
    for (std::size_t j = 0; j < width; ++j)
      to[k * width + j] = first + j < count ? value_of(k, first + j) : 0;
  }
}

/// z = x · w' where w'(k, c) is element index_of(k, c) of w.
template <class IndexOf>
void chain_product(const Tracked& x, const Tracked& w, std::size_t columns, const FactorRounding& rounding,
                   int threads, const IndexOf& index_of, Tracked& z) {
  z.resize(x.rows, columns);
  const std::size_t depth = x.columns;
  std::vector<double> magnitude(x.size()), square_scale(x.size());
  std::transform(x.value.begin(), x.value.end(), magnitude.begin(), [](double v) { return std::fabs(v); });
  // Roundings of both factors are independent along the chain. That of w's digits is the same share of the
  // term as that of x's; w's underflow leaves a term that only the row's x knows.
  std::transform(x.scale.begin(), x.scale.end(), magnitude.begin(), square_scale.begin(),
                 [&](double s, double m) {
                   const double own = rounding.scale_of(m), other = rounding.relative * m;
                   return s * s + own * own + other * other;
                 });
  std::vector<double> underflow(rounding.least > 0 ? x.rows : 0);
  for (std::size_t i = 0; rounding.least > 0 && i < x.size(); ++i) {
    underflow[i / depth] += rounding.least * rounding.least * magnitude[i] * magnitude[i];
  }
  const auto chain = tiles().chain;
  share_out(tile_columns(columns), useful(threads, x.size() * columns), [&](std::size_t tile) {
    const std::size_t first = tile * kTileColumns;
    std::vector<double> panel, scale;
    pack(
        depth, first, columns, kTileColumns,
        [&](std::size_t k, std::size_t c) { return w.value[index_of(k, c)]; }, panel);
    pack(
        depth, first, columns, kTileColumns,
        [&](std::size_t k, std::size_t c) { return w.scale[index_of(k, c)]; }, scale);
    TileValues sum, square, shared;
    for (std::size_t row = 0; row < x.rows; row += kTileRows) {
      const std::size_t a = row * depth, b = std::min(row + 1, x.rows - 1) * depth;
      chain({depth,
             {&x.value[a], &x.value[b]},
             {&magnitude[a], &magnitude[b]},
             {&square_scale[a], &square_scale[b]},
             panel.data(),
             scale.data()},
            sum, square, shared);
      for (std::size_t r = 0; r < std::min(kTileRows, x.rows - row); ++r) {
        for (std::size_t c = 0; c < std::min(kTileColumns, columns - first); ++c) {
          const std::size_t at = (row + r) * columns + first + c, in = r * kTileColumns + c;
          z.value[at] = sum[in];
          z.scale[at] = std::sqrt(square[in] + (underflow.empty() ? 0 : underflow[row + r])) + shared[in];
        }
      }
    }
  });
}

/// Columns first .. first + width - 1 of a matrix as panels: value, magnitude, scale.
struct Panels {
  std::vector<double> value, magnitude, scale;

  void take(const Tracked& m, std::size_t first, std::size_t width, const FactorRounding& rounding) {
    const auto at = [&](std::size_t r, std::size_t c) { return r * m.columns + c; };
    pack(
        m.rows, first, m.columns, width, [&](std::size_t r, std::size_t c) { return m.value[at(r, c)]; },
        value);
    pack(
        m.rows, first, m.columns, width,
        [&](std::size_t r, std::size_t c) {
          return m.scale[at(r, c)] + rounding.scale_of(std::fabs(m.value[at(r, c)]));
        },
        scale);
    magnitude.resize(value.size());
    std::transform(value.begin(), value.end(), magnitude.begin(), [](double v) { return std::fabs(v); });
  }
};

}  // namespace

void multiply(const Tracked& x, const Tracked& w, const FactorRounding& rounding, int threads, Tracked& z) {
  chain_product(
      x, w, w.columns, rounding, threads, [&](std::size_t k, std::size_t c) { return k * w.columns + c; }, z);
}

void multiply_transposed(const Tracked& dz, const Tracked& w, const FactorRounding& rounding, int threads,
                         Tracked& dx) {
  chain_product(
      dz, w, w.rows, rounding, threads, [&](std::size_t k, std::size_t c) { return c * w.columns + k; }, dx);
}

void multiply_rows(const Tracked& x, const Tracked& dz, std::size_t row_chain, const FactorRounding& rounding,
                   int threads, Tracked& sums) {
  sums.resize(x.columns, dz.columns);
  std::vector<Panels> columns(tile_columns(dz.columns));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    columns[i].take(dz, i * kTileColumns, kTileColumns, rounding);
  }
  const auto rows = tiles().rows;
  const std::size_t pairs = (x.columns + kTileRows - 1) / kTileRows;
  share_out(pairs, useful(threads, x.size() * dz.columns), [&](std::size_t pair) {
    Panels mine;
    mine.take(x, pair * kTileRows, kTileRows, rounding);
    TileValues sum, square, shared;
    for (std::size_t tile = 0; tile < columns.size(); ++tile) {
      const Panels& other = columns[tile];
      rows({x.rows, row_chain, mine.value.data(), mine.magnitude.data(), mine.scale.data(),
            other.value.data(), other.magnitude.data(), other.scale.data()},
           sum, square, shared);
      const std::size_t first = tile * kTileColumns;
      for (std::size_t i = 0; i < std::min(kTileRows, x.columns - pair * kTileRows); ++i) {
        for (std::size_t c = 0; c < std::min(kTileColumns, dz.columns - first); ++c) {
          const std::size_t at = (pair * kTileRows + i) * dz.columns + first + c, in = i * kTileColumns + c;
          sums.value[at] = sum[in];
          sums.scale[at] = independent(shared[in], std::sqrt(square[in]));
        }
      }
    }
  });
}

}  // namespace mirrorscale::scenarios::oracle
