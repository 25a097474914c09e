#include "emulated_cuda/nccl_clique.h"
#include <algorithm>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits>
#include <type_traits>

namespace mirrorscale::emulated_cuda {
namespace {

template <class T>
T combined(T a, T b, ncclRedOp_t op) {
  switch (op) {
    case ncclMax:
      return a < b ? b : a;
    case ncclMin:
      return b < a ? b : a;
    case ncclProd:
      return static_cast<T>(a * b);
    default:
      return static_cast<T>(a + b);
  }
}

/// T as it is stored, Sum as it is added.
template <class T, class Sum>
void reduce_as(const std::vector<std::vector<unsigned char>>& parts, std::size_t from, std::size_t count,
               ncclRedOp_t op, unsigned char* out) {
  const auto part = [&](std::size_t rank) { return reinterpret_cast<const T*>(parts[rank].data()) + from; };
  T* const result = reinterpret_cast<T*>(out);
  constexpr std::size_t kPiece = 1024;
  Sum sums[kPiece];
  for (std::size_t begin = 0; begin < count; begin += kPiece) {
    const std::size_t length = std::min(kPiece, count - begin);
    for (std::size_t i = 0; i < length; ++i) sums[i] = static_cast<Sum>(part(0)[begin + i]);
    for (std::size_t rank = 1; rank < parts.size(); ++rank) {
      const T* other = part(rank) + begin;
      if (op == ncclSum || op == ncclAvg)
        for (std::size_t i = 0; i < length; ++i)
          sums[i] = static_cast<Sum>(sums[i] + static_cast<Sum>(other[i]));
      else
        for (std::size_t i = 0; i < length; ++i) sums[i] = combined(sums[i], static_cast<Sum>(other[i]), op);
    }
    if (op == ncclAvg)
      for (std::size_t i = 0; i < length; ++i)
        sums[i] = static_cast<Sum>(sums[i] / static_cast<Sum>(parts.size()));
    for (std::size_t i = 0; i < length; ++i) result[begin + i] = static_cast<T>(sums[i]);
  }
}

}  // namespace

std::size_t width_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 4;
  }
}

bool is_known(ncclDataType_t type) {
  return type >= ncclInt8 && type <= ncclBfloat16;
}
bool is_known(ncclRedOp_t op) {
  return op >= ncclSum && op <= ncclAvg;
}

void reduce(const std::vector<std::vector<unsigned char>>& parts, std::size_t from, std::size_t count,
            ncclDataType_t type, ncclRedOp_t op, unsigned char* out) {
  switch (type) {
    case ncclInt8:
      return reduce_as<std::int8_t, std::int32_t>(parts, from, count, op, out);
    case ncclUint8:
      return reduce_as<std::uint8_t, std::uint32_t>(parts, from, count, op, out);
    case ncclInt32:
      return reduce_as<std::int32_t, std::int32_t>(parts, from, count, op, out);
    case ncclUint32:
      return reduce_as<std::uint32_t, std::uint32_t>(parts, from, count, op, out);
    case ncclInt64:
      return reduce_as<std::int64_t, std::int64_t>(parts, from, count, op, out);
    case ncclUint64:
      return reduce_as<std::uint64_t, std::uint64_t>(parts, from, count, op, out);
    case ncclFloat16:
      return reduce_as<__half, float>(parts, from, count, op, out);
    case ncclBfloat16:
      return reduce_as<__nv_bfloat16, float>(parts, from, count, op, out);
    case ncclFloat64:
      return reduce_as<double, double>(parts, from, count, op, out);
    default:
      return reduce_as<float, float>(parts, from, count, op, out);
  }
}

}  // namespace mirrorscale::emulated_cuda
