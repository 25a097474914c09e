// Linked into tests that are run again on other devices: the environment says which the default ones are.
#include "strategies/strategy.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <string>

namespace mirrorscale::strategies {
namespace {

/// MIRRORSCALE_TEST_DEVICES: "cpu", "cuda-exact", "cuda-fast".
class DefaultDevices final : public ::testing::Environment {
 public:
  DefaultDevices() {
    const char* text = std::getenv("MIRRORSCALE_TEST_DEVICES");
    if (text == nullptr || *text == '\0') return;
    const std::string wanted = text;
    if (wanted == "cuda-exact") {
      set_default_devices("cuda", kernels::Numerics::kExact);
    } else if (wanted == "cuda-fast") {
      set_default_devices("cuda", kernels::Numerics::kFast);
    } else {
      set_default_devices(wanted);
    }
  }
};

const auto* const kMade = ::testing::AddGlobalTestEnvironment(new DefaultDevices);  // GoogleTest owns it

}  // namespace
}  // namespace mirrorscale::strategies
