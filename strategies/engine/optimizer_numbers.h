#pragma once
#include <cstdint>
#include <string>

/// What the update rules share.
namespace mirrorscale::strategies::internal {

/// Throws std::invalid_argument "[optimizer] text" unless `good`.
void require(bool good, const std::string& text);
/// The shortest text that reads back as the same number.
std::string number(double value);
/// base^n by squaring: multiplications only, so the same bits with every C library.
double power(double base, std::int64_t n);

}  // namespace mirrorscale::strategies::internal
