#pragma once
#include "harness/record/record.h"

#include <cstdint>
#include <string>

namespace mirrorscale::harness {

/// What is known here about machine, build and process. Left to the caller: backend, target, targets,
/// numerics, nvtx, and libraries of other folders.
Environment detect_environment();

/// Fingerprint of what makes machines comparable: CPU model, cores, memory (GiB, rounded), instruction set
/// (`target`).
std::string machine_fingerprint(const Environment& environment);

/// "0.1.0", and the revision of the working tree this was built from ("+changes" when it was not clean), or
/// "unknown".
std::string version();
std::string git_revision();

/// Now, as "2024-06-07T09:30:00Z".
std::string utc_now();
/// Unique: the time, and some hexadecimal digits from the system's random source.
std::string make_run_id();

/// Highest resident memory of this program so far; what its parent had before it started this program is not
/// in it (getrusage would count that).
std::int64_t process_peak_bytes();
/// What programs may still take of the host's memory: what the kernel calls available, less where a control
/// group leaves less.
std::int64_t available_memory_bytes();

}  // namespace mirrorscale::harness
