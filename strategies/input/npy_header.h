#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mirrorscale::strategies {

/// The dictionary at the front of an .npy file.
struct NpyHeader {
  std::string descr;  // element type as NumPy writes it, e.g. "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

/// Reads e.g. {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Throws DataError that begins with
/// `source`.
NpyHeader parse_npy_header(std::string_view text, const std::string& source);

}  // namespace mirrorscale::strategies
