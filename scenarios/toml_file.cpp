#include "scenarios/toml_file.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace mirrorscale::scenarios {

std::string TomlFile::content() const {
  std::ifstream file(path_, std::ios::binary);
  if (!std::filesystem::is_regular_file(path_) || !file) {
    throw std::runtime_error(
        fmt::format("[{}] {}: no such file, or it can't be read", kind_, path_.string()));
  }
  return {std::istreambuf_iterator<char>(file), {}};
}

toml::table TomlFile::parse() const {
  const std::string all = content();
  try {
    return toml::parse(all, path_.string());
  } catch (const toml::parse_error& error) {
    refuse(error.source(), std::string(error.description()));
  }
}

void TomlFile::refuse(const toml::source_region& at, const std::string& text) const {
  throw std::invalid_argument(fmt::format("[{}] {}:{}: {}", kind_, path_.string(), at.begin.line, text));
}

std::string TomlFile::text(const std::string& key, const toml::node& node) const {
  if (const auto* value = node.as_string()) return value->get();
  refuse(node.source(), "'" + key + "' needs a text");
}

bool TomlFile::truth(const std::string& key, const toml::node& node) const {
  if (const auto* value = node.as_boolean()) return value->get();
  refuse(node.source(), "'" + key + "' needs true or false");
}

const toml::table& TomlFile::table(const std::string& key, const toml::node& node) const {
  if (const auto* value = node.as_table()) return *value;
  refuse(node.source(), "'" + key + "' needs a table");
}

}  // namespace mirrorscale::scenarios
