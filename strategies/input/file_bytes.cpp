#include "strategies/input/file_bytes.h"

#include "strategies/input/data_error.h"

#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>

namespace mirrorscale::strategies {

namespace fs = std::filesystem;

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
  const fs::path unfinished = file.string() + ".part";
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  for (const std::string_view part : parts) out.write(part.data(), static_cast<std::streamsize>(part.size()));
  out.close();
  std::error_code failed;
  if (out) fs::rename(unfinished, file, failed);
  if (!out || failed) {
    std::error_code ignored;
    fs::remove(unfinished, ignored);
    throw std::runtime_error(file.string() +
                             ": cannot be written; is the folder there, writable and not full?");
  }
}

}  // namespace mirrorscale::strategies
