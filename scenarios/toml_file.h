#pragma once
#include <filesystem>
#include <string>
#include <toml++/toml.h>
#include <utility>

namespace mirrorscale::scenarios {

/// A TOML file that people write. Everything wrong in it is told as "[kind] path:line: …".
class TomlFile {
 public:
  /// `kind`: of file, as in "[plan]".
  TomlFile(std::string kind, std::filesystem::path path) : kind_(std::move(kind)), path_(std::move(path)) {}
  const std::filesystem::path& path() const { return path_; }

  /// Its bytes. Throws std::runtime_error for a file that isn't there.
  std::string content() const;
  /// The same, and std::invalid_argument for one that isn't TOML.
  toml::table parse() const;
  /// Throws std::invalid_argument.
  [[noreturn]] void refuse(const toml::source_region& at, const std::string& text) const;
  /// What `node`, the value of `key`, holds; anything else is refused.
  std::string text(const std::string& key, const toml::node& node) const;
  bool truth(const std::string& key, const toml::node& node) const;
  const toml::table& table(const std::string& key, const toml::node& node) const;
  /// Each table of [[key]].
  template <class Visit>
  void each(const std::string& key, const toml::node& node, Visit visit) const {
    const auto* array = node.as_array();
    if (array == nullptr) refuse(node.source(), "'" + key + "' is a list of tables: [[" + key + "]]");
    for (const toml::node& item : *array) visit(table(key, item));
  }

 private:
  std::string kind_;
  std::filesystem::path path_;
};

}  // namespace mirrorscale::scenarios
