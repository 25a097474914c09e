// dx = (dy · wt) f', exact.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/product.h"

namespace mirrorscale::kernels::cuda {

cudaError_t launch_linear_backward_input(cudaStream_t stream, Tile tile, ConstMatrix dy, ConstMatrix wt,
                                         Activation f, ConstMatrix saved, Matrix dx) {
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    using Finish = TimesDerivative<function()>;
    constexpr const char* kName = "linear_backward_input";
    const int stride = saved.row_stride;
    status = tile == Tile::kLarge
                 ? launch_product<LargeTile, Finish>(kName, stream, dy, wt, saved.data, stride, dx)
             : tile == Tile::kMedium
                 ? launch_product<MediumTile, Finish>(kName, stream, dy, wt, saved.data, stride, dx)
                 : launch_product<SmallTile, Finish>(kName, stream, dy, wt, saved.data, stride, dx);
  });
  return status;
}

}  // namespace mirrorscale::kernels::cuda
