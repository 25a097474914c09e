#include "harness/record/hash.h"

#include <bit>
#include <fmt/format.h>

namespace mirrorscale::harness {
namespace {

constexpr std::uint64_t kPrime = 0x100000001b3u;

}  // namespace

Fnv1a64& Fnv1a64::add(std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) value_ = (value_ ^ static_cast<std::uint64_t>(byte)) * kPrime;
  return *this;
}

Fnv1a64& Fnv1a64::add(std::string_view text) {
  return add(std::as_bytes(std::span(text)));
}

Fnv1a64& Fnv1a64::add(std::span<const float> values) {
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) value_ = (value_ ^ ((bits >> shift) & 0xffu)) * kPrime;
  }
  return *this;
}

std::string to_hex(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}
std::string fingerprint(std::string_view text) {
  return to_hex(Fnv1a64().add(text).value());
}
std::string fingerprint(std::span<const float> values) {
  return to_hex(Fnv1a64().add(values).value());
}

}  // namespace mirrorscale::harness
