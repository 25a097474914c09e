#pragma once
#include "kernels/activation.h"
#include "kernels/attention.h"
#include "kernels/convolution.h"
#include "kernels/dropout.h"
#include "kernels/matrix.h"
#include "kernels/update.h"

#include <cstddef>
#include <vector>

/// What one instruction set can do, as tables of functions; the same bits from every table. Arguments as in
/// backend.h. Each .cpp beside this file is compiled once an instruction set and gives one table.
namespace mirrorscale::kernels::cpu {

struct ProductTable {
  void (*linear)(ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y);
  void (*linear_backward_input)(ConstMatrix dy, ConstMatrix wt, Activation f, ConstMatrix saved, Matrix dx);
  /// y(r, c) = fma(x(r, k), w(k, c), y(r, c)) for k = 0, 1, ...: chains that go on.
  void (*linear_continue)(ConstMatrix x, ConstMatrix w, Matrix y);
};

struct GradientTable {
  void (*linear_backward_weights)(ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw);
  void (*sum_rows)(ConstMatrix x, int shard_rows, float* sums);
};

struct ConvolutionTable {
  void (*convolve)(const Convolution& g, ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y,
                   float* scratch);
  void (*convolve_backward_input)(const Convolution& g, ConstMatrix dy, ConstMatrix wt, Activation f,
                                  ConstMatrix saved, Matrix dx, float* scratch);
};

struct ConvolutionGradientTable {
  void (*convolve_backward_weights)(const Convolution& g, ConstMatrix x, ConstMatrix dy, int shard_samples,
                                    Matrix dw, float* scratch);
};

struct ImageTable {
  void (*max_pool)(const Window& w, ConstMatrix x, Matrix y);
  void (*max_pool_backward)(const Window& w, ConstMatrix x, ConstMatrix dy, Activation f, ConstMatrix saved,
                            Matrix dx);
  void (*average_pool)(const Window& w, ConstMatrix x, Matrix y);
  void (*average_pool_backward)(const Window& w, ConstMatrix dy, Activation f, ConstMatrix saved, Matrix dx);
  void (*pack_pixels)(int pixels, ConstMatrix x, Matrix packed);
  void (*unpack_pixels)(int pixels, ConstMatrix packed, Activation f, ConstMatrix saved, Matrix x);
};

struct RowsTable {
  void (*activate)(Activation f, ConstMatrix z, Matrix y);
  void (*activate_backward)(Activation f, ConstMatrix saved, ConstMatrix dy, Matrix dz);
  void (*softmax)(ConstMatrix z, Matrix p);
  void (*softmax_backward)(ConstMatrix p, ConstMatrix dy, Matrix dz);
  void (*dropout)(const Dropout& which, ConstMatrix x, Matrix y);
};

struct LayerNormTable {
  void (*forward)(ConstMatrix x, const float* gamma, const float* beta, float epsilon, Matrix moments,
                  Matrix y);
  void (*backward)(ConstMatrix x, ConstMatrix moments, const float* gamma, ConstMatrix dy, Matrix scaled,
                   Matrix dx);
};

struct EmbeddingTable {
  void (*embed)(ConstMatrix ids, ConstMatrix table, Matrix y);
  void (*embed_backward)(ConstMatrix ids, ConstMatrix dy, int shard_samples, Matrix dtable, float* scratch);
  void (*add_positions)(ConstMatrix x, ConstMatrix table, Matrix y);
  void (*sum_positions)(ConstMatrix dy, int shard_samples, Matrix dtable);
};

struct AttentionTable {
  void (*forward)(const Attention& a, ConstMatrix qkv, Matrix norms, Matrix y, float* scratch);
  void (*backward)(const Attention& a, ConstMatrix qkv, ConstMatrix norms, ConstMatrix y, ConstMatrix dy,
                   Matrix dqkv, float* scratch);
};

struct LossTable {
  using Sparse = void (*)(ConstMatrix z, const int* labels, const float* weights, float smoothing,
                          Matrix gradient, Column loss);
  using Dense = void (*)(ConstMatrix prediction, ConstMatrix target, const float* weights, Matrix gradient,
                         Column loss);
  using Binary = void (*)(ConstMatrix prediction, ConstMatrix target, const float* weights, float smoothing,
                          Matrix gradient, Column loss);
  Sparse softmax_cross_entropy, sparse_cross_entropy;
  Dense mean_squared_error, mean_absolute_error;
  Binary binary_cross_entropy_from_logits, binary_cross_entropy;
  void (*sparse_hits)(ConstMatrix scores, const int* labels, const float* weights, Column hits);
  void (*binary_hits)(ConstMatrix prediction, ConstMatrix target, float threshold, const float* weights,
                      Column hits);
};

struct ArenaTable {
  void (*transpose)(ConstMatrix w, Matrix wt, std::size_t first_block, std::size_t blocks);
  void (*add)(std::size_t count, const float* a, const float* b, float* sum);
  void (*sgd)(std::size_t count, const Sgd& step, const float* gradient, float* w, float* m);
  void (*adam)(std::size_t count, const Adam& step, const float* gradient, float* w, float* m, float* v);
  void (*amsgrad)(std::size_t count, const Adam& step, const float* gradient, float* w, float* m, float* v,
                  float* largest);
  void (*rms_prop)(std::size_t count, const RmsProp& step, const float* gradient, float* w, float* v,
                   float* a, float* m);
  void (*adagrad)(std::size_t count, const Adagrad& step, const float* gradient, float* w, float* a);
  void (*lamb_direction)(std::size_t count, const Lamb& step, const float* gradient, const float* w, float* m,
                         float* v, float* u);
  void (*average)(std::size_t count, float one_minus_momentum, const float* w, float* a);
  void (*effective_gradient)(std::size_t count, const GradientTerms& terms, float most, const float* sum,
                             const float* w, float* g);
  void (*squares_of_blocks)(ConstMatrix w, std::size_t first_block, std::size_t blocks, float* squares);
  float (*sum_of_squares)(std::size_t count, const float* w);
  float (*sum_of_magnitudes)(std::size_t count, const float* w);
  double (*run_fma_peak)(double flops, float* sink);
};

/// Element functions over `count` values, a multiple of 16: for checks.
struct ElementTable {
  using Map = void (*)(std::size_t count, const float* in, float* out);
  Map exp, log, tanh, erf, sigmoid, gelu;
};

struct Tables {
  const char* target = nullptr;
  int lanes = 1;
  const ProductTable* product = nullptr;
  const GradientTable* gradient = nullptr;
  const ConvolutionTable* convolution = nullptr;
  const ConvolutionGradientTable* convolution_gradient = nullptr;
  const ImageTable* images = nullptr;
  const RowsTable* rows = nullptr;
  const LayerNormTable* layer_norm = nullptr;
  const EmbeddingTable* embedding = nullptr;
  const AttentionTable* attention = nullptr;
  const LossTable* losses = nullptr;
  const ArenaTable* arenas = nullptr;
  const ElementTable* elements = nullptr;
};

/// One entry an instruction set that this processor has, best first; the last is the portable one (std::fma,
/// one lane). Made at the first call.
const std::vector<Tables>& all_tables();

}  // namespace mirrorscale::kernels::cpu
