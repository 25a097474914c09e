#include "scenarios/cells/room.h"

#include "harness/output/format.h"

#include <cstdint>

namespace mirrorscale::scenarios {

int largest_batch(const std::function<std::size_t(int)>& bytes_of, int batch, std::size_t room) {
  int fits = 0, too_large = batch;
  while (too_large - fits > 1) {
    const int middle = fits + (too_large - fits) / 2;
    (bytes_of(middle) <= room ? fits : too_large) = middle;
  }
  return fits;
}

std::string with_largest_batch(const kernels::OutOfMemory& error,
                               const std::function<std::size_t(int)>& bytes_of, int batch) {
  const std::size_t room = error.own_bytes + error.free_bytes, needed = bytes_of(batch);
  const auto size = [](std::size_t bytes) { return harness::format_bytes(static_cast<std::int64_t>(bytes)); };
  const std::string start = std::string(error.what()) + "; the plan needs " + size(needed) +
                            " a device at global batch " + std::to_string(batch);
  if (needed <= room) {
    return start + "; " + size(room) +
           " were left for it, which what others need beside the plan used up (NCCL, " +
           "CUDA, other programs)";
  }
  const int fits = largest_batch(bytes_of, batch, room);
  if (fits == 0) return start + ", and no batch fits into the " + size(room) + " left for it";
  return start + "; the largest that fits into the " + size(room) + " left for it is " + std::to_string(fits);
}

}  // namespace mirrorscale::scenarios
