// Pooling, and the pixels of an image as one row: a thread an element.
#include "kernels/cuda/gpu.h"
#include "kernels/cuda/launch.h"
#include "kernels/exact/scalar.h"

namespace mirrorscale::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// A matrix in rows, and this thread's element of it.
template <class T>
struct Elements {
  T* data;
  int rows, columns;
  std::ptrdiff_t stride;
  __device__ T& at(int row, int column) const { return data[row * stride + column]; }
};
Elements<float> elements_of(Matrix m) {
  return {m.data, m.rows, m.columns, m.row_stride};
}
Elements<const float> elements_of(ConstMatrix m) {
  return {m.data, m.rows, m.columns, m.row_stride};
}

/// body(row, column) for the element of this thread; padding becomes 0.
template <class Body>
__device__ __forceinline__ void for_mine(const Elements<float>& out, const Body& body) {
  const std::size_t i = global_thread();
  const auto stride = static_cast<std::size_t>(out.stride);
  if (i >= static_cast<std::size_t>(out.rows) * stride) return;
  const int row = static_cast<int>(i / stride), column = static_cast<int>(i % stride);
  out.data[i] = column < out.columns ? body(row, column) : 0.0F;
}

Launch launch_over(const char* name, cudaStream_t stream, Matrix out) {
  return {.name = name,
          .blocks = blocks_of(static_cast<std::size_t>(out.rows) * static_cast<std::size_t>(out.row_stride),
                              kThreads),
          .threads = kThreads,
          .stream = stream};
}

/// visit(pixel of the input) for the taps of output pixel `o` inside of the image, in order.
template <class Visit>
__device__ __forceinline__ void each_inside(const Window& w, int o, const Visit& visit) {
  for (int tap = 0; tap < w.taps(); ++tap) {
    const int y = w.y.source(o / w.x.out, tap / w.x.size), x = w.x.source(o % w.x.out, tap % w.x.size);
    if (y >= 0 && y < w.y.in && x >= 0 && x < w.x.in) visit(y * w.x.in + x);
  }
}
/// The first of the largest, or the last NaN: a pixel of the input.
__device__ __forceinline__ int largest(const Window& w, const Elements<const float>& x, int first, int o,
                                       int column) {
  int best = -1;
  float most = 0;
  each_inside(w, o, [&](int pixel) {
    const float v = x.at(first + pixel, column);
    if (best >= 0 && !(v != v) && !(most < v)) return;
    best = pixel;
    most = v;
  });
  return best;
}
__device__ __forceinline__ float share_of(const Window& w, int o) {
  int count = 0;
  each_inside(w, o, [&](int) { ++count; });
  return 1.0F / static_cast<float>(count);
}

/// visit(o) for the output pixels that see input pixel `i`, in order.
template <class Visit>
__device__ __forceinline__ void each_output(const Window& w, int i, const Visit& visit) {
  const auto sees = [](const WindowAxis& axis, int o, int in) {
    const int at = in - axis.source(o, 0);
    return at >= 0 && at % axis.dilation == 0 && at / axis.dilation < axis.size;
  };
  const auto first = [](const WindowAxis& axis, int in) {
    const int past = in + axis.pad - (axis.size - 1) * axis.dilation;
    return past <= 0 ? 0 : (past + axis.stride - 1) / axis.stride;
  };
  const int iy = i / w.x.in, ix = i % w.x.in;
  for (int oy = first(w.y, iy); oy < w.y.out && w.y.source(oy, 0) <= iy; ++oy) {
    if (!sees(w.y, oy, iy)) continue;
    for (int ox = first(w.x, ix); ox < w.x.out && w.x.source(ox, 0) <= ix; ++ox) {
      if (sees(w.x, ox, ix)) visit(oy * w.x.out + ox);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    max_pool_kernel(Window w, Elements<const float> x, Elements<float> y) {
  for_mine(y, [&](int row, int column) {
    const int first = row / w.out_pixels() * w.in_pixels();
    return x.at(first + largest(w, x, first, row % w.out_pixels(), column), column);
  });
}

__global__ void __launch_bounds__(kThreads)
    average_pool_kernel(Window w, Elements<const float> x, Elements<float> y) {
  for_mine(y, [&](int row, int column) {
    const int first = row / w.out_pixels() * w.in_pixels(), o = row % w.out_pixels();
    float sum = 0;
    each_inside(w, o, [&](int pixel) { sum = sum + x.at(first + pixel, column); });
    return sum * share_of(w, o);
  });
}

/// `maximum`: dx of a maximum over x; else of an average.
template <bool kMaximum, Activation kFunction>
__global__ void __launch_bounds__(kThreads)
    pool_backward_kernel(Window w, Elements<const float> x, Elements<const float> dy,
                         Elements<const float> saved, Elements<float> dx) {
  for_mine(dx, [&](int row, int column) {
    const int sample = row / w.in_pixels(), pixel = row % w.in_pixels();
    float sum = 0;
    each_output(w, pixel, [&](int o) {
      const float g = dy.at(sample * w.out_pixels() + o, column);
      if (!kMaximum) {
        sum = sum + g * share_of(w, o);
      } else if (largest(w, x, sample * w.in_pixels(), o, column) == pixel) {
        sum = sum + g;
      }
    });
    if (kFunction == Activation::kLinear) return sum;
    return exact::times_derivative<kFunction>(sum, saved.at(row, column));
  });
}

template <bool kMaximum>
cudaError_t launch_pool_backward(const char* name, cudaStream_t stream, const Window& w, ConstMatrix x,
                                 ConstMatrix dy, Activation f, ConstMatrix saved, Matrix dx) {
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    status = launch(launch_over(name, stream, dx), &pool_backward_kernel<kMaximum, function()>, w,
                    elements_of(x), elements_of(dy), elements_of(saved), elements_of(dx));
  });
  return status;
}

__global__ void __launch_bounds__(kThreads)
    pack_kernel(int pixels, Elements<const float> x, Elements<float> packed) {
  for_mine(packed,
           [&](int row, int column) { return x.at(row * pixels + column / x.columns, column % x.columns); });
}

template <Activation kFunction>
__global__ void __launch_bounds__(kThreads)
    unpack_kernel(int pixels, Elements<const float> packed, Elements<const float> saved, Elements<float> x) {
  for_mine(x, [&](int row, int column) {
    const float v = packed.at(row / pixels, row % pixels * x.columns + column);
    if (kFunction == Activation::kLinear) return v;
    return exact::times_derivative<kFunction>(v, saved.at(row, column));
  });
}

}  // namespace

cudaError_t launch_max_pool(cudaStream_t stream, const Window& w, ConstMatrix x, Matrix y) {
  return launch(launch_over("max_pool", stream, y), &max_pool_kernel, w, elements_of(x), elements_of(y));
}
cudaError_t launch_max_pool_backward(cudaStream_t stream, const Window& w, ConstMatrix x, ConstMatrix dy,
                                     Activation f, ConstMatrix saved, Matrix dx) {
  return launch_pool_backward<true>("max_pool_backward", stream, w, x, dy, f, saved, dx);
}
cudaError_t launch_average_pool(cudaStream_t stream, const Window& w, ConstMatrix x, Matrix y) {
  return launch(launch_over("average_pool", stream, y), &average_pool_kernel, w, elements_of(x),
                elements_of(y));
}
cudaError_t launch_average_pool_backward(cudaStream_t stream, const Window& w, ConstMatrix dy, Activation f,
                                         ConstMatrix saved, Matrix dx) {
  return launch_pool_backward<false>("average_pool_backward", stream, w, {}, dy, f, saved, dx);
}
cudaError_t launch_pack_pixels(cudaStream_t stream, int pixels, ConstMatrix x, Matrix packed) {
  return launch(launch_over("pack_pixels", stream, packed), &pack_kernel, pixels, elements_of(x),
                elements_of(packed));
}
cudaError_t launch_unpack_pixels(cudaStream_t stream, int pixels, ConstMatrix packed, Activation f,
                                 ConstMatrix saved, Matrix x) {
  cudaError_t status = cudaSuccess;
  exact::with_activation(f, [&](auto function) {
    status = launch(launch_over("unpack_pixels", stream, x), &unpack_kernel<function()>, pixels,
                    elements_of(packed), elements_of(saved), elements_of(x));
  });
  return status;
}

}  // namespace mirrorscale::kernels::cuda
