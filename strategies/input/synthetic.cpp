#include "strategies/input/synthetic.h"

#include "kernels/random.h"
#include "strategies/input/array_dataset.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace mirrorscale::strategies {
namespace {

constexpr int kWords = 4;  // of one Philox block
constexpr std::int64_t kExactFloats = std::int64_t{1} << 24;

enum Stream : std::uint32_t {
  kCentres = 0,
  kTrainValues = 1,
  kTrainLabels = 2,
  kTestValues = 3,
  kTestLabels = 4
};
struct Streams {
  Stream values, labels;
};
constexpr Streams kTrain = {kTrainValues, kTrainLabels}, kTest = {kTestValues, kTestLabels};

void check_counts(const char* op, RowCounts rows, std::int64_t features, std::int64_t classes) {
  if (rows.train >= 1 && rows.test >= 0 && features >= 1 && classes >= 1) return;
  throw std::invalid_argument("[" + std::string(op) + "] " + std::to_string(rows.train) + " training rows, " +
                              std::to_string(rows.test) + " test rows, " + std::to_string(features) +
                              " features, " + std::to_string(classes) +
                              " classes; expected 1 or more (test rows: 0 or more)");
}

/// Words 4 b .. 4 b + 3 of a row: the block number lies beside the row number, so a wider row begins alike.
kernels::PhiloxCounter block_of(std::uint64_t seed, Stream stream, std::int64_t row, int block) {
  return kernels::random_words(seed, kernels::Purpose::kSynthetic, stream,
                               (static_cast<std::uint64_t>(row) << 24) | static_cast<std::uint64_t>(block));
}

/// Standard normal numbers, keyed like their row.
void fill_normal(std::uint64_t seed, Stream stream, std::int64_t row, int count, float* values) {
  for (int at = 0; at < count; at += kWords) {
    const auto words = block_of(seed, stream, row, at / kWords);
    const auto front = kernels::to_normal(words[0], words[1]), back = kernels::to_normal(words[2], words[3]);
    const std::array<float, kWords> four = {front[0], front[1], back[0], back[1]};
    std::copy_n(four.begin(), std::min(kWords, count - at), values + at);
  }
}

int label_of(std::uint64_t seed, Stream labels, std::int64_t row, int classes) {
  return static_cast<int>(block_of(seed, labels, row, 0)[0] % static_cast<std::uint32_t>(classes));
}

DatasetPtr finish(ArrayContents contents) {
  contents.synthetic = true;
  return std::make_shared<ArrayDataset>(std::move(contents));
}

DatasetPtr clusters_part(const Clusters& wanted, const std::vector<float>& centres, std::int64_t rows,
                         Streams streams) {
  ArrayContents made;
  made.name = "clusters";
  made.features = wanted.features;
  made.classes = wanted.classes;
  const auto features = static_cast<std::size_t>(wanted.features);
  std::vector<float> values(static_cast<std::size_t>(rows) * features);
  for (std::int64_t row = 0; row < rows; ++row) {
    const int label = label_of(wanted.seed, streams.labels, row, wanted.classes);
    made.labels.push_back(label);
    float* const row_values = values.data() + static_cast<std::size_t>(row) * features;
    const float* const centre = centres.data() + static_cast<std::size_t>(label) * features;
    fill_normal(wanted.seed, streams.values, row, wanted.features, row_values);
    for (std::size_t f = 0; f < features; ++f) row_values[f] = centre[f] + wanted.noise * row_values[f];
  }
  made.values = std::move(values);
  return finish(std::move(made));
}

DatasetPtr line_part(std::int64_t rows, std::uint64_t seed, Streams streams) {
  ArrayContents made;
  made.name = "line";
  made.features = made.target_columns = 1;
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row) {
    values.push_back(kernels::to_unit_float(block_of(seed, streams.values, row, 0)[0]));
    made.targets.push_back(3 * values.back());
  }
  made.values = std::move(values);
  return finish(std::move(made));
}

/// 16 bytes a block.
void fill_bytes(std::uint64_t seed, Stream stream, std::int64_t row, int count, std::uint8_t* bytes) {
  for (int at = 0; at < count; at += kWords * 4) {
    const auto words = block_of(seed, stream, row, at / (kWords * 4));
    for (int i = 0; i < std::min(kWords * 4, count - at); ++i) {
      bytes[at + i] = static_cast<std::uint8_t>(words[static_cast<std::size_t>(i / 4)] >> (8 * (i % 4)));
    }
  }
}

DatasetPtr images_part(const Images& wanted, std::int64_t rows, Streams streams) {
  ArrayContents made;
  made.name = wanted.name;
  made.image = wanted.image;
  made.features = wanted.image.height * wanted.image.width * wanted.image.channels;
  made.classes = wanted.classes;
  const auto size = static_cast<std::size_t>(made.features);
  std::vector<std::uint8_t> centres(size * static_cast<std::size_t>(wanted.classes));
  for (int c = 0; c < wanted.classes; ++c)
    fill_bytes(wanted.seed, kCentres, c, made.features, centres.data() + static_cast<std::size_t>(c) * size);
  std::vector<std::uint8_t> pixels(static_cast<std::size_t>(rows) * size), noise(2 * size);
  for (std::int64_t row = 0; row < rows; ++row) {
    const int label = label_of(wanted.seed, streams.labels, row, wanted.classes);
    made.labels.push_back(label);
    fill_bytes(wanted.seed, streams.values, row, 2 * made.features, noise.data());
    const std::uint8_t* const centre = centres.data() + static_cast<std::size_t>(label) * size;
    std::uint8_t* const row_pixels = pixels.data() + static_cast<std::size_t>(row) * size;
    for (std::size_t f = 0; f < size; ++f) {
      // The difference of two uniform bytes: a triangle around 0.
      row_pixels[f] =
          static_cast<std::uint8_t>(std::clamp(centre[f] + noise[2 * f] - noise[2 * f + 1], 0, 255));
    }
  }
  made.values = std::move(pixels);
  return finish(std::move(made));
}

}  // namespace

SplitDataset make_clusters(const Clusters& wanted) {
  check_counts("make_clusters", wanted.rows, wanted.features, wanted.classes);
  if (!std::isfinite(wanted.noise))
    throw std::invalid_argument("[make_clusters] the noise is no finite number");
  std::vector<float> centres(static_cast<std::size_t>(wanted.classes) *
                             static_cast<std::size_t>(wanted.features));
  for (int c = 0; c < wanted.classes; ++c) {
    fill_normal(wanted.seed, kCentres, c, wanted.features,
                centres.data() + static_cast<std::ptrdiff_t>(c) * wanted.features);
  }
  const RowCounts rows = wanted.rows;
  return {clusters_part(wanted, centres, rows.train, kTrain),
          rows.test > 0 ? clusters_part(wanted, centres, rows.test, kTest) : nullptr};
}

SplitDataset make_line(RowCounts rows, std::uint64_t seed) {
  check_counts("make_line", rows, 1, 1);
  return {line_part(rows.train, seed, kTrain), rows.test > 0 ? line_part(rows.test, seed, kTest) : nullptr};
}

DatasetPtr make_identity_rows(std::int64_t rows, int features, int target_columns) {
  check_counts("make_identity_rows", {rows, 0}, features, target_columns);
  if (rows >= kExactFloats) {
    throw std::invalid_argument("[make_identity_rows] " + std::to_string(rows) +
                                " rows; expected fewer than 2^24, so that float32 tells them apart");
  }
  ArrayContents made;
  made.name = "identity";
  made.features = features;
  made.target_columns = target_columns;
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows; ++row) {
    values.insert(values.end(), static_cast<std::size_t>(features), static_cast<float>(row));
    made.targets.insert(made.targets.end(), static_cast<std::size_t>(target_columns),
                        static_cast<float>(row));
  }
  made.values = std::move(values);
  return finish(std::move(made));
}

SplitDataset make_images(const Images& wanted) {
  const auto& [height, width, channels] = wanted.image;
  if (height < 1 || width < 1 || channels < 1)
    throw std::invalid_argument("[make_images] an image of " + std::to_string(height) + " x " +
                                std::to_string(width) + " x " + std::to_string(channels) +
                                "; expected at least 1 each");
  const RowCounts rows = wanted.rows;
  check_counts("make_images", rows, channels, wanted.classes);
  return {images_part(wanted, rows.train, kTrain),
          rows.test > 0 ? images_part(wanted, rows.test, kTest) : nullptr};
}

SplitDataset make_fashion_twin(RowCounts rows, std::uint64_t seed) {
  return make_images({.name = "fashion-twin", .rows = rows, .image = {28, 28, 1}, .seed = seed});
}

}  // namespace mirrorscale::strategies
