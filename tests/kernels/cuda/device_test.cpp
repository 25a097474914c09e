#include "kernels/device_error.h"
#include "tests/kernels/cuda/support.h"

#include <chrono>
#include <limits>
#include <stdexcept>
#include <thread>

namespace mirrorscale::kernels::testing {
namespace {

class CudaDevice : public CudaTest {};

TEST_F(CudaDevice, SaysWhatItIs) {
  const DeviceList list = cuda_devices();
  ASSERT_FALSE(list.devices.empty());
  EXPECT_EQ(list.why_none, "");
  EXPECT_GE(list.runtime_version, 13000);
  EXPECT_FALSE(list.cublas_version.empty());
  const DeviceInfo& first = list.devices.front();
  EXPECT_EQ(first.name, "cuda:0");
  EXPECT_EQ(first.uuid.size(), 40U) << first.uuid;
  EXPECT_EQ(first.uuid.substr(0, 4), "GPU-");
  EXPECT_EQ(first.pci.size(), 12U) << first.pci;
  EXPECT_GT(first.memory_bytes, 0U);
  EXPECT_GT(first.multiprocessors, 0);

  const BackendInfo& info = exact_->info();
  EXPECT_EQ(info.name, "cuda");
  EXPECT_EQ(info.target, first.model);
  EXPECT_EQ(info.numerics, "exact");
  EXPECT_EQ(info.precision, "float32");
  EXPECT_EQ(info.layout, Layout::kRows);
  EXPECT_FALSE(info.on_host);
  EXPECT_EQ(info.emulated, first.emulated);
  EXPECT_EQ(make_backend("cuda")->info().numerics, "fast");
}

TEST_F(CudaDevice, OptionsThatContradictEachOtherAreRefused) {
  EXPECT_THROW(make_backend("cuda", {.numerics = Numerics::kExact, .precision = Precision::kBfloat16}),
               std::invalid_argument);
}

TEST_F(CudaDevice, AnOrdinalThatIsNotThereIsRefusedWithTheList) {
  for (const int ordinal : {-1, 1000}) {
    try {
      make_backend("cuda", {.ordinal = ordinal, .numerics = {}});
      FAIL() << "accepted";
    } catch (const std::runtime_error& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("cuda:" + std::to_string(ordinal)), std::string::npos) << text;
      EXPECT_NE(text.find("cuda:0 ("), std::string::npos) << text;
    }
  }
}

TEST_F(CudaDevice, APanelLayoutIsRefused) {
  const auto memory = exact_->make_buffer(4096);
  const Matrix panels_of_16{memory.get(), 4, 20, 64};
  EXPECT_THROW(exact_->softmax(panels_of_16, panels_of_16), std::logic_error);
}

TEST_F(CudaDevice, BuffersAreZeroedCountedAndMayOutliveTheBackend) {
  const std::size_t before = exact_->used_bytes();
  auto buffer = exact_->make_buffer(1000);
  EXPECT_EQ(exact_->used_bytes(), before + 4000);
  std::vector<float> values(1000, 1.0F);
  exact_->download(buffer.get(), 1000, values.data());
  EXPECT_EQ(values, std::vector<float>(1000));
  {
    const auto other = exact_->make_buffer(16);
    EXPECT_EQ(exact_->used_bytes(), before + 4064);
  }
  EXPECT_EQ(exact_->used_bytes(), before + 4000);
  EXPECT_EQ(exact_->make_buffer(0), nullptr);
  exact_.reset();
  buffer.reset();
}

TEST_F(CudaDevice, TooMuchMemoryIsRefusedAndTheDeviceStaysUsable) {
  for (const std::size_t count : {std::numeric_limits<std::size_t>::max() / 2, std::size_t{1} << 44}) {
    try {
      exact_->make_buffer(count);
      FAIL() << "accepted";
    } catch (const OutOfMemory& error) {
      EXPECT_GT(error.asked_bytes, error.free_bytes);
      EXPECT_GT(error.free_bytes, 0U);
      EXPECT_NE(std::string(error.what()).find("cuda:0 is out of memory"), std::string::npos) << error.what();
    }
  }
  const auto ones = on_device(std::vector<float>(16, 1.0F));
  exact_->add(16, ones.get(), ones.get(), ones.get());
  EXPECT_EQ(ones.fetched(), std::vector<float>(16, 2.0F));
}

TEST_F(CudaDevice, CopiesOfEverySize) {
  constexpr std::size_t kHalf = std::size_t{1} << 20;  // of the pinned memory in between
  for (const std::size_t count : {std::size_t{1}, kHalf - 1, kHalf, 3 * kHalf + 17}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 100003);
    auto original = values;
    const auto a = exact_->make_buffer(count), b = exact_->make_buffer(count);
    exact_->upload(values.data(), count, a.get());
    std::fill(values.begin(), values.end(), -1.0F);  // `host` may be reused on return
    exact_->copy(a.get(), count, b.get());
    exact_->clear(a.get(), count);
    exact_->download(b.get(), count, values.data());
    EXPECT_EQ(values, original) << count;
    exact_->download(a.get(), count, values.data());
    EXPECT_EQ(values, std::vector<float>(count)) << count;
  }
}

TEST_F(CudaDevice, InputQueueKeepsBatchesInOrder) {
  constexpr std::size_t kCount = 50000;
  const auto queue = exact_->make_input_queue(kCount);
  ASSERT_EQ(queue->slots(), 2);
  const auto sum = on_device(std::vector<float>(kCount));
  float expected = 0;
  for (int batch = 0; batch < 9; ++batch) {
    const int slot = batch % queue->slots();
    const std::size_t count = batch % 3 == 0 ? kCount : kCount - 16;
    float* host = queue->fill(slot);
    std::fill_n(host, count, static_cast<float>(1 << batch));
    queue->send(slot, count);
    const float* rows = queue->receive(slot);
    exact_->add(kCount - 16, sum.get(), rows, sum.get());
    queue->done(slot);
    expected += static_cast<float>(1 << batch);
  }
  const auto got = sum.fetched();
  for (std::size_t i = 0; i < kCount - 16; ++i) ASSERT_EQ(got[i], expected) << i;
}

TEST_F(CudaDevice, MarksAreOnTheSteadyClockAndInOrder) {
  const auto now_s = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  const double before_s = now_s();
  exact_->mark(0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // beyond where the clock takes a new base
  exact_->mark(1);
  exact_->mark(7);
  exact_->synchronize();
  const double after_s = now_s();
  const double first_s = exact_->marked_s(0), second_s = exact_->marked_s(1), third_s = exact_->marked_s(7);
  EXPECT_GE(first_s, before_s - 0.05);
  EXPECT_LE(first_s, second_s - 1.0);
  EXPECT_LE(second_s, third_s + 1e-6);
  EXPECT_LE(third_s, after_s + 0.05);
  EXPECT_EQ(exact_->marked_s(1), second_s);
  exact_->mark(1);
  EXPECT_GT(exact_->marked_s(1), second_s);
}

TEST_F(CudaDevice, TwoBackendsOnOneThread) {
  const int last = static_cast<int>(cuda_devices().devices.size()) - 1;
  const auto other = make_backend("cuda", {.ordinal = last, .numerics = Numerics::kExact});
  const DeviceFloats here(*exact_, std::vector<float>(16, 1.0F)), there(*other, std::vector<float>(16, 2.0F));
  for (int i = 0; i < 3; ++i) {
    exact_->add(16, here.get(), here.get(), here.get());
    other->add(16, there.get(), there.get(), there.get());
  }
  EXPECT_EQ(here.fetched(), std::vector<float>(16, 8.0F));
  EXPECT_EQ(there.fetched(), std::vector<float>(16, 16.0F));
}

}  // namespace
}  // namespace mirrorscale::kernels::testing
