#pragma once
#include "kernels/convolution.h"
#include "strategies/engine/shape.h"

#include <string>

namespace mirrorscale::strategies {

/// A size for both axes of an image.
struct Both {
  int y = 1, x = 1;
  constexpr Both(int both) : y(both), x(both) {}  // NOLINT: 3 is 3 x 3
  constexpr Both(int of_y, int of_x) : y(of_y), x(of_x) {}
  bool operator==(const Both&) const = default;
};

/// How a window slides. `padding` as in TensorFlow: "valid" looks at whole windows inside of the image only;
/// "same" gives ceil(in / stride) outputs, and the odd pixel of padding goes behind.
struct Sliding {
  Both size = 1, stride = 1, dilation = 1;
  std::string padding = "valid";
};

/// The window over an image of shape `in`. Throws std::invalid_argument that begins with `who`, for sizes
/// below 1, another padding, or an image that is smaller than the window.
kernels::Window window_over(const std::string& who, const Shape& in, const Sliding& sliding);

/// Throws std::invalid_argument that begins with `who` where an image is packed: its pixels aren't rows.
void require_pixels(const std::string& who, const Shape& in);

}  // namespace mirrorscale::strategies
