#include "harness/output/table.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace mirrorscale::harness {
namespace {

Table sample() {
  Table table({{"workload", Align::kLeft}, {"devices"}, {"ms"}});
  table.add_row({"mlp", "1", "12.500"});
  table.add_row({"synthetic", "16", "3.250"});
  return table;
}

TEST(Table, TextIsAligned) {
  EXPECT_EQ(sample().to_text(),
            "workload   devices      ms\n"
            "---------  -------  ------\n"
            "mlp              1  12.500\n"
            "synthetic       16   3.250\n");
}

TEST(Table, Markdown) {
  EXPECT_EQ(sample().to_markdown(),
            "| workload  | devices |     ms |\n"
            "| --------- | ------: | -----: |\n"
            "| mlp       |       1 | 12.500 |\n"
            "| synthetic |      16 |  3.250 |\n");
}

TEST(Table, AwkwardCells) {
  Table table({{"a", Align::kLeft}, {"b", Align::kLeft}});
  table.add_row({"x|y", "two\nlines"});
  table.add_row({"say \"hi\", you", "±1"});
  EXPECT_EQ(table.to_markdown(),
            "| a             | b         |\n"
            "| ------------- | --------- |\n"
            "| x\\|y          | two lines |\n"
            "| say \"hi\", you | ±1        |\n");
  EXPECT_EQ(table.to_csv(), "a,b\r\nx|y,\"two\nlines\"\r\n\"say \"\"hi\"\", you\",±1\r\n");
  EXPECT_EQ(table.to_text(),
            "a              b\n"
            "-------------  ---------\n"
            "x|y            two lines\n"
            "say \"hi\", you  ±1\n");
}

TEST(Table, NoRows) {
  EXPECT_EQ(Table({{"n"}}).to_text(), "n\n-\n");
}

TEST(Table, MisuseIsRefused) {
  EXPECT_THROW(Table({}), std::invalid_argument);
  EXPECT_THROW(sample().add_row({"mlp"}), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::harness
