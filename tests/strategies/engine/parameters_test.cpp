#include "strategies/engine/parameters.h"

#include "tests/strategies/support/expect_throw.h"

#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;

ParameterSpec spec(const std::string& name, int rows, int columns) {
  return {.name = name, .rows = rows, .columns = columns, .initializer = {}, .penalty = {}};
}

ParameterLayout odd_layout() {
  ParameterLayout layout;
  layout.add(spec("a", 3, 5));
  layout.add(spec("b", 0, 5));
  layout.add(spec("c", 17, 33));
  layout.add(spec("d", 0, 300));
  return layout;
}

TEST(ParameterLayout, SlicesAreWholeBlocksOneAfterTheOther) {
  const ParameterLayout layout = odd_layout();
  // 3 x 5 and [5]: one block each; 17 x 33: 2 x 3 blocks; [300]: two blocks.
  const std::vector<std::size_t> offsets = {0, 256, 512, 2048}, sizes = {256, 256, 1536, 512};
  for (std::size_t p = 0; p < 4; ++p) {
    EXPECT_EQ(layout.slices()[p].offset, offsets[p]);
    EXPECT_EQ(layout.slices()[p].size, sizes[p]);
  }
  EXPECT_EQ(layout.size(), 2560U);
  EXPECT_EQ(layout.count(), 15U + 5 + 17 * 33 + 300);
}

TEST(ParameterLayout, PackUndoesUnpackAndPaddingIsLeftAlone) {
  const ParameterLayout layout = odd_layout();
  std::vector<NamedArray> arrays;
  float next = 1;
  for (const auto& slice : layout.slices()) {
    const ParameterSpec& s = slice.spec;
    NamedArray array{s.name, s.rows > 0 ? std::vector<int>{s.rows, s.columns} : std::vector<int>{s.columns},
                     std::vector<float>(s.count())};
    for (float& v : array.values) v = next++;
    arrays.push_back(array);
  }
  std::vector<float> arena(layout.size(), -7.0F);
  layout.unpack(arrays, arena);
  const auto back = layout.pack(arena);
  ASSERT_EQ(back.size(), arrays.size());
  for (std::size_t p = 0; p < arrays.size(); ++p) {
    EXPECT_EQ(back[p].name, arrays[p].name);
    EXPECT_EQ(back[p].shape, arrays[p].shape);
    EXPECT_EQ(back[p].values, arrays[p].values);
  }
  EXPECT_EQ(static_cast<std::size_t>(std::count(arena.begin(), arena.end(), -7.0F)),
            layout.size() - layout.count());
}

TEST(ParameterLayout, ElementsLieWhereTheMatrixLooks) {
  const ParameterLayout layout = odd_layout();
  std::vector<float> arena(layout.size());
  const kernels::Matrix c = layout.matrix(2, arena.data());
  for (int r = 0; r < 17; ++r) {
    for (int k = 0; k < 33; ++k) c.at(r, k) = static_cast<float>(r * 33 + k);
  }
  std::vector<float> rising(17 * 33);
  std::iota(rising.begin(), rising.end(), 0.0F);
  EXPECT_EQ(layout.pack(arena)[2].values, rising);
}

TEST(ParameterLayout, RowAfterRowToo) {
  const ParameterLayout layout = odd_layout();
  std::vector<float> arena(layout.size());
  const kernels::Matrix c = layout.matrix(2, arena.data(), kernels::Layout::kRows);
  EXPECT_EQ(c.row_stride, 48);
  for (int r = 0; r < 17; ++r) {
    for (int k = 0; k < 33; ++k) c.at(r, k) = static_cast<float>(r * 33 + k);
  }
  EXPECT_EQ(arena[layout[2].offset + 2 * 48 + 32], 2 * 33 + 32);
  std::vector<float> rising(17 * 33);
  std::iota(rising.begin(), rising.end(), 0.0F);
  EXPECT_EQ(layout.pack(arena, kernels::Layout::kRows)[2].values, rising);
  std::vector<float> again(layout.size());
  layout.unpack(layout.pack(arena, kernels::Layout::kRows), again, kernels::Layout::kRows);
  EXPECT_EQ(again, arena);
}

TEST(ParameterLayout, RefusesANameTwiceAndSizesBelowOne) {
  ParameterLayout layout = odd_layout();
  expect_throw<std::invalid_argument>([&] { layout.add(spec("c", 1, 1)); }, {"two parameters", "'c'"});
  expect_throw<std::invalid_argument>([&] { layout.add(spec("e", 1, 0)); }, {"'e'", "[1, 0]", "at least 1"});
  expect_throw<std::invalid_argument>([&] { layout.add(spec("f", -1, 2)); }, {"'f'"});
}

TEST(ParameterLayout, UnpackRefusesOtherNumbersAndShapes) {
  const ParameterLayout layout = odd_layout();
  std::vector<float> arena(layout.size());
  auto arrays = layout.pack(arena);
  arrays.pop_back();
  expect_throw<std::invalid_argument>([&] { layout.unpack(arrays, arena); }, {"3 arrays", "4 parameters"});
  arrays = layout.pack(arena);
  arrays[2].shape = {33, 17};
  arrays[0].values.assign(15, 9.0F);
  expect_throw<std::invalid_argument>([&] { layout.unpack(arrays, arena); },
                                      {"array 2", "[33, 17]", "'c' is [17, 33]"});
  EXPECT_EQ(arena[0], 0.0F) << "nothing is written before all is checked";
  arrays[2].shape = {17, 33};
  arrays[2].values.pop_back();
  expect_throw<std::invalid_argument>([&] { layout.unpack(arrays, arena); }, {"array 2", "560 values"});
}

}  // namespace
}  // namespace mirrorscale::strategies
