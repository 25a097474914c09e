#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace mirrorscale::harness {

/// Steps are steady when the median of the last `window` steps is within `tolerance` of the median of the
/// `window` before them, and none of the last `window` is a first call (the first `fewest` never count).
struct WarmupOptions {
  int fewest = 2;  // steps that are warm-up whatever they look like: allocations, first touch, connections
  int window = 5;
  double tolerance = 0.02;
  int most = 200;  // then it is called steady anyway, and `settled()` says it is not
};

/// Fed with step times one by one; tells when to begin counting.
class WarmupDetector {
 public:
  explicit WarmupDetector(const WarmupOptions& options = {});
  /// True when warm-up is over: the next step is the first that counts.
  bool add(double step_s);
  int steps() const { return static_cast<int>(steps_s_.size()); }
  bool done() const { return done_; }
  /// False when `most` steps went by without a steady window; a record should say so.
  bool settled() const { return settled_; }

 private:
  WarmupOptions options_;
  std::vector<double> steps_s_;
  bool done_ = false, settled_ = false;
};

/// Drift: median of the last third over the median of the first third, minus 1; 0.2 for a card that slowed
/// from 10 to 12 ms. Empty below 9 values.
std::optional<double> drift(std::span<const double> values);

}  // namespace mirrorscale::harness
