#pragma once
#include "kernels/backend.h"
#include "kernels/device_list.h"
#include "tests/kernels/support.h"

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace mirrorscale::kernels::testing {

/// A matrix in rows on the host, with padding that is NaN: whoever lets it take part is found out.
class RowGrid {
 public:
  RowGrid(int rows, int columns)
      : data_(static_cast<std::size_t>(panels(rows)) * kPanel * static_cast<std::size_t>(padded(columns)),
              std::numeric_limits<float>::quiet_NaN()),
        rows_(rows),
        columns_(columns) {
    fill_with([](int, int) { return 0.0F; });
  }
  template <class Value>
  RowGrid& fill_with(const Value& value) {
    for (int r = 0; r < rows_; ++r) {
      for (int c = 0; c < columns_; ++c) at(r, c) = value(r, c);
    }
    return *this;
  }
  /// As Grid::fill.
  RowGrid& fill(std::uint64_t seed, double low = -1, double high = 1) {
    return fill_with([&](int r, int c) {
      return static_cast<float>(random_value(seed, static_cast<std::uint64_t>(r * columns_ + c), low, high));
    });
  }
  float& at(int r, int c) {
    return data_[static_cast<std::size_t>(r) * static_cast<std::size_t>(padded(columns_)) +
                 static_cast<std::size_t>(c)];
  }
  int rows() const { return rows_; }
  int columns() const { return columns_; }
  Matrix view() { return {data_.data(), rows_, columns_, 0, padded(columns_)}; }
  ConstMatrix read() const { return {data_.data(), rows_, columns_, 0, padded(columns_)}; }
  std::vector<float>& floats() { return data_; }
  const std::vector<float>& floats() const { return data_; }

 private:
  std::vector<float> data_;
  int rows_, columns_;
};

/// The same memory on a device.
class DeviceFloats {
 public:
  DeviceFloats(Backend& backend, const std::vector<float>& values)
      : backend_(&backend), count_(values.size()), data_(backend.make_buffer(values.size())) {
    backend.upload(values.data(), count_, data_.get());
  }
  float* get() const { return data_.get(); }
  std::vector<float> fetched() const {
    std::vector<float> values(count_);
    backend_->download(data_.get(), count_, values.data());
    return values;
  }

 private:
  Backend* backend_;
  std::size_t count_;
  Buffer data_;
};
class DeviceGrid {
 public:
  DeviceGrid(Backend& backend, const RowGrid& values)
      : floats_(backend, values.floats()), rows_(values.rows()), columns_(values.columns()) {}
  Matrix view() const { return {floats_.get(), rows_, columns_, 0, padded(columns_)}; }
  ConstMatrix read() const { return view(); }
  RowGrid fetched() const {
    RowGrid values(rows_, columns_);
    values.floats() = floats_.fetched();
    return values;
  }

 private:
  DeviceFloats floats_;
  int rows_, columns_;
};

/// Labels as they travel: ints in the memory of floats.
inline std::vector<float> as_floats(const std::vector<int>& labels) {
  std::vector<float> memory(labels.size());
  std::memcpy(memory.data(), labels.data(), labels.size() * sizeof(int));
  return memory;
}

inline ::testing::AssertionResult same_bits(const std::vector<float>& got, const std::vector<float>& want) {
  if (got.size() != want.size())
    return ::testing::AssertionFailure() << got.size() << " floats, not " << want.size();
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (same_bits(got[i], want[i])) continue;
    return ::testing::AssertionFailure()
           << "first difference at " << i << ": " << shown(got[i]) << ", expected " << shown(want[i]);
  }
  return ::testing::AssertionSuccess();
}
/// Padding of a result: whatever, but finite.
inline ::testing::AssertionResult finite_padding(const RowGrid& got) {
  for (int r = 0; r < got.rows(); ++r) {
    for (int c = got.columns(); c < padded(got.columns()); ++c) {
      const float x = const_cast<RowGrid&>(got).at(r, c);
      if (!(x - x == 0))
        return ::testing::AssertionFailure() << "padding at (" << r << ", " << c << ") is " << x;
    }
  }
  return ::testing::AssertionSuccess();
}

/// The first CUDA device, and the reference to compare with. Skipped where there is no device.
class CudaTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const DeviceList list = cuda_devices(); list.devices.empty()) GTEST_SKIP() << list.why_none;
    exact_ = make_backend("cuda", {.numerics = Numerics::kExact});
  }
  DeviceGrid on_device(const RowGrid& values) { return {*exact_, values}; }
  DeviceFloats on_device(const std::vector<float>& values) { return {*exact_, values}; }

  std::unique_ptr<Backend> exact_;
  std::unique_ptr<Backend> reference_ = make_backend("reference");
};

}  // namespace mirrorscale::kernels::testing
