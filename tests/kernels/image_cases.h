#pragma once
#include "kernels/convolution.h"

/// Convolutions and windows that every backend has to do as the reference does.
namespace mirrorscale::kernels::testing {

inline WindowAxis axis(int in, int size, int stride = 1, int dilation = 1, int pad = 0, int behind = 0) {
  return {in, (in + pad + behind - (size - 1) * dilation - 1) / stride + 1, size, stride, dilation, pad};
}

struct ImageCase {
  const char* name;
  Convolution g;
  int samples, shard_samples;
};
/// Sizes around tiles, panels and bands, each stride, dilation, padding and grouping once.
inline const ImageCase kImageCases[] = {
    {"one pixel", {{axis(1, 1), axis(1, 1)}, 1, 1}, 1, 1},
    {"same 3x3", {{axis(7, 3, 1, 1, 1, 1), axis(7, 3, 1, 1, 1, 1)}, 17, 33}, 5, 2},
    {"wide and low", {{axis(2, 1), axis(37, 5, 1, 1, 2, 2)}, 16, 16}, 3, 4},
    {"stride 2, odd, tensorflow's padding", {{axis(9, 3, 2, 1, 1, 1), axis(8, 3, 2, 1, 0, 1)}, 15, 31}, 4, 1},
    {"stride larger than the kernel", {{axis(8, 1, 2), axis(9, 2, 3)}, 4, 5}, 2, 1},
    {"dilation", {{axis(9, 3, 1, 2, 2, 2), axis(11, 2, 1, 3, 1, 2)}, 3, 20}, 2, 2},
    {"stride and dilation", {{axis(9, 3, 2, 2, 1, 1), axis(11, 3, 2, 3, 2, 2)}, 3, 4}, 2, 2},
    {"much padding", {{axis(3, 2, 1, 1, 3, 4), axis(2, 3, 2, 1, 4, 3)}, 2, 3}, 2, 2},
    {"whole groups", {{axis(4, 3, 1, 1, 1, 1), axis(5, 3, 1, 1, 1, 1)}, 32, 48, 2, false}, 3, 2},
    {"odd groups", {{axis(4, 3, 1, 1, 1, 1), axis(5, 3, 1, 1, 1, 1)}, 6, 9, 3, false}, 3, 2},
    {"depthwise", {{axis(5, 3, 2, 1, 0, 1), axis(5, 3, 1, 1, 1, 1)}, 19, 19, 19, false}, 3, 2},
    {"packed, one channel", {{axis(14, 3, 1, 1, 1, 1), axis(14, 3, 1, 1, 1, 1)}, 1, 32, 1, true}, 3, 2},
    {"packed, three channels", {{axis(11, 5, 2, 1, 1, 2), axis(13, 4, 3, 1, 2, 1)}, 3, 7, 1, true}, 18, 4},
    {"packed, dilated", {{axis(9, 2, 1, 3), axis(9, 2, 1, 2)}, 2, 16, 1, true}, 2, 2},
    {"several bands", {{axis(40, 3, 1, 1, 1, 1), axis(35, 3, 1, 1, 1, 1)}, 48, 17}, 1, 1},
    {"a part of a row", {{axis(2, 2, 1, 1, 0, 1), axis(1100, 3, 1, 1, 1, 1)}, 2, 2}, 1, 1},
};

/// Overlapping, apart, with gaps, with padding, global.
inline const Window kPoolWindows[] = {
    {axis(6, 2, 2), axis(8, 2, 2)},
    {axis(7, 2, 2), axis(5, 3, 3)},
    {axis(7, 3, 2, 1, 1, 1), axis(8, 3, 2, 1, 0, 1)},
    {axis(5, 1, 2), axis(9, 2, 3)},
    {axis(9, 3, 1, 2), axis(6, 2, 2, 3)},
    {axis(4, 4), axis(3, 3)},
};

}  // namespace mirrorscale::kernels::testing
