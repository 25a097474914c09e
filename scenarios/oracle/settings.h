#pragma once
#include <cstddef>
#include <span>
#include <string_view>
#include <variant>

/// An independent trainer of networks in double: the reference that the engine is judged against. It
/// shares no code with kernels/ or strategies/, and it carries beside every number a bound on how far a
/// faithful float32 run may be from it (docs/error_bound.md).
namespace mirrorscale::scenarios::oracle {

enum class Activation { kLinear, kRelu, kTanh, kSigmoid, kGelu, kSoftmax };

/// From "linear", "relu", "tanh", "sigmoid", "gelu" (the erf form), "softmax". Throws std::invalid_argument
/// that lists the names.
Activation activation_from(std::string_view name);

/// y = f(x · kernel + bias). kernel: [inputs, outputs]; bias: [outputs].
/// Adds l1 * sum |kernel| + l2 * sum kernel^2 to the loss, once.
struct Dense {
  std::size_t inputs = 0, outputs = 0;
  Activation activation = Activation::kLinear;
  bool bias = true;
  double l1 = 0, l2 = 0;
};

/// One axis of a window: output o looks at o * stride - pad + k * dilation, k = 0 .. size - 1.
struct WindowAxis {
  std::size_t in = 1, out = 1, size = 1, stride = 1, dilation = 1, pad = 0;
};

/// A window over images; pixels and taps are numbered row after row.
struct Window {
  WindowAxis y, x;

  std::size_t in_pixels() const { return y.in * x.in; }
  std::size_t out_pixels() const { return y.out * x.out; }
  std::size_t taps() const { return y.size * x.size; }
  /// The input pixel that output `pixel` sees through `tap`, or -1 for padding.
  long source(std::size_t pixel, std::size_t tap) const {
    const auto along = [](const WindowAxis& a, std::size_t o, std::size_t k) {
      const long at = static_cast<long>(o * a.stride + k * a.dilation) - static_cast<long>(a.pad);
      return at < static_cast<long>(a.in) ? at : -1;
    };
    const long row = along(y, pixel / x.out, tap / x.size), column = along(x, pixel % x.out, tap % x.size);
    return row < 0 || column < 0 ? -1 : row * static_cast<long>(x.in) + column;
  }
};

/// y = f(x * kernel + bias) over images [height, width, channels], padded with zeros.
/// kernel: [taps * channels / groups, filters]. Penalties as Dense's.
struct Convolution {
  Window window;
  std::size_t channels = 1, filters = 1, groups = 1;
  Activation activation = Activation::kLinear;
  bool bias = true;
  double l1 = 0, l2 = 0;
};

/// The largest, or the mean, of each window; padding doesn't count. The gradient goes to the first of equals.
struct Pool {
  Window window;
  std::size_t channels = 1;
  bool maximum = true;
};

using LayerSettings = std::variant<Dense, Convolution, Pool>;

/// What is averaged over rows. The sparse ones take labels, the others targets [rows, outputs] and are a mean
/// over columns. Probabilities are clamped to [1e-7, 1 - 1e-7]; where the clamp acts the gradient is 0.
enum class Loss {
  kSparseCrossEntropyFromLogits,
  kSparseCrossEntropy,
  kMeanSquaredError,
  kMeanAbsoluteError,
  kBinaryCrossEntropyFromLogits,
  kBinaryCrossEntropy
};

/// What the weighted sum over rows is divided by: the summed weights (the engine's), or the rows (Keras').
enum class Normaliser { kWeights, kRows };

/// momentum = 0: w -= rate g. Else m = momentum m - rate g; w += m, or with Nesterov w += momentum m - rate
/// g.
struct Sgd {
  double rate = 0.01, momentum = 0;
  bool nesterov = false;
};

/// w -= rate weight_decay w;  m += (1 - beta1)(g - m);  v += (1 - beta2)(g^2 - v);
/// w -= rate sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt v + epsilon), b being beta, or the correction's own value
/// where that is not 0 (Keras rounds the betas to float32 there and only there).
struct Adam {
  double rate = 0.001, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-7, weight_decay = 0;
  double correction_beta1 = 0, correction_beta2 = 0;
};

/// a += g^2, from `initial`; w -= rate g / sqrt(a + epsilon).
struct Adagrad {
  double rate = 0.001, initial = 0.1, epsilon = 1e-7;
};

using Optimizer = std::variant<Sgd, Adam, Adagrad>;

/// Scale of the error of a rounded factor: relative to its magnitude, and the least.
struct FactorRounding {
  double relative = 0, least = 0;
  double scale_of(double magnitude) const { return relative * magnitude + least; }
};

/// The arithmetic of the run that is judged, and how sure the bound is of it.
struct ErrorModel {
  /// Unit roundoff: 2^-24 for float32.
  double unit = 0x1p-24;
  /// A bound holds with probability at least 1 - 2 exp(-lambda^2 / 2) (1 - 5e-11 at 7), element by element.
  double lambda = 7;
  /// Error scale of exp, log, tanh, erf in units of the unit roundoff; at lambda = 7 the bound allows 7 ulp.
  double function = 2;
  /// The longest chain of a sum over rows; longer chains have larger bounds.
  std::size_t row_chain = 32;
  /// The judged run starts from the nearest floats of x (and targets), of the initial weights.
  bool rounds_inputs = false, rounds_weights = false;
  /// Where the factors of a product are rounded to fewer digits first: the unit roundoff of that type, and
  /// the most that underflow costs. 0: they are not.
  double factor_unit = 0, factor_underflow = 0;

  double bound_of(double scale) const { return lambda * unit * scale; }
  /// The scale of an error that is known to be at most `bound`.
  double scale_of(double bound) const { return bound / (lambda * unit); }
  FactorRounding factors() const { return {factor_unit / unit, scale_of(factor_underflow)}; }
};

struct Settings {
  Loss loss = Loss::kSparseCrossEntropyFromLogits;
  Optimizer optimizer = Sgd{};
  Normaliser normaliser = Normaliser::kWeights;
  /// Gradients are scaled down together so that their joint norm is at most this; 0: they are not.
  double global_clip_norm = 0;
  /// Predictions a row, of sparse losses: labels (and weights) of a batch are as many times its rows.
  std::size_t answers = 1;
  /// Binary accuracy counts prediction > threshold.
  double threshold = 0.5;
  ErrorModel errors = {};
  /// Threads that share the products; 0: as many as the machine has.
  int threads = 0;
};

/// Borrowed rows. x: [rows, inputs], row-major; labels: [rows * answers] or targets: [rows, outputs],
/// whichever the loss takes; weights: as labels, or empty for 1.
struct Batch {
  std::size_t rows = 0;
  std::span<const double> x;
  std::span<const int> labels = {};
  std::span<const double> targets = {};
  std::span<const double> weights = {};
};

}  // namespace mirrorscale::scenarios::oracle
