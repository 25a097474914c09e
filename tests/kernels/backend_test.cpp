#include "kernels/backend.h"

#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <stdexcept>

namespace mirrorscale::kernels {
namespace {

/// MIRRORSCALE_CPU_TARGET for the length of a test.
class ForcedTarget {
 public:
  explicit ForcedTarget(const char* value) {
    if (const char* before = std::getenv(kName)) before_ = before;
    setenv(kName, value, 1);
  }
  ~ForcedTarget() {
    if (before_.empty()) {
      unsetenv(kName);
    } else {
      setenv(kName, before_.c_str(), 1);
    }
  }

 private:
  static constexpr const char* kName = "MIRRORSCALE_CPU_TARGET";
  std::string before_;
};

TEST(Backends, SayWhatTheyAre) {
  const auto reference = make_backend("reference");
  EXPECT_EQ(reference->info().name, "reference");
  EXPECT_EQ(reference->info().numerics, "exact");
  const auto cpu = make_backend("cpu");
  EXPECT_EQ(cpu->info().name, "cpu");
  EXPECT_EQ(cpu->info().numerics, "exact");
}

TEST(Backends, AnUnknownNameIsRefusedWithTheList) {
  try {
    make_backend("tpu");
    FAIL() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "[backend] unknown backend 'tpu'; expected one of: cpu, cuda, reference");
  }
}

TEST(Backends, TheLastTargetIsThePortableOne) {
  const auto targets = cpu_targets();
  ASSERT_FALSE(targets.empty());
  EXPECT_EQ(make_cpu_backend(targets.back())->info().lanes, 1);
  for (const auto& target : targets) EXPECT_EQ(make_cpu_backend(target)->info().target, target);
}

TEST(Backends, TheEnvironmentForcesATarget) {
  for (const auto& target : cpu_targets()) {
    const ForcedTarget forced(target.c_str());
    EXPECT_EQ(make_backend("cpu")->info().target, target);
  }
  const ForcedTarget empty("");
  EXPECT_EQ(make_backend("cpu")->info().target, cpu_targets().front());
}

TEST(Backends, AForcedTargetThatIsNotThereIsRefusedWithTheList) {
  const ForcedTarget forced("MMX");
  try {
    make_backend("cpu");
    FAIL() << "accepted";
  } catch (const std::runtime_error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("MIRRORSCALE_CPU_TARGET"), std::string::npos) << text;
    EXPECT_NE(text.find("'MMX'"), std::string::npos) << text;
    for (const auto& target : cpu_targets()) EXPECT_NE(text.find(target), std::string::npos) << text;
  }
}

TEST(Buffers, AreZeroedAndStartAtACacheLine) {
  for (const std::size_t count : {1UL, 15UL, 16UL, 1000UL, 300000UL, 1200000UL}) {
    const Buffer buffer = make_buffer(count);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.get()) % 64, 0U) << count;
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(buffer[i], 0.0F) << count;
  }
  EXPECT_EQ(make_buffer(0), nullptr);
}

TEST(Buffers, AnImpossibleSizeIsBadAlloc) {
  EXPECT_THROW(make_buffer(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_THROW(make_buffer(SIZE_MAX / 4), std::bad_alloc);
}

TEST(Layout, ElementsAndSizes) {
  EXPECT_EQ(panels(0), 0);
  EXPECT_EQ(panels(16), 1);
  EXPECT_EQ(panels(17), 2);
  float data[1000] = {};
  const Matrix m{data, 3, 20, 80};
  EXPECT_EQ(&m.at(2, 17) - data, 80 + 2 * 16 + 1);
  EXPECT_EQ(&m.slice_rows(1, 2).at(1, 17), &m.at(2, 17));
  EXPECT_EQ(weight_stride(20), 512U);
  EXPECT_EQ(weight_size(20, 10), 512U);
  EXPECT_EQ(weight_size(784, 512), 784U * 512);
  for (const int rows : {1, 2, 31, 32, 255, 256, 1024}) {
    EXPECT_EQ(activation_stride(rows) / 16 % 2, 1U) << rows;  // an odd number of lines
    EXPECT_GE(activation_stride(rows), static_cast<std::size_t>(rows) * 16) << rows;
  }
}

}  // namespace
}  // namespace mirrorscale::kernels
