#pragma once

#include <cstddef>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <vector>

/// Short-lived device objects for the conformance tests. They only use the CUDA API.
namespace mirrorscale::conformance {

inline int device_count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

#define MIRRORSCALE_NEEDS_DEVICES(n) \
  if (::mirrorscale::conformance::device_count() < (n)) GTEST_SKIP() << "needs " << (n) << " CUDA device(s)"

class TestStream {
 public:
  TestStream() { EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess); }
  ~TestStream() { cudaStreamDestroy(stream_); }
  TestStream(const TestStream&) = delete;
  TestStream& operator=(const TestStream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)
  void wait() const { EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess); }

 private:
  cudaStream_t stream_ = nullptr;
};

class TestEvent {
 public:
  explicit TestEvent(unsigned flags = cudaEventDisableTiming) {
    EXPECT_EQ(cudaEventCreateWithFlags(&event_, flags), cudaSuccess);
  }
  ~TestEvent() { cudaEventDestroy(event_); }
  TestEvent(const TestEvent&) = delete;
  TestEvent& operator=(const TestEvent&) = delete;
  operator cudaEvent_t() const { return event_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaEvent_t event_ = nullptr;
};

template <class T>
class TestBuffer {
 public:
  explicit TestBuffer(std::size_t count) : count_(count) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)), cudaSuccess);
  }
  TestBuffer(const std::vector<T>& values, cudaStream_t stream) : TestBuffer(values.size()) {
    EXPECT_EQ(
        cudaMemcpyAsync(data_, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
        cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }
  ~TestBuffer() { cudaFree(data_); }
  TestBuffer(const TestBuffer&) = delete;
  TestBuffer& operator=(const TestBuffer&) = delete;
  T* get() const { return data_; }
  std::size_t size() const { return count_; }
  /// Waits for the stream.
  std::vector<T> read(cudaStream_t stream) const {
    std::vector<T> values(count_);
    EXPECT_EQ(cudaMemcpyAsync(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t count_;
};

}  // namespace mirrorscale::conformance
