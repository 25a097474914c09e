#pragma once

namespace mirrorscale::harness {

/// Seconds since some fixed moment; never goes back.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual double now_s() const = 0;
};

/// The machine's monotonic clock. Its zero is the moment it was made.
class SteadyClock final : public Clock {
 public:
  SteadyClock();
  double now_s() const override;

 private:
  long long start_ns_;
};

/// A clock that a test sets.
class HandClock final : public Clock {
 public:
  double now_s() const override { return now_s_; }
  /// Throws std::invalid_argument for a negative step: time does not go back.
  void advance_s(double seconds);

 private:
  double now_s_ = 0;
};

}  // namespace mirrorscale::harness
