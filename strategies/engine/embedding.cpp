#include "strategies/engine/embedding.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

namespace mirrorscale::strategies {

Embedding::Embedding(int tokens, int width, const Initializer& initializer)
    : tokens_(tokens), width_(width), initializer_(initializer) {
  if (tokens < 1 || width < 1) {
    throw std::invalid_argument("[embedding] " + std::to_string(tokens) + " tokens of width " +
                                std::to_string(width) + "; both need at least 1");
  }
}

void Embedding::check_input(kernels::ConstMatrix x, std::int64_t first_row, const std::string& data) const {
  for (int r = 0; r < x.rows; ++r) {
    for (int c = 0; c < x.columns; ++c) {
      const float id = x.at(r, c);
      if (id >= 0 && id < static_cast<float>(tokens_) && id == std::floor(id)) continue;
      char shown[32];
      std::snprintf(shown, sizeof shown, "%g", static_cast<double>(id));
      throw std::invalid_argument("[data] '" + data + "' row " + std::to_string(first_row + r) + ", column " +
                                  std::to_string(c) + ": token " + shown +
                                  "; the model's embedding takes whole numbers 0 .. " +
                                  std::to_string(tokens_ - 1));
    }
  }
}

Shape Embedding::build(const Shape& in, const BuildPlan& plan) {
  time_ = in.size();
  table_ = plan.parameters.add(
      {.name = plan.name + "/table", .rows = tokens_, .columns = width_, .initializer = initializer_});
  take_place(place_, plan.parameters[table_].offset, plan.name);
  return {1, time_, width_};
}

std::size_t Embedding::scratch_size(int samples) const {
  return kernels::embed_scratch(samples * time_, tokens_);
}

void Embedding::forward(const ForwardPass& pass) const {
  pass.backend.embed(pass.x, pass.parameters.matrix(table_, pass.weights, pass.backend.info().layout),
                     pass.y);
}

void Embedding::backward(const BackwardPass& pass) const {
  for (const GradientRoot& root : pass.roots) {
    pass.backend.embed_backward(
        pass.x.slice_rows(root.first_row, root.rows),
        pass.dz.slice_rows(root.first_row * time_, root.rows * time_), pass.shard_rows,
        pass.parameters.matrix(table_, root.gradient, pass.backend.info().layout), pass.room.scratch);
  }
}

Shape PositionEmbedding::build(const Shape& in, const BuildPlan& plan) {
  if (in.packed) {
    throw std::invalid_argument("[position_embedding] '" + plan.name + "' takes rows a position, not " +
                                to_string(in) + " as a data set packs them; put an embedding before it");
  }
  time_ = in.positions();
  table_ = plan.parameters.add(
      {.name = plan.name + "/table", .rows = time_, .columns = in.channels, .initializer = initializer_});
  take_place(place_, plan.parameters[table_].offset, plan.name);
  return in;
}

void PositionEmbedding::forward(const ForwardPass& pass) const {
  pass.backend.add_positions(pass.x, pass.parameters.matrix(table_, pass.weights, pass.backend.info().layout),
                             pass.y);
}

void PositionEmbedding::backward(const BackwardPass& pass) const {
  if (pass.dx) pass.hand_dz_on();
  for (const GradientRoot& root : pass.roots) {
    pass.backend.sum_positions(pass.dz.slice_rows(root.first_row * time_, root.rows * time_), pass.shard_rows,
                               pass.parameters.matrix(table_, root.gradient, pass.backend.info().layout));
  }
}

}  // namespace mirrorscale::strategies
