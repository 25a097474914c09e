#include "strategies/input/npy.h"
#include "strategies/input/npz.h"
#include "strategies/input/numpy_dataset.h"
#include "tests/strategies/input/rows_of.h"
#include "tests/strategies/input/temp_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdexcept>

namespace mirrorscale::strategies {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Floats = std::vector<float>;

/// A file that NumPy itself wrote (make.py there).
std::filesystem::path stored(const std::string& name) {
  return std::filesystem::path(MIRRORSCALE_TESTS_DIR) / "data" / "numpy" / name;
}

/// An .npy file of version 1 with this dictionary.
std::string npy(const std::string& dictionary, const std::string& values) {
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dictionary.size()) + '\0' + dictionary +
         values;
}

std::vector<std::byte> to_bytes(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string refused(const std::string& bytes) {
  const std::string message = refusal([&] { parse_npy(to_bytes(bytes), "a.npy"); });
  EXPECT_THAT(message, testing::StartsWith("a.npy: found "));
  return message;
}

TEST(Npy, ReadsEveryTypeThatNumPyWrote) {
  for (const char* name : {"f4.npy", "f8.npy", "u1.npy", "i4.npy", "i8.npy"}) {
    const NpyArray array = read_npy(stored(name));
    EXPECT_EQ(array.shape, (std::vector<std::int64_t>{2, 3})) << name;
    ASSERT_EQ(array.values(), 6U) << name;
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(array.value(i), static_cast<double>(i)) << name;
    EXPECT_EQ(array.is_floating(), name[0] == 'f');
  }
  const NpyArray flags = read_npy(stored("b1.npy"));
  EXPECT_EQ(flags.value(0), 1);
  EXPECT_EQ(flags.value(1), 0);
  for (const char* name : {"f4_version2.npy", "f4_version3.npy"})
    EXPECT_EQ(read_npy(stored(name)).value(5), 1.25);
  const NpyArray scalar = read_npy(stored("scalar.npy"));
  EXPECT_EQ(scalar.shape_text(), "[]");
  EXPECT_EQ(scalar.value(0), 2.5);
}

TEST(Npy, RefusesOtherArraysByName) {
  const auto message = [](const char* name) { return refusal([&] { read_npy(stored(name)); }); };
  EXPECT_THAT(message("refused_fortran.npy"),
              AllOf(HasSubstr("Fortran order"), HasSubstr("ascontiguousarray")));
  EXPECT_THAT(message("refused_big_endian.npy"), HasSubstr("type '>f4'"));
  EXPECT_THAT(message("refused_half.npy"), HasSubstr("type '<f2'"));
  EXPECT_THAT(message("refused_text.npy"), HasSubstr("type '<U1'"));
  EXPECT_THAT(message("refused_record.npy"), HasSubstr("structured element type"));
  EXPECT_THAT(message("absent.npy"), HasSubstr("no such readable file"));
}

TEST(Npy, RefusesDamagedFiles) {
  EXPECT_THAT(refused("P5 2 2 255"), HasSubstr("does not begin with \\x93NUMPY"));
  EXPECT_THAT(refused(std::string("\x93NUMPY\x04\x00\x00\x00", 10)), HasSubstr("version 4"));
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  EXPECT_THAT(refused(npy(good, "1234567")),
              AllOf(HasSubstr("7 bytes of values"), HasSubstr("8 bytes for shape [2]")));
  EXPECT_THAT(refused(npy(good, "123456789")), HasSubstr("9 bytes of values"));
  EXPECT_THAT(refused(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}", "")),
              HasSubstr("an impossible number of bytes"));
}

TEST(Npy, RefusesDamagedHeaders) {
  const std::vector<std::pair<std::string, std::string>> headers = {
      {"", "the end of the header"},
      {"{'descr': '<f4'}", "an incomplete header"},
      {"{'descr': '<f4', 'descr': '<f4'}", "key 'descr'"},
      {"{'order': 'C'}", "key 'order'"},
      {"{'descr': '<f4", "a text without end"},
      {"{'fortran_order': Perhaps}", "neither True nor False"},
      {"{'shape': (2, x)}", "no list of sizes"},
      {"{'shape': (-2,)}", "no list of sizes"},
      {"{'shape': (99999999999999999999,)}", "no list of sizes"},
      {"{'shape': (2 3)}", "where ')' belongs"},
      {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} and more", "text behind"},
      {"['descr']", "where '{' belongs"}};
  for (const auto& [header, found] : headers)
    EXPECT_THAT(refused(npy(header, "12345678")), HasSubstr(found)) << header;
}

TEST(Npy, WritesTheBytesThatNumPyWrites) {
  const TempFolder folder;
  const auto same = [&](const char* name, auto of) {
    using T = decltype(of);
    std::vector<T> values;
    for (int i = 0; i < 6; ++i) values.push_back(static_cast<T>(i));
    write_npy<T>(folder / name, {2, 3}, values);
    EXPECT_EQ(read_bytes(folder / name), read_bytes(stored(name))) << name;
    EXPECT_FALSE(std::filesystem::exists(folder / (std::string(name) + ".part")));
  };
  same("f4.npy", float{});
  same("f8.npy", double{});
  same("u1.npy", std::uint8_t{});
  same("i4.npy", std::int32_t{});
  same("i8.npy", std::int64_t{});
  const std::vector<std::int64_t> labels = {2, 0};
  write_npy<std::int64_t>(folder / "labels.npy", {2}, labels);
  EXPECT_EQ(read_bytes(folder / "labels.npy"), read_bytes(stored("labels.npy")));
  const Floats one = {2.5F};
  write_npy<float>(folder / "scalar.npy", {}, one);
  EXPECT_EQ(read_bytes(folder / "scalar.npy"), read_bytes(stored("scalar.npy")));
}

TEST(Npy, WritesNothingThatIsWrong) {
  const TempFolder folder;
  const Floats three = {1, 2, 3};
  EXPECT_THROW(write_npy<float>(folder / "a.npy", {2, 2}, three), std::invalid_argument);
  EXPECT_THROW(write_npy<float>(folder / "a.npy", {-3}, three), std::invalid_argument);
  EXPECT_THROW(write_npy<float>(folder / "absent/a.npy", {3}, three), std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(NumpyDataset, LoadsAPair) {
  const DatasetPtr data = load_npy_pair(stored("f4_version2.npy"), stored("labels.npy"));
  EXPECT_EQ(data->name(), "f4_version2");
  EXPECT_EQ(data->classes(), 3);
  EXPECT_EQ(features_of(*data, {1}), (Floats{0.75F, 1, 1.25F}));
  EXPECT_EQ(labels_of(*data, {0, 1}), (std::vector<int>{2, 0}));
  EXPECT_EQ(load_npy_pair(stored("f8.npy"), stored("labels.npy"), 4)->classes(), 4);
  EXPECT_EQ(labels_of(*load_npy_pair(stored("f8.npy"), stored("b1.npy")), {0, 1}), (std::vector<int>{1, 0}));
}

TEST(NumpyDataset, KeepsIntegersAndDividesPixels) {
  EXPECT_EQ(features_of(*load_npy_rows(stored("i8.npy")), {1}), (Floats{3, 4, 5}));
  EXPECT_EQ(features_of(*load_npy_rows(stored("u1.npy")), {1}), (Floats{3 / 255.0F, 4 / 255.0F, 5 / 255.0F}));
  const DatasetPtr targets = load_npy_pair(stored("u1.npy"), stored("f8.npy"));
  EXPECT_EQ(targets->target_columns(), 3);
  EXPECT_EQ(targets_of(*targets, {1}), (Floats{3, 4, 5}));
}

TEST(NumpyDataset, LoadsArchives) {
  const SplitDataset plain = load_npz(stored("plain.npz"));
  EXPECT_EQ(features_of(*plain.train, {1}), (Floats{0.75F, 1, 1.25F}));
  EXPECT_EQ(plain.train->classes(), 3);
  EXPECT_EQ(plain.test, nullptr);

  const SplitDataset keras = load_npz(stored("keras.npz"));
  EXPECT_EQ(keras.train->rows(), 3);
  EXPECT_EQ(keras.train->features(), 16);
  EXPECT_EQ(features_of(*keras.train, {2}).back(), 47 / 255.0F);
  EXPECT_EQ(keras.test->rows(), 2);
  EXPECT_EQ(keras.test->classes(), 3);
  EXPECT_EQ(features_of(*keras.test, {1}), Floats(16, 1));

  const DatasetPtr weighted = load_npz(stored("weighted_targets.npz")).train;
  EXPECT_EQ(targets_of(*weighted, {0, 1}), (Floats{1.5F, 2, 3, 4}));
  EXPECT_EQ(weights_of(*weighted, {0, 1}), (Floats{0.5F, 2}));
}

TEST(NumpyDataset, RefusesArraysThatDoNotFit) {
  const TempFolder folder;
  const auto write = [&](const char* name, const std::vector<std::int64_t>& shape,
                         const std::vector<double>& values) {
    write_npy<double>(folder / name, shape, values);
    return folder / name;
  };
  const auto x = write("x.npy", {2, 2}, {1, 2, 3, 4});
  const auto pair = [&](const std::filesystem::path& a, const std::filesystem::path& b, int classes = 0) {
    return refusal([&] { load_npy_pair(a, b, classes); });
  };
  EXPECT_THAT(pair(x, write("y.npy", {3}, {1, 2, 3})),
              AllOf(HasSubstr("y.npy: found 3 rows"), HasSubstr("2, as many")));
  EXPECT_THAT(pair(x, stored("labels.npy"), 2),
              AllOf(HasSubstr("label 2 in row 0"), HasSubstr("labels.npy")));
  EXPECT_THAT(pair(x, stored("i8.npy")), HasSubstr("integers of shape [2, 3]"));
  EXPECT_THAT(pair(write("n.npy", {2, 2}, {1, 2, 3, std::nan("")}), stored("labels.npy")),
              AllOf(HasSubstr("n.npy"), HasSubstr("nan in row 1, column 1")));
  EXPECT_THAT(pair(write("n.npy", {2, 1}, {1, 1e300}), stored("labels.npy")), HasSubstr("float32 can hold"));
  EXPECT_THAT(pair(write("n.npy", {0, 2}, {}), stored("labels.npy")), HasSubstr("shape [0, 2]"));
  EXPECT_THAT(pair(stored("scalar.npy"), stored("labels.npy")), HasSubstr("shape []"));
  for (const std::int64_t bad : {std::int64_t{-1}, std::int64_t{1} << 40}) {
    const std::vector<std::int64_t> labels = {0, bad};
    write_npy<std::int64_t>(folder / "bad.npy", {2}, labels);
    EXPECT_THAT(pair(x, folder / "bad.npy"), HasSubstr("label " + std::to_string(bad) + " in row 1"));
  }
}

TEST(NumpyDataset, RefusesTestRowsThatDoNotFit) {
  const auto message = [](const char* name) { return refusal([&] { load_npz(stored(name)); }); };
  EXPECT_THAT(message("refused_test_width.npz"),
              AllOf(HasSubstr("[x_test]: found 2 values a row"), HasSubstr("expected 3 as in training")));
  EXPECT_THAT(message("refused_test_targets.npz"), AllOf(HasSubstr("[y_test]: found shape [2, 3] of targets"),
                                                         HasSubstr("labels as in training")));
  EXPECT_THAT(message("refused_test_label.npz"),
              AllOf(HasSubstr("[y_test]: found label 3 in row 0"), HasSubstr("0 .. 2")));
  EXPECT_THAT(message("refused_test_rows.npz"), HasSubstr("[y_test]: found 1 rows"));
  EXPECT_THAT(message("refused_test_alone.npz"), HasSubstr("expected an array y_test"));
}

TEST(NumpyDataset, RefusesArchivesWithoutTheArrays) {
  EXPECT_THAT(refusal([] { load_npz(stored("f4.npy")); }), HasSubstr("no readable archive"));
  EXPECT_THAT(refusal([] { load_npz(stored("absent.npz")); }), HasSubstr("no readable archive"));
  EXPECT_THAT(refusal([] { NpzFile(stored("plain.npz")).read("z"); }),
              AllOf(HasSubstr("the arrays x, y"), HasSubstr("an array z")));
  EXPECT_THAT(refusal([] { NpzFile(stored("weighted_targets.npz")).read("notes"); }),
              AllOf(HasSubstr("weighted_targets.npz [notes]"), HasSubstr("type '|O'")));
}

TEST(NumpyDataset, RefusesADamagedMember) {
  const TempFolder folder;
  const auto message = [&](const std::string& bytes) {
    return refusal([&] { load_npz(folder.write("file.npz", bytes)); });
  };
  std::string value = read_bytes(stored("plain.npz"));
  const auto at = value.find(std::string("\x00\x00\xA0\x3F", 4));  // 1.25, not compressed
  ASSERT_NE(at, std::string::npos);
  value[at + 2] = '\x20';
  EXPECT_THAT(message(value), AllOf(HasSubstr("file.npz [x]"), HasSubstr("CRC error")));

  // The size of x in the archive's directory: a file of half a kilobyte must not make us ask for 4 GiB.
  std::string size = read_bytes(stored("plain.npz"));
  const auto entry = size.find("PK\x01\x02");
  ASSERT_NE(entry, std::string::npos);
  size.replace(entry + 24, 4, "\xF0\xFF\xFF\xFF");
  EXPECT_THAT(message(size), HasSubstr("its size is impossible"));
}

/// load(bytes) of every proper prefix of `whole`.
template <class Load>
void expect_no_prefix_loads(const std::string& whole, Load load) {
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(loads([&] { load(whole.substr(0, bytes)); })) << bytes << " of " << whole.size() << " bytes";
  }
}

/// How often load(bytes) refuses `whole` with one byte changed by `mask`; any other end than a refusal or
/// success fails the test.
template <class Load>
int refusals_of_flips(const std::string& whole, int mask, Load load) {
  int refusals = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    refusals += loads([&] { load(bytes); }) ? 0 : 1;
  }
  return refusals;
}

TEST(NumpyFuzz, NpyIsReadOrRefused) {
  const auto load = [](const std::string& bytes) { parse_npy(to_bytes(bytes), "fuzz"); };
  const std::string whole = read_bytes(stored("f4.npy"));
  expect_no_prefix_loads(whole, load);
  // Of 152 bytes 24 are values, which may be anything, and some of the padding may be other white space.
  for (const int mask : {0x01, 0x02, 0x10, 0x80, 0xFF}) EXPECT_GE(refusals_of_flips(whole, mask, load), 60);
}

TEST(NumpyFuzz, NpzIsReadOrRefused) {
  const TempFolder folder;
  const auto load = [&](const std::string& bytes) { load_npz(folder.write("file", bytes)); };
  const std::string plain = read_bytes(stored("plain.npz"));
  expect_no_prefix_loads(plain, load);
  // A value can't change unseen: each member has a check sum.
  EXPECT_GE(refusals_of_flips(plain, 0xFF, load), 300);
  EXPECT_GE(refusals_of_flips(read_bytes(stored("keras.npz")), 0x01, load), 300);
}

}  // namespace
}  // namespace mirrorscale::strategies
