#include "scenarios/cells/room.h"

#include <gtest/gtest.h>
#include <string>

namespace mirrorscale::scenarios {
namespace {

std::size_t bytes_of(int batch) {
  return 1000 + 10 * static_cast<std::size_t>(batch);
}

TEST(LargestBatch, IsTheLastThatFits) {
  EXPECT_EQ(largest_batch(bytes_of, 4096, 1500), 50);
  EXPECT_EQ(largest_batch(bytes_of, 4096, 1509), 50);
  EXPECT_EQ(largest_batch(bytes_of, 4096, 1510), 51);
  EXPECT_EQ(largest_batch(bytes_of, 4096, 1009), 0);
  EXPECT_EQ(largest_batch(bytes_of, 4096, 1 << 30), 4095);
  EXPECT_EQ(largest_batch(bytes_of, 1, 1 << 30), 0);
}

TEST(WithLargestBatch, GivesBytesAndTheBatch) {
  const std::string text = with_largest_batch({"cuda:1", 300, 5000, 200, 1200}, bytes_of, 64);
  EXPECT_NE(text.find("cuda:1 is out of memory: 300 bytes asked, 5000 used, 200 free"), std::string::npos)
      << text;
  EXPECT_EQ(with_largest_batch({"cuda:1", 0, 5000, 200, 1200}, bytes_of, 64).find("asked"),
            std::string::npos);
  EXPECT_NE(text.find("at global batch 64"), std::string::npos) << text;
  EXPECT_NE(text.find("is 40"), std::string::npos) << text;
}

TEST(WithLargestBatch, SaysWhenNothingFitsAndWhenThePlanFits) {
  EXPECT_NE(with_largest_batch({"cuda:1", 300, 5000, 200, 500}, bytes_of, 64).find("no batch fits"),
            std::string::npos);
  EXPECT_NE(with_largest_batch({"cuda:1", 300, 9000, 200, 5000}, bytes_of, 64).find("were left for it"),
            std::string::npos);
}

}  // namespace
}  // namespace mirrorscale::scenarios
