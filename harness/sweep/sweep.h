#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mirrorscale::harness {

/// One value per axis, in axis order.
class Point {
 public:
  explicit Point(std::vector<std::pair<std::string, std::string>> values) : values_(std::move(values)) {}
  /// Throws std::out_of_range naming the axes there are.
  const std::string& text(std::string_view axis) const;
  std::int64_t integer(std::string_view axis) const;
  /// "devices=2/global_batch=256": names the point within its sweep.
  std::string key() const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

/// Named axes and their product.
class Sweep {
 public:
  /// Throws std::invalid_argument for an axis without values, with repeats, or that is there already.
  Sweep& axis(std::string name, std::vector<std::string> values);
  Sweep& integers(std::string name, const std::vector<std::int64_t>& values);
  /// All points; the last axis runs fastest. One empty point when there are no axes.
  std::vector<Point> points() const;
  std::size_t size() const;
  const std::vector<std::pair<std::string, std::vector<std::string>>>& axes() const { return axes_; }

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> axes_;
};

}  // namespace mirrorscale::harness
