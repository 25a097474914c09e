#pragma once
#include "harness/record/record.h"

#include <filesystem>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A recorded plan as a file that `mirrorscale sweep --plan` reads.
std::string plan_file_text(const harness::Plan& plan);

/// Runs a plan `launches` times, each as a process of its own (addresses, pages and threads are laid out
/// anew), one after the other. Returns their record files, which stay in `folder`. Throws std::runtime_error
/// when a launch can't run, or measures another plan than this.
std::vector<std::filesystem::path> measure_now(const harness::Plan& plan, int launches,
                                               const std::filesystem::path& folder);

}  // namespace mirrorscale::scenarios
