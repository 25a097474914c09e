#include "scenarios/oracle/activations.h"
#include "scenarios/oracle/layer.h"
#include "scenarios/oracle/products.h"

#include <algorithm>

namespace mirrorscale::scenarios::oracle {
namespace {

class DenseLayer final : public Layer {
 public:
  explicit DenseLayer(const Dense& settings) : settings_(settings) {}
  std::size_t inputs() const override { return settings_.inputs; }
  std::size_t outputs() const override { return settings_.outputs; }
  std::vector<ArraySize> arrays() const override {
    std::vector<ArraySize> sizes{{settings_.inputs, settings_.outputs, settings_.l1, settings_.l2}};
    if (settings_.bias) sizes.push_back({1, settings_.outputs});
    return sizes;
  }

  const Tracked& forward(const Arithmetic& how, const Tracked& x, std::span<const Parameter> p) override {
    multiply(x, p[0].w, how.errors.factors(), how.threads, z_);
    if (settings_.bias) add_bias(p[1].w, z_);
    activate(settings_.activation, how.errors, z_, y_);
    return y_;
  }
  void backward(const Arithmetic& how, const Tracked& x, const Tracked& dy, std::span<Parameter> p,
                Tracked* dx) override {
    Tracked dz;
    activate_backward(settings_.activation, how.errors, z_, y_, dy, dz);
    multiply_rows(x, dz, how.errors.row_chain, how.errors.factors(), how.threads, p[0].gradient);
    if (settings_.bias) sum_rows(how, dz, how.errors.row_chain, p[1].gradient);
    if (dx != nullptr) multiply_transposed(dz, p[0].w, how.errors.factors(), how.threads, *dx);
  }

 private:
  const Dense settings_;
  Tracked z_, y_;
};

}  // namespace

std::unique_ptr<Layer> make_layer(const Dense& dense) {
  return std::make_unique<DenseLayer>(dense);
}

void add_bias(const Tracked& bias, Tracked& z) {
  for (std::size_t i = 0; i < z.size(); ++i) {
    z.value[i] += bias.value[i % z.columns];
    z.scale[i] = independent(independent(z.scale[i], bias.scale[i % z.columns]), z.value[i]);
  }
}

void sum_rows(const Arithmetic& how, const Tracked& dz, std::size_t row_chain, Tracked& sums) {
  Tracked ones;
  ones.resize(dz.rows, 1);
  std::fill(ones.value.begin(), ones.value.end(), 1.0);
  std::fill(ones.scale.begin(), ones.scale.end(), 0.0);
  multiply_rows(ones, dz, row_chain, {}, how.threads, sums);  // a sum, no product
}

}  // namespace mirrorscale::scenarios::oracle
