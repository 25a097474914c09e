#include "scenarios/commands/devices.h"

#include "harness/record/topology.h"
#include "harness/sweep/axis.h"

#include <CLI/CLI.hpp>
#include <charconv>
#include <stdexcept>

namespace mirrorscale::scenarios {

void add_device_options(CLI::App& command, DeviceOptions& o) {
  command
      .add_option("--backend", o.backend, "cpu [the default], cuda (GPUs), or reference (plain loops, slow)")
      ->check(CLI::IsMember({"cpu", "cuda", "reference"}));
  command
      .add_option("--numerics", o.numerics,
                  "exact: the same bits on any number and kind of devices; fast: the GPU's own library [cpu: "
                  "exact, cuda: fast]")
      ->check(CLI::IsMember({"exact", "fast"}));
  command.add_option("--precision", o.precision,
                     "of the factors of a product, in fast numerics: float32, tf32, bfloat16, float16 "
                     "[float32]");
  command
      .add_option("--reduction", o.reduction,
                  "how gradients are summed: fused, replicated, bucketed (fast numerics only) [auto: what "
                  "suits the backend]")
      ->check(CLI::IsMember({"auto", "fused", "replicated", "bucketed"}));
  command
      .add_option("--cross-device-ops", o.cross_device_ops,
                  "what GPUs reduce with: nccl, reduction_to_one_device, hierarchical_copy [default: nccl]")
      ->check(CLI::IsMember({"default", "nccl", "reduction_to_one_device", "hierarchical_copy"}));
  command.add_flag("--graphs", o.graphs,
                   "launch forward and backward as one CUDA graph (buckets then start after backward)");
  command.add_flag("--registered-buffers", o.registered_buffers, "register the gradients with NCCL");
  command
      .add_option("--wait-limit", o.wait_limit_s,
                  "seconds that one replica waits for another before it gives up [120]")
      ->check(CLI::Range(0.1, 86400.0));
}

DeviceSettings settings_from(const DeviceOptions& o, DeviceSettings settings) {
  if (!o.backend.empty()) settings.backend = o.backend;
  if (!o.numerics.empty()) settings.numerics = o.numerics;
  if (!o.precision.empty()) settings.precision = o.precision;
  if (!o.reduction.empty()) settings.reduction = o.reduction;
  if (!o.cross_device_ops.empty()) settings.cross_device_ops = o.cross_device_ops;
  settings.graphs = settings.graphs || o.graphs;
  settings.registered_buffers = settings.registered_buffers || o.registered_buffers;
  return settings;
}

std::vector<std::string> parse_devices(const std::string& text, const std::string& backend) {
  int count = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, count);
  if (error == std::errc() && stop == end) {
    if (count < 1 || count > kMostDevices) {
      throw std::invalid_argument("--devices " + text + ": expected 1 to " + std::to_string(kMostDevices));
    }
    return strategies::device_names(count, backend.empty() ? "cpu" : backend);
  }
  std::vector<std::string> names = harness::parse_name_axis("devices", text);
  for (const std::string& name : names) {
    if (name.find(':') == std::string::npos) {
      throw std::invalid_argument(
          "--devices " + text + ": '" + name +
          "' is no device; expected a number of devices, or names such as cpu:0,cpu:1");
    }
    if (!backend.empty() && !name.starts_with(backend + ":")) {
      throw std::invalid_argument("--devices " + text + ": " + name + " is not of the backend '" + backend +
                                  "' that --backend asks for; leave one of the two out");
    }
  }
  return names;
}

strategies::Strategy strategy_on(const std::vector<std::string>& devices, DeviceSettings settings,
                                 double wait_limit_s) {
  strategies::StrategyOptions options;
  const std::string backend = devices.front().substr(0, devices.front().find(':'));
  // The strategy itself refuses names of anything else, with a list.
  if (backend == "cpu" || backend == "cuda" || backend == "reference") {
    settings.backend = backend;
    settings = resolved(settings);  // refused here rather than in the first step
    require_devices(devices);
    strategies::EngineParts parts;
    parts.make_reducer = [name = settings.reduction] { return strategies::make_reducer(name); };
    options = strategy_options(settings, parts, wait_limit_s);
  }
  if (devices.size() == 1) return strategies::OneDevice(devices.front(), options);
  return strategies::Mirrored(devices, options);
}

strategies::Strategy strategy_on(const std::string& devices, const DeviceOptions& options) {
  return strategy_on(parse_devices(devices, options.backend), settings_from(options),
                     options.wait_limit_s.value_or(120));
}

strategies::Strategy strategy_on(const std::vector<std::string>& devices, const std::string& reduction) {
  DeviceSettings settings;
  settings.reduction = reduction;
  return strategy_on(devices, settings);
}

std::string oversubscription_note(int devices) {
  const int cores = harness::detect_topology().usable_cores();
  if (devices <= cores) return {};
  return std::to_string(devices) + " devices share " + std::to_string(cores) +
         (cores == 1 ? " core" : " cores") +
         " (oversubscribed): results are right, speed says nothing about scaling";
}

}  // namespace mirrorscale::scenarios
