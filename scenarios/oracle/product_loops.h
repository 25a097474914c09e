#pragma once
#include "scenarios/oracle/product_tiles.h"

#include <cstddef>

/// The inner loops, included by one file per instruction set: inlined there, so compiled for it.
namespace mirrorscale::scenarios::oracle {

/// Four doubles that the compiler keeps in a register, or two, as the processor has them.
using Lanes __attribute__((vector_size(32))) = double;
using LanesInMemory __attribute__((vector_size(32), aligned(8), may_alias)) = double;
inline constexpr std::size_t kLanes = 4, kVectors = kTileColumns / kLanes;

inline __attribute__((always_inline)) void store(const Lanes (&from)[kTileRows][kVectors], TileValues& to) {
  for (std::size_t r = 0; r < kTileRows; ++r) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      *reinterpret_cast<LanesInMemory*>(&to[r * kTileColumns + v * kLanes]) = from[r][v];
    }
  }
}

inline __attribute__((always_inline)) void chain_loop(const ChainTile& tile, TileValues& sum,
                                                      TileValues& square, TileValues& shared) {
  Lanes sums[kTileRows][kVectors] = {}, squares[kTileRows][kVectors] = {}, errors[kTileRows][kVectors] = {};
  for (std::size_t k = 0; k < tile.depth; ++k) {
    for (std::size_t v = 0; v < kVectors; ++v) {
      const Lanes w = *reinterpret_cast<const LanesInMemory*>(tile.w + k * kTileColumns + v * kLanes);
      const Lanes e = *reinterpret_cast<const LanesInMemory*>(tile.w_scale + k * kTileColumns + v * kLanes);
      const Lanes w_square = w * w;
      for (std::size_t r = 0; r < kTileRows; ++r) {
        sums[r][v] += tile.x[r][k] * w;
        squares[r][v] += sums[r][v] * sums[r][v] + tile.x_square_scale[r][k] * w_square;
        errors[r][v] += tile.x_magnitude[r][k] * e;
      }
    }
  }
  store(sums, sum);
  store(squares, square);
  store(errors, shared);
}

/// The tree is a binary counter: level i holds the sum of 2^i whole chains until its right sibling comes.
inline __attribute__((always_inline)) void rows_loop(const RowsTile& tile, TileValues& sum,
                                                     TileValues& square, TileValues& shared) {
  constexpr std::size_t kLevels = 40;
  Lanes levels[kLevels][kTileRows][kVectors];
  Lanes sums[kTileRows][kVectors] = {}, squares[kTileRows][kVectors] = {}, errors[kTileRows][kVectors] = {};
  std::size_t chains = 0;
  const auto join = [&](std::size_t level) __attribute__((always_inline)) {
    for (std::size_t c = 0; c < kTileRows; ++c) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        sums[c][v] += levels[level][c][v];
        squares[c][v] += sums[c][v] * sums[c][v];
      }
    }
  };
  for (std::size_t first = 0; first < tile.rows; first += tile.row_chain, ++chains) {
    const std::size_t last = first + tile.row_chain < tile.rows ? first + tile.row_chain : tile.rows;
    for (auto& row : sums) {
      for (Lanes& s : row) s = Lanes{};
    }
    for (std::size_t r = first; r < last; ++r) {
      for (std::size_t v = 0; v < kVectors; ++v) {
        const std::size_t at = r * kTileColumns + v * kLanes;
        const Lanes dz = *reinterpret_cast<const LanesInMemory*>(tile.dz + at);
        const Lanes magnitude = *reinterpret_cast<const LanesInMemory*>(tile.dz_magnitude + at);
        const Lanes e = *reinterpret_cast<const LanesInMemory*>(tile.dz_scale + at);
        for (std::size_t c = 0; c < kTileRows; ++c) {
          sums[c][v] += tile.x[r * kTileRows + c] * dz;
          squares[c][v] += sums[c][v] * sums[c][v];
          errors[c][v] +=
              tile.x_magnitude[r * kTileRows + c] * e + tile.x_scale[r * kTileRows + c] * magnitude;
        }
      }
    }
    std::size_t level = 0;
    for (; (chains >> level) & 1; ++level) join(level);
    for (std::size_t c = 0; c < kTileRows; ++c) {
      for (std::size_t v = 0; v < kVectors; ++v) levels[level][c][v] = sums[c][v];
    }
  }
  bool started = false;
  for (std::size_t level = 0; (chains >> level) != 0; ++level) {
    if (((chains >> level) & 1) == 0) continue;
    if (started) {
      join(level);
    } else {
      for (std::size_t c = 0; c < kTileRows; ++c) {
        for (std::size_t v = 0; v < kVectors; ++v) sums[c][v] = levels[level][c][v];
      }
    }
    started = true;
  }
  store(sums, sum);
  store(squares, square);
  store(errors, shared);
}

}  // namespace mirrorscale::scenarios::oracle
