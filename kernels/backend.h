#pragma once
#include "kernels/activation.h"
#include "kernels/attention.h"
#include "kernels/buffer.h"
#include "kernels/convolution.h"
#include "kernels/dropout.h"
#include "kernels/input_queue.h"
#include "kernels/matrix.h"
#include "kernels/update.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::kernels {

/// Which bits a result has. kExact: the ones of docs/exact.md. kFast: those of the device's own library; the
/// same from run to run, and within a rounding error bound of the exact ones.
enum class Numerics { kExact, kFast };
/// Type of the factors of a product in kFast; sums are kept in float32.
enum class Precision { kFloat32, kTensorFloat32, kBfloat16, kFloat16 };

/// Ops that were recorded to be run again as one.
class RecordedOps {
 public:
  virtual ~RecordedOps() = default;
  /// Enqueues them all.
  virtual void replay() = 0;
};

/// What a backend is, for records.
struct BackendInfo {
  std::string name;      // "cpu", "reference", "cuda"
  std::string target;    // instruction set chosen, e.g. "AVX2", "AVX3", "SCALAR"; of a GPU its model
  int lanes = 1;         // floats of a vector
  std::string numerics;  // "exact": the bits are defined (docs/exact.md); "fast"
  std::string precision = "float32";
  Layout layout = Layout::kPanels;  // of every matrix handed to it
  bool on_host = true;              // its buffers are host memory, and an op is finished when it returns
  bool emulated = false;            // a stand-in for tests: its times mean nothing
};

/// The op list: what one device can do, each op declared once. Ops run in the order of their calls: on a
/// backend `on_host` an op runs on the calling thread and is finished when it returns; on another it is
/// enqueued, and memory of the device may be read on the host only through download. An op that finds its
/// device failed, now or earlier, throws DeviceFailed. In the `exact` contract the bits of each result are
/// defined by docs/exact.md and don't depend on the backend, the instruction set, or which other rows are in
/// the call. Arguments must have the shapes stated; they are checked where a caller's mistake can reach (see
/// strategies/engine), not in the ops. Pointers and matrices are of the device's memory unless said
/// otherwise. Made by the thread that uses it.
///
/// Sums over rows (`shard_rows` = S): one chain in row order inside each micro-shard of S consecutive rows
/// (the last may be short), then a binary tree over the micro-shards; a node without a right child is its
/// left child.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const BackendInfo& info() const = 0;

  // Memory, order and time.

  /// `count` zeroed floats of the device. Throws OutOfMemory (std::bad_alloc on the host). May outlive the
  /// backend.
  virtual Buffer make_buffer(std::size_t count) = 0;
  /// Bytes of the device that buffers, input queues and own work space of this backend take now.
  virtual std::size_t used_bytes() const = 0;
  /// `device` becomes what `host` holds now; `host` may be reused on return.
  virtual void upload(const float* host, std::size_t count, float* device) = 0;
  /// Waits for the ops before, then copies.
  virtual void download(const float* device, std::size_t count, float* host) = 0;
  virtual void copy(const float* from, std::size_t count, float* to) = 0;
  virtual void clear(float* data, std::size_t count) = 0;
  /// Returns when all ops enqueued are finished.
  virtual void synchronize() = 0;
  /// Records the ops that `body` calls instead of running them (a CUDA graph); null where the backend can't.
  /// The body must have run once before, and neither allocate nor wait; the memory it works on must stay.
  virtual std::unique_ptr<RecordedOps> record(const std::function<void()>& body) = 0;
  /// Room for batches of up to `count` floats.
  virtual std::unique_ptr<InputQueue> make_input_queue(std::size_t count) = 0;
  /// Notes the moment when the device gets to this point of its queue under a number below kMarks.
  static constexpr int kMarks = 8;
  virtual void mark(int number) = 0;
  /// The moment last noted under this number, in seconds of the steady clock. Waits for it.
  virtual double marked_s(int number) = 0;

  /// y = f(x · w + b). x: [rows, in]  w: [in, out]  b: [out], or null for none  y: [rows, out]
  virtual void linear(ConstMatrix x, ConstMatrix w, const float* b, Activation f, Matrix y) = 0;

  /// dx = (dy · wᵀ) ⊙ f'. dy: [rows, out]  wt: wᵀ [out, in]  dx: [rows, in]. f' is the derivative of the
  /// activation that made this layer's input, from `saved` [rows, in]: the input itself, or the values before
  /// the activation where derivative_needs_input(f). `saved` is not read for kLinear.
  virtual void linear_backward_input(ConstMatrix dy, ConstMatrix wt, Activation f, ConstMatrix saved,
                                     Matrix dx) = 0;

  /// dw = xᵀ · dy, a sum over rows. x: [rows, in]  dy: [rows, out]  dw: [in, out]
  virtual void linear_backward_weights(ConstMatrix x, ConstMatrix dy, int shard_rows, Matrix dw) = 0;

  /// sums[c] = sum over rows of x(row, c). x: [rows, columns]; sums: [columns rounded up to 16]
  virtual void sum_rows(ConstMatrix x, int shard_rows, float* sums) = 0;

  /// wt = wᵀ. w: [in, out] with weight_stride; wt: [out, in] with weight_stride. May be called for part of
  /// the blocks: `first_block` counts 16 x 16 blocks of w in memory order.
  virtual void transpose(ConstMatrix w, Matrix wt, std::size_t first_block, std::size_t blocks) = 0;

  // Images: see convolution.h. `scratch`: convolution_scratch(g) floats, of no meaning between ops.

  /// y = f(x * w + b), the chain of each element over the taps in their order and the channels of each;
  /// padding takes part as +0. x: [samples * in_pixels, channels], or packed  w: [kernel_rows, filters]
  /// b: [filters], or null  y: [samples * out_pixels, filters]
  virtual void convolve(const Convolution& g, ConstMatrix x, ConstMatrix w, const float* b, Activation f,
                        Matrix y, float* scratch) = 0;
  /// dx = (sum over taps and filters) ⊙ f'(saved), as linear_backward_input: taps in their order, and the
  /// filters of each; a tap that steps over this input (WindowAxis::has_output) takes no part, one outside of
  /// dy does as +0. wt: wᵀ [filters, kernel_rows]; dx isn't packed.
  virtual void convolve_backward_input(const Convolution& g, ConstMatrix dy, ConstMatrix wt, Activation f,
                                       ConstMatrix saved, Matrix dx, float* scratch) = 0;
  /// dw, a sum over the output pixels of micro-shards of `shard_samples` samples, then the tree. Rows of dw
  /// that no channel has become 0.
  virtual void convolve_backward_weights(const Convolution& g, ConstMatrix x, ConstMatrix dy,
                                         int shard_samples, Matrix dw, float* scratch) = 0;
  /// y = the largest of each window, channel by channel; padding takes no part, a NaN wins. The gradient
  /// goes to the first of equals (the last NaN); outputs are added up in their order. Each window must have
  /// a pixel. x, saved, dx: [samples * in_pixels, channels]  y, dy: [samples * out_pixels, channels]
  virtual void max_pool(const Window& w, ConstMatrix x, Matrix y) = 0;
  virtual void max_pool_backward(const Window& w, ConstMatrix x, ConstMatrix dy, Activation f,
                                 ConstMatrix saved, Matrix dx) = 0;
  /// y = the sum over a window in the order of its taps, times 1 / the pixels of it that aren't padding.
  virtual void average_pool(const Window& w, ConstMatrix x, Matrix y) = 0;
  virtual void average_pool_backward(const Window& w, ConstMatrix dy, Activation f, ConstMatrix saved,
                                     Matrix dx) = 0;
  /// packed(sample, pixel * channels + c) = x(sample * pixels + pixel, c), and the reverse with x ⊙
  /// f'(saved).
  virtual void pack_pixels(int pixels, ConstMatrix x, Matrix packed) = 0;
  virtual void unpack_pixels(int pixels, ConstMatrix packed, Activation f, ConstMatrix saved, Matrix x) = 0;

  /// y = f(z). All: [rows, columns]; y may be z.
  virtual void activate(Activation f, ConstMatrix z, Matrix y) = 0;
  /// dz = dy ⊙ f'(saved), `saved` as in linear_backward_input. dz may be dy.
  virtual void activate_backward(Activation f, ConstMatrix saved, ConstMatrix dy, Matrix dz) = 0;

  /// p = softmax of each row. [rows, classes]; p may be z.
  virtual void softmax(ConstMatrix z, Matrix p) = 0;
  /// dz = p ⊙ (dy - sum_c dy_c p_c), row by row. dz may be dy.
  virtual void softmax_backward(ConstMatrix p, ConstMatrix dy, Matrix dz) = 0;

  // Rows of a sequence: a sample has T rows, one after the other, in its matrices [samples * T, columns].

  /// y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, along each row. x, y: [rows, columns]
  /// gamma, beta: [columns]  moments: [rows, 2], becomes the mean and 1 / sqrt(variance + epsilon). y may be
  /// x.
  virtual void layer_norm(ConstMatrix x, const float* gamma, const float* beta, float epsilon, Matrix moments,
                          Matrix y) = 0;
  /// `scaled` = dy ⊙ (x - mean) / sqrt(variance + epsilon), whose sum over rows is gamma's gradient (that of
  /// dy is beta's); and dx, unless it is empty. dx may be dy or x, `scaled` none of them.
  virtual void layer_norm_backward(ConstMatrix x, ConstMatrix moments, const float* gamma, ConstMatrix dy,
                                   Matrix scaled, Matrix dx) = 0;

  /// y(s T + t, c) = table(ids(s, t), c). ids: [samples, T], whole numbers 0 .. rows of the table - 1
  /// table: [ids, columns]
  virtual void embed(ConstMatrix ids, ConstMatrix table, Matrix y) = 0;
  /// dtable(v, c) = the sum over samples, in micro-shards of `shard_samples`, of dy(s T + t, c) where ids(s,
  /// t) is v; a leaf is a chain over the rows with that id in order. scratch: embed_scratch floats.
  virtual void embed_backward(ConstMatrix ids, ConstMatrix dy, int shard_samples, Matrix dtable,
                              float* scratch) = 0;
  /// y(s T + t, c) = x(s T + t, c) + table(t, c). table: [T, columns]; y may be x.
  virtual void add_positions(ConstMatrix x, ConstMatrix table, Matrix y) = 0;
  /// dtable(t, c) = the sum over samples of dy(s T + t, c).
  virtual void sum_positions(ConstMatrix dy, int shard_samples, Matrix dtable) = 0;
  /// y = x or 0, element by element: see Dropout. Its own derivative; y may be x.
  virtual void dropout(const Dropout& which, ConstMatrix x, Matrix y) = 0;

  /// y = softmax(q k' / sqrt(head size)) v of each head and sample. qkv: [samples * T, 3 columns]
  /// y: [samples * T, columns]  norms: [samples * T, 2 heads], becomes the maximum of the scores and the sum
  /// of exponentials of each row, for backward. scratch: attention_scratch floats.
  virtual void attention(const Attention& a, ConstMatrix qkv, Matrix norms, Matrix y, float* scratch) = 0;
  /// dqkv: as qkv. Scores are made again from `norms`: no T x T matrix is kept.
  virtual void attention_backward(const Attention& a, ConstMatrix qkv, ConstMatrix norms, ConstMatrix y,
                                  ConstMatrix dy, Matrix dqkv, float* scratch) = 0;

  // Losses. `weights`: one sample weight per row, or null for 1. loss[row] = weight * loss of the row; the
  // gradient is that of the SUM over rows (the division by the global count comes with the optimizer step).
  // `gradient` may be empty when only the loss is wanted, and may be the prediction itself. `loss` may be
  // empty.

  // `smoothing` s (Keras' label_smoothing), in [0, 1); 0 for none: of what a row is, the part s is spread
  // evenly, over classes (t[c] = s / classes, + 1 - s at the label) or over yes and no (t (1 - s) + s / 2).

  /// Sparse cross-entropy from logits: log(sum exp(z - max)) - (z[label] - max); with smoothing
  /// log(sum exp(z - max)) - sum t (z - max). z: [rows, classes]
  virtual void softmax_cross_entropy(ConstMatrix logits, const int* labels, const float* weights,
                                     float smoothing, Matrix gradient, Column loss) = 0;
  /// Sparse cross-entropy from probabilities: -log(clamp(p[label], 1e-7, 1 - 1e-7)); the gradient is 0 where
  /// the clamp acts. With smoothing -sum t log(clamp(p)).
  virtual void sparse_cross_entropy(ConstMatrix probabilities, const int* labels, const float* weights,
                                    float smoothing, Matrix gradient, Column loss) = 0;
  /// Mean over columns of (prediction - target)^2.
  virtual void mean_squared_error(ConstMatrix prediction, ConstMatrix target, const float* weights,
                                  Matrix gradient, Column loss) = 0;
  /// Mean over columns of |prediction - target|; the gradient at 0 is 0.
  virtual void mean_absolute_error(ConstMatrix prediction, ConstMatrix target, const float* weights,
                                   Matrix gradient, Column loss) = 0;
  /// Mean over columns of binary cross-entropy from logits: max(z, 0) - z t + log(1 + exp(-|z|)).
  virtual void binary_cross_entropy_from_logits(ConstMatrix logits, ConstMatrix target, const float* weights,
                                                float smoothing, Matrix gradient, Column loss) = 0;
  /// Mean over columns of -(t log p + (1 - t) log(1 - p)), p clamped to [1e-7, 1 - 1e-7]; the gradient is 0
  /// where the clamp acts.
  virtual void binary_cross_entropy(ConstMatrix probabilities, ConstMatrix target, const float* weights,
                                    float smoothing, Matrix gradient, Column loss) = 0;

  /// out[row] = weights[row], or 1 where `weights` is null.
  virtual void row_weights(const float* weights, int rows, Column out) = 0;

  // Metrics. hits[row] = weight * value.

  /// 1 where the first largest column is the label. scores: [rows, classes]
  virtual void sparse_hits(ConstMatrix scores, const int* labels, const float* weights, Column hits) = 0;
  /// Mean over columns of (prediction > threshold) == (target > 0.5).
  virtual void binary_hits(ConstMatrix prediction, ConstMatrix target, float threshold, const float* weights,
                           Column hits) = 0;

  // Flat arenas. Counts are multiples of 16, pointers aligned to 64 bytes.

  /// sum = a + b, elementwise; sum may be a or b.
  virtual void add(std::size_t count, const float* a, const float* b, float* sum) = 0;
  /// One optimizer step over `count` parameters; `m` may be null when momentum is 0.
  virtual void sgd(std::size_t count, const Sgd& step, const float* gradient, float* w, float* m) = 0;
  virtual void adam(std::size_t count, const Adam& step, const float* gradient, float* w, float* m,
                    float* v) = 0;
  virtual void amsgrad(std::size_t count, const Adam& step, const float* gradient, float* w, float* m,
                       float* v, float* largest) = 0;
  /// `a` is null where not centred, `m` where momentum is 0.
  virtual void rms_prop(std::size_t count, const RmsProp& step, const float* gradient, float* w, float* v,
                        float* a, float* m) = 0;
  virtual void adagrad(std::size_t count, const Adagrad& step, const float* gradient, float* w, float* a) = 0;
  /// u = the direction of a LAMB step, see Lamb; m and v move. u may be gradient.
  virtual void lamb_direction(std::size_t count, const Lamb& step, const float* gradient, const float* w,
                              float* m, float* v, float* u) = 0;
  /// a = fma(w - a, one_minus_momentum, a).
  virtual void average(std::size_t count, float one_minus_momentum, const float* w, float* a) = 0;
  /// g = the gradient that `terms` makes of `sum`, each element then clipped to -most .. most where `most` is
  /// not 0. g may be sum.
  virtual void effective_gradient(std::size_t count, const GradientTerms& terms, float most, const float* sum,
                                  const float* w, float* g) = 0;
  /// squares[i] = sum of squares over block first_block + i of w, 16 x 16, padding included: a chain down
  /// each column, the 16 of them joined as along a row. Blocks are counted as in transpose; the same bits in
  /// every layout. w: [rows, columns] with weight_stride
  virtual void squares_of_blocks(ConstMatrix w, std::size_t first_block, std::size_t blocks,
                                 float* squares) = 0;
  /// Sum over c of w[c]^2 (or |w[c]|), 16 interleaved chains and a fixed tree: a weight penalty's value.
  virtual float sum_of_squares(std::size_t count, const float* w) = 0;
  virtual float sum_of_magnitudes(std::size_t count, const float* w) = 0;

  /// Runs about `flops` floating-point operations of independent FMA chains: what the core can do at most in
  /// these seconds. Returns the operations done.
  virtual double run_fma_peak(double flops) = 0;
};

/// Floats of the scratch of embed_backward for `ids` numbers and a table of `rows` rows.
constexpr std::size_t embed_scratch(int ids, int rows) {
  return static_cast<std::size_t>(padded(ids)) + static_cast<std::size_t>(padded(rows + 1));
}

/// What can be chosen about a device.
struct BackendOptions {
  int ordinal = 0;                            // of a CUDA device; others have no hardware of their own
  std::optional<Numerics> numerics = {};      // default: kExact on the host, kFast on a GPU
  Precision precision = Precision::kFloat32;  // another than kFloat32 only in kFast
};

/// "cpu", "reference" or "cuda". Throws std::invalid_argument for another name, with the list, and for
/// options that the backend doesn't have; std::runtime_error where there is no such device, with what there
/// is. The cpu backend's instruction set is the best this processor has, or the one named by
/// MIRRORSCALE_CPU_TARGET (a name of cpu_targets()); a name that is not there throws std::runtime_error with
/// the list.
std::unique_ptr<Backend> make_backend(std::string_view name, const BackendOptions& options = {});
/// Bytes of the device that a backend takes for itself, beside the buffers that it is asked for, where the
/// largest matrix of a product has `largest_matrix` floats.
std::size_t own_bytes(std::string_view name, const BackendOptions& options, std::size_t largest_matrix);
/// The cpu backend for one instruction set, by a name of cpu_targets().
std::unique_ptr<Backend> make_cpu_backend(std::string_view target);
/// Instruction sets of the cpu backend that this processor can run, best first; the last is the portable one.
std::vector<std::string> cpu_targets();

}  // namespace mirrorscale::kernels
