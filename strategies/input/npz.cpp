#include "strategies/input/npz.h"

#include "strategies/input/data_error.h"
#include "strategies/input/file_bytes.h"

#include <array>
#include <stdexcept>
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

std::vector<std::string> NpzFile::list() const {
  std::vector<std::string> names;
  for (const auto& [name, number] : members_) names.push_back(name);
  return names;
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

void write_npz(const std::filesystem::path& file, std::span<const NpzMember> members) {
  zip_error_t error;
  zip_error_init(&error);
  const auto require = [&](bool good, const char* doing) {
    if (!good) throw std::runtime_error(file.string() + ": cannot " + doing + " the archive");
  };
  // Made in memory, so that the file itself is written as all others are.
  const std::unique_ptr<zip_source_t, void (*)(zip_source_t*)> memory(
      zip_source_buffer_create(nullptr, 0, 0, &error), zip_source_free);
  require(memory != nullptr, "begin");
  zip_source_keep(memory.get());  // closing the archive must not free it
  zip_t* archive = zip_open_from_source(memory.get(), ZIP_TRUNCATE, &error);
  if (archive == nullptr) zip_source_free(memory.get());
  require(archive != nullptr, "open");
  std::unique_ptr<zip_t, void (*)(zip_t*)> owner(archive, zip_discard);
  for (const NpzMember& member : members) {
    zip_source_t* bytes = zip_source_buffer(archive, member.bytes.data(), member.bytes.size(), 0);
    require(bytes != nullptr, "add to");
    const zip_int64_t index =
        zip_file_add(archive, (member.name + std::string(kEnding)).c_str(), bytes, ZIP_FL_ENC_UTF_8);
    if (index < 0) zip_source_free(bytes);
    require(index >= 0, "add to");
    const auto at = static_cast<zip_uint64_t>(index);
    require(zip_set_file_compression(archive, at, ZIP_CM_STORE, 0) == 0, "store in");
    // One fixed time (1980-01-01), so that the same weights make the same file.
    require(zip_file_set_dostime(archive, at, 0, 0x21, 0) == 0, "date");
  }
  require(zip_close(archive) == 0, "close");
  owner.release();
  zip_stat_t about;
  require(zip_source_stat(memory.get(), &about) == 0 && zip_source_open(memory.get()) == 0, "read back");
  std::string bytes(about.size, '\0');
  const zip_int64_t got = zip_source_read(memory.get(), bytes.data(), bytes.size());
  zip_source_close(memory.get());
  require(got == static_cast<zip_int64_t>(bytes.size()), "read back");
  write_file(file, std::array<std::string_view, 1>{bytes});
}

}  // namespace mirrorscale::strategies
