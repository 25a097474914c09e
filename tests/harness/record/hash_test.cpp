#include "harness/record/hash.h"

#include <gtest/gtest.h>
#include <vector>

namespace mirrorscale::harness {
namespace {

// Values of the published FNV-1a test suite.
TEST(Fnv1a64, PublishedValues) {
  EXPECT_EQ(Fnv1a64().value(), 0xcbf29ce484222325u);
  EXPECT_EQ(Fnv1a64().add("a").value(), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(Fnv1a64().add("foobar").value(), 0x85944171f73967e8u);
}

TEST(Fnv1a64, FloatsAreTheirBitsLeastByteFirst) {
  // 1.0f is 0x3f800000.
  EXPECT_EQ(Fnv1a64().add(std::vector<float>{1.0f}).value(),
            Fnv1a64().add(std::string_view("\x00\x00\x80\x3f", 4)).value());
  EXPECT_NE(fingerprint(std::vector<float>{0.0f}), fingerprint(std::vector<float>{-0.0f}));
  EXPECT_NE(fingerprint(std::vector<float>{1, 2}), fingerprint(std::vector<float>{2, 1}));
}

TEST(Fnv1a64, PartsAreTheWhole) {
  EXPECT_EQ(Fnv1a64().add("foo").add("bar").value(), Fnv1a64().add("foobar").value());
}

TEST(Hex, SixteenDigits) {
  EXPECT_EQ(to_hex(0xabcu), "0000000000000abc");
  EXPECT_EQ(fingerprint("foobar"), "85944171f73967e8");
}

}  // namespace
}  // namespace mirrorscale::harness
