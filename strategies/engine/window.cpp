#include "strategies/engine/window.h"

#include <algorithm>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

kernels::WindowAxis axis_over(const std::string& who, const char* name, int in, int size, int stride,
                              int dilation, const std::string& padding) {
  if (size < 1 || stride < 1 || dilation < 1) {
    throw std::invalid_argument(who + " has size " + std::to_string(size) + ", stride " +
                                std::to_string(stride) + " and dilation " + std::to_string(dilation) +
                                " in " + name + "; each needs at least 1");
  }
  const int extent = (size - 1) * dilation + 1;
  if (padding == "same") {
    const int out = (in + stride - 1) / stride, missing = std::max(0, (out - 1) * stride + extent - in);
    return {in, out, size, stride, dilation, missing / 2};
  }
  if (in < extent) {
    throw std::invalid_argument(who + " looks at " + std::to_string(extent) + " pixels in " + name +
                                ", and the image has " + std::to_string(in) +
                                "; make the window smaller or the padding \"same\"");
  }
  return {in, (in - extent) / stride + 1, size, stride, dilation, 0};
}

}  // namespace

kernels::Window window_over(const std::string& who, const Shape& in, const Sliding& s) {
  if (s.padding != "same" && s.padding != "valid")
    throw std::invalid_argument(who + " has padding '" + s.padding + "'; expected same or valid");
  return {axis_over(who, "height", in.height, s.size.y, s.stride.y, s.dilation.y, s.padding),
          axis_over(who, "width", in.width, s.size.x, s.stride.x, s.dilation.x, s.padding)};
}

void require_pixels(const std::string& who, const Shape& in) {
  if (!in.packed) return;
  throw std::invalid_argument(who + " takes pixels one by one, and its input " + to_string(in) +
                              " is a data set's image as it comes; put reshape" + to_string(in) +
                              " before it");
}

}  // namespace mirrorscale::strategies
