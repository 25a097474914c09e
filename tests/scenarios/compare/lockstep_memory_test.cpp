#include "scenarios/compare/lockstep_memory.h"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace mirrorscale::scenarios {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

TEST(SharedWord, AWaitHasALimit) {
  SharedWord word{7};
  const auto begin = steady_clock::now();
  EXPECT_FALSE(wait_for_change(word, 7, begin + 20ms));
  EXPECT_GE(steady_clock::now() - begin, 20ms);
  EXPECT_FALSE(wait_for_change(word, 7, begin));  // long past
}

TEST(SharedWord, AChangeIsSeenAtOnceAndWakesASleeper) {
  SharedWord word{7};
  EXPECT_TRUE(wait_for_change(word, 6, steady_clock::now()));
  std::thread other([&] {
    std::this_thread::sleep_for(20ms);
    word.store(8);
    wake_all(word);
  });
  const auto begin = steady_clock::now();
  while (word.load() == 7) ASSERT_TRUE(wait_for_change(word, 7, begin + 30s));
  EXPECT_LT(steady_clock::now() - begin, 20s);
  other.join();
}

TEST(SharedLockstep, TwoMappingsAreOneMemory) {
  const SharedLockstep made;
  const SharedLockstep seen(dup(made.descriptor()));
  made->seats[1].seconds = 0.25;
  made->bell.store(3);
  EXPECT_EQ(seen->seats[1].seconds, 0.25);
  EXPECT_EQ(seen->bell.load(), 3u);
}

TEST(SharedLockstep, AnotherProtocolIsRefused) {
  const SharedLockstep made;
  made->protocol = kLockstepProtocol + 1;
  EXPECT_THROW(SharedLockstep(dup(made.descriptor())), std::runtime_error);
  const int small = memfd_create("small", 0);
  ASSERT_EQ(ftruncate(small, 8), 0);
  EXPECT_THROW(SharedLockstep{small}, std::runtime_error);
  close(small);
}

TEST(LockstepSeat, ALongTextIsCut) {
  LockstepSeat seat;
  set_text(seat, "short");
  EXPECT_STREQ(seat.text, "short");
  set_text(seat, std::string(5000, 'x'));
  EXPECT_EQ(std::string(seat.text).size(), sizeof seat.text - 1);
}

}  // namespace
}  // namespace mirrorscale::scenarios
