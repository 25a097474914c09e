#include "harness/output/file.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace mirrorscale::harness {
namespace {

/// Closes a descriptor, and removes an unfinished temporary file.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& beside) : path_(beside.string() + ".XXXXXX") {
    descriptor_ = mkstemp(path_.data());
    if (descriptor_ < 0) fail("create");
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!path_.empty()) unlink(path_.c_str());
  }
  TemporaryFile(TemporaryFile&&) = delete;

  void write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write");
      content.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void rename_to(const std::filesystem::path& path) {
    // mkstemp makes the file private; give it what a plain open would have.
    const mode_t mask = umask(0);
    umask(mask);
    if (fchmod(descriptor_, 0666 & ~mask) != 0) fail("set the mode of");
    if (fsync(descriptor_) != 0) fail("flush");
    if (close(std::exchange(descriptor_, -1)) != 0) fail("close");
    if (std::rename(path_.c_str(), path.c_str()) != 0) fail("rename");
    path_.clear();
  }

 private:
  [[noreturn]] void fail(const char* doing) const {
    const int error = errno;
    throw std::runtime_error(fmt::format("can't {} {}: {}", doing, path_, std::strerror(error)));
  }

  std::string path_;
  int descriptor_ = -1;
};

/// Where a write to `path` goes: a link keeps pointing where it does; a device or a pipe must not be replaced
/// by a file.
std::filesystem::path target_of(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return path;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw std::runtime_error(
        fmt::format("can't write {}: it is no regular file; name a file", path.string()));
  }
  return std::filesystem::canonical(path);
}

}  // namespace

void sync_folder(const std::filesystem::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) {
    throw std::runtime_error(fmt::format("can't open folder {}: {}", folder.string(), std::strerror(errno)));
  }
  // Some file systems cannot sync a folder (EINVAL); there rename is all there is.
  const bool failed = fsync(descriptor) != 0 && errno != EINVAL;
  const int error = errno;
  close(descriptor);
  if (failed)
    throw std::runtime_error(fmt::format("can't flush folder {}: {}", folder.string(), std::strerror(error)));
}

std::filesystem::path make_parent_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder =
      path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw std::runtime_error(fmt::format("can't create folder {}: {}", folder.string(), error.message()));
  return folder;
}

void require_writable(const std::filesystem::path& path) {
  const std::filesystem::path target = target_of(path);
  make_parent_folder(target);
  const TemporaryFile probe(target);  // gone again when this returns
}

void write_file_atomically(const std::filesystem::path& path, std::string_view content) {
  const std::filesystem::path target = target_of(path);
  const std::filesystem::path folder = make_parent_folder(target);
  TemporaryFile file(target);
  file.write(content);
  file.rename_to(target);
  sync_folder(folder);
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw std::runtime_error(fmt::format("can't read {}: it is a folder", path.string()));
  }
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error)) {
    throw std::runtime_error(fmt::format("can't read {}: it is no regular file", path.string()));
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream)
    throw std::runtime_error(fmt::format("can't read {}: {}", path.string(), std::strerror(errno)));
  std::string content{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (stream.bad()) throw std::runtime_error(fmt::format("can't read {}: input error", path.string()));
  return content;
}

}  // namespace mirrorscale::harness
