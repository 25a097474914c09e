#include "harness/sweep/sweep.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::harness {

const std::string& Point::text(std::string_view axis) const {
  const auto found =
      std::ranges::find(values_, axis, [](const auto& value) -> std::string_view { return value.first; });
  if (found != values_.end()) return found->second;
  std::string there;
  for (const auto& [name, value] : values_) there += (there.empty() ? "" : ", ") + name;
  throw std::out_of_range(
      fmt::format("[Point] no axis \"{}\"; there are: {}", axis, there.empty() ? "none" : there));
}

std::int64_t Point::integer(std::string_view axis) const {
  const std::string& value = text(axis);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    throw std::invalid_argument(fmt::format("[Point] axis \"{}\" is \"{}\", no whole number", axis, value));
  }
  return number;
}

std::string Point::key() const {
  std::string key;
  for (const auto& [name, value] : values_)
    key += fmt::format("{}{}={}", key.empty() ? "" : "/", name, value);
  return key;
}

Sweep& Sweep::axis(std::string name, std::vector<std::string> values) {
  if (values.empty()) throw std::invalid_argument(fmt::format("[Sweep] axis \"{}\" has no values", name));
  if (std::ranges::find(axes_, name, [](const auto& axis) { return axis.first; }) != axes_.end()) {
    throw std::invalid_argument(fmt::format("[Sweep] axis \"{}\" is there already", name));
  }
  auto ordered = values;
  std::ranges::sort(ordered);
  if (const auto twice = std::ranges::adjacent_find(ordered); twice != ordered.end()) {
    throw std::invalid_argument(fmt::format("[Sweep] axis \"{}\" has {} twice", name, *twice));
  }
  axes_.emplace_back(std::move(name), std::move(values));
  return *this;
}

Sweep& Sweep::integers(std::string name, const std::vector<std::int64_t>& values) {
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const std::int64_t value : values) texts.push_back(std::to_string(value));
  return axis(std::move(name), std::move(texts));
}

std::size_t Sweep::size() const {
  std::size_t product = 1;
  for (const auto& [name, values] : axes_) product *= values.size();
  return product;
}

std::vector<Point> Sweep::points() const {
  std::vector<Point> points;
  points.reserve(size());
  for (std::size_t index = 0; index < size(); ++index) {
    std::vector<std::pair<std::string, std::string>> values(axes_.size());
    std::size_t rest = index;
    for (std::size_t a = axes_.size(); a-- > 0;) {
      const auto& [name, choices] = axes_[a];
      values[a] = {name, choices[rest % choices.size()]};
      rest /= choices.size();
    }
    points.emplace_back(std::move(values));
  }
  return points;
}

}  // namespace mirrorscale::harness
