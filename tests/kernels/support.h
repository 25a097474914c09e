#pragma once
#include "kernels/backend.h"
#include "kernels/random.h"

#include <bit>
#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::kernels::testing {

inline constexpr int kSizes[] = {1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 65, 100};
inline constexpr Activation kActivations[] = {Activation::kLinear, Activation::kRelu, Activation::kTanh,
                                              Activation::kSigmoid, Activation::kGelu};

/// Uniform in [low, high), keyed by (seed, index).
inline double random_value(std::uint64_t seed, std::uint64_t index, double low, double high) {
  const auto words = random_words(seed, Purpose::kTest, 0, index);
  return low + (high - low) * static_cast<double>(words[0]) * 0x1p-32;
}

/// A matrix that owns its elements. Padding is NaN: whoever lets it take part is found out.
template <class T>
class Grid {
 public:
  Grid(int rows, int columns, std::size_t panel_stride)
      : data_(panel_stride * static_cast<std::size_t>(panels(columns)) + 16,
              std::numeric_limits<T>::quiet_NaN()) {
    auto at = reinterpret_cast<std::uintptr_t>(data_.data());
    view_ = {data_.data() + (64 - at % 64) % 64 / sizeof(T), rows, columns, panel_stride};
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c) view_.at(r, c) = 0;
    }
  }
  Grid(const Grid& other) : Grid(other.view_.rows, other.view_.columns, other.view_.panel_stride) {
    for (int r = 0; r < view_.rows; ++r) {
      for (int c = 0; c < view_.columns; ++c) view_.at(r, c) = other.view_.at(r, c);
    }
  }
  Grid& operator=(const Grid&) = delete;

  T& at(int row, int column) const { return view_.at(row, column); }
  int rows() const { return view_.rows; }
  int columns() const { return view_.columns; }
  BasicMatrix<T> view() const { return view_; }
  BasicMatrix<const T> read() const { return view_; }

  Grid& fill(std::uint64_t seed, double low = -1, double high = 1) {
    for (int r = 0; r < rows(); ++r) {
      for (int c = 0; c < columns(); ++c) {
        at(r, c) =
            static_cast<T>(random_value(seed, static_cast<std::uint64_t>(r * columns() + c), low, high));
      }
    }
    return *this;
  }
  Grid& set(const std::vector<std::vector<T>>& values) {
    for (int r = 0; r < rows(); ++r) {
      for (int c = 0; c < columns(); ++c) {
        at(r, c) = values.at(static_cast<std::size_t>(r)).at(static_cast<std::size_t>(c));
      }
    }
    return *this;
  }

 private:
  std::vector<T> data_;
  BasicMatrix<T> view_;
};

template <class T = float>
Grid<T> activations(int rows, int columns) {
  return {rows, columns, activation_stride(rows)};
}
template <class T = float>
Grid<T> weights(int rows, int columns) {
  return {rows, columns, weight_stride(rows)};
}

/// Floats at a cache line, a multiple of 16 of them.
class Line {
 public:
  explicit Line(std::size_t count) : count_(count), data_(make_buffer((count + 15) / 16 * 16)) {}
  Line(const Line& other) : Line(other.count_) { std::copy_n(other.data(), padded(), data()); }
  Line& operator=(const Line&) = delete;
  Line& fill(std::uint64_t seed, double low = -1, double high = 1) {
    for (std::size_t i = 0; i < count_; ++i) data_[i] = static_cast<float>(random_value(seed, i, low, high));
    return *this;
  }
  std::size_t size() const { return count_; }
  std::size_t padded() const { return (count_ + 15) / 16 * 16; }
  float* data() const { return data_.get(); }
  float& operator[](std::size_t i) const { return data_[i]; }

 private:
  std::size_t count_;
  Buffer data_;
};

/// The same bits, or both NaN (which NaN an operation gives differs between processors).
inline bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) || (a != a && b != b);
}
inline std::string shown(float x) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g (%a)", static_cast<double>(x), static_cast<double>(x));
  return text;
}
inline ::testing::AssertionResult same_bits(ConstMatrix got, ConstMatrix want) {
  for (int r = 0; r < want.rows; ++r) {
    for (int c = 0; c < want.columns; ++c) {
      if (same_bits(got.at(r, c), want.at(r, c))) continue;
      return ::testing::AssertionFailure()
             << "first difference at (" << r << ", " << c << "): " << shown(got.at(r, c)) << ", expected "
             << shown(want.at(r, c));
    }
  }
  return ::testing::AssertionSuccess();
}
inline ::testing::AssertionResult same_bits(const Line& got, const Line& want) {
  for (std::size_t i = 0; i < want.padded(); ++i) {
    if (same_bits(got[i], want[i])) continue;
    return ::testing::AssertionFailure()
           << "first difference at " << i << ": " << shown(got[i]) << ", expected " << shown(want[i]);
  }
  return ::testing::AssertionSuccess();
}

/// Every instruction set of the cpu backend that runs here, against the reference.
class TargetTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Backend> cpu_ = make_cpu_backend(GetParam());
  std::unique_ptr<Backend> reference_ = make_backend("reference");
};
inline std::string name_of(const ::testing::TestParamInfo<std::string>& info) {
  return info.param;
}

/// The reference and every instruction set of the cpu backend: for values computed on paper.
class BackendTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Backend> backend_ =
      GetParam() == "reference" ? make_backend("reference") : make_cpu_backend(GetParam());
};
inline std::vector<std::string> every_backend() {
  std::vector<std::string> names = cpu_targets();
  names.emplace_back("reference");
  return names;
}

}  // namespace mirrorscale::kernels::testing

#define MIRRORSCALE_EVERY_TARGET(Suite)                                                                \
  INSTANTIATE_TEST_SUITE_P(Targets, Suite, ::testing::ValuesIn(::mirrorscale::kernels::cpu_targets()), \
                           ::mirrorscale::kernels::testing::name_of)
#define MIRRORSCALE_EVERY_BACKEND(Suite)                                                          \
  INSTANTIATE_TEST_SUITE_P(Backends, Suite,                                                       \
                           ::testing::ValuesIn(::mirrorscale::kernels::testing::every_backend()), \
                           ::mirrorscale::kernels::testing::name_of)
