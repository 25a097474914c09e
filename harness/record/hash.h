#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mirrorscale::harness {

/// FNV-1a, 64 bits: the same on every machine. For naming and comparing, not against an adversary.
class Fnv1a64 {
 public:
  Fnv1a64& add(std::span<const std::byte> bytes);
  Fnv1a64& add(std::string_view text);
  /// Each number as its bits, least significant byte first.
  Fnv1a64& add(std::span<const float> values);
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325u;
};

/// 16 hexadecimal digits.
std::string to_hex(std::uint64_t value);
/// Fingerprint of a text: to_hex(FNV-1a).
std::string fingerprint(std::string_view text);
/// Fingerprint of weights: the bits of each float, least significant byte first, in order.
std::string fingerprint(std::span<const float> values);

}  // namespace mirrorscale::harness
