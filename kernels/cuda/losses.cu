// Losses that aren't a softmax, each row in one pass: gradients don't need the sum.
#include "kernels/cuda/launch.h"
#include "kernels/cuda/row.h"

namespace mirrorscale::kernels::cuda {
namespace {

__global__ void __launch_bounds__(kRowThreads)
    sparse_cross_entropy_kernel(const float* probabilities, int stride, const int* labels,
                                const float* weights, float* gradient, int gradient_stride, float* loss,
                                std::size_t loss_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  if (!part.there) return;
  const int label = labels[part.row];
  const float weight = weights == nullptr ? 1.0F : weights[part.row];
  const bool mine = label % kPanel == part.lane;  // before anything is written: `gradient` may be the input
  float slope = 0;
  if (mine) {
    const auto [q, inside] = exact::clamp_probability(probabilities[row_start(part.row, stride) + label]);
    if (inside > 0.0F) slope = (0.0F - weight) / q;
    if (loss != nullptr) {
      loss[static_cast<std::size_t>(part.row) * loss_stride] = weight * (0.0F - exact::log(q));
    }
  }
  if (gradient == nullptr) return;
  float* out = gradient + row_start(part.row, gradient_stride);
  for (int c = part.lane; c < columns; c += kPanel) out[c] = c == label ? slope : 0.0F;
}

/// The same with label smoothing: every class has its part.
__global__ void __launch_bounds__(kRowThreads)
    smoothed_cross_entropy_kernel(const float* probabilities, int stride, const int* labels,
                                  const float* weights, float smoothing, float* gradient, int gradient_stride,
                                  float* loss, std::size_t loss_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const float own = 1.0F - smoothing, other = smoothing / static_cast<float>(columns);
  const int label = part.there ? labels[part.row] : 0;
  const float weight = weights == nullptr || !part.there ? 1.0F : weights[part.row];
  const float* in = probabilities + row_start(part.row, stride);
  float* out = gradient == nullptr ? nullptr : gradient + row_start(part.row, gradient_stride);
  float chain = 0, score = 0;  // of this lane's label
  for (int c = part.lane; part.there && c < columns; c += kPanel) {
    const auto [q, inside] = exact::clamp_probability(in[c]);
    const float log_q = exact::log(q);
    chain = chain + log_q;
    if (c == label) score = log_q;
    const float t = c == label ? own + other : other;
    if (out != nullptr) out[c] = inside > 0.0F ? (0.0F - t * weight) / q : 0.0F;
  }
  const float all = sum_of_lanes(chain);
  if (loss != nullptr && part.there && label % kPanel == part.lane) {
    loss[static_cast<std::size_t>(part.row) * loss_stride] = weight * (0.0F - (own * score + other * all));
  }
}

/// How an element joins its chain, and its gradient; of a mean over columns of element(p, t) times kFactor.
struct Squared {
  static constexpr float kFactor = 2;
  static constexpr bool kSmoothed = false;
  __device__ static float join(float sum, float p, float t) { return number::fma(p - t, p - t, sum); }
  __device__ static float gradient(float p, float t, float scale) { return (p - t) * scale; }
};
struct Absolute {
  static constexpr float kFactor = 1;
  static constexpr bool kSmoothed = false;
  __device__ static float join(float sum, float p, float t) { return sum + number::magnitude(p - t); }
  __device__ static float gradient(float p, float t, float scale) {
    return exact::with_sign_of(scale, p - t);
  }
};
struct BinaryFromLogits {
  static constexpr float kFactor = 1;
  static constexpr bool kSmoothed = true;
  __device__ static float join(float sum, float z, float t) {
    return sum + exact::binary_cross_entropy_of_logit(z, t).loss;
  }
  __device__ static float gradient(float z, float t, float scale) {
    return exact::binary_cross_entropy_of_logit(z, t).gradient * scale;
  }
};
struct Binary {
  static constexpr float kFactor = 1;
  static constexpr bool kSmoothed = true;
  __device__ static float join(float sum, float p, float t) {
    return sum + exact::binary_cross_entropy_of_probability(p, t).loss;
  }
  __device__ static float gradient(float p, float t, float scale) {
    return exact::binary_cross_entropy_of_probability(p, t).gradient * scale;
  }
};

template <class Loss>
__global__ void __launch_bounds__(kRowThreads)
    mean_loss_kernel(const float* prediction, int stride, const float* target, int target_stride,
                     const float* weights, float own, float shift, float* gradient, int gradient_stride,
                     float* loss, std::size_t loss_stride, int rows, int columns) {
  const RowPart part = this_row(rows);
  const float count = static_cast<float>(columns),
              weight = weights == nullptr || !part.there ? 1.0F : weights[part.row];
  const float scale = (Loss::kFactor / count) * weight;
  const float *p_row = prediction + row_start(part.row, stride),
              *t_row = target + row_start(part.row, target_stride);
  float* out = gradient == nullptr ? nullptr : gradient + row_start(part.row, gradient_stride);
  float chain = 0;
  for (int c = part.lane; part.there && c < columns; c += kPanel) {
    const float p = p_row[c];
    float t = t_row[c];
    if constexpr (Loss::kSmoothed) t = t * own + shift;
    chain = Loss::join(chain, p, t);
    if (out != nullptr) out[c] = Loss::gradient(p, t, scale);
  }
  const float sum = sum_of_lanes(chain);
  if (loss != nullptr && part.there && part.lane == 0) {
    loss[static_cast<std::size_t>(part.row) * loss_stride] = weight * (sum / count);
  }
}

template <class Loss>
cudaError_t launch_loss(const char* name, cudaStream_t stream, ConstMatrix prediction, ConstMatrix target,
                        const float* weights, float smoothing, Matrix gradient, Column loss) {
  return launch(row_launch(name, stream, prediction.rows), &mean_loss_kernel<Loss>, prediction.data,
                prediction.row_stride, target.data, target.row_stride, weights, 1.0F - smoothing,
                0.5F * smoothing, gradient.data, gradient.row_stride, loss.data, loss.stride, prediction.rows,
                prediction.columns);
}

}  // namespace

cudaError_t launch_sparse_cross_entropy(cudaStream_t stream, ConstMatrix probabilities, const int* labels,
                                        const float* weights, float smoothing, Matrix gradient, Column loss) {
  if (smoothing > 0.0F) {
    return launch(row_launch("smoothed_cross_entropy", stream, probabilities.rows),
                  &smoothed_cross_entropy_kernel, probabilities.data, probabilities.row_stride, labels,
                  weights, smoothing, gradient.data, gradient.row_stride, loss.data, loss.stride,
                  probabilities.rows, probabilities.columns);
  }
  return launch(row_launch("sparse_cross_entropy", stream, probabilities.rows), &sparse_cross_entropy_kernel,
                probabilities.data, probabilities.row_stride, labels, weights, gradient.data,
                gradient.row_stride, loss.data, loss.stride, probabilities.rows, probabilities.columns);
}

cudaError_t launch_mean_loss(cudaStream_t stream, MeanLoss which, ConstMatrix prediction, ConstMatrix target,
                             const float* weights, float smoothing, Matrix gradient, Column loss) {
  switch (which) {
    case MeanLoss::kSquared:
      return launch_loss<Squared>("mean_squared_error", stream, prediction, target, weights, smoothing,
                                  gradient, loss);
    case MeanLoss::kAbsolute:
      return launch_loss<Absolute>("mean_absolute_error", stream, prediction, target, weights, smoothing,
                                   gradient, loss);
    case MeanLoss::kBinaryFromLogits:
      return launch_loss<BinaryFromLogits>("binary_cross_entropy_from_logits", stream, prediction, target,
                                           weights, smoothing, gradient, loss);
    case MeanLoss::kBinary:
      return launch_loss<Binary>("binary_cross_entropy", stream, prediction, target, weights, smoothing,
                                 gradient, loss);
  }
  return cudaErrorInvalidValue;
}

}  // namespace mirrorscale::kernels::cuda
