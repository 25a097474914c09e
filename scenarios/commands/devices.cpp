#include "scenarios/commands/devices.h"

#include "harness/record/topology.h"
#include "harness/sweep/axis.h"

#include <charconv>
#include <stdexcept>

namespace mirrorscale::scenarios {

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
  std::vector<std::string> names = harness::parse_name_axis("--devices", text);
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

strategies::Strategy strategy_on(const std::vector<std::string>& devices, const std::string& reduction) {
  strategies::make_reducer(reduction);  // refuses an unknown name here rather than in the first step
  strategies::StrategyOptions options;
  options.parts.make_reducer = [reduction] { return strategies::make_reducer(reduction); };
  if (devices.size() == 1) return strategies::OneDevice(devices.front(), options);
  return strategies::Mirrored(devices, options);
}

std::string oversubscription_note(int devices) {
  const int cores = harness::detect_topology().usable_cores();
  if (devices <= cores) return {};
  return std::to_string(devices) + " devices share " + std::to_string(cores) +
         (cores == 1 ? " core" : " cores") +
         " (oversubscribed): results are right, speed says nothing about scaling";
}

}  // namespace mirrorscale::scenarios
