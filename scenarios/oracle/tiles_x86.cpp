#include "scenarios/oracle/product_loops.h"
#include "scenarios/oracle/product_tiles.h"

namespace mirrorscale::scenarios::oracle {

namespace {

void chain(const ChainTile& tile, TileValues& sum, TileValues& square, TileValues& shared) {
  chain_loop(tile, sum, square, shared);
}
void rows(const RowsTile& tile, TileValues& sum, TileValues& square, TileValues& shared) {
  rows_loop(tile, sum, square, shared);
}

__attribute__((target("avx2"))) void chain_avx2(const ChainTile& tile, TileValues& sum, TileValues& square,
                                                TileValues& shared) {
  chain_loop(tile, sum, square, shared);
}
__attribute__((target("avx2"))) void rows_avx2(const RowsTile& tile, TileValues& sum, TileValues& square,
                                               TileValues& shared) {
  rows_loop(tile, sum, square, shared);
}

}  // namespace

Tiles tiles() {
  // Chosen by hand: the resolvers of target_clones run before a sanitizer's runtime is ready.
  return __builtin_cpu_supports("avx2") ? Tiles{chain_avx2, rows_avx2} : Tiles{chain, rows};
}

}  // namespace mirrorscale::scenarios::oracle
