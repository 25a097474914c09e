#pragma once
#include "kernels/activation.h"
#include "kernels/attention.h"
#include "kernels/convolution.h"
#include "kernels/dropout.h"
#include "kernels/matrix.h"
#include "kernels/update.h"

#include <cstddef>
#include <cuda_runtime_api.h>

/// What the .cu files offer to host code: each function enqueues on `stream` and returns what the runtime
/// said. Ops are those of kernels/backend.h, on matrices in rows (Layout::kRows), in the bits of
/// docs/exact.md unless said otherwise. Nothing here waits, allocates or throws.
namespace mirrorscale::kernels::cuda {

/// How many outputs a block of threads makes: large tiles read memory less often, small ones keep more
/// multiprocessors busy. Changes no bit.
enum class Tile { kSmall, kMedium, kLarge };
/// The largest that gives each multiprocessor a tile.
Tile tile_for(int rows, int columns, int multiprocessors);

// product_forward.cu, product_backward.cu, gradient.cu
cudaError_t launch_linear(cudaStream_t stream, Tile tile, ConstMatrix x, ConstMatrix w, const float* b,
                          Activation f, Matrix y);
cudaError_t launch_linear_backward_input(cudaStream_t stream, Tile tile, ConstMatrix dy, ConstMatrix wt,
                                         Activation f, ConstMatrix saved, Matrix dx);
/// kLarge is as kMedium.
cudaError_t launch_linear_backward_weights(cudaStream_t stream, Tile tile, ConstMatrix x, ConstMatrix dy,
                                           int shard_rows, Matrix dw);
/// dw's elements that no row and column have become +0.
cudaError_t launch_clear_padding(cudaStream_t stream, Matrix dw);

// sums.cu
cudaError_t launch_sum_rows(cudaStream_t stream, ConstMatrix x, int shard_rows, float* sums);
enum class Norm { kSquares, kMagnitudes };
/// A sum of squares a block of 16 x 16.
cudaError_t launch_squares_of_blocks(cudaStream_t stream, ConstMatrix w, std::size_t first_block,
                                     std::size_t blocks, float* squares);
/// One sum on the device.
cudaError_t launch_arena_sum(cudaStream_t stream, Norm norm, std::size_t count, const float* w, float* sum);
/// The same in another fixed order, by many blocks: not the exact bits. `partial`: kPartialSums floats.
inline constexpr int kPartialSums = 128;
cudaError_t launch_fast_arena_sum(cudaStream_t stream, Norm norm, std::size_t count, const float* w,
                                  float* partial, float* sum);

// elementwise.cu
cudaError_t launch_activate(cudaStream_t stream, Activation f, ConstMatrix z, Matrix y);
cudaError_t launch_activate_backward(cudaStream_t stream, Activation f, ConstMatrix saved, ConstMatrix dy,
                                     Matrix dz);
cudaError_t launch_add(cudaStream_t stream, std::size_t count, const float* a, const float* b, float* sum);
cudaError_t launch_row_weights(cudaStream_t stream, const float* weights, int rows, Column out);
/// Rounds `count` floats, a multiple of 4, to 16 bits each.
cudaError_t launch_to_bfloat16(cudaStream_t stream, std::size_t count, const float* from, void* to);
cudaError_t launch_to_float16(cudaStream_t stream, std::size_t count, const float* from, void* to);

// transpose.cu
cudaError_t launch_transpose(cudaStream_t stream, ConstMatrix w, Matrix wt, std::size_t first_block,
                             std::size_t blocks);

// convolution.cu, convolution_gradient.cu, pooling.cu
cudaError_t launch_convolve(cudaStream_t stream, const Convolution& g, ConstMatrix x, ConstMatrix w,
                            const float* b, Activation f, Matrix y);
cudaError_t launch_convolve_backward_input(cudaStream_t stream, const Convolution& g, ConstMatrix dy,
                                           ConstMatrix wt, Activation f, ConstMatrix saved, Matrix dx);
cudaError_t launch_convolve_backward_weights(cudaStream_t stream, const Convolution& g, ConstMatrix x,
                                             ConstMatrix dy, int shard_samples, Matrix dw);
cudaError_t launch_max_pool(cudaStream_t stream, const Window& w, ConstMatrix x, Matrix y);
cudaError_t launch_max_pool_backward(cudaStream_t stream, const Window& w, ConstMatrix x, ConstMatrix dy,
                                     Activation f, ConstMatrix saved, Matrix dx);
cudaError_t launch_average_pool(cudaStream_t stream, const Window& w, ConstMatrix x, Matrix y);
cudaError_t launch_average_pool_backward(cudaStream_t stream, const Window& w, ConstMatrix dy, Activation f,
                                         ConstMatrix saved, Matrix dx);
cudaError_t launch_pack_pixels(cudaStream_t stream, int pixels, ConstMatrix x, Matrix packed);
cudaError_t launch_unpack_pixels(cudaStream_t stream, int pixels, ConstMatrix packed, Activation f,
                                 ConstMatrix saved, Matrix x);

// softmax.cu, losses.cu, metrics.cu
cudaError_t launch_softmax(cudaStream_t stream, ConstMatrix z, Matrix p);
cudaError_t launch_softmax_backward(cudaStream_t stream, ConstMatrix p, ConstMatrix dy, Matrix dz);
cudaError_t launch_softmax_cross_entropy(cudaStream_t stream, ConstMatrix logits, const int* labels,
                                         const float* weights, float smoothing, Matrix gradient, Column loss);
cudaError_t launch_sparse_cross_entropy(cudaStream_t stream, ConstMatrix probabilities, const int* labels,
                                        const float* weights, float smoothing, Matrix gradient, Column loss);
enum class MeanLoss { kSquared, kAbsolute, kBinaryFromLogits, kBinary };
/// `smoothing` of the binary ones; 0 for the others.
cudaError_t launch_mean_loss(cudaStream_t stream, MeanLoss which, ConstMatrix prediction, ConstMatrix target,
                             const float* weights, float smoothing, Matrix gradient, Column loss);
cudaError_t launch_sparse_hits(cudaStream_t stream, ConstMatrix scores, const int* labels,
                               const float* weights, Column hits);
cudaError_t launch_binary_hits(cudaStream_t stream, ConstMatrix prediction, ConstMatrix target,
                               float threshold, const float* weights, Column hits);

// sequence.cu
cudaError_t launch_layer_norm(cudaStream_t stream, ConstMatrix x, const float* gamma, const float* beta,
                              float epsilon, Matrix moments, Matrix y);
cudaError_t launch_layer_norm_backward(cudaStream_t stream, ConstMatrix x, ConstMatrix moments,
                                       const float* gamma, ConstMatrix dy, Matrix scaled, Matrix dx);
cudaError_t launch_embed(cudaStream_t stream, ConstMatrix ids, ConstMatrix table, Matrix y);
cudaError_t launch_embed_backward(cudaStream_t stream, ConstMatrix ids, ConstMatrix dy, int shard_samples,
                                  Matrix dtable);
cudaError_t launch_add_positions(cudaStream_t stream, ConstMatrix x, ConstMatrix table, Matrix y);
cudaError_t launch_sum_positions(cudaStream_t stream, ConstMatrix dy, int shard_samples, Matrix dtable);
cudaError_t launch_dropout(cudaStream_t stream, const Dropout& which, ConstMatrix x, Matrix y);

// attention.cu
/// At most 12288 positions forward, 6144 backward: the scores of a row are in shared memory.
cudaError_t launch_attention(cudaStream_t stream, const Attention& a, ConstMatrix qkv, Matrix norms,
                             Matrix y);
/// dots: a float a row and head.
cudaError_t launch_attention_backward(cudaStream_t stream, const Attention& a, ConstMatrix qkv,
                                      ConstMatrix norms, ConstMatrix y, ConstMatrix dy, Matrix dqkv,
                                      float* dots);

// update.cu
cudaError_t launch_sgd(cudaStream_t stream, std::size_t count, const Sgd& update, const float* gradient,
                       float* w, float* m);
cudaError_t launch_adam(cudaStream_t stream, std::size_t count, const Adam& update, const float* gradient,
                        float* w, float* m, float* v);
cudaError_t launch_amsgrad(cudaStream_t stream, std::size_t count, const Adam& update, const float* gradient,
                           float* w, float* m, float* v, float* largest);
cudaError_t launch_rms_prop(cudaStream_t stream, std::size_t count, const RmsProp& update,
                            const float* gradient, float* w, float* v, float* a, float* m);
cudaError_t launch_adagrad(cudaStream_t stream, std::size_t count, const Adagrad& update,
                           const float* gradient, float* w, float* a);
cudaError_t launch_lamb_direction(cudaStream_t stream, std::size_t count, const Lamb& update,
                                  const float* gradient, const float* w, float* m, float* v, float* u);
cudaError_t launch_average(cudaStream_t stream, std::size_t count, float one_minus_momentum, const float* w,
                           float* a);
cudaError_t launch_effective_gradient(cudaStream_t stream, std::size_t count, const GradientTerms& terms,
                                      float most, const float* sum, const float* w, float* g);

// peak.cu
/// `threads` threads, a multiple of kPeakThreads, each 2 * kPeakChains operations in each of `rounds` rounds.
inline constexpr int kPeakThreads = 128, kPeakChains = 8;
cudaError_t launch_fma_peak(cudaStream_t stream, int threads, int rounds, float* sink);

}  // namespace mirrorscale::kernels::cuda
