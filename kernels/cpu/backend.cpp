#include "kernels/backend.h"

#include "kernels/cpu/tables.h"
#include "kernels/host_backend.h"
#include "kernels/reference/images.h"

#include <stdexcept>

namespace mirrorscale::kernels {
namespace {

/// One instruction set's tables behind the interface.
class CpuBackend final : public HostBackend {
 public:
  explicit CpuBackend(const cpu::Tables& tables)
      : t_(tables),
        info_{.name = "cpu", .target = tables.target, .lanes = tables.lanes, .numerics = "exact"} {}

  const BackendInfo& info() const override { return info_; }

  void linear(ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y) override {
    t_.product->linear(x, w, b, f, y);
  }
  void linear_backward_input(ConstMatrix dy, ConstMatrix wt, Activation f, ConstMatrix saved,
                             Matrix dx) override {
    t_.product->linear_backward_input(dy, wt, f, saved, dx);
  }
  void linear_backward_weights(ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) override {
    t_.gradient->linear_backward_weights(x, dy, shard_rows, dw);
  }
  void sum_rows(ConstMatrix x, int shard_rows, float* sums) override {
    t_.gradient->sum_rows(x, shard_rows, sums);
  }
  void transpose(ConstMatrix w, Matrix wt, std::size_t first_block, std::size_t blocks) override {
    t_.arenas->transpose(w, wt, first_block, blocks);
  }
  void convolve(const Convolution& g, ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y,
                float* scratch) override {
    if (odd_groups(g)) return reference::convolve<float>(g, x, w, b, f, y);
    t_.convolution->convolve(g, x, w, b, f, y, scratch);
  }
  void convolve_backward_input(const Convolution& g, ConstMatrix dy, ConstMatrix wt, Activation f,
                               ConstMatrix saved, Matrix dx, float* scratch) override {
    if (odd_groups(g)) return reference::convolve_backward_input<float>(g, dy, wt, f, saved, dx);
    t_.convolution->convolve_backward_input(g, dy, wt, f, saved, dx, scratch);
  }
  void convolve_backward_weights(const Convolution& g, ConstMatrix x, ConstMatrix dy, int shard_samples,
                                 Matrix dw, float* scratch) override {
    if (odd_groups(g)) return reference::convolve_backward_weights<float>(g, x, dy, shard_samples, dw);
    t_.convolution_gradient->convolve_backward_weights(g, x, dy, shard_samples, dw, scratch);
  }
  void max_pool(const Window& w, ConstMatrix x, Matrix y) override { t_.images->max_pool(w, x, y); }
  void max_pool_backward(const Window& w, ConstMatrix x, ConstMatrix dy, Activation f, ConstMatrix saved,
                         Matrix dx) override {
    t_.images->max_pool_backward(w, x, dy, f, saved, dx);
  }
  void average_pool(const Window& w, ConstMatrix x, Matrix y) override { t_.images->average_pool(w, x, y); }
  void average_pool_backward(const Window& w, ConstMatrix dy, Activation f, ConstMatrix saved,
                             Matrix dx) override {
    t_.images->average_pool_backward(w, dy, f, saved, dx);
  }
  void pack_pixels(int pixels, ConstMatrix x, Matrix packed) override {
    t_.images->pack_pixels(pixels, x, packed);
  }
  void unpack_pixels(int pixels, ConstMatrix packed, Activation f, ConstMatrix saved, Matrix x) override {
    t_.images->unpack_pixels(pixels, packed, f, saved, x);
  }
  void activate(Activation f, ConstMatrix z, Matrix y) override { t_.rows->activate(f, z, y); }
  void activate_backward(Activation f, ConstMatrix saved, ConstMatrix dy, Matrix dz) override {
    t_.rows->activate_backward(f, saved, dy, dz);
  }
  void softmax(ConstMatrix z, Matrix p) override { t_.rows->softmax(z, p); }
  void softmax_backward(ConstMatrix p, ConstMatrix dy, Matrix dz) override {
    t_.rows->softmax_backward(p, dy, dz);
  }

  void layer_norm(ConstMatrix x, const float* gamma, const float* beta, float epsilon, Matrix moments,
                  Matrix y) override {
    t_.layer_norm->forward(x, gamma, beta, epsilon, moments, y);
  }
  void layer_norm_backward(ConstMatrix x, ConstMatrix moments, const float* gamma, ConstMatrix dy,
                           Matrix scaled, Matrix dx) override {
    t_.layer_norm->backward(x, moments, gamma, dy, scaled, dx);
  }
  void embed(ConstMatrix ids, ConstMatrix table, Matrix y) override { t_.embedding->embed(ids, table, y); }
  void embed_backward(ConstMatrix ids, ConstMatrix dy, int shard_samples, Matrix dtable,
                      float* scratch) override {
    t_.embedding->embed_backward(ids, dy, shard_samples, dtable, scratch);
  }
  void add_positions(ConstMatrix x, ConstMatrix table, Matrix y) override {
    t_.embedding->add_positions(x, table, y);
  }
  void sum_positions(ConstMatrix dy, int shard_samples, Matrix dtable) override {
    t_.embedding->sum_positions(dy, shard_samples, dtable);
  }
  void dropout(const Dropout& which, ConstMatrix x, Matrix y) override { t_.rows->dropout(which, x, y); }
  void attention(const Attention& a, ConstMatrix qkv, Matrix norms, Matrix y, float* scratch) override {
    t_.attention->forward(a, qkv, norms, y, scratch);
  }
  void attention_backward(const Attention& a, ConstMatrix qkv, ConstMatrix norms, ConstMatrix y,
                          ConstMatrix dy, Matrix dqkv, float* scratch) override {
    t_.attention->backward(a, qkv, norms, y, dy, dqkv, scratch);
  }

  void softmax_cross_entropy(ConstMatrix logits, const int* labels, const float* weights, float smoothing,
                             Matrix gradient, Column loss) override {
    t_.losses->softmax_cross_entropy(logits, labels, weights, smoothing, gradient, loss);
  }
  void sparse_cross_entropy(ConstMatrix probabilities, const int* labels, const float* weights,
                            float smoothing, Matrix gradient, Column loss) override {
    t_.losses->sparse_cross_entropy(probabilities, labels, weights, smoothing, gradient, loss);
  }
  void mean_squared_error(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                          Column loss) override {
    t_.losses->mean_squared_error(prediction, target, weights, gradient, loss);
  }
  void mean_absolute_error(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                           Column loss) override {
    t_.losses->mean_absolute_error(prediction, target, weights, gradient, loss);
  }
  void binary_cross_entropy_from_logits(ConstMatrix logits, ConstMatrix target, const float* weights,
                                        float smoothing, Matrix gradient, Column loss) override {
    t_.losses->binary_cross_entropy_from_logits(logits, target, weights, smoothing, gradient, loss);
  }
  void binary_cross_entropy(ConstMatrix probabilities, ConstMatrix target, const float* weights,
                            float smoothing, Matrix gradient, Column loss) override {
    t_.losses->binary_cross_entropy(probabilities, target, weights, smoothing, gradient, loss);
  }
  void sparse_hits(ConstMatrix scores, const int* labels, const float* weights, Column hits) override {
    t_.losses->sparse_hits(scores, labels, weights, hits);
  }
  void binary_hits(ConstMatrix prediction, ConstMatrix target, float threshold, const float* weights,
                   Column hits) override {
    t_.losses->binary_hits(prediction, target, threshold, weights, hits);
  }

  void add(std::size_t count, const float* a, const float* b, float* sum) override {
    t_.arenas->add(count, a, b, sum);
  }
  void sgd(std::size_t count, const Sgd& step, const float* gradient, float* w, float* m) override {
    t_.arenas->sgd(count, step, gradient, w, m);
  }
  void adam(std::size_t count, const Adam& step, const float* gradient, float* w, float* m,
            float* v) override {
    t_.arenas->adam(count, step, gradient, w, m, v);
  }
  void amsgrad(std::size_t count, const Adam& step, const float* gradient, float* w, float* m, float* v,
               float* largest) override {
    t_.arenas->amsgrad(count, step, gradient, w, m, v, largest);
  }
  void rms_prop(std::size_t count, const RmsProp& step, const float* gradient, float* w, float* v, float* a,
                float* m) override {
    t_.arenas->rms_prop(count, step, gradient, w, v, a, m);
  }
  void adagrad(std::size_t count, const Adagrad& step, const float* gradient, float* w, float* a) override {
    t_.arenas->adagrad(count, step, gradient, w, a);
  }
  void lamb_direction(std::size_t count, const Lamb& step, const float* gradient, const float* w, float* m,
                      float* v, float* u) override {
    t_.arenas->lamb_direction(count, step, gradient, w, m, v, u);
  }
  void average(std::size_t count, float one_minus_momentum, const float* w, float* a) override {
    t_.arenas->average(count, one_minus_momentum, w, a);
  }
  void effective_gradient(std::size_t count, const GradientTerms& terms, float most, const float* sum,
                          const float* w, float* g) override {
    t_.arenas->effective_gradient(count, terms, most, sum, w, g);
  }
  void squares_of_blocks(ConstMatrix w, std::size_t first_block, std::size_t blocks,
                         float* squares) override {
    t_.arenas->squares_of_blocks(w, first_block, blocks, squares);
  }
  float sum_of_squares(std::size_t count, const float* w) override {
    return t_.arenas->sum_of_squares(count, w);
  }
  float sum_of_magnitudes(std::size_t count, const float* w) override {
    return t_.arenas->sum_of_magnitudes(count, w);
  }
  double run_fma_peak(double flops) override { return t_.arenas->run_fma_peak(flops, &sink_); }

 private:
  /// Groups whose channels or filters don't fill whole panels: by plain loops, slowly.
  static bool odd_groups(const Convolution& g) {
    return g.groups > 1 && (g.group_channels() % kPanel != 0 || g.group_filters() % kPanel != 0);
  }

  const cpu::Tables& t_;
  BackendInfo info_;
  float sink_ = 0;  // where run_fma_peak leaves its result, or it would be optimised away
};

}  // namespace

std::vector<std::string> cpu_targets() {
  std::vector<std::string> names;
  for (const cpu::Tables& tables : cpu::all_tables()) names.emplace_back(tables.target);
  return names;
}

std::unique_ptr<Backend> make_cpu_backend(std::string_view target) {
  std::string known;
  for (const cpu::Tables& tables : cpu::all_tables()) {
    if (target == tables.target) return std::make_unique<CpuBackend>(tables);
    known += (known.empty() ? "" : ", ") + std::string(tables.target);
  }
  throw std::runtime_error("no cpu instruction set '" + std::string(target) +
                           "' on this processor; expected one of: " + known);
}

}  // namespace mirrorscale::kernels
