#pragma once
#include <string>
#include <string_view>

namespace mirrorscale::harness {

/// SHA-256 (FIPS 180-4) as 64 hexadecimal digits: shows that a file is what was saved, down to the last bit.
std::string sha256(std::string_view text);

}  // namespace mirrorscale::harness
