#include "harness/record/environment.h"
#include "scenarios/commands/python.h"
#include "scenarios/doctor/doctor.h"
#include "strategies/input/idx.h"

#include <exception>
#include <string>

namespace mirrorscale::scenarios {
namespace {

constexpr const char* kPythonMend =
    "apt-get install python3-matplotlib (or MIRRORSCALE_PYTHON=another Python)";

std::string libraries() {
  std::string text;
  for (const auto& [name, version] : harness::detect_environment().libraries) {
    text += (text.empty() ? "" : ", ") + name + " " + version;
  }
  return text;
}

Finding data() {
  if (const auto folder = strategies::find_fashion_mnist()) return {"fashion-mnist", folder->string()};
  return {
      "fashion-mnist", "not found; synthetic data work (mirrorscale list)", FindingState::kMissing,
      "apt-get install dataset-fashion-mnist, or set MIRRORSCALE_DATA to a folder with the four IDX files"};
}

Finding python() {
  try {
    const auto found = find_python();
    if (!found) return {"reports", "no python3", FindingState::kMissing, kPythonMend};
    const auto matplotlib = python_module_version(*found, "matplotlib");
    const auto numpy = python_module_version(*found, "numpy");
    if (!matplotlib || !numpy) {
      return {"reports", *found + " has no " + (matplotlib ? "numpy" : "matplotlib"), FindingState::kMissing,
              kPythonMend};
    }
    return {"reports", *found + " with matplotlib " + *matplotlib + " and numpy " + *numpy};
  } catch (const std::exception& error) {
    return {"reports", error.what(), FindingState::kMissing, "unset MIRRORSCALE_PYTHON, or correct it"};
  }
}

Finding package() {
  if (const auto folder = find_reports()) return {"report package", folder->string()};
  return {"report package", "mirrorscale_reports not found", FindingState::kMissing,
          "install mirrorscale whole (cmake --install), or keep the source tree it was built from"};
}

}  // namespace

FindingSection examine_software() {
  return {"software", {{"libraries", libraries()}, data(), python(), package()}};
}

}  // namespace mirrorscale::scenarios
