#pragma once
#include "kernels/backend.h"
#include "strategies/engine/parameters.h"
#include "strategies/engine/shape.h"

#include <cstdint>
#include <span>

namespace mirrorscale::strategies {

/// Where in a run a pass stands: what randomness is keyed by, beside a layer's own name.
struct Moment {
  bool training = false;
  std::uint64_t seed = 0;
  std::int64_t step = 0;       // optimizer steps done
  std::int64_t first_row = 0;  // of the replica's rows, counted in the global batch
};

/// A layer's memory in one pass: what forward leaves for backward, and room that only lasts a call. Sized for
/// `capacity` samples (Layer::kept_size, Layer::scratch_size), of which `samples` are there.
struct Room {
  float* kept = nullptr;
  float* scratch = nullptr;
  int samples = 0, capacity = 0;
};

/// Floats of a batch's matrix of such a shape.
inline std::size_t matrix_size(const Shape& shape, int samples) {
  return kernels::activation_size(samples * shape.rows(), shape.columns());
}
/// `data` as the matrix of the samples of a room that are there.
inline kernels::Matrix matrix_in(kernels::Layout layout, float* data, const Shape& shape, const Room& room) {
  return kernels::activation_view(layout, data, room.samples * shape.rows(), shape.columns(),
                                  room.capacity * shape.rows());
}

/// What a layer reads and writes in one pass over the samples of one replica. See Shape for the matrices'
/// rows and columns.
struct ForwardPass {
  kernels::Backend& backend;
  const ParameterLayout& parameters;
  const float* weights;    // arena
  kernels::ConstMatrix x;  // of the input's shape
  kernels::Matrix saved;   // of the output's: values before the output function; only where saves_input()
  kernels::Matrix y;       // of the output's shape
  Room room;
  Moment moment;
};

/// One subtree root of a replica's share: its samples, counted from the replica's first one, and the arena
/// for its sum.
struct GradientRoot {
  int first_row = 0, rows = 0;
  float* gradient = nullptr;
};

struct BackwardPass {
  kernels::Backend& backend;
  const ParameterLayout& parameters;
  const float* weights;
  const float* transposed;             // arena of transposed weights: Slice::transposed_offset
  kernels::ConstMatrix x, y;           // as in forward
  kernels::ConstMatrix dz;             // of the output's shape: gradient before the output function
  kernels::Activation input_function;  // elementwise function that made x; its derivative goes into dx
  kernels::ConstMatrix input_saved;    // what that derivative is computed from
  kernels::Matrix dx;                  // of the input's shape; empty where nobody wants it
  std::span<const GradientRoot> roots;
  int shard_rows;  // samples of a micro-shard
  Room room;
  Moment moment;

  /// dx = dz, for layers that pass gradients on.
  void hand_dz_on() const {
    if (input_function == kernels::Activation::kLinear) {
      backend.activate(kernels::Activation::kLinear, dz, dx);
    } else {
      backend.activate_backward(input_function, input_saved, dz, dx);
    }
  }
  /// Multiplies dx by the derivative of the input's function: for layers that don't do it on the way.
  void finish_dx() const {
    if (input_function != kernels::Activation::kLinear)
      backend.activate_backward(input_function, input_saved, dx, dx);
  }
};

}  // namespace mirrorscale::strategies
