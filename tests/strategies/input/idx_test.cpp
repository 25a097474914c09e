#include "strategies/input/idx.h"

#include "tests/strategies/input/rows_of.h"
#include "tests/strategies/input/temp_folder.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <vector>
#include <zlib.h>

namespace mirrorscale::strategies {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string be32(std::uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16), static_cast<char>(value >> 8),
          static_cast<char>(value)};
}

std::string idx(int type, const std::vector<std::uint32_t>& shape, const std::string& values) {
  std::string bytes = {'\0', '\0', static_cast<char>(type), static_cast<char>(shape.size())};
  for (const std::uint32_t size : shape) bytes += be32(size);
  return bytes + values;
}

std::filesystem::path write_gzip(const TempFolder& folder, const std::string& name,
                                 const std::string& bytes) {
  gzFile file = gzopen((folder / name).c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  return folder / name;
}

const std::string kImages = idx(8, {2, 1, 2}, {'\x00', '\x33', '\xFF', '\x01'});
const std::string kLabels = idx(8, {2}, {'\x02', '\x00'});

TEST(Idx, ReadsAPairPlainAndCompressed) {
  const TempFolder folder;
  const auto plain = folder.write("images", kImages);
  const auto packed = write_gzip(folder, "images.gz", kImages);
  const auto labels = write_gzip(folder, "labels.gz", kLabels);
  for (const auto& images : {plain, packed}) {
    const DatasetPtr data = load_idx_pair("toy", images, labels);
    EXPECT_EQ(data->name(), "toy");
    EXPECT_EQ(data->rows(), 2);
    EXPECT_EQ(data->features(), 2);
    EXPECT_EQ(data->classes(), 3);
    EXPECT_FALSE(data->synthetic());
    EXPECT_EQ(features_of(*data, {0, 1}), (std::vector<float>{0, 0.2F, 1, 1 / 255.0F}));
    EXPECT_EQ(labels_of(*data, {0, 1}), (std::vector<int>{2, 0}));
  }
  EXPECT_EQ(load_idx_pair("toy", plain, labels, 10)->classes(), 10);
}

TEST(Idx, ReadsEveryType) {
  const TempFolder folder;
  const auto labels = folder.write("labels", idx(0x0C, {1}, be32(1)));
  const std::vector<std::pair<int, std::string>> minus_two = {{0x09, "\xFE"},
                                                              {0x0B, "\xFF\xFE"},
                                                              {0x0C, "\xFF\xFF\xFF\xFE"},
                                                              {0x0D, be32(0xC0000000)},
                                                              {0x0E, be32(0xC0000000) + be32(0)}};
  for (const auto& [type, bytes] : minus_two) {
    const auto images = folder.write("images", idx(type, {1, 1}, bytes));
    EXPECT_EQ(features_of(*load_idx_pair("toy", images, labels), {0}), std::vector<float>{-2})
        << "type " << type;
  }
}

TEST(Idx, RefusesAWrongFile) {
  const TempFolder folder;
  const auto read = [&](const std::string& bytes) {
    const auto file = folder.write("file", bytes);
    const std::string message = refusal([&] { read_idx(file); });
    EXPECT_THAT(message, HasSubstr(file.string()));
    return message;
  };
  EXPECT_THAT(read("\x89PNG and more"), HasSubstr("first bytes 89 50 4e 47"));
  EXPECT_THAT(read(idx(7, {1}, "a")), HasSubstr("first bytes 00 00 07 01"));
  EXPECT_THAT(read(idx(8, {}, "")), HasSubstr("first bytes 00 00 08 00"));
  EXPECT_THAT(read(""), HasSubstr("a file of 0 bytes"));
  EXPECT_THAT(read(kImages.substr(0, 9)), HasSubstr("the end of the file within the shape"));
  EXPECT_THAT(read(idx(8, {2, 3}, "12345")), HasSubstr("expected 6 bytes of values for shape [2, 3]"));
  EXPECT_THAT(read(idx(8, {2, 3}, "1234567")), HasSubstr("bytes behind the last value"));
  // A header must not be able to ask for memory that the file can't fill.
  EXPECT_THAT(read(idx(8, {0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF}, "1")), HasSubstr("found a truncated file"));
  EXPECT_THAT(refusal([&] { read_idx(folder / "absent"); }), HasSubstr("no such readable file"));
}

TEST(Idx, RefusesADamagedGzipFile) {
  const TempFolder folder;
  const std::string whole = read_bytes(write_gzip(folder, "file", idx(8, {3, 1000}, std::string(3000, 'x'))));
  const auto message = [&](const std::string& bytes) {
    return refusal([&] { read_idx(folder.write("file", bytes)); });
  };
  EXPECT_THAT(message(whole.substr(0, whole.size() - 9)), HasSubstr("damaged or truncated gzip"));
  EXPECT_THAT(message(whole.substr(0, whole.size() - 1)),
              HasSubstr("damaged or truncated gzip"));  // only its size
  std::string wrong_sum = whole;
  wrong_sum[whole.size() - 6] ^= 1;
  EXPECT_THAT(message(wrong_sum), HasSubstr("incorrect data check"));
}

TEST(Idx, RefusesFilesThatDoNotFit) {
  const TempFolder folder;
  const auto images = folder.write("images", kImages), labels = folder.write("labels", kLabels);
  const auto message = [&](const std::string& image_bytes, const std::string& label_bytes, int classes = 0) {
    const auto x = folder.write("x", image_bytes), y = folder.write("y", label_bytes);
    return refusal([&] { load_idx_pair("toy", x, y, classes); });
  };
  EXPECT_THAT(message(kImages, idx(8, {3}, "\x01\x01\x01")),
              AllOf(HasSubstr("found 3 labels"), HasSubstr("expected 2, one for each image of")));
  EXPECT_THAT(message(kImages, kLabels, 2),
              AllOf(HasSubstr((folder / "y").string()), HasSubstr("label 2 in row 0"), HasSubstr("0 .. 1")));
  EXPECT_THAT(message(kImages, idx(9, {2}, std::string("\x00\xFF", 2))), HasSubstr("label -1 in row 1"));
  EXPECT_THAT(message(kImages, idx(0x0C, {2}, be32(0x7FFFFFFF) + be32(0))),
              HasSubstr("label 2147483647 in row 0"));
  EXPECT_THAT(message(kImages, kImages), HasSubstr("[rows] of integer labels"));
  EXPECT_THAT(message(kImages, idx(0x0D, {2}, be32(0) + be32(0))), HasSubstr("[rows] of integer labels"));
  EXPECT_THAT(message(kLabels, kLabels), HasSubstr("[rows, ...] of images"));
  EXPECT_THAT(message(idx(8, {0, 2}, ""), idx(8, {0}, "")), HasSubstr("at least one value"));
  EXPECT_THAT(message(idx(0x0D, {2, 1}, be32(0) + be32(0x7FC00000)), kLabels),
              AllOf(HasSubstr((folder / "x").string()), HasSubstr("nan in row 1, column 0")));
}

TEST(Idx, RefusesEveryPrefix) {
  const TempFolder folder;
  const auto labels = folder.write("labels", kLabels);
  const std::string packed = read_bytes(write_gzip(folder, "packed", kImages));
  for (const std::string& whole : {kImages, packed}) {
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      const auto images = folder.write("images", whole.substr(0, bytes));
      EXPECT_FALSE(loads([&] { load_idx_pair("toy", images, labels); })) << bytes << " of " << whole.size();
    }
  }
}

TEST(Idx, SurvivesEveryFlippedByte) {
  const TempFolder folder;
  const auto labels = folder.write("labels", kLabels);
  const std::string packed = read_bytes(write_gzip(folder, "packed", kImages));
  int loaded = 0, refused = 0;
  for (const std::string& whole : {kImages, packed}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (const int mask : {0x01, 0x10, 0x80, 0xFF}) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(bytes[at] ^ mask);
        const auto images = folder.write("images", bytes);
        ++(loads([&] { load_idx_pair("toy", images, labels); }) ? loaded : refused);
      }
    }
  }
  EXPECT_GE(loaded, 16);  // at least the four pixels of the plain file may be anything
  EXPECT_GE(refused, 40);
}

void write_folder(const TempFolder& folder) {
  folder.write("train-images-idx3-ubyte", kImages);
  write_gzip(folder, "train-labels-idx1-ubyte.gz", kLabels);
  write_gzip(folder, "t10k-images-idx3-ubyte.gz", idx(8, {1, 1, 2}, "ab"));
  folder.write("t10k-labels-idx1-ubyte", idx(8, {1}, "\x01"));
}

TEST(LoadIdx, FindsTheFourFiles) {
  const TempFolder folder;
  write_folder(folder);
  const SplitDataset data = load_idx(folder.path().string() + "/");
  EXPECT_EQ(data.train->name(), folder.path().filename().string());
  EXPECT_EQ(data.train->rows(), 2);
  EXPECT_EQ(data.test->rows(), 1);
  EXPECT_EQ(data.test->classes(), 3);  // of training, though the only test label is 1
}

TEST(LoadIdx, RefusesAnIncompleteOrMixedFolder) {
  const TempFolder folder;
  EXPECT_THAT(refusal([&] { load_idx(folder.path()); }), HasSubstr("no file train-images-idx3-ubyte"));
  write_folder(folder);
  folder.write("t10k-labels-idx1-ubyte", idx(8, {1}, "\x03"));
  EXPECT_THAT(refusal([&] { load_idx(folder.path()); }), HasSubstr("label 3 in row 0"));
  folder.write("t10k-labels-idx1-ubyte", idx(8, {1}, "\x01"));
  write_gzip(folder, "t10k-images-idx3-ubyte.gz", idx(8, {1, 1, 3}, "abc"));
  EXPECT_THAT(refusal([&] { load_idx(folder.path()); }), HasSubstr("found 3 values a row; expected 2"));
  std::filesystem::remove(folder / "train-labels-idx1-ubyte.gz");
  EXPECT_THAT(refusal([&] { load_idx(folder.path()); }), HasSubstr("no file train-labels-idx1-ubyte"));
}

TEST(FashionMnist, IsWhereTheVariableSays) {
  const TempFolder folder;
  setenv("MIRRORSCALE_DATA", folder.path().c_str(), 1);
  EXPECT_EQ(find_fashion_mnist(), std::nullopt);  // a place that was named is not replaced by another
  std::filesystem::create_directory(folder / "fashion-mnist");
  folder.write("fashion-mnist/train-images-idx3-ubyte.gz", "");
  EXPECT_EQ(find_fashion_mnist(), folder / "fashion-mnist");
  folder.write("train-images-idx3-ubyte", "");
  EXPECT_EQ(find_fashion_mnist(), folder.path());
  unsetenv("MIRRORSCALE_DATA");
}

TEST(FashionMnist, IsTheRealOne) {
  const auto folder = find_fashion_mnist();
  if (!folder) GTEST_SKIP() << "Fashion-MNIST is not here (apt-get install dataset-fashion-mnist)";
  const SplitDataset data = load_idx(*folder);
  EXPECT_EQ(data.train->rows(), 60000);
  EXPECT_EQ(data.test->rows(), 10000);
  EXPECT_EQ(data.train->features(), 784);
  EXPECT_EQ(data.train->classes(), 10);
  EXPECT_EQ(labels_of(*data.train, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}),
            (std::vector<int>{9, 0, 0, 3, 0, 2, 7, 2, 5, 5}));
  std::vector<std::int64_t> all(60000);
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> counts(10);
  for (const int label : labels_of(*data.train, all)) ++counts[static_cast<std::size_t>(label)];
  EXPECT_EQ(counts, std::vector<int>(10, 6000));
}

}  // namespace
}  // namespace mirrorscale::strategies
