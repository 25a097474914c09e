#include "scenarios/gate/config.h"
#include "scenarios/toml_file.h"

#include <fmt/format.h>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

class Reader : public TomlFile {
 public:
  explicit Reader(const std::filesystem::path& path) : TomlFile("gate", path) {}

  double fraction(const std::string& key, const toml::node& node, double most) const {
    const auto value = node.value<double>();
    if (!value || !(*value >= 0 && *value <= most)) {
      refuse(node.source(),
             fmt::format("'{}' needs a number from 0 to {} (a fraction: 0.05 is 5 %)", key, most));
    }
    return *value;
  }
  std::string text(const std::string& key, const toml::node& node) const {
    std::string value = TomlFile::text(key, node);
    if (value.empty()) refuse(node.source(), "'" + key + "' needs a text");
    return value;
  }
  /// Whether this verdict fails the gate.
  bool fails(const std::string& key, const toml::node& node) const {
    const std::string word = text(key, node);
    if (word != "fail" && word != "pass") refuse(node.source(), "'" + key + "' needs \"fail\" or \"pass\"");
    return word == "fail";
  }
  Metric metric(const toml::node& node) const {
    try {
      return metric_from_word(text("metric", node));
    } catch (const std::invalid_argument& error) {
      refuse(node.source(), error.what());
    }
  }
  [[noreturn]] void unknown(const std::string& key, const toml::node& node, const char* where,
                            const char* known) const {
    refuse(node.source(), fmt::format("'{}' is not known in {}; there are {}", key, where, known));
  }
};

MetricLimits limits_from(const Reader& read, const toml::table& table, MetricLimits limits) {
  for (const auto& [item, node] : table) {
    const std::string key(item.str());
    if (key == "effect")
      limits.effect = read.fraction(key, node, 1);
    else if (key == "drift")
      limits.drift = read.fraction(key, node, 10);
    else if (key == "relative_drift")
      limits.relative_drift = read.fraction(key, node, 10);
    else if (key == "gate")
      limits.gated = read.truth(key, node);
    else
      read.unknown(key, node, "[metric]", "effect, drift, relative_drift, gate");
  }
  return limits;
}

CellRule rule_from(const Reader& read, const toml::table& table) {
  CellRule rule;
  for (const auto& [item, node] : table) {
    const std::string key(item.str());
    if (key == "match")
      rule.match = read.text(key, node);
    else if (key == "metric")
      rule.metric = read.metric(node);
    else if (key == "effect")
      rule.effect = read.fraction(key, node, 1);
    else if (key == "drift")
      rule.drift = read.fraction(key, node, 10);
    else if (key == "relative_drift")
      rule.relative_drift = read.fraction(key, node, 10);
    else if (key == "gate")
      rule.gated = read.truth(key, node);
    else
      read.unknown(key, node, "[[cell]]", "match, metric, effect, drift, relative_drift, gate");
  }
  if (rule.match.empty()) read.refuse(table.source(), "a [[cell]] needs 'match', a pattern of cell keys");
  return rule;
}

Waiver waiver_from(const Reader& read, const toml::table& table) {
  Waiver waiver;
  for (const auto& [item, node] : table) {
    const std::string key(item.str());
    if (key == "match")
      waiver.match = read.text(key, node);
    else if (key == "metric")
      waiver.metric = read.metric(node);
    else if (key == "reason")
      waiver.reason = read.text(key, node);
    else if (key == "until") {
      const auto* date = node.as_date();
      if (date == nullptr) read.refuse(node.source(), "'until' needs a date: until = 2027-01-31");
      waiver.until = fmt::format("{:04}-{:02}-{:02}", date->get().year, date->get().month, date->get().day);
    } else
      read.unknown(key, node, "[[waiver]]", "match, metric, until, reason");
  }
  if (waiver.match.empty() || waiver.until.empty() || waiver.reason.empty()) {
    read.refuse(table.source(), "a [[waiver]] needs 'match', 'until' (its last day) and 'reason'");
  }
  return waiver;
}

}  // namespace

GateConfig read_gate_config(const std::filesystem::path& path) {
  const Reader read(path);
  const toml::table root = read.parse();
  GateConfig config;
  for (const auto& [item, node] : root) {
    const std::string key(item.str());
    if (key == "alpha") {
      config.options.alpha = read.fraction(key, node, 0.49);
      if (config.options.alpha < 1e-6) read.refuse(node.source(), "'alpha' needs at least 0.000001");
    } else if (key == "ambiguous") {
      config.ambiguous_fails = read.fails(key, node);
    } else if (key == "missing") {
      config.missing_fails = read.fails(key, node);
    } else if (key == "session_gap_s") {
      config.session_gap_s = read.fraction(key, node, 1e9);
    } else if (key == "fewest_sessions") {
      const auto* value = node.as_integer();
      if (value == nullptr || value->get() < 3 || value->get() > 1000)
        read.refuse(node.source(), "'fewest_sessions' needs a whole number from 3 to 1000");
      config.fewest_sessions = static_cast<int>(value->get());
    } else if (key == "metric") {
      for (const auto& [name, limits] : read.table(key, node)) {
        Metric metric = Metric::kThroughput;
        try {
          metric = metric_from_word(name.str());
        } catch (const std::invalid_argument& error) {
          read.refuse(limits.source(), error.what());
        }
        config.metrics[metric] = limits_from(read, read.table("metric." + std::string(name.str()), limits),
                                             config.metrics[metric]);
      }
    } else if (key == "cell") {
      read.each(key, node, [&](const toml::table& t) { config.rules.push_back(rule_from(read, t)); });
    } else if (key == "waiver") {
      read.each(key, node, [&](const toml::table& t) { config.waivers.push_back(waiver_from(read, t)); });
    } else {
      read.unknown(key, node, "the file",
                   "alpha, ambiguous, missing, session_gap_s, fewest_sessions, [metric.NAME], [[cell]], "
                   "[[waiver]]");
    }
  }
  return config;
}

}  // namespace mirrorscale::scenarios
