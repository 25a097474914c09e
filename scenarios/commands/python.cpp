#include "scenarios/commands/python.h"

#include "scenarios/commands/process.h"

#include <cstdlib>
#include <stdexcept>
#include <unistd.h>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDebianPython = "/usr/bin/python3";

bool runs(const std::string& python) {
  return output_of({{python, "-c", "pass"}, {}}).has_value();
}

std::string require_python() {
  const auto python = find_python();
  if (!python) {
    throw std::runtime_error(
        "no python3 to draw with; install it (Debian: apt-get install python3-matplotlib), or name one with "
        "MIRRORSCALE_PYTHON");
  }
  if (!python_module_version(*python, "matplotlib")) {
    throw std::runtime_error(
        *python +
        " has no matplotlib; install it (Debian: apt-get install python3-matplotlib), or name "
        "another Python with MIRRORSCALE_PYTHON");
  }
  return *python;
}

}  // namespace

std::optional<std::string> find_python() {
  if (const char* wanted = std::getenv("MIRRORSCALE_PYTHON"); wanted != nullptr && *wanted != '\0') {
    if (runs(wanted)) return wanted;
    throw std::runtime_error("MIRRORSCALE_PYTHON is '" + std::string(wanted) +
                             "', which doesn't run as a Python; set it to one, or unset it");
  }
  for (const std::string candidate : {kDebianPython, "python3"}) {
    if (runs(candidate)) return candidate;
  }
  return std::nullopt;
}

std::optional<std::string> python_module_version(const std::string& python, const std::string& module) {
  return output_of({{python, "-c", "import " + module + " as m; print(m.__version__, end='')"}, {}});
}

std::optional<fs::path> find_reports() {
  std::vector<fs::path> folders;
  std::error_code unreadable;
  const fs::path self = fs::read_symlink("/proc/self/exe", unreadable);
  if (!unreadable) folders.push_back(self.parent_path().parent_path() / "share/mirrorscale/reports");
  folders.emplace_back(MIRRORSCALE_REPORTS_DIR);  // the source tree this was built from
  for (const fs::path& folder : folders) {
    if (fs::is_regular_file(folder / "mirrorscale_reports/__main__.py", unreadable)) return folder;
  }
  return std::nullopt;
}

int run_reports(const std::vector<std::string>& arguments) {
  const auto package = find_reports();
  if (!package) {
    throw std::runtime_error(
        "the Python package mirrorscale_reports is missing: neither installed beside this command "
        "nor in the source tree it was built from");
  }
  const char* others = std::getenv("PYTHONPATH");
  const std::string path =
      package->string() + (others != nullptr && *others != '\0' ? ":" + std::string(others) : "");
  Program program{{require_python(), "-m"}, {{"PYTHONPATH", path}, {"PYTHONDONTWRITEBYTECODE", "1"}}};
  program.arguments.insert(program.arguments.end(), arguments.begin(), arguments.end());
  return run_program(program);
}

}  // namespace mirrorscale::scenarios
