#include "kernels/reference/backend.h"

#include "kernels/host_backend.h"
#include "kernels/reference/attention.h"
#include "kernels/reference/images.h"
#include "kernels/reference/losses.h"
#include "kernels/reference/ops.h"
#include "kernels/reference/sequence.h"
#include "kernels/reference/update.h"

namespace mirrorscale::kernels::reference {
namespace {

BasicColumn<float> plain(Column c) {
  return {c.data, c.stride};
}

class ReferenceBackend final : public HostBackend {
 public:
  const BackendInfo& info() const override { return info_; }

  void linear(ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y) override {
    reference::linear<float>(x, w, b, f, y);
  }
  void linear_backward_input(ConstMatrix dy, ConstMatrix wt, Activation f, ConstMatrix saved,
                             Matrix dx) override {
    reference::linear_backward_input<float>(dy, wt, f, saved, dx);
  }
  void linear_backward_weights(ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) override {
    reference::linear_backward_weights<float>(x, dy, shard_rows, dw);
  }
  void sum_rows(ConstMatrix x, int shard_rows, float* sums) override {
    reference::sum_rows<float>(x, shard_rows, sums);
  }
  void transpose(ConstMatrix w, Matrix wt, std::size_t first_block, std::size_t blocks) override {
    reference::transpose<float>(w, wt, first_block, blocks);
  }
  void convolve(const Convolution& g, ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y,
                float*) override {
    reference::convolve<float>(g, x, w, b, f, y);
  }
  void convolve_backward_input(const Convolution& g, ConstMatrix dy, ConstMatrix wt, Activation f,
                               ConstMatrix saved, Matrix dx, float*) override {
    reference::convolve_backward_input<float>(g, dy, wt, f, saved, dx);
  }
  void convolve_backward_weights(const Convolution& g, ConstMatrix x, ConstMatrix dy, int shard_samples,
                                 Matrix dw, float*) override {
    reference::convolve_backward_weights<float>(g, x, dy, shard_samples, dw);
  }
  void max_pool(const Window& w, ConstMatrix x, Matrix y) override { reference::max_pool<float>(w, x, y); }
  void max_pool_backward(const Window& w, ConstMatrix x, ConstMatrix dy, Activation f, ConstMatrix saved,
                         Matrix dx) override {
    reference::max_pool_backward<float>(w, x, dy, f, saved, dx);
  }
  void average_pool(const Window& w, ConstMatrix x, Matrix y) override {
    reference::average_pool<float>(w, x, y);
  }
  void average_pool_backward(const Window& w, ConstMatrix dy, Activation f, ConstMatrix saved,
                             Matrix dx) override {
    reference::average_pool_backward<float>(w, dy, f, saved, dx);
  }
  void pack_pixels(int pixels, ConstMatrix x, Matrix packed) override {
    reference::pack_pixels<float>(pixels, x, packed);
  }
  void unpack_pixels(int pixels, ConstMatrix packed, Activation f, ConstMatrix saved, Matrix x) override {
    reference::unpack_pixels<float>(pixels, packed, f, saved, x);
  }
  void activate(Activation f, ConstMatrix z, Matrix y) override { reference::activate<float>(f, z, y); }
  void activate_backward(Activation f, ConstMatrix saved, ConstMatrix dy, Matrix dz) override {
    reference::activate_backward<float>(f, saved, dy, dz);
  }
  void softmax(ConstMatrix z, Matrix p) override { reference::softmax<float>(z, p); }
  void softmax_backward(ConstMatrix p, ConstMatrix dy, Matrix dz) override {
    reference::softmax_backward<float>(p, dy, dz);
  }

  void layer_norm(ConstMatrix x, const float* gamma, const float* beta, float epsilon, Matrix moments,
                  Matrix y) override {
    reference::layer_norm<float>(x, gamma, beta, epsilon, moments, y);
  }
  void layer_norm_backward(ConstMatrix x, ConstMatrix moments, const float* gamma, ConstMatrix dy,
                           Matrix scaled, Matrix dx) override {
    reference::layer_norm_backward<float>(x, moments, gamma, dy, scaled, dx);
  }
  void embed(ConstMatrix ids, ConstMatrix table, Matrix y) override {
    reference::embed<float>(ids, table, y);
  }
  void embed_backward(ConstMatrix ids, ConstMatrix dy, int shard_samples, Matrix dtable, float*) override {
    reference::embed_backward<float>(ids, dy, shard_samples, dtable);
  }
  void add_positions(ConstMatrix x, ConstMatrix table, Matrix y) override {
    reference::add_positions<float>(x, table, y);
  }
  void sum_positions(ConstMatrix dy, int shard_samples, Matrix dtable) override {
    reference::sum_positions<float>(dy, shard_samples, dtable);
  }
  void dropout(const Dropout& which, ConstMatrix x, Matrix y) override {
    reference::dropout<float>(which, x, y);
  }
  void attention(const Attention& a, ConstMatrix qkv, Matrix norms, Matrix y, float*) override {
    reference::attention<float>(a, qkv, norms, y);
  }
  void attention_backward(const Attention& a, ConstMatrix qkv, ConstMatrix norms, ConstMatrix y,
                          ConstMatrix dy, Matrix dqkv, float*) override {
    reference::attention_backward<float>(a, qkv, norms, y, dy, dqkv);
  }

  void softmax_cross_entropy(ConstMatrix logits, const int* labels, const float* weights, float smoothing,
                             Matrix gradient, Column loss) override {
    reference::softmax_cross_entropy<float>(logits, labels, weights, smoothing, gradient, plain(loss));
  }
  void sparse_cross_entropy(ConstMatrix probabilities, const int* labels, const float* weights,
                            float smoothing, Matrix gradient, Column loss) override {
    reference::sparse_cross_entropy<float>(probabilities, labels, weights, smoothing, gradient, plain(loss));
  }
  void mean_squared_error(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                          Column loss) override {
    reference::mean_squared_error<float>(prediction, target, weights, gradient, plain(loss));
  }
  void mean_absolute_error(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                           Column loss) override {
    reference::mean_absolute_error<float>(prediction, target, weights, gradient, plain(loss));
  }
  void binary_cross_entropy_from_logits(ConstMatrix logits, ConstMatrix target, const float* weights,
                                        float smoothing, Matrix gradient, Column loss) override {
    reference::binary_cross_entropy_from_logits<float>(logits, target, weights, smoothing, gradient,
                                                       plain(loss));
  }
  void binary_cross_entropy(ConstMatrix probabilities, ConstMatrix target, const float* weights,
                            float smoothing, Matrix gradient, Column loss) override {
    reference::binary_cross_entropy<float>(probabilities, target, weights, smoothing, gradient, plain(loss));
  }
  void sparse_hits(ConstMatrix scores, const int* labels, const float* weights, Column hits) override {
    reference::sparse_hits<float>(scores, labels, weights, plain(hits));
  }
  void binary_hits(ConstMatrix prediction, ConstMatrix target, float threshold, const float* weights,
                   Column hits) override {
    reference::binary_hits<float>(prediction, target, threshold, weights, plain(hits));
  }

  void add(std::size_t count, const float* a, const float* b, float* sum) override {
    for (std::size_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
  }
  void sgd(std::size_t count, const Sgd& step, const float* gradient, float* w, float* m) override {
    reference::sgd<float>(count, step, gradient, w, m);
  }
  void adam(std::size_t count, const Adam& step, const float* gradient, float* w, float* m,
            float* v) override {
    reference::adam<float>(count, step, gradient, w, m, v);
  }
  void amsgrad(std::size_t count, const Adam& step, const float* gradient, float* w, float* m, float* v,
               float* largest) override {
    reference::amsgrad(count, step, gradient, w, m, v, largest);
  }
  void rms_prop(std::size_t count, const RmsProp& step, const float* gradient, float* w, float* v, float* a,
                float* m) override {
    reference::rms_prop(count, step, gradient, w, v, a, m);
  }
  void adagrad(std::size_t count, const Adagrad& step, const float* gradient, float* w, float* a) override {
    reference::adagrad(count, step, gradient, w, a);
  }
  void lamb_direction(std::size_t count, const Lamb& step, const float* gradient, const float* w, float* m,
                      float* v, float* u) override {
    reference::lamb_direction(count, step, gradient, w, m, v, u);
  }
  void average(std::size_t count, float one_minus_momentum, const float* w, float* a) override {
    reference::average(count, one_minus_momentum, w, a);
  }
  void effective_gradient(std::size_t count, const GradientTerms& terms, float most, const float* sum,
                          const float* w, float* g) override {
    reference::effective_gradient(count, terms, most, sum, w, g);
  }
  void squares_of_blocks(ConstMatrix w, std::size_t first_block, std::size_t blocks,
                         float* squares) override {
    reference::squares_of_blocks(w, first_block, blocks, squares);
  }
  float sum_of_squares(std::size_t count, const float* w) override {
    return reference::sum_of_squares(count, w);
  }
  float sum_of_magnitudes(std::size_t count, const float* w) override {
    return reference::sum_of_magnitudes(count, w);
  }

  double run_fma_peak(double flops) override {
    constexpr int kChains = 8;
    float chains[kChains] = {};
    double done = 0;
    for (; done < flops; done += 2 * kChains) {
      for (float& c : chains) c = number::fma(c, 0.999F, 0.001F);
    }
    for (const float c : chains) sink_ = c;
    return done;
  }

 private:
  BackendInfo info_{.name = "reference", .target = "plain loops", .lanes = 1, .numerics = "exact"};
  volatile float sink_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_backend() {
  return std::make_unique<ReferenceBackend>();
}

}  // namespace mirrorscale::kernels::reference
