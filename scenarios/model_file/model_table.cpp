#include "scenarios/model_file/model_table.h"

#include <fmt/format.h>
#include <limits>
#include <stdexcept>

namespace mirrorscale::scenarios {

const toml::node* ModelTable::find(const std::string& key) {
  known_.insert(key);
  return table_.get(key);
}

const toml::node& ModelTable::need(const std::string& key) {
  if (const toml::node* node = find(key)) return *node;
  refuse("'" + key + "' is missing");
}

std::string ModelTable::text(const std::string& key) {
  return file_.text(key, need(key));
}

std::string ModelTable::text(const std::string& key, const std::string& otherwise) {
  return find(key) == nullptr ? otherwise : text(key);
}

std::vector<std::string> ModelTable::texts(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<std::string> all;
  const auto* array = node->as_array();
  if (array == nullptr) file_.refuse(node->source(), "'" + key + "' needs a list of texts");
  for (const toml::node& item : *array) {
    const auto* value = item.as_string();
    if (value == nullptr) file_.refuse(item.source(), "'" + key + "' needs a list of texts");
    all.push_back(value->get());
  }
  return all;
}

bool ModelTable::flag(const std::string& key, bool otherwise) {
  const toml::node* node = find(key);
  return node == nullptr ? otherwise : file_.truth(key, *node);
}

double ModelTable::number(const std::string& key, double otherwise, double least, double most) {
  const toml::node* node = find(key);
  if (node == nullptr) return otherwise;
  const auto value = node->value<double>();
  if (value && *value >= least && *value <= most) return *value;
  file_.refuse(node->source(), fmt::format("'{}' needs a number from {} to {}", key, least, most));
}

int ModelTable::count_of(const std::string& key, const toml::node& node) const {
  const auto* value = node.as_integer();
  if (value != nullptr && value->get() >= 1 && value->get() <= std::numeric_limits<int>::max() / 64)
    return static_cast<int>(value->get());
  file_.refuse(node.source(), "'" + key + "' needs a whole number of at least 1");
}

int ModelTable::count(const std::string& key) {
  return count_of(key, need(key));
}

int ModelTable::count(const std::string& key, int otherwise) {
  const toml::node* node = find(key);
  return node == nullptr ? otherwise : count_of(key, *node);
}

int ModelTable::units(const std::string& key, int outputs) {
  const toml::node& node = need(key);
  const auto* word = node.as_string();
  if (word == nullptr) return count_of(key, node);
  if (word->get() == "outputs") return outputs;
  file_.refuse(node.source(),
               "'" + key + "' needs a whole number or \"outputs\": what the data have to predict");
}

std::vector<int> ModelTable::counts(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  const auto* array = node->as_array();
  if (array == nullptr) return {count_of(key, *node)};
  std::vector<int> all;
  for (const toml::node& item : *array) all.push_back(count_of(key, item));
  return all;
}

std::vector<ModelTable> ModelTable::tables(const std::string& key) {
  const toml::node* node = find(key);
  if (node == nullptr) return {};
  std::vector<ModelTable> all;
  file_.each(key, *node, [&](const toml::table& table) { all.emplace_back(file_, table); });
  return all;
}

void ModelTable::require_all_known() const {
  std::string known;
  for (const std::string& key : known_) known += (known.empty() ? "" : ", ") + key;
  for (const auto& [key, node] : table_) {
    if (!known_.contains(std::string(key.str())))
      file_.refuse(node.source(), fmt::format("'{}' is not known here; there are {}", key.str(), known));
  }
}

}  // namespace mirrorscale::scenarios
