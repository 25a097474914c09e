#include "strategies/input/npz.h"

#include "strategies/input/data_error.h"

#include <string_view>
#include <utility>
#include <vector>
#include <zip.h>

namespace mirrorscale::strategies {
namespace {

constexpr const char* kWanted = "an .npz file as numpy.savez writes it";
constexpr std::string_view kEnding = ".npy";
constexpr std::uint64_t kDeflateRatio = 1032;  // no deflate stream grows by more

struct CloseMember {
  void operator()(zip_file_t* member) const noexcept { zip_fclose(member); }
};

zip_t* open_archive(const std::string& path) {
  int code = 0;
  if (zip_t* archive = zip_open(path.c_str(), ZIP_RDONLY, &code)) return archive;
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  const std::string reason = zip_error_strerror(&error);
  zip_error_fini(&error);
  throw DataError(path, "no readable archive (" + reason + ")", kWanted);
}

}  // namespace

void NpzFile::Close::operator()(zip* archive) const noexcept {
  zip_discard(archive);
}

NpzFile::NpzFile(const std::filesystem::path& file) : path_(file.string()), archive_(open_archive(path_)) {
  const auto count = static_cast<zip_uint64_t>(zip_get_num_entries(archive_.get(), 0));
  for (zip_uint64_t number = 0; number < count; ++number) {
    const char* entry = zip_get_name(archive_.get(), number, 0);
    if (entry == nullptr) throw DataError(path_, "a member without a name", kWanted);
    std::string name = entry;
    if (name.ends_with(kEnding)) name.resize(name.size() - kEnding.size());
    if (!members_.emplace(std::move(name), number).second) {
      throw DataError(path_, "two members named " + std::string(entry), kWanted);
    }
  }
}

std::string NpzFile::names() const {
  std::string text;
  for (const auto& [name, number] : members_) text += (text.empty() ? "" : ", ") + name;
  return text;
}

NpyArray NpzFile::read(const std::string& name) const {
  const auto member = members_.find(name);
  if (member == members_.end()) throw DataError(path_, "the arrays " + names(), "an array " + name);
  const auto refuse = [&](const std::string& reason) {
    throw DataError(source(name), "a damaged member of the archive (" + reason + ")", kWanted);
  };

  zip_stat_t about;
  if (zip_stat_index(archive_.get(), member->second, 0, &about) != 0) refuse(zip_strerror(archive_.get()));
  constexpr zip_uint64_t kNeeded = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  // A lying directory must not make us ask for the memory.
  if ((about.valid & kNeeded) != kNeeded || about.comp_size > std::filesystem::file_size(path_) ||
      about.size / kDeflateRatio > about.comp_size) {
    refuse("its size is impossible");
  }
  const std::unique_ptr<zip_file_t, CloseMember> reader(zip_fopen_index(archive_.get(), member->second, 0));
  if (!reader) refuse(zip_strerror(archive_.get()));
  std::vector<std::byte> bytes(about.size);
  for (std::size_t done = 0; done < bytes.size();) {
    const zip_int64_t got = zip_fread(reader.get(), bytes.data() + done, bytes.size() - done);
    if (got < 0) refuse(zip_file_strerror(reader.get()));
    if (got == 0) refuse(std::to_string(done) + " of " + std::to_string(bytes.size()) + " bytes");
    done += static_cast<std::size_t>(got);
  }
  // The check sum is compared by the read that meets the end.
  std::byte more{};
  if (const zip_int64_t got = zip_fread(reader.get(), &more, 1); got != 0) {
    refuse(got < 0 ? zip_file_strerror(reader.get()) : "more bytes than its size");
  }
  return parse_npy(std::move(bytes), source(name));
}

}  // namespace mirrorscale::strategies
