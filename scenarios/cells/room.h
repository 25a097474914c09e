#pragma once
#include "kernels/device_error.h"

#include <cstddef>
#include <functional>
#include <string>

namespace mirrorscale::scenarios {

/// Largest batch below `batch` of which `bytes_of` (which grows with the batch) is at most `room`; 0: none.
int largest_batch(const std::function<std::size_t(int)>& bytes_of, int batch, std::size_t room);

/// One sentence: bytes asked, used and free, and the largest global batch that fits by `bytes_of`, the
/// planned bytes of a device at a batch, into what is free and what it had got already.
std::string with_largest_batch(const kernels::OutOfMemory& error,
                               const std::function<std::size_t(int)>& bytes_of, int batch);

}  // namespace mirrorscale::scenarios
