#pragma once
#include <string>

namespace mirrorscale::strategies {

/// What one sample looks like between two layers: positions (pixels of an image, row after row; steps of a
/// sequence, as 1 x time; a single one for plain features) with channels each. A batch of it is a matrix with
/// a row a position, samples one after the other: [samples * positions, channels]. `packed` images (a data
/// set's, as they come) have a row a sample instead, all values of it in the order height, width, channel:
/// [samples, height * width * channels].
struct Shape {
  int height = 1, width = 1, channels = 0;
  bool packed = false;

  constexpr Shape() = default;
  constexpr Shape(int features) : channels(features) {}  // NOLINT: a plain row of features
  constexpr Shape(int h, int w, int c, bool is_packed = false)
      : height(h), width(w), channels(c), packed(is_packed) {}

  constexpr int positions() const { return height * width; }
  constexpr int size() const { return height * width * channels; }
  /// Of a batch's matrix: rows a sample takes, and columns.
  constexpr int rows() const { return packed ? 1 : positions(); }
  constexpr int columns() const { return packed ? size() : channels; }
  bool operator==(const Shape&) const = default;
};

/// "[784]", "[128, 64]" (time, channels), "[28, 28, 1]".
inline std::string to_string(const Shape& shape) {
  std::string text = "[";
  if (shape.height > 1) text += std::to_string(shape.height) + ", ";
  if (shape.positions() > 1 || shape.packed) text += std::to_string(shape.width) + ", ";
  return text + std::to_string(shape.channels) + "]";
}

}  // namespace mirrorscale::strategies
