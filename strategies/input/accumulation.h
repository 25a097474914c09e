#pragma once
#include "strategies/input/shard_tree.h"

#include <vector>

namespace mirrorscale::strategies {

/// A part of a replica's share that is worked through at once.
struct Piece {
  struct Root {
    Range rows;     // of the piece
    int arena = 0;  // where their gradient sum goes
  };
  Range rows;  // of the share
  std::vector<Root> roots;
  /// Afterwards, in order: arena `left` += arena `right`.
  std::vector<Addition> additions;
};

/// Accumulation: a replica's share of a global batch, one piece after the other. When all are done, arena i
/// holds the sum over the share's root i, added up in the same tree as in one go: the same bits. Never more
/// arenas than the share's roots and two for each level of the tree.
struct PiecePlan {
  std::vector<Piece> pieces;  // none for an empty share
  int arenas = 0;
  int most_rows = 0;   // of a piece
  int most_roots = 0;  // of a piece
};

/// At most `pieces` pieces of whole micro-shards (`shard_rows`), as even as can be. `whole`: the share is one
/// root, added up piece by piece (an order of its own: `fast` numerics). Throws std::invalid_argument for
/// pieces < 1.
PiecePlan cut_share(const BatchPlan::Share& share, int shard_rows, int pieces, bool whole);

}  // namespace mirrorscale::strategies
