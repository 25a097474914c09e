#pragma once
#include "kernels/backend.h"

#include <memory>
#include <string>
#include <string_view>

namespace mirrorscale::strategies {

/// What the rows of one replica should have predicted.
struct Targets {
  const int* labels = nullptr;     // [rows], where the data set has classes
  kernels::ConstMatrix values;     // [rows, columns], where it has targets
  const float* weights = nullptr;  // [rows], or null for 1
};

/// What a data set offers to learn from.
struct TargetShape {
  int classes = 0;         // 0: no labels
  int target_columns = 0;  // 0: no targets
};

/// The loss of each row and the gradient of their sum. The division by the global count is not its business.
/// User-made losses derive from it.
class Loss {
 public:
  virtual ~Loss() = default;
  virtual std::string name() const = 0;
  /// Throws std::invalid_argument when a model with `outputs` columns can't be trained on `shape` with this
  /// loss.
  virtual void check(int outputs, const TargetShape& shape) const = 0;
  /// loss[row] = weight · loss of the row; gradient [rows, outputs] = d(sum of loss)/dy. `gradient` or `loss`
  /// may be empty. Called from every replica's thread.
  virtual void compute(kernels::Backend& backend, kernels::ConstMatrix y, const Targets& targets,
                       kernels::Matrix gradient, kernels::Column loss) const = 0;
  /// The value of a binary prediction above which it means "yes": 0.5 for probabilities, 0 for logits.
  virtual float binary_threshold() const { return 0.5F; }
};
using LossPtr = std::shared_ptr<const Loss>;

enum class Prediction { kProbabilities, kLogits };

/// `label_smoothing` s in [0, 1), as Keras': of what a row is, the part s is spread evenly over all outputs
/// of the model (Keras' CategoricalCrossentropy of one-hot labels), or over yes and no. Throws
/// std::invalid_argument.
LossPtr sparse_categorical_crossentropy(Prediction input = Prediction::kProbabilities,
                                        double label_smoothing = 0);
LossPtr binary_crossentropy(Prediction input = Prediction::kProbabilities, double label_smoothing = 0);
LossPtr mean_squared_error();
LossPtr mean_absolute_error();

/// By the names of Keras: "sparse_categorical_crossentropy", "binary_crossentropy" (both from probabilities;
/// with
/// "_from_logits" appended from logits, and with ":label_smoothing=0.1" smoothed), "mse" or
/// "mean_squared_error", "mae" or "mean_absolute_error".
/// Throws std::invalid_argument that lists the names.
LossPtr make_loss(std::string_view name);

}  // namespace mirrorscale::strategies
