#pragma once
#include "scenarios/toml_file.h"

#include <set>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// One table of a model file. Its keys are asked for one by one; what nobody has asked for is then refused.
/// All throw std::invalid_argument with file, line and key.
class ModelTable {
 public:
  ModelTable(const TomlFile& file, const toml::table& table) : file_(file), table_(table) {}

  [[noreturn]] void refuse(const std::string& text) const { file_.refuse(table_.source(), text); }
  bool has(const std::string& key) { return find(key) != nullptr; }
  std::string text(const std::string& key);
  std::string text(const std::string& key, const std::string& otherwise);
  std::vector<std::string> texts(const std::string& key);
  bool flag(const std::string& key, bool otherwise);
  double number(const std::string& key, double otherwise, double least, double most);
  /// A whole number of 1 or more.
  int count(const std::string& key);
  int count(const std::string& key, int otherwise);
  /// As count, or the word "outputs", which stands for `outputs`.
  int units(const std::string& key, int outputs);
  std::vector<int> counts(const std::string& key);
  /// The tables of a list [[key]]; empty where there is none.
  std::vector<ModelTable> tables(const std::string& key);
  /// Refuses a key that hasn't been asked for.
  void require_all_known() const;

 private:
  const toml::node* find(const std::string& key);
  const toml::node& need(const std::string& key);
  int count_of(const std::string& key, const toml::node& node) const;

  TomlFile file_;
  const toml::table& table_;
  std::set<std::string> known_;
};

}  // namespace mirrorscale::scenarios
