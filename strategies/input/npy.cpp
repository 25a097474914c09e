#include "strategies/input/npy.h"

#include "strategies/input/data_error.h"
#include "strategies/input/file_bytes.h"
#include "strategies/input/npy_header.h"

#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace mirrorscale::strategies {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie in the file");

constexpr std::string_view kMagic("\x93NUMPY", 6);
constexpr std::size_t kHeaderAlignment = 64;

using Type = NpyArray::Type;
struct TypeInfo {
  Type type;
  std::string_view descr;
  std::size_t bytes;
};
constexpr std::array<TypeInfo, 6> kTypes = {{{Type::kFloat32, "<f4", 4},
                                             {Type::kFloat64, "<f8", 8},
                                             {Type::kUint8, "|u1", 1},
                                             {Type::kInt32, "<i4", 4},
                                             {Type::kInt64, "<i8", 8},
                                             {Type::kBool, "|b1", 1}}};

const TypeInfo& info(Type type) {
  for (const TypeInfo& known : kTypes) {
    if (known.type == type) return known;
  }
  throw std::logic_error("[npy] a type without a row in the table");
}

const TypeInfo& find_type(const std::string& descr, const std::string& source) {
  for (const TypeInfo& known : kTypes) {
    if (known.descr == descr) return known;
  }
  throw DataError(source, "elements of type '" + descr + "'",
                  "little-endian float32, float64, uint8, int32, int64 or bool (numpy: array.astype('<f4'))");
}

std::string shape_text_of(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

/// Empty when the product is beyond 64 bits.
std::optional<std::uint64_t> product(const std::vector<std::int64_t>& shape, std::uint64_t times) {
  for (const std::int64_t size : shape) {
    const auto factor = static_cast<std::uint64_t>(size);
    if (factor != 0 && times > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    times *= factor;
  }
  return times;
}

template <class T>
T load(const std::byte* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
constexpr Type type_of() {
  if constexpr (std::is_same_v<T, float>) return Type::kFloat32;
  if constexpr (std::is_same_v<T, double>) return Type::kFloat64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return Type::kUint8;
  if constexpr (std::is_same_v<T, std::int32_t>) return Type::kInt32;
  return Type::kInt64;
}

std::string make_header(std::string_view descr, const std::vector<std::int64_t>& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += std::to_string(size) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string text =
      "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  const std::size_t front = kMagic.size() + 4;  // version and a length of two bytes
  text.append(kHeaderAlignment - 1 - (front + text.size()) % kHeaderAlignment, ' ');
  text += '\n';
  std::string header(kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xFFU);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace

std::size_t NpyArray::values() const {
  return bytes.size() / info(type).bytes;
}

double NpyArray::value(std::size_t index) const {
  const std::byte* at = bytes.data() + index * info(type).bytes;
  switch (type) {
    case Type::kFloat32:
      return load<float>(at);
    case Type::kFloat64:
      return load<double>(at);
    case Type::kUint8:
      return load<std::uint8_t>(at);
    case Type::kInt32:
      return load<std::int32_t>(at);
    case Type::kInt64:
      return static_cast<double>(load<std::int64_t>(at));
    case Type::kBool:
      return load<std::uint8_t>(at) != 0 ? 1 : 0;
  }
  return 0;
}

std::string NpyArray::shape_text() const {
  return shape_text_of(shape);
}

NpyArray parse_npy(std::vector<std::byte> file, const std::string& source) {
  NpyView view = view_npy(file, source);
  const std::size_t front = file.size() - view.values.size();
  file.erase(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(front));
  view.array.bytes = std::move(file);
  return std::move(view.array);
}

NpyView view_npy(std::span<const std::byte> file, const std::string& source) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const auto refuse = [&](const std::string& found, const std::string& expected) {
    throw DataError(source, found, expected);
  };
  if (!text.starts_with(kMagic)) refuse("a file that does not begin with \\x93NUMPY", "an .npy file");
  if (text.size() < kMagic.size() + 4) refuse("the end of the file within the header", "a whole .npy file");
  const int version = static_cast<unsigned char>(text[kMagic.size()]);
  if (version < 1 || version > 3) refuse("version " + std::to_string(version), ".npy version 1, 2 or 3");
  const std::size_t length_bytes = version == 1 ? 2 : 4, front = kMagic.size() + 2 + length_bytes;
  if (text.size() < front) refuse("the end of the file within the header", "a whole .npy file");
  std::size_t length = 0;
  for (std::size_t i = length_bytes; i-- > 0;) {
    length = (length << 8) | static_cast<unsigned char>(text[front - length_bytes + i]);
  }
  if (length > text.size() - front) refuse("the end of the file within the header", "a whole .npy file");

  NpyHeader header = parse_npy_header(text.substr(front, length), source);
  const TypeInfo& type = find_type(header.descr, source);
  if (header.fortran_order && header.shape.size() > 1) {
    refuse("an array in Fortran order", "C order (numpy: np.ascontiguousarray)");
  }
  const auto expected = product(header.shape, type.bytes);
  const std::size_t found = text.size() - front - length;
  if (expected != found) {
    refuse(std::to_string(found) + " bytes of values",
           (expected ? std::to_string(*expected) : "an impossible number of") + " bytes for shape " +
               shape_text_of(header.shape) + " of '" + header.descr + "'");
  }
  return {{type.type, std::move(header.shape), {}}, file.subspan(front + length)};
}

NpyArray read_npy(const std::filesystem::path& file) {
  return parse_npy(read_file(file), file.string());
}

template <class T>
std::string npy_bytes(const std::vector<std::int64_t>& shape, std::span<const T> values) {
  if (product(shape, 1) != values.size()) {
    throw std::invalid_argument("[write_npy] " + std::to_string(values.size()) +
                                " values do not fill shape " + shape_text_of(shape));
  }
  std::string bytes = make_header(info(type_of<T>()).descr, shape);
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return bytes;
}

template <class T>
void write_npy(const std::filesystem::path& file, const std::vector<std::int64_t>& shape,
               std::span<const T> values) {
  const std::string bytes = npy_bytes(shape, values);
  write_file(file, std::array<std::string_view, 1>{bytes});
}

template std::string npy_bytes(const std::vector<std::int64_t>&, std::span<const float>);
template std::string npy_bytes(const std::vector<std::int64_t>&, std::span<const double>);
template std::string npy_bytes(const std::vector<std::int64_t>&, std::span<const std::uint8_t>);
template std::string npy_bytes(const std::vector<std::int64_t>&, std::span<const std::int32_t>);
template std::string npy_bytes(const std::vector<std::int64_t>&, std::span<const std::int64_t>);
template void write_npy(const std::filesystem::path&, const std::vector<std::int64_t>&,
                        std::span<const float>);
template void write_npy(const std::filesystem::path&, const std::vector<std::int64_t>&,
                        std::span<const double>);
template void write_npy(const std::filesystem::path&, const std::vector<std::int64_t>&,
                        std::span<const std::uint8_t>);
template void write_npy(const std::filesystem::path&, const std::vector<std::int64_t>&,
                        std::span<const std::int32_t>);
template void write_npy(const std::filesystem::path&, const std::vector<std::int64_t>&,
                        std::span<const std::int64_t>);

}  // namespace mirrorscale::strategies
