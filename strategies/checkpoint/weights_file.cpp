#include "strategies/checkpoint/weights_file.h"

#include "strategies/checkpoint/safetensors.h"
#include "strategies/input/data_error.h"
#include "strategies/input/npz.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace mirrorscale::strategies {
namespace {

bool is_npz(const std::filesystem::path& file) {
  require_weights_name(file);
  return file.extension() == ".npz";
}

std::vector<NamedArray> read_npz(const std::filesystem::path& file) {
  const NpzFile archive(file);
  std::vector<NamedArray> arrays;
  for (const std::string& name : archive.list()) {
    const NpyArray values = archive.read(name);
    if (!values.is_floating())
      throw DataError(archive.source(name), "whole numbers", "weights of type float32 or float64");
    NamedArray array{name, {values.shape.begin(), values.shape.end()}, std::vector<float>(values.values())};
    for (std::size_t i = 0; i < array.values.size(); ++i)
      array.values[i] = static_cast<float>(values.value(i));
    arrays.push_back(std::move(array));
  }
  return arrays;
}

}  // namespace

void require_weights_name(const std::filesystem::path& file) {
  if (file.extension() == ".npz" || file.extension() == ".safetensors") return;
  throw std::invalid_argument("'" + file.string() +
                              "': the name of a file of weights ends in .npz or .safetensors");
}

std::vector<NamedArray> read_weights(const std::filesystem::path& file, std::span<const NamedArray> wanted) {
  std::vector<NamedArray> found = is_npz(file) ? read_npz(file) : read_safetensors(file);
  std::string names;
  for (const NamedArray& array : wanted) names += (names.empty() ? "" : ", ") + array.name;
  std::vector<NamedArray> ordered;
  for (const NamedArray& expected : wanted) {
    const auto at = std::find_if(found.begin(), found.end(),
                                 [&](const NamedArray& array) { return array.name == expected.name; });
    if (at == found.end())
      throw DataError(file.string(), "no array '" + expected.name + "'", "the model's arrays: " + names);
    if (at->shape != expected.shape) {
      throw DataError(file.string() + " [" + expected.name + "]", "shape " + shape_text(at->shape),
                      shape_text(expected.shape));
    }
    ordered.push_back(std::move(*at));
    found.erase(at);
  }
  if (!found.empty())
    throw DataError(file.string(), "an array '" + found[0].name + "'", "only the model's arrays: " + names);
  return ordered;
}

void write_weights(const std::filesystem::path& file, std::span<const NamedArray> arrays) {
  if (!is_npz(file)) return write_safetensors(file, arrays);
  std::vector<NpzMember> members;
  for (const NamedArray& array : arrays) {
    members.push_back(
        {array.name, npy_bytes(std::vector<std::int64_t>(array.shape.begin(), array.shape.end()),
                               std::span<const float>(array.values))});
  }
  write_npz(file, members);
}

}  // namespace mirrorscale::strategies
