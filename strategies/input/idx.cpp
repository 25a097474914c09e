#include "strategies/input/idx.h"

#include "strategies/input/array_dataset.h"
#include "strategies/input/data_error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <zlib.h>

namespace mirrorscale::strategies {
namespace {

namespace fs = std::filesystem;
using Type = IdxArray::Type;

constexpr const char* kDebianFolder = "/usr/share/datasets/fashion-mnist";
constexpr std::uint64_t kDeflateRatio = 1032;  // no deflate stream grows by more

struct CloseGz {
  void operator()(gzFile file) const noexcept { gzclose(file); }
};

/// A plain or compressed file, read from front to back.
class Reader {
 public:
  explicit Reader(const fs::path& file) : path_(file.string()) {
    std::error_code failed;
    file_bytes_ = fs::file_size(file, failed);
    if (!failed) file_.reset(gzopen(path_.c_str(), "rb"));
    if (!file_) throw DataError(path_, "no such readable file", "an IDX file, plain or gzip");
    gzbuffer(file_.get(), 1U << 18);
  }

  /// Bytes read: fewer than asked for only at the end.
  std::size_t read(std::span<std::uint8_t> bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      const auto wanted = std::min<std::size_t>(bytes.size() - done, 1U << 30);
      const int got = gzread(file_.get(), bytes.data() + done, static_cast<unsigned>(wanted));
      int status = Z_OK;
      const char* reason = gzerror(file_.get(), &status);
      if (got < 0 || (status != Z_OK && status != Z_STREAM_END)) {
        throw DataError(path_, "a damaged or truncated gzip file (" + std::string(reason) + ")",
                        "a whole one");
      }
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  /// Whether the file can hold so many bytes at all: a lying header must not make us ask for the memory.
  bool may_hold(std::uint64_t bytes) const {
    return bytes <= (gzdirect(file_.get()) != 0 ? file_bytes_ : file_bytes_ * kDeflateRatio);
  }

 private:
  std::string path_;
  std::uint64_t file_bytes_ = 0;
  std::unique_ptr<gzFile_s, CloseGz> file_;
};

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

std::uint64_t value_bytes(Type type) {
  switch (type) {
    case Type::kUint8:
    case Type::kInt8:
      return 1;
    case Type::kInt16:
      return 2;
    case Type::kInt32:
    case Type::kFloat:
      return 4;
    case Type::kDouble:
      return 8;
  }
  return 0;
}

std::uint64_t big_endian(const std::uint8_t* bytes, std::uint64_t count) {
  return std::accumulate(bytes, bytes + count, std::uint64_t{0},
                         [](std::uint64_t sum, std::uint8_t byte) { return (sum << 8) | byte; });
}

double value_at(const IdxArray& array, std::size_t index) {
  const std::uint64_t size = value_bytes(array.type);
  const std::uint64_t bits = big_endian(array.bytes.data() + index * size, size);
  switch (array.type) {
    case Type::kUint8:
      return static_cast<double>(bits);
    case Type::kInt8:
      return static_cast<std::int8_t>(bits);
    case Type::kInt16:
      return static_cast<std::int16_t>(bits);
    case Type::kInt32:
      return static_cast<std::int32_t>(bits);
    case Type::kFloat:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    case Type::kDouble:
      return std::bit_cast<double>(bits);
  }
  return 0;
}

template <class T>
std::vector<T> values_as(const IdxArray& array) {
  std::vector<T> values(array.bytes.size() / value_bytes(array.type));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(value_at(array, i));
  return values;
}

/// The file of that name, plain or compressed.
std::optional<fs::path> find_file(const fs::path& folder, const std::string& name) {
  for (const char* ending : {"", ".gz"}) {
    std::error_code failed;
    if (fs::path file = folder / (name + ending); fs::is_regular_file(file, failed)) return file;
  }
  return std::nullopt;
}

fs::path need_file(const fs::path& folder, const std::string& name) {
  if (const auto file = find_file(folder, name)) return *file;
  throw DataError(folder.string(), "no file " + name + " or " + name + ".gz",
                  "the four IDX files of a data set such as Fashion-MNIST (Debian: apt-get install "
                  "dataset-fashion-mnist)");
}

}  // namespace

IdxArray read_idx(const fs::path& file) {
  Reader reader(file);
  const std::string source = file.string();
  std::array<std::uint8_t, 4> magic{};
  const auto refuse_header = [&](const std::string& found) {
    throw DataError(source, found,
                    "an IDX file: two zero bytes, a type (8, 9, b, c, d, e), a number of dimensions");
  };
  if (const std::size_t got = reader.read(magic); got < magic.size()) {
    refuse_header("a file of " + std::to_string(got) + " bytes");
  }
  IdxArray array;
  array.type = static_cast<Type>(magic[2]);
  if (magic[0] != 0 || magic[1] != 0 || value_bytes(array.type) == 0 || magic[3] == 0) {
    std::string text = "the first bytes";
    for (const std::uint8_t byte : magic) {
      constexpr const char* kDigits = "0123456789abcdef";
      text += std::string(" ") + kDigits[byte >> 4] + kDigits[byte & 15];
    }
    refuse_header(text);
  }
  std::uint64_t bytes = value_bytes(array.type);
  for (int d = 0; d < magic[3]; ++d) {
    std::array<std::uint8_t, 4> size{};
    if (reader.read(size) < size.size()) refuse_header("the end of the file within the shape");
    const std::uint64_t rows = big_endian(size.data(), size.size());
    array.shape.push_back(static_cast<std::int64_t>(rows));
    bytes = rows != 0 && bytes > std::numeric_limits<std::uint64_t>::max() / rows
                ? std::numeric_limits<std::uint64_t>::max()
                : bytes * rows;
  }
  const std::string expected =
      std::to_string(bytes) + " bytes of values for shape " + shape_text(array.shape);
  if (!reader.may_hold(bytes)) throw DataError(source, "a truncated file", expected);
  array.bytes.resize(bytes);
  if (const std::size_t got = reader.read(array.bytes); got < bytes) {
    throw DataError(source, std::to_string(got) + " bytes of values", expected);
  }
  // Reading on also makes zlib compare the check sum behind the last byte.
  if (std::array<std::uint8_t, 1> more{}; reader.read(more) != 0) {
    throw DataError(source, "bytes behind the last value", expected);
  }
  return array;
}

DatasetPtr load_idx_pair(const std::string& name, const fs::path& images, const fs::path& labels,
                         int classes) {
  IdxArray x = read_idx(images), y = read_idx(labels);
  if (x.shape.size() < 2)
    throw DataError(images.string(), "shape " + shape_text(x.shape), "[rows, ...] of images");
  if (y.shape.size() != 1 || y.type == Type::kFloat || y.type == Type::kDouble) {
    throw DataError(labels.string(),
                    "shape " + shape_text(y.shape) + " of type " + std::to_string(int(y.type)),
                    "[rows] of integer labels");
  }
  if (x.shape[0] != y.shape[0]) {
    throw DataError(labels.string(), std::to_string(y.shape[0]) + " labels",
                    std::to_string(x.shape[0]) + ", one for each image of " + images.string());
  }
  const auto values = x.bytes.size() / value_bytes(x.type);
  if (values == 0) throw DataError(images.string(), "shape " + shape_text(x.shape), "at least one value");
  const auto features = values / static_cast<std::size_t>(x.shape[0]);
  if (features > std::size_t{std::numeric_limits<int>::max()}) {
    throw DataError(images.string(), "shape " + shape_text(x.shape), "fewer than 2^31 values a row");
  }
  ArrayContents contents;
  contents.name = name;
  contents.features = static_cast<int>(features);
  contents.image = image_of(x.shape);
  contents.labels = values_as<int>(y);
  contents.classes = classes;
  contents.values_source = images.string();
  contents.answers_source = labels.string();
  if (x.type == Type::kUint8) {
    contents.values = std::move(x.bytes);
  } else {
    contents.values = values_as<float>(x);
  }
  return std::make_shared<ArrayDataset>(std::move(contents));
}

SplitDataset load_idx(const fs::path& folder) {
  // All four are looked for before the first is read.
  const fs::path train_images = need_file(folder, "train-images-idx3-ubyte");
  const fs::path train_labels = need_file(folder, "train-labels-idx1-ubyte");
  const fs::path test_images = need_file(folder, "t10k-images-idx3-ubyte");
  const fs::path test_labels = need_file(folder, "t10k-labels-idx1-ubyte");
  const fs::path clean = fs::absolute(folder).lexically_normal();
  const std::string name = (clean.has_filename() ? clean : clean.parent_path()).filename().string();
  SplitDataset split;
  split.train = load_idx_pair(name, train_images, train_labels);
  split.test = load_idx_pair(name, test_images, test_labels, split.train->classes());
  if (split.test->features() != split.train->features()) {
    throw DataError(test_images.string(), std::to_string(split.test->features()) + " values a row",
                    std::to_string(split.train->features()) + " as in " + train_images.string());
  }
  return split;
}

std::optional<fs::path> find_fashion_mnist() {
  std::vector<fs::path> folders = {kDebianFolder};
  if (const char* data = std::getenv("MIRRORSCALE_DATA"); data != nullptr && *data != '\0') {
    folders = {data, fs::path(data) / "fashion-mnist"};
  }
  for (const fs::path& folder : folders) {
    if (find_file(folder, "train-images-idx3-ubyte")) return folder;
  }
  return std::nullopt;
}

}  // namespace mirrorscale::strategies
