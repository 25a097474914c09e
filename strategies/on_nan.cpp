#include "strategies/on_nan.h"

#include <string>

namespace mirrorscale::strategies {

OnNan on_nan_from(std::string_view name) {
  if (name == "continue") return OnNan::kContinue;
  if (name == "skip") return OnNan::kSkip;
  if (name == "stop") return OnNan::kStop;
  throw std::invalid_argument("[fit] on_nan is '" + std::string(name) + "'; there are: continue, skip, stop");
}

}  // namespace mirrorscale::strategies
