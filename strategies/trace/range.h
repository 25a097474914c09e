#pragma once
#include <string_view>

namespace mirrorscale::strategies {

/// A named span of time on the calling thread, for profilers: an NVTX push/pop range in the domain
/// "mirrorscale". Nothing in a build without NVTX.
class TraceRange {
 public:
  explicit TraceRange(const char* name);
  ~TraceRange();
  TraceRange(const TraceRange&) = delete;
  TraceRange& operator=(const TraceRange&) = delete;
};

/// Whether this build marks NVTX ranges.
bool trace_available();
/// Names the calling thread in profilers ("cpu:0").
void name_this_thread(std::string_view name);

}  // namespace mirrorscale::strategies
