#include "kernels/cuda/blas.h"
#include "kernels/cuda/device_backend.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda_backend.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace mirrorscale::kernels {
namespace cuda {
namespace {

const char* name_of(Precision precision) {
  switch (precision) {
    case Precision::kFloat32:
      return "float32";
    case Precision::kTensorFloat32:
      return "tensorfloat32";
    case Precision::kBfloat16:
      return "bfloat16";
    case Precision::kFloat16:
      return "float16";
  }
  return "?";
}

/// The op list on one device and one stream.
class CudaBackend final : public DeviceBackend {
 public:
  CudaBackend(const DeviceInfo& device, int ordinal, Numerics numerics, Precision precision)
      : DeviceBackend(device, ordinal,
                      {.name = "cuda",
                       .target = device.model,
                       .lanes = 32,
                       .numerics = numerics == Numerics::kExact ? "exact" : "fast",
                       .precision = name_of(precision),
                       .layout = Layout::kRows,
                       .on_host = false,
                       .emulated = device.emulated}),
        multiprocessors_(std::max(1, device.multiprocessors)) {
    scalars_ = own_memory_->allocate(kScalars);
    if (numerics == Numerics::kFast) blas_.emplace(stream_.get(), precision, own_memory_);
  }
  ~CudaBackend() override { report(cudaSetDevice(ordinal_)); }

  void linear(ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y) override {
    begin(x, w, y);
    if (!blas_) return check(launch_linear(stream_.get(), tile(y), x, w, b, f, y), "start linear");
    const bool fused = f == Activation::kLinear || f == Activation::kRelu;
    blas_->multiply(x, w, b, f == Activation::kRelu, y);
    if (!fused) check(launch_activate(stream_.get(), f, y, y), "start the activation of linear");
  }
  void linear_backward_input(ConstMatrix dy, ConstMatrix wt, Activation f, ConstMatrix saved,
                             Matrix dx) override {
    begin_derived(f, saved, dy, wt, dx);
    if (!blas_) {
      return check(launch_linear_backward_input(stream_.get(), tile(dx), dy, wt, f, saved, dx),
                   "start linear_backward_input");
    }
    blas_->multiply(dy, wt, nullptr, false, dx);
    if (f != Activation::kLinear) {
      check(launch_activate_backward(stream_.get(), f, saved, dx, dx),
            "start the derivative of an input gradient");
    }
  }
  void linear_backward_weights(ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) override {
    begin(x, dy, dw);
    if (!blas_) {
      return check(launch_linear_backward_weights(stream_.get(), tile(dw), x, dy, shard_rows, dw),
                   "start linear_backward_weights");
    }
    if (x.rows == 0) return clear(dw.data, weight_size(dw.rows, dw.columns));
    blas_->multiply_transposed(x, dy, dw);
    check(launch_clear_padding(stream_.get(), dw), "clear the padding of a weight gradient");
  }
  void sum_rows(ConstMatrix x, int shard_rows, float* sums) override {
    begin(x);
    check(launch_sum_rows(stream_.get(), x, shard_rows, sums), "start sum_rows");
  }
  void transpose(ConstMatrix w, Matrix wt, std::size_t first_block, std::size_t blocks) override {
    begin(w, wt);
    check(launch_transpose(stream_.get(), w, wt, first_block, blocks), "start transpose");
  }
  // In kFast too: cuDNN isn't used.
  void convolve(const Convolution& g, ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y,
                float*) override {
    begin(x, w, y);
    check(launch_convolve(stream_.get(), g, x, w, b, f, y), "start convolve");
  }
  void convolve_backward_input(const Convolution& g, ConstMatrix dy, ConstMatrix wt, Activation f,
                               ConstMatrix saved, Matrix dx, float*) override {
    begin_derived(f, saved, dy, wt, dx);
    check(launch_convolve_backward_input(stream_.get(), g, dy, wt, f, saved, dx),
          "start convolve_backward_input");
  }
  void convolve_backward_weights(const Convolution& g, ConstMatrix x, ConstMatrix dy, int shard_samples,
                                 Matrix dw, float*) override {
    begin(x, dy, dw);
    check(launch_convolve_backward_weights(stream_.get(), g, x, dy, shard_samples, dw),
          "start convolve_backward_weights");
  }
  void max_pool(const Window& w, ConstMatrix x, Matrix y) override {
    begin(x, y);
    check(launch_max_pool(stream_.get(), w, x, y), "start max_pool");
  }
  void max_pool_backward(const Window& w, ConstMatrix x, ConstMatrix dy, Activation f, ConstMatrix saved,
                         Matrix dx) override {
    begin_derived(f, saved, x, dy, dx);
    check(launch_max_pool_backward(stream_.get(), w, x, dy, f, saved, dx), "start max_pool_backward");
  }
  void average_pool(const Window& w, ConstMatrix x, Matrix y) override {
    begin(x, y);
    check(launch_average_pool(stream_.get(), w, x, y), "start average_pool");
  }
  void average_pool_backward(const Window& w, ConstMatrix dy, Activation f, ConstMatrix saved,
                             Matrix dx) override {
    begin_derived(f, saved, dy, dx);
    check(launch_average_pool_backward(stream_.get(), w, dy, f, saved, dx), "start average_pool_backward");
  }
  void pack_pixels(int pixels, ConstMatrix x, Matrix packed) override {
    begin(x, packed);
    check(launch_pack_pixels(stream_.get(), pixels, x, packed), "start pack_pixels");
  }
  void unpack_pixels(int pixels, ConstMatrix packed, Activation f, ConstMatrix saved, Matrix x) override {
    begin_derived(f, saved, packed, x);
    check(launch_unpack_pixels(stream_.get(), pixels, packed, f, saved, x), "start unpack_pixels");
  }
  void activate(Activation f, ConstMatrix z, Matrix y) override {
    begin(z, y);
    check(launch_activate(stream_.get(), f, z, y), "start activate");
  }
  void activate_backward(Activation f, ConstMatrix saved, ConstMatrix dy, Matrix dz) override {
    begin_derived(f, saved, dy, dz);
    check(launch_activate_backward(stream_.get(), f, saved, dy, dz), "start activate_backward");
  }
  void softmax(ConstMatrix z, Matrix p) override {
    begin(z, p);
    check(launch_softmax(stream_.get(), z, p), "start softmax");
  }
  void softmax_backward(ConstMatrix p, ConstMatrix dy, Matrix dz) override {
    begin(p, dy, dz);
    check(launch_softmax_backward(stream_.get(), p, dy, dz), "start softmax_backward");
  }

  void layer_norm(ConstMatrix x, const float* gamma, const float* beta, float epsilon, Matrix moments,
                  Matrix y) override {
    begin(x, moments, y);
    check(launch_layer_norm(stream_.get(), x, gamma, beta, epsilon, moments, y), "start layer_norm");
  }
  void layer_norm_backward(ConstMatrix x, ConstMatrix moments, const float* gamma, ConstMatrix dy,
                           Matrix scaled, Matrix dx) override {
    begin(x, moments, dy, scaled, dx);
    check(launch_layer_norm_backward(stream_.get(), x, moments, gamma, dy, scaled, dx),
          "start layer_norm_backward");
  }
  void embed(ConstMatrix ids, ConstMatrix table, Matrix y) override {
    begin(ids, table, y);
    check(launch_embed(stream_.get(), ids, table, y), "start embed");
  }
  void embed_backward(ConstMatrix ids, ConstMatrix dy, int shard_samples, Matrix dtable, float*) override {
    begin(ids, dy, dtable);
    check(launch_embed_backward(stream_.get(), ids, dy, shard_samples, dtable), "start embed_backward");
  }
  void add_positions(ConstMatrix x, ConstMatrix table, Matrix y) override {
    begin(x, table, y);
    check(launch_add_positions(stream_.get(), x, table, y), "start add_positions");
  }
  void sum_positions(ConstMatrix dy, int shard_samples, Matrix dtable) override {
    begin(dy, dtable);
    check(launch_sum_positions(stream_.get(), dy, shard_samples, dtable), "start sum_positions");
  }
  void dropout(const Dropout& which, ConstMatrix x, Matrix y) override {
    begin(x, y);
    check(launch_dropout(stream_.get(), which, x, y), "start dropout");
  }
  void attention(const Attention& a, ConstMatrix qkv, Matrix norms, Matrix y, float*) override {
    begin(qkv, norms, y);
    check(launch_attention(stream_.get(), a, qkv, norms, y), "start attention");
  }
  void attention_backward(const Attention& a, ConstMatrix qkv, ConstMatrix norms, ConstMatrix y,
                          ConstMatrix dy, Matrix dqkv, float* scratch) override {
    begin(qkv, norms, y, dy, dqkv);
    check(launch_attention_backward(stream_.get(), a, qkv, norms, y, dy, dqkv, scratch),
          "start attention_backward");
  }

  void softmax_cross_entropy(ConstMatrix logits, const int* labels, const float* weights, float smoothing,
                             Matrix gradient, Column loss) override {
    begin(logits, gradient);
    check(launch_softmax_cross_entropy(stream_.get(), logits, labels, weights, smoothing, gradient, loss),
          "start softmax_cross_entropy");
  }
  void sparse_cross_entropy(ConstMatrix probabilities, const int* labels, const float* weights,
                            float smoothing, Matrix gradient, Column loss) override {
    begin(probabilities, gradient);
    check(
        launch_sparse_cross_entropy(stream_.get(), probabilities, labels, weights, smoothing, gradient, loss),
        "start sparse_cross_entropy");
  }
  void mean_squared_error(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                          Column loss) override {
    mean_loss(MeanLoss::kSquared, prediction, target, weights, 0, gradient, loss);
  }
  void mean_absolute_error(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                           Column loss) override {
    mean_loss(MeanLoss::kAbsolute, prediction, target, weights, 0, gradient, loss);
  }
  void binary_cross_entropy_from_logits(ConstMatrix logits, ConstMatrix target, const float* weights,
                                        float smoothing, Matrix gradient, Column loss) override {
    mean_loss(MeanLoss::kBinaryFromLogits, logits, target, weights, smoothing, gradient, loss);
  }
  void binary_cross_entropy(ConstMatrix probabilities, ConstMatrix target, const float* weights,
                            float smoothing, Matrix gradient, Column loss) override {
    mean_loss(MeanLoss::kBinary, probabilities, target, weights, smoothing, gradient, loss);
  }
  void row_weights(const float* weights, int rows, Column out) override {
    enter();
    check(launch_row_weights(stream_.get(), weights, rows, out), "start row_weights");
  }
  void sparse_hits(ConstMatrix scores, const int* labels, const float* weights, Column hits) override {
    begin(scores);
    check(launch_sparse_hits(stream_.get(), scores, labels, weights, hits), "start sparse_hits");
  }
  void binary_hits(ConstMatrix prediction, ConstMatrix target, float threshold, const float* weights,
                   Column hits) override {
    begin(prediction, target);
    check(launch_binary_hits(stream_.get(), prediction, target, threshold, weights, hits),
          "start binary_hits");
  }

  void add(std::size_t count, const float* a, const float* b, float* sum) override {
    enter();
    check(launch_add(stream_.get(), count, a, b, sum), "start add");
  }
  void sgd(std::size_t count, const Sgd& step, const float* gradient, float* w, float* m) override {
    enter();
    check(launch_sgd(stream_.get(), count, step, gradient, w, m), "start sgd");
  }
  void adam(std::size_t count, const Adam& step, const float* gradient, float* w, float* m,
            float* v) override {
    enter();
    check(launch_adam(stream_.get(), count, step, gradient, w, m, v), "start adam");
  }
  void amsgrad(std::size_t count, const Adam& step, const float* gradient, float* w, float* m, float* v,
               float* largest) override {
    enter();
    check(launch_amsgrad(stream_.get(), count, step, gradient, w, m, v, largest), "start amsgrad");
  }
  void rms_prop(std::size_t count, const RmsProp& step, const float* gradient, float* w, float* v, float* a,
                float* m) override {
    enter();
    check(launch_rms_prop(stream_.get(), count, step, gradient, w, v, a, m), "start rms_prop");
  }
  void adagrad(std::size_t count, const Adagrad& step, const float* gradient, float* w, float* a) override {
    enter();
    check(launch_adagrad(stream_.get(), count, step, gradient, w, a), "start adagrad");
  }
  void lamb_direction(std::size_t count, const Lamb& step, const float* gradient, const float* w, float* m,
                      float* v, float* u) override {
    enter();
    check(launch_lamb_direction(stream_.get(), count, step, gradient, w, m, v, u), "start lamb_direction");
  }
  void average(std::size_t count, float one_minus_momentum, const float* w, float* a) override {
    enter();
    check(launch_average(stream_.get(), count, one_minus_momentum, w, a), "start average");
  }
  void effective_gradient(std::size_t count, const GradientTerms& terms, float most, const float* sum,
                          const float* w, float* g) override {
    enter();
    check(launch_effective_gradient(stream_.get(), count, terms, most, sum, w, g),
          "start effective_gradient");
  }
  void squares_of_blocks(ConstMatrix w, std::size_t first_block, std::size_t blocks,
                         float* squares) override {
    enter();
    if (blocks == 0) return;
    check(launch_squares_of_blocks(stream_.get(), w, first_block, blocks, squares),
          "start squares_of_blocks");
  }
  float sum_of_squares(std::size_t count, const float* w) override {
    return arena_sum(Norm::kSquares, count, w);
  }
  float sum_of_magnitudes(std::size_t count, const float* w) override {
    return arena_sum(Norm::kMagnitudes, count, w);
  }

  double run_fma_peak(double flops) override {
    enter();
    constexpr double kOfRound = 2.0 * kPeakThreads * kPeakChains;  // operations of one block
    constexpr double kFewestRounds = 100, kMostRounds = 1e9;
    const double fit = std::floor(flops / (kOfRound * kFewestRounds));
    const double blocks = std::clamp(fit, 1.0, 16.0 * multiprocessors_);
    const double rounds = std::clamp(std::ceil(flops / (kOfRound * blocks)), 1.0, kMostRounds);
    check(launch_fma_peak(stream_.get(), static_cast<int>(blocks) * kPeakThreads, static_cast<int>(rounds),
                          scalars_.get()),
          "start run_fma_peak");
    return kOfRound * blocks * rounds;
  }

 private:
  static constexpr std::size_t kScalars =
      2 * kPartialSums;  // a result, and partial sums from kPartialSums on

  Tile tile(Matrix out) const { return tile_for(out.rows, out.columns, multiprocessors_); }

  void mean_loss(MeanLoss which, ConstMatrix prediction, ConstMatrix target, const float* weights,
                 float smoothing, Matrix gradient, Column loss) {
    begin(prediction, target, gradient);
    check(launch_mean_loss(stream_.get(), which, prediction, target, weights, smoothing, gradient, loss),
          "start a mean loss");
  }
  float arena_sum(Norm norm, std::size_t count, const float* w) {
    enter();
    float* sum = scalars_.get();
    check(blas_ ? launch_fast_arena_sum(stream_.get(), norm, count, w, sum + kPartialSums, sum)
                : launch_arena_sum(stream_.get(), norm, count, w, sum),
          "start a sum over an arena");
    float result = 0;
    staging_->download(sum, 1, &result);
    return result;
  }

  int multiprocessors_;
  Buffer scalars_;
  std::optional<BlasProducts> blas_;  // in kFast
};

}  // namespace

}  // namespace cuda

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
  const Numerics numerics = options.numerics.value_or(Numerics::kFast);
  if (numerics == Numerics::kExact && options.precision != Precision::kFloat32) {
    throw std::invalid_argument(std::string("[backend] exact numerics are float32; ") +
                                cuda::name_of(options.precision) + " needs fast ones");
  }
  const DeviceInfo device = cuda::require_device(options.ordinal);
  return std::make_unique<cuda::CudaBackend>(device, options.ordinal, numerics, options.precision);
}

}  // namespace mirrorscale::kernels
