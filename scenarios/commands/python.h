#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

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

/// Runs `python -m arguments...` with that package in its path; returns its exit status. Throws
/// std::runtime_error where Python, matplotlib or the package is missing, with what to install.
int run_reports(const std::vector<std::string>& arguments);

}  // namespace mirrorscale::scenarios
