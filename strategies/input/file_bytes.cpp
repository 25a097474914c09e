#include "strategies/input/file_bytes.h"

#include "strategies/input/data_error.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace mirrorscale::strategies {

namespace fs = std::filesystem;

namespace {

/// A file under its unfinished name; gone unless it was finished.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& wanted) : wanted_(wanted), path_(wanted.string() + ".part") {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail("create");
  }
  ~Unfinished() {
    if (descriptor_ >= 0) close(descriptor_);
    if (!path_.empty()) unlink(path_.c_str());
  }
  Unfinished(Unfinished&&) = delete;

  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) fail("write");
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  void finish() {
    if (fsync(descriptor_) != 0) fail("flush");
    if (close(std::exchange(descriptor_, -1)) != 0) fail("close");
    if (std::rename(path_.c_str(), wanted_.c_str()) != 0) fail("rename");
    path_.clear();
    sync_folder();
  }

 private:
  /// The new name is on the disk, too. Some file systems can't sync a folder (EINVAL); there rename is all
  /// there is.
  void sync_folder() const {
    const fs::path folder = wanted_.has_parent_path() ? wanted_.parent_path() : fs::path(".");
    const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) fail("open the folder of");
    const bool failed = fsync(descriptor) != 0 && errno != EINVAL;
    const int error = errno;
    close(descriptor);
    errno = error;
    if (failed) fail("flush the folder of");
  }

  [[noreturn]] void fail(const char* doing) const {
    throw std::runtime_error(wanted_.string() + ": cannot be written (could not " + doing + " it: " +
                             std::strerror(errno) + "); is the folder there, writable and not full?");
  }

  const fs::path wanted_;
  std::string path_;
  int descriptor_ = -1;
};

}  // namespace

std::vector<std::byte> read_file(const fs::path& file) {
  std::error_code failed;
  const auto size = fs::file_size(file, failed);
  std::ifstream in(file, std::ios::binary);
  if (failed || !in) throw DataError(file.string(), "no such readable file", "a file of numbers");
  std::vector<std::byte> bytes(size);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(size));
  if (in.gcount() != static_cast<std::streamsize>(size)) {
    throw DataError(file.string(), std::to_string(in.gcount()) + " bytes", std::to_string(size));
  }
  return bytes;
}

void write_file(const fs::path& file, std::span<const std::string_view> parts) {
  Unfinished out(file);
  for (const std::string_view part : parts) out.write(part);
  out.finish();
}

}  // namespace mirrorscale::strategies
