#include "harness/judge/sessions.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <vector>

namespace mirrorscale::harness {
namespace {

TEST(SessionsTest, SecondsOfADay) {
  EXPECT_EQ(seconds_of_utc("1970-01-02T00:00:01Z"), 86401);
  EXPECT_EQ(seconds_of_utc("2024-02-29T12:00:00Z") - seconds_of_utc("2024-02-28T12:00:00Z"), 86400);
  EXPECT_THROW(seconds_of_utc("yesterday"), std::invalid_argument);
}

TEST(SessionsTest, AGapBeginsASession) {
  const std::vector<std::string> started{"2024-06-07T09:00:00Z", "2024-06-07T09:29:00Z",
                                         "2024-06-07T09:58:00Z", "2024-06-07T10:28:01Z",
                                         "2024-06-08T09:00:00Z"};
  EXPECT_EQ(session_numbers(started, 1800), (std::vector{0, 0, 0, 1, 2}));
  EXPECT_EQ(session_numbers(started, 1e6), (std::vector{0, 0, 0, 0, 0}));
}

TEST(SessionsTest, OrderOfTheListDoesNotMatter) {
  const std::vector<std::string> started{"2024-06-08T09:00:00Z", "2024-06-07T09:00:00Z",
                                         "2024-06-08T09:01:00Z"};
  EXPECT_EQ(session_numbers(started, 1800), (std::vector{1, 0, 1}));
  EXPECT_TRUE(session_numbers({}, 1800).empty());
}

}  // namespace
}  // namespace mirrorscale::harness
