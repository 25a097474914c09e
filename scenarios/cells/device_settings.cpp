#include "scenarios/cells/device_settings.h"

#include "kernels/device_list.h"

#include <array>
#include <chrono>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

struct PrecisionName {
  const char *name, *in_record;
  kernels::Precision value;
  double roundoff;  // half the distance of 1 and the next number; 0: nothing is rounded
};
constexpr std::array<PrecisionName, 4> kPrecisions{{
    {"float32", "fp32", kernels::Precision::kFloat32, 0},
    {"tf32", "tf32", kernels::Precision::kTensorFloat32, 0x1p-11},
    {"bfloat16", "bf16", kernels::Precision::kBfloat16, 0x1p-8},
    {"float16", "fp16", kernels::Precision::kFloat16, 0x1p-11},
}};

[[noreturn]] void refuse(const std::string& text) {
  throw std::invalid_argument("[devices] " + text);
}

const PrecisionName& find_precision(const std::string& name) {
  std::string names;
  for (const PrecisionName& p : kPrecisions) {
    if (name == p.name) return p;
    names += (names.empty() ? "" : ", ") + std::string(p.name);
  }
  refuse("no precision '" + name + "'; there are: " + names);
}

/// Every setting but the backend is left alone where devices are the host's.
void require_host_settings(const DeviceSettings& s) {
  if (s.numerics == "fast") {
    refuse("fast numerics need the backend cuda; " + s.backend + " computes in exact float32 only");
  }
  if (s.precision != "float32") {
    refuse("precision " + s.precision + " needs the backend cuda with fast numerics; " + s.backend +
           " computes in exact float32 only");
  }
  if (s.graphs || s.registered_buffers) {
    refuse((s.graphs ? "graphs" : "registered buffers") + (" need the backend cuda; " + s.backend) +
           " has none");
  }
  if (s.cross_device_ops != "default") {
    refuse("cross-device ops " + s.cross_device_ops + " are between GPUs and need the backend cuda; on " +
           s.backend + " the replicas read each other's memory");
  }
}

kernels::BackendInfo info_of(const DeviceSettings& s) {
  kernels::BackendInfo info;
  info.name = s.backend;
  info.on_host = s.backend != "cuda";
  info.numerics = s.numerics;
  return info;
}

}  // namespace

DeviceSettings resolved(DeviceSettings s) {
  if (s.backend != "cpu" && s.backend != "cuda" && s.backend != "reference") {
    refuse("no backend '" + s.backend + "'; there are: cpu, cuda, reference");
  }
  const bool cuda = s.backend == "cuda";
  if (s.numerics.empty()) s.numerics = cuda ? "fast" : "exact";
  if (s.numerics != "exact" && s.numerics != "fast") {
    refuse("no numerics '" + s.numerics + "'; there are: exact, fast");
  }
  find_precision(s.precision);
  strategies::cross_device_ops_from(s.cross_device_ops);
  if (!cuda) require_host_settings(s);
  if (s.registered_buffers && s.cross_device_ops != "default" && s.cross_device_ops != "nccl") {
    refuse("registered buffers are NCCL's and contradict cross-device ops " + s.cross_device_ops);
  }
  if (s.numerics == "exact" && s.precision != "float32") {
    refuse("precision " + s.precision +
           " contradicts exact numerics, which are of float32; choose fast ones");
  }
  const kernels::BackendInfo info = info_of(s);
  if (s.reduction == "auto") {
    s.reduction = strategies::default_reducer(info)->name();
  } else {
    const std::string why_not = strategies::make_reducer(s.reduction)->why_not(info);
    if (!why_not.empty()) {
      refuse("reduction " + s.reduction + " doesn't go with the backend " + s.backend + " in " + s.numerics +
             " numerics: " + why_not);
    }
  }
  return s;
}

strategies::StrategyOptions strategy_options(const DeviceSettings& s, const strategies::EngineParts& parts,
                                             double wait_limit_s) {
  strategies::StrategyOptions options;
  options.parts = parts;
  options.team.limit = std::chrono::milliseconds(static_cast<std::int64_t>(wait_limit_s * 1e3));
  options.numerics = s.numerics == "fast" ? kernels::Numerics::kFast : kernels::Numerics::kExact;
  options.precision = find_precision(s.precision).value;
  options.graphs = s.graphs;
  options.registered_buffers = s.registered_buffers;
  options.cross_device_ops = strategies::cross_device_ops_from(s.cross_device_ops);
  return options;
}

void require_devices(const std::vector<std::string>& names) {
  kernels::DeviceList list;
  bool asked = false;
  std::string missing;
  for (const std::string& name : names) {
    if (!name.starts_with("cuda:")) continue;
    if (!asked) list = kernels::cuda_devices();
    asked = true;
    bool there = false;
    for (const kernels::DeviceInfo& d : list.devices) there = there || d.name == name;
    if (!there) missing += (missing.empty() ? "" : ", ") + name;
  }
  if (missing.empty()) return;
  throw std::runtime_error("[devices] there is no " + missing + "; there is " + in_words(list));
}

std::string precision_in_record(const std::string& precision) {
  return find_precision(precision).in_record;
}

double factor_roundoff(const std::string& precision) {
  return find_precision(precision).roundoff;
}

}  // namespace mirrorscale::scenarios
