#pragma once
#include "kernels/convolution.h"

#include <functional>

namespace mirrorscale::kernels::bench {

enum class ConvolutionPass { kForward, kInputGradient, kWeightGradient };

/// Runs one pass over `samples` images by oneDNN on this thread, in the layouts it likes best, which are
/// filled with small numbers; null in a build without it. Its scratch lives as long as the function.
std::function<void()> onednn_convolution(const Convolution& g, int samples, ConvolutionPass pass);

}  // namespace mirrorscale::kernels::bench
