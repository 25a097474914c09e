#include "harness/sweep/axis.h"
#include "scenarios/sweep/plan.h"
#include "scenarios/toml_file.h"

#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {
namespace {

class Reader : public TomlFile {
 public:
  explicit Reader(const std::filesystem::path& path) : TomlFile("plan", path) {}

  std::vector<std::int64_t> integers(const std::string& key, const toml::node& node,
                                     std::int64_t least) const {
    if (const auto* text = node.as_string()) return harness::parse_integer_axis(key, text->get(), least);
    std::string joined;
    for_each(node, [&](const toml::node& item) {
      const auto* number = item.as_integer();
      if (number == nullptr)
        refuse(item.source(), "'" + key + "' needs whole numbers or axis text such as \"1,2,4\"");
      joined += (joined.empty() ? "" : ",") + std::to_string(number->get());
    });
    return harness::parse_integer_axis(key, joined, least);
  }
  std::vector<std::string> names(const std::string& key, const toml::node& node) const {
    std::string joined;
    for_each(node, [&](const toml::node& item) { joined += (joined.empty() ? "" : ",") + text(key, item); });
    return harness::parse_name_axis(key, joined);
  }
  double number(const std::string& key, const toml::node& node) const {
    if (const auto value = node.value<double>()) return *value;
    refuse(node.source(), "'" + key + "' needs a number");
  }
  int count(const std::string& key, const toml::node& node) const {
    const auto* value = node.as_integer();
    if (value == nullptr || value->get() < 1 || value->get() > 1'000'000) {
      refuse(node.source(), "'" + key + "' needs a whole number from 1 to 1000000");
    }
    return static_cast<int>(value->get());
  }

 private:
  template <class Visit>
  void for_each(const toml::node& node, Visit visit) const {
    if (const auto* array = node.as_array()) {
      for (const toml::node& item : *array) visit(item);
    } else {
      visit(node);
    }
  }
};

}  // namespace

void read_plan_file(const std::filesystem::path& path, SweepPlan& plan) {
  const Reader read(path);
  const toml::table root = read.parse();
  for (const auto& [table_key, node] : root) {
    const std::string section(table_key.str());
    const auto* table = node.as_table();
    if (table == nullptr || (section != "axes" && section != "settings")) {
      read.refuse(node.source(),
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
        plan.graphs = read.truth(key, value);
      else if (section == "settings" && key == "registered_buffers")
        plan.registered_buffers = read.truth(key, value);
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
        read.refuse(value.source(),
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
