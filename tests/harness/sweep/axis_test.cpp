#include "harness/sweep/axis.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::harness {
namespace {

using Integers = std::vector<std::int64_t>;

struct Good {
  const char* text;
  Integers values;
};

TEST(IntegerAxis, Grammar) {
  const std::vector<Good> table{
      {"7", {7}},
      {"1,2,4", {1, 2, 4}},
      {"4,1,2", {4, 1, 2}},  // the order given is kept
      {" 1 , 2 ", {1, 2}},
      {"[1:8]", {1, 2, 3, 4, 5, 6, 7, 8}},
      {"[1:9:2]", {1, 3, 5, 7, 9}},
      {"[1:8:3]", {1, 4, 7}},
      {"[256:2048:*2]", {256, 512, 1024, 2048}},
      {"[256:2047:*2]", {256, 512, 1024}},
      {"[3:3]", {3}},
      {"1,[4:16:*2],100", {1, 4, 8, 16, 100}},
      {"[9223372036854775806:9223372036854775807]", {9223372036854775806, 9223372036854775807}},
      {"[4611686018427387904:9223372036854775807:*2]", {4611686018427387904}},
  };
  for (const Good& row : table) EXPECT_EQ(parse_integer_axis("devices", row.text), row.values) << row.text;
}

struct Bad {
  const char* text;
  const char* says;
};

TEST(IntegerAxis, EveryMistakeIsNamedAndTheGrammarShown) {
  const std::vector<Bad> table{
      {"", "an empty item"},
      {"1,,2", "an empty item"},
      {"1,", "an empty item"},
      {"two", "\"two\" is no whole number"},
      {"1.5", "\"1.5\" is no whole number"},
      {"1 2", "\"1 2\" is no whole number"},
      {"99999999999999999999", "is no whole number"},
      {"0", "0 is less than 1"},
      {"-1", "-1 is less than 1"},
      {"1,2,1", "1 appears twice"},
      {"2,[1:3]", "2 appears twice"},
      {"[1:3", "unbalanced bracket"},
      {"1:3]", "unbalanced bracket"},
      {"[]", "\"[]\" is no range"},
      {"[", "unbalanced bracket"},
      {"[3]", "\"[3]\" is no range"},
      {"[1:2:3:4]", "\"[1:2:3:4]\" is no range"},
      {"[5:1]", "\"[5:1]\" ends before it begins"},
      {"[1:5:0]", "\"[1:5:0]\" never arrives"},
      {"[1:5:-1]", "\"[1:5:-1]\" never arrives"},
      {"[1:5:*1]", "\"[1:5:*1]\" never arrives"},
      {"[1:5:*]", "is no whole number"},
      {"[1:1000000]", "more than 10000 values"},
  };
  for (const Bad& row : table) {
    try {
      parse_integer_axis("devices", row.text);
      ADD_FAILURE() << row.text << " was accepted";
    } catch (const std::invalid_argument& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(row.says), std::string::npos) << row.text << ": " << text;
      EXPECT_NE(text.find("--devices \"" + std::string(row.text) + "\""), std::string::npos) << text;
      EXPECT_NE(text.find(kAxisGrammar), std::string::npos) << text;
    }
  }
}

TEST(IntegerAxis, LeastIsTheCallers) {
  EXPECT_EQ(parse_integer_axis("seed", "0,1", 0), (Integers{0, 1}));
  EXPECT_THROW(parse_integer_axis("seed", "[0:4:*2]", 0), std::invalid_argument) << "0 times 2 never arrives";
}

TEST(NameAxis, NamesInOrder) {
  EXPECT_EQ(parse_name_axis("optimizer", "adam, sgd"), (std::vector<std::string>{"adam", "sgd"}));
  EXPECT_EQ(parse_name_axis("devices", "cpu:0,cuda:0"), (std::vector<std::string>{"cpu:0", "cuda:0"}));
  for (const char* bad : {"", "adam,", "adam,adam", "ad am", "a;b", "a&b"}) {
    EXPECT_THROW(parse_name_axis("optimizer", bad), std::invalid_argument) << bad;
  }
}

}  // namespace
}  // namespace mirrorscale::harness
