#include "strategies/input/numpy_dataset.h"

#include "strategies/input/array_dataset.h"
#include "strategies/input/data_error.h"
#include "strategies/input/mapped_file.h"
#include "strategies/input/npy.h"
#include "strategies/input/npz.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

namespace mirrorscale::strategies {
namespace {

namespace fs = std::filesystem;
using Type = NpyArray::Type;

/// An array and the words that name it in errors.
struct Named {
  NpyArray array;
  std::string source;
  MappedFile mapped = {};                  // where its values lie, if not in `array`
  std::span<const std::byte> values = {};  // there
};

/// The array in a file; float32 and bytes stay in the file, which may be larger than memory.
Named read_or_map(const fs::path& file) {
  MappedFile mapped = map_file(file);
  NpyView view = view_npy(mapped.bytes, file.string());
  const bool aligned = reinterpret_cast<std::uintptr_t>(view.values.data()) % alignof(float) == 0;
  if (view.array.type == Type::kUint8 || (view.array.type == Type::kFloat32 && aligned))
    return {std::move(view.array), file.string(), std::move(mapped), view.values};
  view.array.bytes.assign(view.values.begin(), view.values.end());
  return {std::move(view.array), file.string()};
}

template <class T>
BorrowedValues<T> borrow(const Named& x) {
  return {{reinterpret_cast<const T*>(x.values.data()), x.values.size() / sizeof(T)}, x.mapped.owner};
}

std::size_t count_of(const Named& named) {
  return named.values.empty() ? named.array.values()
                              : named.values.size() / (named.array.type == Type::kUint8 ? 1 : sizeof(float));
}

/// Values a row, and that there are rows and values at all.
int row_values(const Named& named) {
  const NpyArray& array = named.array;
  if (array.shape.empty() || count_of(named) == 0) {
    throw DataError(named.source, "shape " + array.shape_text(), "[rows, ...] with at least one value");
  }
  const auto values = count_of(named) / static_cast<std::size_t>(array.shape[0]);
  if (values > std::size_t{std::numeric_limits<int>::max()}) {
    throw DataError(named.source, "shape " + array.shape_text(), "fewer than 2^31 values a row");
  }
  return static_cast<int>(values);
}

std::vector<float> to_floats(const Named& named) {
  const NpyArray& array = named.array;
  std::vector<float> values(array.values());
  if (array.type == Type::kFloat32) {
    std::memcpy(values.data(), array.bytes.data(), array.bytes.size());
    return values;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double value = array.value(i);
    // NaN and infinity pass here; the data set names their row and column.
    if (std::isfinite(value) && std::abs(value) > double{std::numeric_limits<float>::max()}) {
      throw DataError(named.source, std::to_string(value) + " at index " + std::to_string(i),
                      "numbers that float32 can hold");
    }
    values[i] = static_cast<float>(value);
  }
  return values;
}

std::vector<int> to_labels(const Named& named) {
  const NpyArray& array = named.array;
  if (array.shape.size() != 1) {
    throw DataError(named.source, "integers of shape " + array.shape_text(),
                    "labels [rows] of integers, or targets of floating numbers (numpy: y.astype('<f4'))");
  }
  std::vector<int> labels(array.values());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const double label = array.value(i);
    if (label < 0 || label >= double{std::numeric_limits<int>::max()}) {
      throw DataError(named.source,
                      "label " + std::to_string(static_cast<std::int64_t>(label)) + " in row " +
                          std::to_string(i) + " (counted from 0)",
                      "0 or more, below 2^31 - 1");
    }
    labels[i] = static_cast<int>(label);
  }
  return labels;
}

/// `y` may be null.
DatasetPtr make_dataset(std::string name, const Named& x, const Named* y, const std::optional<Named>& w,
                        int classes) {
  ArrayContents contents;
  contents.name = std::move(name);
  contents.values_source = x.source;
  contents.features = row_values(x);
  contents.image = image_of(x.array.shape);
  if (!x.values.empty()) {
    if (x.array.type == Type::kUint8) {
      contents.values = borrow<std::uint8_t>(x);
    } else {
      contents.values = borrow<float>(x);
    }
  } else if (x.array.type == Type::kUint8) {
    std::vector<std::uint8_t> bytes(x.array.values());
    std::memcpy(bytes.data(), x.array.bytes.data(), bytes.size());
    contents.values = std::move(bytes);
  } else {
    contents.values = to_floats(x);
  }
  for (const Named* other : {y, w ? &*w : nullptr}) {
    if (other == nullptr) continue;
    row_values(*other);
    if (other->array.shape[0] == x.array.shape[0]) continue;
    throw DataError(other->source, std::to_string(other->array.shape[0]) + " rows",
                    std::to_string(x.array.shape[0]) + ", as many as " + x.source);
  }
  if (y != nullptr) {
    contents.answers_source = y->source;
    if (y->array.is_floating()) {
      contents.target_columns = row_values(*y);
      contents.targets = to_floats(*y);
    } else {
      contents.labels = to_labels(*y);
      contents.classes = classes;
    }
  }
  if (w) {
    if (row_values(*w) != 1) throw DataError(w->source, "shape " + w->array.shape_text(), "[rows]");
    contents.weights = to_floats(*w);
  }
  return std::make_shared<ArrayDataset>(std::move(contents));
}

/// The first of `names` that the archive has.
std::optional<std::string> find(const NpzFile& file, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (file.has(name)) return name;
  }
  return std::nullopt;
}

std::optional<Named> read_if_there(const NpzFile& file, std::initializer_list<const char*> names) {
  const auto name = find(file, names);
  return name ? std::optional<Named>({file.read(*name), file.source(*name)}) : std::nullopt;
}

Named read_one_of(const NpzFile& file, std::initializer_list<const char*> names) {
  if (auto found = read_if_there(file, names)) return *std::move(found);
  std::string expected;
  for (const char* name : names) expected += (expected.empty() ? "" : " or ") + std::string(name);
  throw DataError(file.path(), "the arrays " + file.names(), "an array " + expected);
}

std::string plain_name(const fs::path& file) {
  return file.stem().string();
}

void check_fit(const Dataset& train, const Dataset& test, const Named& x, const Named& y) {
  if (test.features() != train.features()) {
    throw DataError(x.source, std::to_string(test.features()) + " values a row",
                    std::to_string(train.features()) + " as in training");
  }
  if (test.target_columns() != train.target_columns() || test.classes() != train.classes()) {
    throw DataError(
        y.source, "shape " + y.array.shape_text() + (test.classes() > 0 ? " of labels" : " of targets"),
        train.classes() > 0 ? "labels as in training"
                            : std::to_string(train.target_columns()) + " target columns as in training");
  }
}

}  // namespace

DatasetPtr load_npy_pair(const fs::path& x, const fs::path& y, int classes) {
  const Named features = read_or_map(x), answers{read_npy(y), y.string()};
  return make_dataset(plain_name(x), features, &answers, std::nullopt, classes);
}

DatasetPtr load_npy_rows(const fs::path& x) {
  return make_dataset(plain_name(x), read_or_map(x), nullptr, std::nullopt, 0);
}

SplitDataset load_npz(const fs::path& file, int classes) {
  const NpzFile archive(file);
  const std::string name = plain_name(file);
  SplitDataset split;
  {
    const Named x = read_one_of(archive, {"x", "x_train"}), y = read_one_of(archive, {"y", "y_train"});
    split.train = make_dataset(name, x, &y, read_if_there(archive, {"w", "w_train"}), classes);
  }
  if (find(archive, {"x_test", "y_test", "w_test"})) {
    const Named x = read_one_of(archive, {"x_test"}), y = read_one_of(archive, {"y_test"});
    split.test = make_dataset(name, x, &y, read_if_there(archive, {"w_test"}), split.train->classes());
    check_fit(*split.train, *split.test, x, y);
  }
  return split;
}

}  // namespace mirrorscale::strategies
