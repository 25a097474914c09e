#pragma once
#include <stdexcept>
#include <string>

namespace mirrorscale::strategies {

/// Data that cannot be used: which file (or data set), what was found there, what was expected.
class DataError : public std::runtime_error {
 public:
  DataError(const std::string& source, const std::string& found, const std::string& expected)
      : std::runtime_error(source + ": found " + found + "; expected " + expected) {}
};

}  // namespace mirrorscale::strategies
