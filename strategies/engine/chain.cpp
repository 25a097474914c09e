#include "strategies/engine/chain.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace mirrorscale::strategies {

using kernels::ConstMatrix;
using kernels::Layout;
using kernels::Matrix;

Chain::Chain(const Shape& in, const std::vector<LayerPtr>& layers, const std::string& prefix,
             ParameterLayout& parameters, bool wants_dx) {
  if (layers.empty()) throw std::invalid_argument("[model] has no layers; add at least one, e.g. dense");
  std::map<std::string, int> used;
  Shape shape = in;
  for (const LayerPtr& layer : layers) {
    if (layer == nullptr) throw std::invalid_argument("[model] a layer is null");
    if (layer->takes_tokens() && !(stages_.empty() && prefix.empty())) {
      throw std::invalid_argument("[model] " + layer->kind() +
                                  " takes the tokens of a data set; it has to be the first layer");
    }
    const int number = used[layer->kind()]++;
    const std::string name =
        prefix + (number == 0 ? layer->kind() : layer->kind() + "_" + std::to_string(number));
    Stage stage{layer, name, shape, {}, wants_dx, parameters.size(), 0};
    stage.out = layer->build(shape, {name, parameters, wants_dx});
    stage.parameters_end = parameters.size();
    wants_dx = wants_dx || stage.parameters_end != stage.parameters_begin;
    shape = stage.out;
    stages_.push_back(std::move(stage));
  }
}

bool Chain::random() const {
  return std::any_of(stages_.begin(), stages_.end(), [](const Stage& s) { return s.layer->random(); });
}

double Chain::forward_flops() const {
  double sum = 0;
  for (const Stage& stage : stages_) sum += stage.layer->forward_flops();
  return sum;
}

double Chain::backward_flops() const {
  double sum = 0;
  for (const Stage& stage : stages_) sum += stage.layer->backward_flops(stage.wants_dx);
  return sum;
}

std::size_t Chain::largest_matrix(int samples) const {
  std::size_t most = matrix_size(in(), samples);
  for (const Stage& stage : stages_) {
    most = std::max({most, matrix_size(stage.out, samples), stage.layer->largest_matrix(samples)});
  }
  return most;
}

std::size_t Chain::kept_by(const Stage& stage, int samples) {
  const std::size_t y = matrix_size(stage.out, samples);
  return y + (stage.layer->saves_input() ? y : 0) + stage.layer->kept_size(samples);
}

std::size_t Chain::kept_size(int samples) const {
  std::size_t sum = 0;
  for (const Stage& stage : stages_) sum += kept_by(stage, samples);
  return sum;
}

std::size_t Chain::delta_size(int samples) const {
  std::size_t most = 0;
  for (const Stage& stage : stages_) most = std::max(most, matrix_size(stage.out, samples));
  return most;
}

std::size_t Chain::scratch_size(int samples) const {
  std::size_t most = 0;
  for (const Stage& stage : stages_) most = std::max(most, stage.layer->scratch_size(samples));
  return 2 * delta_size(samples) + most;
}

struct Chain::Places {
  Matrix y, saved;
  Room room;
};

Chain::Places Chain::places(const Stage& stage, float* at, Layout layout, const Room& room, float* scratch) {
  Places p;
  p.y = matrix_in(layout, at, stage.out, room);
  const std::size_t y_size = matrix_size(stage.out, room.capacity);
  at += y_size;
  if (stage.layer->saves_input()) {
    p.saved = matrix_in(layout, at, stage.out, room);
    at += y_size;
  }
  p.room = {at, scratch, room.samples, room.capacity};
  return p;
}

void Chain::forward(const ForwardPass& pass) const {
  float* at = pass.room.kept;
  float* const scratch = pass.room.scratch + 2 * delta_size(pass.room.capacity);
  ConstMatrix in = pass.x;
  for (const Stage& stage : stages_) {
    const Places p = places(stage, at, pass.backend.info().layout, pass.room, scratch);
    stage.layer->forward(
        {pass.backend, pass.parameters, pass.weights, in, p.saved, p.y, p.room, pass.moment});
    at += kept_by(stage, pass.room.capacity);
    in = p.y;
  }
}

ConstMatrix Chain::output(Layout layout, const Room& room) const {
  float* const last = room.kept + kept_size(room.capacity) - kept_by(stages_.back(), room.capacity);
  return matrix_in(layout, last, out(), room);
}

Matrix Chain::output_gradient(Layout layout, const Room& room) const {
  return matrix_in(layout, room.scratch, out(), room);
}

void Chain::backward(const BackwardPass& pass, const std::function<void(std::size_t from)>& ready) const {
  const Layout layout = pass.backend.info().layout;
  const Room& room = pass.room;
  const std::size_t delta_floats = delta_size(room.capacity);
  float* const scratch = room.scratch + 2 * delta_floats;
  float* at = room.kept + kept_size(room.capacity) - kept_by(stages_.back(), room.capacity);
  Places here = places(stages_.back(), at, layout, room, scratch);
  Matrix delta = output_gradient(layout, room);
  const auto derived_from = [](const Places& p) -> ConstMatrix { return p.saved ? p.saved : p.y; };
  const OutputFunction last = stages_.back().layer->output_function();
  if (last.softmax) {
    pass.backend.softmax_backward(here.y, delta, delta);
  } else if (last.f != kernels::Activation::kLinear) {
    pass.backend.activate_backward(last.f, derived_from(here), delta, delta);
  }
  for (std::size_t s = stages_.size(); s-- > 0;) {
    const Stage& stage = stages_[s];
    Places before;
    OutputFunction function;
    ConstMatrix x = pass.x;
    Matrix dx = pass.dx;
    if (s > 0) {
      at -= kept_by(stages_[s - 1], room.capacity);
      before = places(stages_[s - 1], at, layout, room, scratch);
      function = stages_[s - 1].layer->output_function();
      x = before.y;
      const std::size_t other = (stages_.size() - s) % 2;
      dx = stage.wants_dx ? matrix_in(layout, room.scratch + other * delta_floats, stage.in, room) : Matrix{};
    }
    stage.layer->backward({pass.backend, pass.parameters, pass.weights, pass.transposed, x, here.y, delta,
                           s > 0 ? function.f : pass.input_function,
                           s > 0 ? derived_from(before) : pass.input_saved, dx, pass.roots, pass.shard_rows,
                           here.room, pass.moment});
    if (ready) ready(stage.parameters_begin);
    if (s == 0 || !stage.wants_dx) break;
    if (function.softmax) pass.backend.softmax_backward(before.y, dx, dx);
    delta = dx;
    here = before;
  }
}

}  // namespace mirrorscale::strategies
