#include "harness/sweep/sweep.h"

#include <gtest/gtest.h>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::harness {
namespace {

TEST(Sweep, LastAxisRunsFastest) {
  Sweep sweep;
  sweep.integers("devices", {1, 2}).axis("optimizer", {"adam", "sgd", "adamw"});
  std::vector<std::string> keys;
  for (const Point& point : sweep.points()) keys.push_back(point.key());
  EXPECT_EQ(keys, (std::vector<std::string>{"devices=1/optimizer=adam", "devices=1/optimizer=sgd",
                                            "devices=1/optimizer=adamw", "devices=2/optimizer=adam",
                                            "devices=2/optimizer=sgd", "devices=2/optimizer=adamw"}));
  EXPECT_EQ(sweep.size(), 6u);
}

TEST(Sweep, EveryPointOnce) {
  Sweep sweep;
  sweep.integers("a", {1, 2, 3}).integers("b", {1, 2, 3, 4, 5});
  sweep.axis("c", {"x", "y"});
  std::set<std::string> keys;
  for (const Point& point : sweep.points()) keys.insert(point.key());
  EXPECT_EQ(keys.size(), 30u);
}

TEST(Sweep, NoAxesOnePoint) {
  EXPECT_EQ(Sweep().points().size(), 1u);
  EXPECT_EQ(Sweep().points().front().key(), "");
}

TEST(Point, ValuesByName) {
  const Point point({{"devices", "4"}, {"optimizer", "adam"}});
  EXPECT_EQ(point.text("optimizer"), "adam");
  EXPECT_EQ(point.integer("devices"), 4);
  EXPECT_THROW(point.integer("optimizer"), std::invalid_argument);
  try {
    point.text("batch");
    ADD_FAILURE();
  } catch (const std::out_of_range& error) {
    EXPECT_STREQ(error.what(), "[Point] no axis \"batch\"; there are: devices, optimizer");
  }
}

TEST(Sweep, MisuseIsRefused) {
  Sweep sweep;
  sweep.integers("devices", {1});
  EXPECT_THROW(sweep.integers("devices", {2}), std::invalid_argument);
  EXPECT_THROW(sweep.integers("batch", {}), std::invalid_argument);
  EXPECT_THROW(sweep.integers("batch", {2, 1, 2}), std::invalid_argument);
}

}  // namespace
}  // namespace mirrorscale::harness
