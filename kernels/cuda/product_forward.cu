// y = f(x · w + b), exact.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/product.h"

namespace mirrorscale::kernels::cuda {

cudaError_t launch_linear(cudaStream_t stream, Tile tile, ConstMatrix x, ConstMatrix w, const float* b,
                          Activation f, Matrix y) {
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    using Finish = AddBiasAndActivate<function()>;
    status = tile == Tile::kLarge    ? launch_product<LargeTile, Finish>("linear", stream, x, w, b, 0, y)
             : tile == Tile::kMedium ? launch_product<MediumTile, Finish>("linear", stream, x, w, b, 0, y)
                                     : launch_product<SmallTile, Finish>("linear", stream, x, w, b, 0, y);
  });
  return status;
}

}  // namespace mirrorscale::kernels::cuda
