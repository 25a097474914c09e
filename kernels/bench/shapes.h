#pragma once
#include "kernels/backend.h"

#include <string>
#include <vector>

namespace mirrorscale::kernels::bench {

enum class Pass { kForward, kInputGradient, kWeightGradient };

/// One product of a dense layer [in, out] at a batch: C [m, n] = A [m, k] B [k, n] as a row-major library
/// sees it.
struct Shape {
  Pass pass = Pass::kForward;
  int batch = 0, in = 0, out = 0;

  int m() const { return pass == Pass::kWeightGradient ? in : batch; }
  int n() const { return pass == Pass::kInputGradient ? in : out; }
  int k() const { return pass == Pass::kForward ? in : pass == Pass::kInputGradient ? out : batch; }
  double flop() const { return 2.0 * batch * in * out; }
  /// "fwd", "dX", "dW".
  const char* name() const;
  /// Rows of a micro-shard at this batch: 1 below 32, else clamp(floor_pow2(batch / 16), 4, 32).
  int shard_rows() const;
};

/// The MLP 784-512-512-10 at batches 32, 256, 1024: forward, dX, dW of each layer.
std::vector<Shape> mlp_shapes();

/// Random operands of a shape, row-major for the libraries and in panels for us.
struct Operands {
  explicit Operands(const Shape& shape);

  Buffer x, w, dy, result;  // [batch, in], [in, out], [batch, out], C
  Matrix panel_x, panel_w, panel_wt, panel_dy, panel_result;

 private:
  std::vector<Buffer> panels_;
};

/// Our kernel for a shape: no bias, no activation.
void run(Backend& backend, const Shape& shape, const Operands& operands);

/// Compares our result with plain std::fma loops at every `step`-th row and column. Empty when all bits are
/// the same, else the first difference in words.
std::string check_bits(Backend& backend, const Shape& shape, int step);

}  // namespace mirrorscale::kernels::bench
