#include "strategies/checkpoint/folder.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace mirrorscale::strategies {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kPrefix = "step-", kEnding = ".ckpt", kUnfinished = ".ckpt.part";

/// The steps in a name that save() has made.
std::optional<std::int64_t> steps_in(const std::string& name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kEnding)) return std::nullopt;
  const std::string digits = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kEnding.size());
  const bool number = !digits.empty() && digits.size() < 19 &&
                      std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::optional(std::stoll(digits)) : std::nullopt;
}

}  // namespace

CheckpointFolder::CheckpointFolder(fs::path folder, int keep_last)
    : folder_(std::move(folder)), keep_last_(static_cast<std::size_t>(keep_last)) {
  if (keep_last < 1) {
    throw std::invalid_argument("[checkpoint] " + std::to_string(keep_last) +
                                " checkpoints are to be kept; needs at least 1");
  }
  std::error_code error;
  fs::create_directories(folder_, error);
  if (!fs::is_directory(folder_)) {
    throw std::runtime_error("[checkpoint] " + folder_.string() +
                             ": no folder, and none can be made there (" +
                             (error ? error.message() : "it is a file") + "); name another");
  }
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (entry.path().filename().string().ends_with(kUnfinished)) fs::remove(entry.path());
  }
}

std::vector<fs::path> CheckpointFolder::saved() const {
  std::vector<std::pair<std::int64_t, fs::path>> found;
  for (const auto& entry : fs::directory_iterator(folder_)) {
    if (const auto steps = steps_in(entry.path().filename().string()))
      found.emplace_back(*steps, entry.path());
  }
  std::sort(found.begin(), found.end());
  std::vector<fs::path> paths;
  for (auto& [steps, path] : found) paths.push_back(std::move(path));
  return paths;
}

std::optional<fs::path> CheckpointFolder::newest() const {
  auto all = saved();
  return all.empty() ? std::nullopt : std::optional(std::move(all.back()));
}

void CheckpointFolder::save(std::int64_t step, const PartFile& checkpoint) const {
  char name[48];
  std::snprintf(name, sizeof name, "step-%09lld.ckpt", static_cast<long long>(step));
  write_part_file(folder_ / name, checkpoint);
  const auto all = saved();
  for (std::size_t i = 0; i + keep_last_ < all.size(); ++i) fs::remove(all[i]);
}

void CheckpointFolder::save_best(const PartFile& checkpoint) const {
  write_part_file(best(), checkpoint);
}

}  // namespace mirrorscale::strategies
