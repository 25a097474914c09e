#pragma once
#include <vector>

namespace mirrorscale::strategies {

/// Processing units (Linux CPU numbers) this process may use, one hardware thread of each core first, cores
/// of one memory node together. Never empty.
std::vector<int> usable_units();

/// Binds the calling thread to one processing unit. Throws std::runtime_error when the system refuses.
void bind_this_thread(int unit);

}  // namespace mirrorscale::strategies
