#pragma once
#include <array>
#include <cstddef>

namespace mirrorscale::scenarios::oracle {

inline constexpr std::size_t kTileRows = 2, kTileColumns = 8;
using TileValues = std::array<double, kTileRows * kTileColumns>;

/// sum = sum over k of x[row][k] w[k][column]; square = sum over k of the squared partial sums and of
/// x_square_scale w^2; shared = sum over k of |x| w_scale. w and w_scale: [depth, 8].
struct ChainTile {
  std::size_t depth;
  std::array<const double*, kTileRows> x, x_magnitude, x_square_scale;
  const double *w, *w_scale;
};

/// sum = sum over rows of x[row][0..1] dz[row][0..7] in chains and a tree; square = sum of the squared
/// partial sums; shared = sum of |x| dz_scale + x_scale |dz|. x...: [rows, 2]; dz...: [rows, 8].
struct RowsTile {
  std::size_t rows, row_chain;
  const double *x, *x_magnitude, *x_scale;
  const double *dz, *dz_magnitude, *dz_scale;
};

struct Tiles {
  void (*chain)(const ChainTile& tile, TileValues& sum, TileValues& square, TileValues& shared);
  void (*rows)(const RowsTile& tile, TileValues& sum, TileValues& square, TileValues& shared);
};
/// The loops of product_loops.h compiled for this processor.
Tiles tiles();

}  // namespace mirrorscale::scenarios::oracle
