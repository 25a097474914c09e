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

}  // namespace

Tiles tiles() {
  return {chain, rows};
}

}  // namespace mirrorscale::scenarios::oracle
