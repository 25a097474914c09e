#pragma once
#include "scenarios/oracle/optimizers.h"
#include "scenarios/oracle/settings.h"
#include "scenarios/oracle/tracked.h"

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace mirrorscale::scenarios::oracle {

/// How layers count errors, and the threads that they may use.
struct Arithmetic {
  ErrorModel errors;
  int threads = 1;
};

/// A weight array. It adds l1 * sum |w| + l2 * sum w^2 to the loss, once.
struct ArraySize {
  std::size_t rows = 0, columns = 0;
  double l1 = 0, l2 = 0;
};

/// One layer over whole batches, a row a sample. It keeps the values of the last forward for backward.
class Layer {
 public:
  virtual ~Layer() = default;
  virtual std::size_t inputs() const = 0;
  virtual std::size_t outputs() const = 0;
  /// Its weight arrays, in the order in which they are handed to it.
  virtual std::vector<ArraySize> arrays() const { return {}; }
  /// Values that a row takes while it is worked on, roughly: so that callers can cut batches.
  virtual std::size_t values_a_row() const { return inputs() + outputs(); }

  /// y = the layer of x [rows, inputs]; [rows, outputs].
  virtual const Tracked& forward(const Arithmetic& how, const Tracked& x, std::span<const Parameter> p) = 0;
  /// From the gradient by y: those of its arrays into p[i].gradient, and the one by x into `dx` unless null.
  virtual void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                        Tracked* dx) = 0;
};

std::unique_ptr<Layer> make_layer(const Dense& dense);
/// Throws std::invalid_argument for groups that don't divide channels and filters.
std::unique_ptr<Layer> make_layer(const Convolution& convolution);
std::unique_ptr<Layer> make_layer(const Pool& pool);

/// z += bias, a row of it.
void add_bias(const Tracked& bias, Tracked& z);
/// sums = the sum over all rows of dz.
void sum_rows(const Arithmetic& how, const Tracked& dz, std::size_t row_chain, Tracked& sums);

}  // namespace mirrorscale::scenarios::oracle
