#include "scenarios/cells/device_settings.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

namespace mirrorscale::scenarios {
namespace {

DeviceSettings on(const std::string& backend, const std::string& numerics = "",
                  const std::string& precision = "float32", const std::string& reduction = "auto",
                  const std::string& ops = "default") {
  return {backend, numerics, precision, reduction, ops};
}

std::string refusal(const DeviceSettings& settings) {
  try {
    resolved(settings);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(DeviceSettings, EveryBackendHasNumericsAndAReductionThatSuitIt) {
  for (const char* host : {"cpu", "reference"}) {
    EXPECT_EQ(resolved(on(host)).numerics, "exact");
    EXPECT_EQ(resolved(on(host)).reduction, "fused");
  }
  EXPECT_EQ(resolved(on("cuda")).numerics, "fast");
  EXPECT_EQ(resolved(on("cuda")).reduction, "bucketed");
  EXPECT_EQ(resolved(on("cuda", "exact")).reduction, "replicated");
}

TEST(DeviceSettings, WhatIsSaidStays) {
  EXPECT_EQ(resolved(on("cpu", "exact", "float32", "replicated")).reduction, "replicated");
  const DeviceSettings s = resolved(on("cuda", "fast", "bfloat16", "replicated", "hierarchical_copy"));
  EXPECT_EQ(s.precision, "bfloat16");
  EXPECT_EQ(s.reduction, "replicated");
  EXPECT_EQ(s.cross_device_ops, "hierarchical_copy");
}

TEST(DeviceSettings, RefusesUnknownNamesWithTheList) {
  EXPECT_NE(refusal(on("tpu")).find("no backend 'tpu'; there are: cpu, cuda, reference"), std::string::npos);
  EXPECT_NE(refusal(on("cuda", "loose")).find("there are: exact, fast"), std::string::npos);
  EXPECT_NE(refusal(on("cuda", "fast", "int8")).find("float32, tf32, bfloat16, float16"), std::string::npos);
  EXPECT_NE(refusal(on("cuda", "fast", "tf32", "mean")).find("bucketed"), std::string::npos);
  EXPECT_NE(refusal(on("cuda", "fast", "tf32", "auto", "ring")).find("reduction_to_one_device"),
            std::string::npos);
}

TEST(DeviceSettings, RefusesContradictions) {
  EXPECT_NE(refusal(on("cpu", "fast")).find("fast numerics need the backend cuda"), std::string::npos);
  EXPECT_NE(refusal(on("cpu", "", "tf32")).find("precision tf32 needs the backend cuda"), std::string::npos);
  EXPECT_NE(refusal(on("cpu", "", "float32", "auto", "nccl")).find("need the backend cuda"),
            std::string::npos);
  EXPECT_NE(refusal(on("cpu", "", "float32", "bucketed")).find("exact"), std::string::npos);
  EXPECT_NE(refusal(on("cuda", "exact", "bfloat16")).find("contradicts exact numerics"), std::string::npos);
  EXPECT_NE(refusal(on("cuda", "exact", "float32", "bucketed")).find("bucketed"), std::string::npos);
  EXPECT_NE(refusal(on("cuda", "fast", "float32", "fused")).find("fused"), std::string::npos);
}

TEST(DeviceSettings, GraphsAndRegisteredBuffersAreOfGpus) {
  DeviceSettings s = on("cpu");
  s.graphs = true;
  EXPECT_NE(refusal(s).find("graphs need the backend cuda"), std::string::npos);
  s = on("reference");
  s.registered_buffers = true;
  EXPECT_NE(refusal(s).find("registered buffers need the backend cuda"), std::string::npos);
  s = on("cuda", "fast", "tf32", "auto", "hierarchical_copy");
  s.registered_buffers = true;
  EXPECT_NE(refusal(s).find("contradict cross-device ops hierarchical_copy"), std::string::npos);
  s.cross_device_ops = "nccl";
  s.graphs = true;
  const auto options = strategy_options(resolved(s), {}, 1);
  EXPECT_TRUE(options.graphs && options.registered_buffers);
}

TEST(DeviceSettings, RecordsUseShortWords) {
  EXPECT_EQ(precision_in_record("float32"), "fp32");
  EXPECT_EQ(precision_in_record("tf32"), "tf32");
  EXPECT_EQ(precision_in_record("bfloat16"), "bf16");
  EXPECT_EQ(precision_in_record("float16"), "fp16");
  EXPECT_EQ(factor_roundoff("float32"), 0);
  EXPECT_EQ(factor_roundoff("bfloat16"), 1.0 / 256);
}

TEST(RequireDevices, SaysWhatIsThereOrWhyNothingIs) {
  EXPECT_NO_THROW(require_devices({"cpu:0", "cpu:99"}));  // virtual
  try {
    require_devices({"cuda:4096"});
    FAIL() << "there can't be so many GPUs";
  } catch (const std::runtime_error& error) {
    EXPECT_EQ(std::string(error.what()),
              "[devices] there is no cuda:4096; there is " + in_words(kernels::cuda_devices()));
  }
}

TEST(InWords, NamesDevicesOrTheReason) {
  kernels::DeviceList list;
  list.why_none = "no driver";
  EXPECT_EQ(in_words(list), "no CUDA device: no driver");
  list.devices.resize(2);
  list.devices[0].name = "cuda:0";
  list.devices[0].model = "A";
  list.devices[1].name = "cuda:1";
  list.devices[1].model = "B";
  EXPECT_EQ(in_words(list), "cuda:0 (A), cuda:1 (B)");
}

}  // namespace
}  // namespace mirrorscale::scenarios
