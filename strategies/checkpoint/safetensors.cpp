#include "strategies/checkpoint/safetensors.h"

#include "strategies/input/data_error.h"
#include "strategies/input/file_bytes.h"

#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace mirrorscale::strategies {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie in the file");

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kAlignment = 8;  // of the data, as other writers keep it

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Value `i` of an array of the type, as a float.
using Reader = float (*)(const std::byte* bytes, std::size_t i);

struct ElementType {
  std::size_t bytes = 0;
  Reader read = nullptr;
};

ElementType element_type(const std::string& name, const std::string& source) {
  if (name == "F32") return {4, [](const std::byte* b, std::size_t i) { return load<float>(b + 4 * i); }};
  if (name == "F64") {
    return {8, [](const std::byte* b, std::size_t i) { return static_cast<float>(load<double>(b + 8 * i)); }};
  }
  if (name == "BF16") {
    return {2, [](const std::byte* b, std::size_t i) {
              return std::bit_cast<float>(std::uint32_t{load<std::uint16_t>(b + 2 * i)} << 16);
            }};
  }
  throw DataError(source, "elements of type '" + name + "'", "F32, F64 or BF16");
}

NamedArray read_array(const std::string& name, const json& about, std::span<const std::byte> data,
                      const std::string& source) {
  const ElementType type = element_type(about.at("dtype").get<std::string>(), source);
  const auto offsets = about.at("data_offsets").get<std::vector<std::uint64_t>>();
  NamedArray array{name, {}, {}};
  std::uint64_t count = 1;
  for (const auto n : about.at("shape").get<std::vector<std::int64_t>>()) {
    const bool fits = n >= 0 && n <= std::numeric_limits<int>::max() &&
                      (n == 0 || count <= data.size() / static_cast<std::uint64_t>(n));
    if (!fits) throw DataError(source, "a shape larger than the file", "a shape that fits the bytes");
    array.shape.push_back(static_cast<int>(n));
    count *= static_cast<std::uint64_t>(n);
  }
  if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size() ||
      offsets[1] - offsets[0] != count * type.bytes) {
    throw DataError(source, "offsets that do not fit the shape and the file",
                    std::to_string(count * type.bytes) + " bytes inside the file");
  }
  array.values.resize(count);
  const std::byte* bytes = data.data() + offsets[0];
  for (std::size_t i = 0; i < count; ++i) array.values[i] = type.read(bytes, i);
  return array;
}

}  // namespace

std::vector<NamedArray> read_safetensors(const std::filesystem::path& file) {
  const std::vector<std::byte> bytes = read_file(file);
  constexpr const char* kWanted = "a .safetensors file";
  if (bytes.size() < kLengthBytes)
    throw DataError(file.string(), "the end of the file in its front", kWanted);
  const auto length = load<std::uint64_t>(bytes.data());
  if (length > bytes.size() - kLengthBytes) {
    throw DataError(
        file.string(),
        "a header of " + std::to_string(length) + " bytes in a file of " + std::to_string(bytes.size()),
        kWanted);
  }
  const auto data = std::span(bytes).subspan(kLengthBytes + length);
  std::vector<NamedArray> arrays;
  try {
    const char* text = reinterpret_cast<const char*>(bytes.data()) + kLengthBytes;
    const json header = json::parse(text, text + length);
    std::uint64_t end = 0;
    for (const auto& [name, about] : header.items()) {
      if (name == "__metadata__") continue;
      arrays.push_back(read_array(name, about, data, file.string() + " [" + name + "]"));
      end = std::max(end, about.at("data_offsets").at(1).get<std::uint64_t>());
    }
    if (end != data.size()) {
      throw DataError(file.string(), std::to_string(data.size()) + " bytes of values",
                      std::to_string(end) + " as its header says");
    }
  } catch (const json::exception& error) {
    throw DataError(file.string(), "a header that is not as it should be (" + std::string(error.what()) + ")",
                    kWanted);
  }
  return arrays;
}

void write_safetensors(const std::filesystem::path& file, std::span<const NamedArray> arrays) {
  nlohmann::ordered_json header = {{"__metadata__", {{"producer", "mirrorscale"}}}};
  std::vector<std::string_view> parts(2);
  std::uint64_t at = 0;
  for (const NamedArray& array : arrays) {
    const std::uint64_t size = array.values.size() * sizeof(float);
    header[array.name] = {{"dtype", "F32"}, {"shape", array.shape}, {"data_offsets", {at, at + size}}};
    parts.emplace_back(reinterpret_cast<const char*>(array.values.data()), size);
    at += size;
  }
  std::string text = header.dump();
  text.append((kAlignment - text.size() % kAlignment) % kAlignment, ' ');
  const std::uint64_t length = text.size();
  parts[0] = {reinterpret_cast<const char*>(&length), sizeof length};
  parts[1] = text;
  write_file(file, parts);
}

}  // namespace mirrorscale::strategies
