#include "scenarios/commands/devices.h"

#include "harness/record/topology.h"

#include <gtest/gtest.h>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

using Names = std::vector<std::string>;

TEST(ParseDevices, ANumberCountsFromZero) {
  EXPECT_EQ(parse_devices("1"), (Names{"cpu:0"}));
  EXPECT_EQ(parse_devices("3"), (Names{"cpu:0", "cpu:1", "cpu:2"}));
  EXPECT_EQ(parse_devices("2", "reference"), (Names{"reference:0", "reference:1"}));
  EXPECT_EQ(parse_devices("1024").size(), 1024u);
}

TEST(ParseDevices, NamesStayAsTheyAre) {
  EXPECT_EQ(parse_devices("cpu:4"), (Names{"cpu:4"}));
  EXPECT_EQ(parse_devices("cpu:4,cpu:1"), (Names{"cpu:4", "cpu:1"}));
  EXPECT_EQ(parse_devices("reference:0", "reference"), (Names{"reference:0"}));
}

TEST(ParseDevices, RefusesEverythingElse) {
  for (const char* text :
       {"", "0", "-1", "1025", "99999999999", "1.5", "2x", "cpu", "cpu:0,", "cpu:0,cpu:0", " 2"}) {
    EXPECT_THROW(parse_devices(text), std::invalid_argument) << text;
  }
  EXPECT_THROW(parse_devices("reference:0", "cpu"), std::invalid_argument);
}

TEST(StrategyOn, OneDeviceOrMirrored) {
  EXPECT_EQ(strategy_on({"cpu:3"}).name(), "one_device(cpu:3)");
  EXPECT_EQ(strategy_on({"cpu:0", "cpu:1"}, "replicated").name(), "mirrored(cpu:0, cpu:1)");
  EXPECT_EQ(strategy_on({"cpu:0", "cpu:1"}, "replicated").parts().make_reducer()->name(), "replicated");
  EXPECT_EQ(strategy_on({"cpu:0"}).parts().make_reducer()->name(), "fused");
}

TEST(StrategyOn, RefusesAnUnknownReductionAtOnce) {
  EXPECT_THROW(strategy_on({"cpu:0"}, "averaged"), std::invalid_argument);
}

TEST(OversubscriptionNote, SaysSoOnlyPastTheCores) {
  const int cores = harness::detect_topology().usable_cores();
  EXPECT_EQ(oversubscription_note(cores), "");
  EXPECT_NE(oversubscription_note(cores + 1).find(std::to_string(cores + 1) + " devices share"),
            std::string::npos);
}

}  // namespace
}  // namespace mirrorscale::scenarios
