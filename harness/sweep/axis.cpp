#include "harness/sweep/axis.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <stdexcept>
#include <unordered_set>

namespace mirrorscale::harness {
namespace {

constexpr std::size_t kMostValues = 10'000;

[[noreturn]] void refuse(std::string_view name, std::string_view text, const std::string& why) {
  throw std::invalid_argument(fmt::format("[axis] --{} \"{}\": {}; {}", name, text, why, kAxisGrammar));
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    parts.push_back(trimmed(text.substr(start, end - start)));
    start = end + 1;
  }
  return parts;
}

/// A whole number and nothing else.
std::optional<std::int64_t> integer(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return {};
  return value;
}

class IntegerAxisParser {
 public:
  IntegerAxisParser(std::string_view name, std::string_view text, std::int64_t least)
      : name_(name), text_(text), least_(least) {}

  std::vector<std::int64_t> parse() {
    for (const std::string_view item : split(text_, ',')) {
      if (item.empty()) refuse("an empty item");
      if (item.front() == '[' || item.back() == ']') {
        if (item.size() < 2 || item.front() != '[' || item.back() != ']') {
          refuse(fmt::format("unbalanced bracket in \"{}\"", item));
        }
        add_range(item, item.substr(1, item.size() - 2));
      } else {
        add(number(item));
      }
    }
    return std::move(values_);
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const { harness::refuse(name_, text_, why); }

  std::int64_t number(std::string_view text) const {
    const auto value = integer(text);
    if (!value) refuse(fmt::format("\"{}\" is no whole number", text));
    return *value;
  }

  void add(std::int64_t value) {
    if (value < least_) refuse(fmt::format("{} is less than {}", value, least_));
    if (!seen_.insert(value).second) refuse(fmt::format("{} appears twice", value));
    if (values_.size() == kMostValues) refuse(fmt::format("more than {} values", kMostValues));
    values_.push_back(value);
  }

  void add_range(std::string_view item, std::string_view inside) {
    const auto parts = split(inside, ':');
    if (parts.size() < 2 || parts.size() > 3) refuse(fmt::format("\"{}\" is no range", item));
    const std::int64_t first = number(parts[0]), last = number(parts[1]);
    if (first > last) refuse(fmt::format("\"{}\" ends before it begins", item));
    const bool multiply = parts.size() == 3 && parts[2].starts_with('*');
    const std::int64_t by = parts.size() == 2 ? 1 : number(parts[2].substr(multiply ? 1 : 0));
    if (by < (multiply ? 2 : 1) || (multiply && first < 1)) {
      refuse(fmt::format(
          "\"{}\" never arrives: expected {}", item,
          multiply ? "a first value of 1 or more and a factor of 2 or more" : "a step of 1 or more"));
    }
    for (std::int64_t value = first;;) {
      add(value);
      // Asked before the step is taken, so that nothing overflows.
      if (multiply ? value > last / by : value > last - by) return;
      value = multiply ? value * by : value + by;
    }
  }

  std::string_view name_, text_;
  std::int64_t least_;
  std::vector<std::int64_t> values_;
  std::unordered_set<std::int64_t> seen_;
};

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("._:/+-=").find(c) != std::string_view::npos;
}

}  // namespace

const std::string_view kAxisGrammar =
    "expected e.g. 1,2,4 or [1:8] or [1:9:2] (step) or [256:2048:*2] (factor), separated by commas";

std::vector<std::int64_t> parse_integer_axis(std::string_view name, std::string_view text,
                                             std::int64_t least) {
  return IntegerAxisParser(name, text, least).parse();
}

std::vector<std::string> parse_name_axis(std::string_view name, std::string_view text) {
  const auto refuse_name = [&](const std::string& why) {
    throw std::invalid_argument(
        fmt::format("[axis] --{} \"{}\": {}; expected names separated by commas, e.g. adam,sgd "
                    "(letters, digits and . _ : / + - =)",
                    name, text, why));
  };
  std::vector<std::string> names;
  for (const std::string_view item : split(text, ',')) {
    if (item.empty()) refuse_name("an empty name");
    if (!std::ranges::all_of(item, is_name_character)) refuse_name(fmt::format("\"{}\" is no name", item));
    if (std::ranges::find(names, item) != names.end()) refuse_name(fmt::format("{} appears twice", item));
    names.emplace_back(item);
  }
  return names;
}

}  // namespace mirrorscale::harness
