#pragma once
#include <gtest/gtest.h>
#include <initializer_list>
#include <string>

namespace mirrorscale::strategies::testing {

/// Runs `act`, which must throw an E (no derived type is asked for) whose text has each of `parts`.
template <class E, class Act>
void expect_throw(const Act& act, std::initializer_list<const char*> parts) {
  try {
    act();
  } catch (const E& e) {
    for (const char* part : parts) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << e.what();
    }
    return;
  } catch (const std::exception& e) {
    ADD_FAILURE() << "another exception: " << e.what();
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

}  // namespace mirrorscale::strategies::testing
