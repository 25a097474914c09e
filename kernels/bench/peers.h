#pragma once
#include "kernels/bench/shapes.h"

#include <functional>
#include <string>
#include <vector>

namespace mirrorscale::kernels::bench {

/// A library that does the same products from row-major operands, on one thread.
struct Peer {
  std::string name;
  std::function<void(const Shape&, const Operands&)> run;
};

/// BLAS libraries that are installed (OpenBLAS, BLIS), opened at run time: nothing is linked.
std::vector<Peer> blas_peers();
/// oneDNN's sgemm and matmul primitive; none in a build without it.
std::vector<Peer> onednn_peers();

/// The arguments of a row-major product.
struct RowMajor {
  const float *a, *b;
  bool transpose_a, transpose_b;
  int lda, ldb;
};
RowMajor row_major(const Shape& shape, const Operands& operands);

}  // namespace mirrorscale::kernels::bench
