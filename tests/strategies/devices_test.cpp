#include "kernels/device_list.h"
#include "strategies/strategy.h"
#include "tests/strategies/support/expect_throw.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;

TEST(Devices, MakeTheNameKindAndBackend) {
  const Mirrored mirrored(2);
  EXPECT_EQ(mirrored.name(), "mirrored(cpu:0, cpu:1)");
  EXPECT_EQ(mirrored.kind(), "mirrored");
  EXPECT_EQ(mirrored.backend(), "cpu");
  EXPECT_EQ(mirrored.replicas(), 2);
  EXPECT_EQ(OneDevice().name(), "one_device(cpu:0)");
  EXPECT_EQ(OneDevice("reference:3").backend(), "reference");
  EXPECT_EQ(ModelAveraging(device_names(2, "reference")).name(), "model_averaging(reference:0, reference:1)");
  EXPECT_EQ(Mirrored({"cpu:7", "cpu:2"}).devices(), (std::vector<std::string>{"cpu:7", "cpu:2"}));
}

TEST(Devices, MustBeNamed) {
  expect_throw<std::invalid_argument>([] { Mirrored(std::vector<std::string>{}); },
                                      {"[strategy]", "no devices", "cpu:0"});
  expect_throw<std::invalid_argument>([] { Mirrored(0); }, {"no devices"});
}

TEST(Devices, MustDiffer) {
  expect_throw<std::invalid_argument>(
      [] {
        Mirrored({"cpu:0", "cpu:1", "cpu:0"});
      },
      {"'cpu:0' is named twice", "(cpu:0, cpu:1, cpu:0)", "there are cpu:0, cpu:1"});
}

TEST(Devices, MustExist) {
  for (const char* name : {"gpu:0", "cuda:x", "cpu", "cpu:", "cpu:-1", "cpu:x", "cpu:1x", ":0", ""}) {
    expect_throw<std::invalid_argument>([&] { OneDevice{std::string(name)}; },
                                        {"is no device", name, "reference:0"});
  }
}

TEST(Devices, AGpuThatIsNotThereIsRefusedWithWhatIs) {
  const std::string name = "cuda:" + std::to_string(kernels::cuda_devices().devices.size());
  expect_throw<std::invalid_argument>([&] { OneDevice{name}; }, {"there is no cuda:", "there is"});
}

TEST(Devices, OnTheHostComputeExactlyOnly) {
  StrategyOptions options;
  options.numerics = kernels::Numerics::kFast;
  expect_throw<std::invalid_argument>([&] { Mirrored(device_names(2, "cpu"), options); },
                                      {"cpu", "exact float32 only", "cuda"});
  options = {};
  options.precision = kernels::Precision::kBfloat16;
  expect_throw<std::invalid_argument>([&] { Mirrored(device_names(2, "reference"), options); },
                                      {"reference"});
}

TEST(Devices, AReducerThatDoesNotSuitIsRefused) {
  StrategyOptions options;
  options.parts.make_reducer = [] { return bucketed_reducer(); };
  expect_throw<std::invalid_argument>([&] { Mirrored(device_names(2, "cpu"), options).make_reducer(); },
                                      {"bucketed", "number of replicas", "fused"});
  EXPECT_EQ(Mirrored(device_names(2, "cpu")).make_reducer()->name(), "fused");
}

TEST(Devices, MustBeOfOneBackend) {
  expect_throw<std::invalid_argument>(
      [] {
        Mirrored({"cpu:0", "reference:1"});
      },
      {"different backends", "(cpu:0, reference:1)"});
}

TEST(Devices, CopiesAreTheSameStrategy) {
  const Mirrored a(2), b(2);
  const Strategy copy = a;
  EXPECT_TRUE(copy == a);
  EXPECT_FALSE(a == b);
  EXPECT_NE(a.id(), b.id());
  EXPECT_EQ(copy.id(), a.id());
}

TEST(Reducers, AreKnownByName) {
  EXPECT_EQ(make_reducer("fused")->name(), "fused");
  EXPECT_EQ(make_reducer("replicated")->name(), "replicated");
  expect_throw<std::invalid_argument>([] { make_reducer("ring"); },
                                      {"'ring'", "fused, replicated, bucketed"});
}

}  // namespace
}  // namespace mirrorscale::strategies
