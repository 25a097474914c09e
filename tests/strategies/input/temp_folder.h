#pragma once
#include "strategies/input/data_error.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <string_view>
#include <unistd.h>

namespace mirrorscale::strategies {

/// A folder of its own, gone afterwards.
class TempFolder {
 public:
  TempFolder() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            (std::string("mirrorscale-") + test->test_suite_name() + "-" + test->name() + "-" +
             std::to_string(getpid()) + "-" + std::to_string(made_++));
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

  /// Writes a file and returns its path.
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    std::ofstream out(path_ / name, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("the test cannot write " + (path_ / name).string());
    return path_ / name;
  }

 private:
  static inline int made_ = 0;
  std::filesystem::path path_;
};

inline std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What a DataError of `load` says; empty, and a failure, when there is none.
template <class Load>
std::string refusal(Load load) {
  try {
    load();
  } catch (const DataError& error) {
    return error.what();
  }
  ADD_FAILURE() << "nothing was refused";
  return "";
}

/// Whether `load` works; anything but success and DataError fails the test by escaping.
template <class Load>
bool loads(Load load) {
  try {
    load();
    return true;
  } catch (const DataError&) {
    return false;
  }
}

}  // namespace mirrorscale::strategies
