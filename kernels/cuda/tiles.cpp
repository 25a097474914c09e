#include "kernels/cuda/launch.h"

namespace mirrorscale::kernels::cuda {

Tile tile_for(int rows, int columns, int multiprocessors) {
  const auto tiles = [&](int size) { return ((rows + size - 1) / size) * ((columns + size - 1) / size); };
  if (tiles(128) >= multiprocessors) return Tile::kLarge;
  return tiles(64) >= multiprocessors ? Tile::kMedium : Tile::kSmall;
}

}  // namespace mirrorscale::kernels::cuda
