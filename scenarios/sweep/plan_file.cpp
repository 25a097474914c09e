#include "harness/sweep/axis.h"
#include "scenarios/sweep/plan.h"

#include <stdexcept>
#include <string>
#include <toml++/toml.h>

namespace mirrorscale::scenarios {
namespace {

[[noreturn]] void refuse(const std::filesystem::path& path, const toml::source_region& at,
                         const std::string& text) {
  throw std::invalid_argument("[plan] " + path.string() + ":" + std::to_string(at.begin.line) + ": " + text);
}

class Reader {
 public:
  explicit Reader(const std::filesystem::path& path) : path_(path) {}

  std::vector<std::int64_t> integers(const std::string& key, const toml::node& node,
                                     std::int64_t least) const {
    if (const auto* text = node.as_string()) return harness::parse_integer_axis(key, text->get(), least);
    std::string joined;
    each(node, [&](const toml::node& item) {
      const auto* number = item.as_integer();
      if (number == nullptr)
        refuse(path_, item.source(), "'" + key + "' needs whole numbers or axis text such as \"1,2,4\"");
      joined += (joined.empty() ? "" : ",") + std::to_string(number->get());
    });
    return harness::parse_integer_axis(key, joined, least);
  }
  std::vector<std::string> names(const std::string& key, const toml::node& node) const {
    std::string joined;
    each(node, [&](const toml::node& item) { joined += (joined.empty() ? "" : ",") + text(key, item); });
    return harness::parse_name_axis(key, joined);
  }
  std::string text(const std::string& key, const toml::node& node) const {
    if (const auto* value = node.as_string()) return value->get();
    refuse(path_, node.source(), "'" + key + "' needs a text");
  }
  bool flag(const std::string& key, const toml::node& node) const {
    if (const auto* value = node.as_boolean()) return value->get();
    refuse(path_, node.source(), "'" + key + "' needs true or false");
  }
  double number(const std::string& key, const toml::node& node) const {
    if (const auto value = node.value<double>()) return *value;
    refuse(path_, node.source(), "'" + key + "' needs a number");
  }
  int count(const std::string& key, const toml::node& node) const {
    const auto* value = node.as_integer();
    if (value == nullptr || value->get() < 1 || value->get() > 1'000'000) {
      refuse(path_, node.source(), "'" + key + "' needs a whole number from 1 to 1000000");
    }
    return static_cast<int>(value->get());
  }

 private:
  template <class Visit>
  void each(const toml::node& node, Visit visit) const {
    if (const auto* array = node.as_array()) {
      for (const toml::node& item : *array) visit(item);
    } else {
      visit(node);
    }
  }
  const std::filesystem::path& path_;
};

}  // namespace

void read_plan_file(const std::filesystem::path& path, SweepPlan& plan) {
  if (!std::filesystem::is_regular_file(path)) {
    throw std::runtime_error("[plan] " + path.string() + ": no such file");
  }
  toml::table root;
  try {
    root = toml::parse_file(path.string());
  } catch (const toml::parse_error& e) {
    if (!std::filesystem::exists(path))
      throw std::runtime_error("[plan] " + path.string() + ": no such file");
    refuse(path, e.source(), std::string(e.description()));
  }
  const Reader read(path);
  for (const auto& [table_key, node] : root) {
    const std::string section(table_key.str());
    const auto* table = node.as_table();
    if (table == nullptr || (section != "axes" && section != "settings")) {
      refuse(path, node.source(),
             "'" + section + "' is not known; there are the tables [axes] and [settings]");
    }
    for (const auto& [item_key, value] : *table) {
      const std::string key(item_key.str());
      if (section == "axes" && key == "devices")
        plan.devices = read.integers(key, value, 1);
      else if (section == "axes" && key == "global_batch")
        plan.global_batches = read.integers(key, value, 1);
      else if (section == "axes" && key == "local_batch")
        plan.local_batches = read.integers(key, value, 1);
      else if (section == "axes" && key == "seed")
        plan.seeds = read.integers(key, value, 0);
      else if (section == "axes" && key == "workload")
        plan.workloads = read.names(key, value);
      else if (section == "axes" && key == "optimizer")
        plan.optimizers = read.names(key, value);
      else if (section == "settings" && key == "data")
        plan.data = read.text(key, value);
      else if (section == "settings" && key == "backend")
        plan.backend = read.text(key, value);
      else if (section == "settings" && key == "reduction")
        plan.reduction = read.text(key, value);
      else if (section == "settings" && key == "numerics")
        plan.numerics = read.text(key, value);
      else if (section == "settings" && key == "precision" && value.is_string())
        plan.precision = read.text(key, value);
      else if (section == "settings" && key == "cross_device_ops")
        plan.cross_device_ops = read.text(key, value);
      else if (section == "settings" && key == "graphs")
        plan.graphs = read.flag(key, value);
      else if (section == "settings" && key == "registered_buffers")
        plan.registered_buffers = read.flag(key, value);
      else if (section == "settings" && key == "wait_limit_s")
        plan.wait_limit_s = read.number(key, value);
      else if (section == "settings" && key == "budget_s")
        plan.stopping.budget_s = read.number(key, value);
      else if (section == "settings" && (key == "half_width" || key == "precision"))
        plan.stopping.relative_half_width = read.number(key, value);
      else if (section == "settings" && key == "slices")
        plan.stopping.most_slices = read.count(key, value);
      else if (section == "settings" && key == "slice_s")
        plan.slice_s = read.number(key, value);
      else if (section == "settings" && key == "most_disturbed")
        plan.most_disturbed = read.number(key, value);
      else {
        refuse(path, value.source(),
               "'" + key + "' is not known in [" + section +
                   "]; [axes] has devices, global_batch, local_batch, workload, "
                   "optimizer, seed; [settings] has data, backend, numerics, precision, reduction, "
                   "cross_device_ops, graphs, registered_buffers, wait_limit_s, budget_s, half_width, "
                   "slices, slice_s, most_disturbed");
      }
    }
  }
}

}  // namespace mirrorscale::scenarios
