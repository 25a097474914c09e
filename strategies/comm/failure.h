#pragma once
#include <stdexcept>
#include <string>

namespace mirrorscale::strategies {

/// Thrown on the ranks that waited for one that failed or is late; says which, where, and after what time.
class GroupBroken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A rank did not come back within the limit after the group broke; its thread is left behind.
class RankLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace mirrorscale::strategies
