#include "harness/output/format.h"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace mirrorscale::harness {
namespace {

TEST(Format, Seconds) {
  EXPECT_EQ(format_seconds(0.00415), "4.15 ms");
  EXPECT_EQ(format_seconds(0.00083), "830 us");
  EXPECT_EQ(format_seconds(2.1), "2.10 s");
  EXPECT_EQ(format_seconds(1234), "1234 s");
  EXPECT_EQ(format_seconds(12e-9), "12.0 ns");
  EXPECT_EQ(format_seconds(0.9999), "1.00 s") << "not 1000 ms";
  EXPECT_EQ(format_seconds(9.996), "10.0 s");
  EXPECT_EQ(format_seconds(0), "0.00 ns");
  EXPECT_EQ(format_seconds(std::nan("")), "n/a");
  EXPECT_EQ(format_ms(0.00415), "4.150");
  EXPECT_EQ(format_ms(std::numeric_limits<double>::infinity()), "n/a");
}

TEST(Format, RatesAndCounts) {
  EXPECT_EQ(format_rate(61702), "61.7 k/s");
  EXPECT_EQ(format_rate(1.2e6), "1.20 M/s");
  EXPECT_EQ(format_rate(12), "12.0 /s");
  EXPECT_EQ(format_count(61702.4), "61702");
  EXPECT_EQ(format_count(std::nan("")), "n/a");
}

TEST(Format, Bytes) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1024), "1.00 KiB");
  EXPECT_EQ(format_bytes(3 * 512 * 1024 * std::int64_t{1024}), "1.50 GiB");
  EXPECT_EQ(format_bytes(1048575), "1.00 MiB");
}

TEST(Format, IntervalsAndFractions) {
  EXPECT_EQ(format_interval({0.9337, 0.9117, 0.9557}), "0.934 [0.912, 0.956]");
  EXPECT_EQ(format_interval({1.8674, 1.8234, 1.9114}, 2), "1.87 [1.82, 1.91]");
  EXPECT_EQ(format_percent(0.9337), "93.4 %");
  EXPECT_EQ(format_percent(std::nan("")), "n/a");
}

}  // namespace
}  // namespace mirrorscale::harness
