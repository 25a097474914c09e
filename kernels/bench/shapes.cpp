#include "kernels/bench/shapes.h"

#include "kernels/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace mirrorscale::kernels::bench {
namespace {

Buffer random_values(std::size_t count, std::uint32_t stream) {
  Buffer values = make_buffer(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = to_unit_float(random_words(1, Purpose::kTest, stream, i)[0]) - 0.5F;
  }
  return values;
}

void to_panels(const float* from, Matrix to) {
  for (int r = 0; r < to.rows; ++r) {
    for (int c = 0; c < to.columns; ++c) to.at(r, c) = *from++;
  }
}

/// Element (row, column) of C by plain loops.
float expected(const Shape& s, const Operands& o, int row, int column) {
  const Matrix x = o.panel_x, w = o.panel_w, dy = o.panel_dy;
  float sum = 0;
  if (s.pass == Pass::kForward) {
    for (int k = 0; k < s.in; ++k) sum = std::fma(x.at(row, k), w.at(k, column), sum);
    return sum;
  }
  if (s.pass == Pass::kInputGradient) {
    for (int k = 0; k < s.out; ++k) sum = std::fma(dy.at(row, k), w.at(column, k), sum);
    return sum;
  }
  std::vector<float> level;
  for (int first = 0; first < s.batch; first += s.shard_rows()) {
    float leaf = 0;
    for (int k = first; k < std::min(s.batch, first + s.shard_rows()); ++k) {
      leaf = std::fma(x.at(k, row), dy.at(k, column), leaf);
    }
    level.push_back(leaf);
  }
  while (level.size() > 1) {
    std::vector<float> up;
    for (std::size_t i = 0; i < level.size(); i += 2) {
      up.push_back(i + 1 < level.size() ? level[i] + level[i + 1] : level[i]);
    }
    level = up;
  }
  return level[0];
}

}  // namespace

const char* Shape::name() const {
  return pass == Pass::kForward ? "fwd" : pass == Pass::kInputGradient ? "dX" : "dW";
}

int Shape::shard_rows() const {
  if (batch < 32) return 1;
  return std::clamp(static_cast<int>(std::bit_floor(static_cast<unsigned>(batch) / 16U)), 4, 32);
}

std::vector<Shape> mlp_shapes() {
  std::vector<Shape> shapes;
  for (const int batch : {32, 256, 1024}) {
    for (const auto& [in, out] : {std::pair{784, 512}, {512, 512}, {512, 10}}) {
      for (const Pass pass : {Pass::kForward, Pass::kInputGradient, Pass::kWeightGradient}) {
        shapes.push_back({pass, batch, in, out});
      }
    }
  }
  return shapes;
}

Operands::Operands(const Shape& s) {
  const auto b = static_cast<std::size_t>(s.batch), in = static_cast<std::size_t>(s.in),
             out = static_cast<std::size_t>(s.out);
  x = random_values(b * in, 1);
  w = random_values(in * out, 2);
  dy = random_values(b * out, 3);
  result = make_buffer(static_cast<std::size_t>(s.m()) * static_cast<std::size_t>(s.n()));
  const auto add = [this](int rows, int columns, bool weights) {
    const std::size_t stride = weights ? weight_stride(rows) : activation_stride(rows);
    panels_.push_back(make_buffer(stride * static_cast<std::size_t>(panels(columns))));
    return Matrix{panels_.back().get(), rows, columns, stride};
  };
  panel_x = add(s.batch, s.in, false);
  panel_w = add(s.in, s.out, true);
  panel_wt = add(s.out, s.in, true);
  panel_dy = add(s.batch, s.out, false);
  panel_result = add(s.m(), s.n(), s.pass == Pass::kWeightGradient);
  to_panels(x.get(), panel_x);
  to_panels(w.get(), panel_w);
  to_panels(dy.get(), panel_dy);
  for (int r = 0; r < s.in; ++r) {
    for (int c = 0; c < s.out; ++c) panel_wt.at(c, r) = panel_w.at(r, c);
  }
}

void run(Backend& backend, const Shape& s, const Operands& o) {
  switch (s.pass) {
    case Pass::kForward:
      return backend.linear(o.panel_x, o.panel_w, nullptr, Activation::kLinear, o.panel_result);
    case Pass::kInputGradient:
      return backend.linear_backward_input(o.panel_dy, o.panel_wt, Activation::kLinear, {}, o.panel_result);
    case Pass::kWeightGradient:
      return backend.linear_backward_weights(o.panel_x, o.panel_dy, s.shard_rows(), o.panel_result);
  }
}

std::string check_bits(Backend& backend, const Shape& s, int step) {
  const Operands o(s);
  run(backend, s, o);
  for (int r = 0; r < s.m(); r += step) {
    for (int c = 0; c < s.n(); c += step) {
      const float got = o.panel_result.at(r, c), want = expected(s, o, r, c);
      if (std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(want)) continue;
      return backend.info().target + " " + s.name() + " " + std::to_string(s.batch) + " " +
             std::to_string(s.in) + "-" + std::to_string(s.out) + " at (" + std::to_string(r) + ", " +
             std::to_string(c) + "): " + std::to_string(got) + ", expected " + std::to_string(want);
    }
  }
  return {};
}

}  // namespace mirrorscale::kernels::bench
