#pragma once
#include "scenarios/baseline/store.h"

#include <string>

namespace mirrorscale::scenarios {

/// The whole file, with content_sha256 filled in in `baseline`.
std::string to_text(Baseline& baseline);

}  // namespace mirrorscale::scenarios
