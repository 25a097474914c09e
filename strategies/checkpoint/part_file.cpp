#include "strategies/checkpoint/part_file.h"

#include "strategies/input/file_bytes.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>
#include <zlib.h>

namespace mirrorscale::strategies {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie in the file");

using nlohmann::json;

constexpr std::string_view kMagic("MSCKPT\r\n", 8);
constexpr std::uint32_t kVersion = 1;
// The front: magic, u32 version, u32 CRC of the table, u64 bytes of the table, u32 CRC of all these. A newer
// version keeps it.
constexpr std::size_t kVersionAt = 8, kTableCrcAt = 12, kTableBytesAt = 16, kFrontCrcAt = 24,
                      kFrontBytes = 28;

struct TypeInfo {
  Part::Type type;
  std::string_view name;
  std::size_t bytes;
};
constexpr std::array<TypeInfo, 3> kTypes = {{{Part::Type::kFloat32, "float32", 4},
                                             {Part::Type::kFloat64, "float64", 8},
                                             {Part::Type::kInt64, "int64", 8}}};

const TypeInfo& info(Part::Type type) {
  for (const TypeInfo& known : kTypes) {
    if (known.type == type) return known;
  }
  throw std::logic_error("[checkpoint] a type without a row in the table");
}

template <class T>
constexpr Part::Type type_of() {
  if constexpr (std::is_same_v<T, float>) return Part::Type::kFloat32;
  if constexpr (std::is_same_v<T, double>) return Part::Type::kFloat64;
  return Part::Type::kInt64;
}

std::uint32_t crc_of(std::span<const std::byte> bytes) {
  return static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

template <class T>
void put(std::span<std::byte> front, std::size_t at, T value) {
  std::memcpy(front.data() + at, &value, sizeof value);
}

template <class T>
T take(std::span<const std::byte> front, std::size_t at) {
  T value;
  std::memcpy(&value, front.data() + at, sizeof value);
  return value;
}

std::string table_of(const PartFile& content) {
  json parts = json::array();
  for (const Part& part : content.parts) {
    parts.push_back({{"name", part.name},
                     {"type", info(part.type).name},
                     {"shape", part.shape},
                     {"bytes", part.bytes.size()},
                     {"crc32", crc_of(part.bytes)}});
  }
  return json{{"about", content.about}, {"parts", parts}}.dump(1) + "\n";
}

/// The table's text, after all that stands in the front was found right.
std::string_view checked_table(std::span<const std::byte> bytes, const std::string& source) {
  const auto refuse = [&](const std::string& part, const std::string& what) {
    throw CheckpointError(source, part, what);
  };
  const auto found = text_of(bytes.first(std::min(bytes.size(), kMagic.size())));
  if (found != kMagic) {
    refuse("front", kMagic.starts_with(found)
                        ? "is cut short: the file has " + std::to_string(bytes.size()) + " bytes"
                        : std::string("does not begin as a checkpoint of mirrorscale does: another kind of "
                                      "file, or a damaged one"));
  }
  if (bytes.size() < kFrontBytes)
    refuse("front", "is cut short: the file has " + std::to_string(bytes.size()) + " bytes");
  if (crc_of(bytes.first(kFrontCrcAt)) != take<std::uint32_t>(bytes, kFrontCrcAt))
    refuse("front", "is damaged: its check sum differs");
  const auto version = take<std::uint32_t>(bytes, kVersionAt);
  if (version != kVersion) {
    refuse("front", "says version " + std::to_string(version) + "; this mirrorscale reads version " +
                        std::to_string(kVersion) + ": use the one that wrote it, or a newer one");
  }
  const auto length = take<std::uint64_t>(bytes, kTableBytesAt);
  if (length > bytes.size() - kFrontBytes) {
    refuse("table", "is cut short: " + std::to_string(bytes.size() - kFrontBytes) + " of " +
                        std::to_string(length) + " bytes are there");
  }
  const auto table = bytes.subspan(kFrontBytes, length);
  if (crc_of(table) != take<std::uint32_t>(bytes, kTableCrcAt))
    refuse("table", "is damaged: its check sum differs");
  return text_of(table);
}

/// The product of a shape and the size of an element; empty where it is negative or beyond 64 bits.
std::optional<std::uint64_t> bytes_of(const std::vector<std::int64_t>& shape, std::uint64_t size) {
  for (const std::int64_t n : shape) {
    if (n < 0) return std::nullopt;
    const auto factor = static_cast<std::uint64_t>(n);
    if (factor != 0 && size > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    size *= factor;
  }
  return size;
}

}  // namespace

template <class T>
Part Part::of(std::string name, std::vector<std::int64_t> shape, std::span<const T> values) {
  Part part{std::move(name), type_of<T>(), std::move(shape), {}};
  part.bytes.resize(values.size_bytes());
  if (bytes_of(part.shape, sizeof(T)) != part.bytes.size())
    throw std::logic_error("[checkpoint] the values of part '" + part.name + "' do not fill its shape");
  if (!values.empty()) std::memcpy(part.bytes.data(), values.data(), values.size_bytes());
  return part;
}

template <class T>
std::vector<T> Part::values(const std::string& source) const {
  if (type != type_of<T>()) {
    throw CheckpointError(
        source, name,
        "holds " + std::string(info(type).name) + "; expected " + std::string(info(type_of<T>()).name));
  }
  std::vector<T> out(bytes.size() / sizeof(T));
  if (!out.empty()) std::memcpy(out.data(), bytes.data(), bytes.size());
  return out;
}

template Part Part::of(std::string, std::vector<std::int64_t>, std::span<const float>);
template Part Part::of(std::string, std::vector<std::int64_t>, std::span<const double>);
template Part Part::of(std::string, std::vector<std::int64_t>, std::span<const std::int64_t>);
template std::vector<float> Part::values(const std::string&) const;
template std::vector<double> Part::values(const std::string&) const;
template std::vector<std::int64_t> Part::values(const std::string&) const;

const Part* PartFile::find(std::string_view name) const {
  for (const Part& part : parts) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

const Part& PartFile::at(const std::string& name, const std::string& source) const {
  if (const Part* part = find(name)) return *part;
  throw CheckpointError(source, name, "is not there");
}

void write_part_file(const std::filesystem::path& file, const PartFile& content) {
  const std::string table = table_of(content);
  std::array<std::byte, kFrontBytes> front = {};
  std::memcpy(front.data(), kMagic.data(), kMagic.size());
  put(front, kVersionAt, kVersion);
  put(front, kTableCrcAt, crc_of(std::as_bytes(std::span(table))));
  put(front, kTableBytesAt, static_cast<std::uint64_t>(table.size()));
  put(front, kFrontCrcAt, crc_of(std::span<const std::byte>(front).first(kFrontCrcAt)));
  std::vector<std::string_view> pieces = {text_of(front), table};
  for (const Part& part : content.parts) pieces.push_back(text_of(part.bytes));
  write_file(file, pieces);
}

PartFile read_part_file(const std::filesystem::path& file) {
  return parse_part_file(read_file(file), file.string());
}

PartFile parse_part_file(std::span<const std::byte> bytes, const std::string& source) {
  const std::string_view table = checked_table(bytes, source);
  PartFile content;
  std::span<const std::byte> rest = bytes.subspan(kFrontBytes + table.size());
  try {
    const json text = json::parse(table);
    content.about = text.at("about").get<std::map<std::string, std::string>>();
    for (const json& row : text.at("parts")) {
      Part part;
      part.name = row.at("name").get<std::string>();
      part.shape = row.at("shape").get<std::vector<std::int64_t>>();
      const auto type = row.at("type").get<std::string>();
      const TypeInfo* known = nullptr;
      for (const TypeInfo& candidate : kTypes) {
        if (candidate.name == type) known = &candidate;
      }
      if (known == nullptr) throw CheckpointError(source, part.name, "holds the unknown type '" + type + "'");
      part.type = known->type;
      const auto size = row.at("bytes").get<std::uint64_t>();
      if (bytes_of(part.shape, known->bytes) != size)
        throw CheckpointError(source, part.name, "has a shape that is not that of its bytes");
      if (size > rest.size()) {
        throw CheckpointError(source, part.name,
                              "is cut short: " + std::to_string(rest.size()) + " of " + std::to_string(size) +
                                  " bytes are there");
      }
      part.bytes.assign(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(size));
      rest = rest.subspan(size);
      if (crc_of(part.bytes) != row.at("crc32").get<std::uint32_t>())
        throw CheckpointError(source, part.name, "is damaged: its check sum differs");
      content.parts.push_back(std::move(part));
    }
  } catch (const json::exception& error) {
    throw CheckpointError(source, "table", "is no table of parts: " + std::string(error.what()));
  }
  if (!rest.empty()) {
    throw CheckpointError(source, "end of file",
                          "is not where it should be: " + std::to_string(rest.size()) + " bytes follow");
  }
  return content;
}

}  // namespace mirrorscale::strategies
