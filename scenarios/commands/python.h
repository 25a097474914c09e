#pragma once
#include <filesystem>
#include <optional>
#include <string>

namespace mirrorscale::scenarios {

/// The Python that draws reports: MIRRORSCALE_PYTHON where set, else /usr/bin/python3 (for which Debian
/// packages matplotlib), else python3 in PATH. Empty when there is none; throws std::runtime_error when
/// MIRRORSCALE_PYTHON names something that can't be run.
std::optional<std::string> find_python();

/// Version of a Python module, or empty when `python` can't import it.
std::optional<std::string> python_module_version(const std::string& python, const std::string& module);

/// The folder that holds the package mirrorscale_reports: beside the installed command, or the source tree's
/// reports/.
std::optional<std::filesystem::path> find_reports();

}  // namespace mirrorscale::scenarios
