#include "strategies/input/mapped_file.h"

#include "strategies/input/data_error.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace mirrorscale::strategies {

MappedFile map_file(const std::filesystem::path& file) {
  const auto refuse = [&](const std::string& found) {
    throw DataError(file.string(), found, "a file of numbers");
  };
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) refuse("no such readable file");
  struct stat status {};
  const bool plain = fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
  const auto size = plain ? static_cast<std::size_t>(status.st_size) : 0;
  void* const at = plain ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : MAP_FAILED;
  const int error = errno;
  close(descriptor);  // the mapping stays
  if (!plain) refuse("no plain file, or an empty one");
  if (at == MAP_FAILED) refuse(std::string("it can't be mapped (") + std::strerror(error) + ")");
  return {{static_cast<const std::byte*>(at), size},
          std::shared_ptr<const void>(at, [size](const void* p) { munmap(const_cast<void*>(p), size); })};
}

}  // namespace mirrorscale::strategies
