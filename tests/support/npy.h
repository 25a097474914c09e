#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace mirrorscale::tests {

/// All values of a .npy file of format 1.0, little-endian, C order, whose type is T (double or std::int64_t).
/// Throws std::runtime_error that names the file when it is anything else.
template <class T>
std::vector<T> read_npy(const std::string& path) {
  static_assert(std::is_same_v<T, double> || std::is_same_v<T, std::int64_t>);
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto refuse = [&](const std::string& why) { throw std::runtime_error(path + ": " + why); };
  constexpr std::size_t kPrefix = 10;  // magic, version, length of the header
  if (bytes.size() < kPrefix || bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0)
    refuse("no .npy 1.0");
  const std::size_t header =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  if (bytes.size() < kPrefix + header) refuse("truncated header");
  const std::string text = bytes.substr(kPrefix, header);
  const std::string type = std::is_same_v<T, double> ? "'<f8'" : "'<i8'";
  if (text.find("'descr': " + type) == std::string::npos) refuse("not of type " + type + ": " + text);
  if (text.find("'fortran_order': False") == std::string::npos) refuse("not in C order");

  std::size_t count = 1;
  std::size_t at = text.find("'shape': (");
  if (at == std::string::npos) refuse("no shape");
  at += std::strlen("'shape': (");
  while (text.at(at) != ')') {
    std::size_t digits = 0;
    count *= std::stoul(text.substr(at), &digits);
    at = text.find_first_not_of(", ", at + digits);
  }
  if (bytes.size() != kPrefix + header + count * sizeof(T)) refuse("not as long as its shape says");
  std::vector<T> values(count);
  std::memcpy(values.data(), bytes.data() + kPrefix + header, count * sizeof(T));
  return values;
}

}  // namespace mirrorscale::tests
