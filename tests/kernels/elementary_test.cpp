#include "tests/kernels/elementary.h"

#include "tests/kernels/support.h"

namespace mirrorscale::kernels::testing {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr std::uint32_t kStride = 4099;  // a prime: all exponents, all kinds of mantissas

class ElementaryTest : public ::testing::TestWithParam<Function> {};

TEST_P(ElementaryTest, ErrorStaysWithinTheTable) {
  const Function f = GetParam();
  double worst = 0;
  float worst_at = 0;
  for (std::uint64_t i = 0; i < (1ULL << 32); i += kStride) {
    const auto x = std::bit_cast<float>(static_cast<std::uint32_t>(i));
    const float y = f.scalar(x);
    const double truth = f.truth(static_cast<double>(x));
    if (std::abs(static_cast<double>(y) - truth) <= f.allowed_absolute) continue;
    const double error = ulp_error(y, truth);
    if (error > worst) {
      worst = error;
      worst_at = x;
    }
  }
  EXPECT_LE(worst, f.allowed_ulp) << "at " << shown(worst_at);
  RecordProperty("largest_error_ulp", std::to_string(worst));
}

TEST_P(ElementaryTest, EveryTargetHasTheBitsOfTheScalarDefinition) {
  const Function f = GetParam();
  constexpr std::size_t kChunk = 4096;
  Line in(kChunk), out(kChunk);
  for (const cpu::Tables& tables : cpu::all_tables()) {
    // The portable table calls fmaf in software where the C library has to: fewer values.
    const std::uint64_t stride = tables.lanes == 1 ? 64 * kStride : kStride;
    for (std::uint64_t base = 0; base < (1ULL << 32); base += kChunk * stride) {
      for (std::size_t i = 0; i < kChunk; ++i) {
        in[i] = std::bit_cast<float>(static_cast<std::uint32_t>(base + i * stride));
      }
      (tables.elements->*f.map)(kChunk, in.data(), out.data());
      for (std::size_t i = 0; i < kChunk; ++i) {
        ASSERT_TRUE(same_bits(out[i], f.scalar(in[i]))) << tables.target << " at " << shown(in[i]);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Functions, ElementaryTest, ::testing::ValuesIn(kFunctions),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(ElementaryValues, AtTheEdges) {
  const std::tuple<float (*)(float), float, float> cases[] = {
      {&exact::exp<float>, 0, 1},
      {&exact::exp<float>, -0.0F, 1},
      {&exact::exp<float>, kInfinity, kInfinity},
      {&exact::exp<float>, -kInfinity, 0},
      {&exact::exp<float>, 88.73F, kInfinity},
      {&exact::exp<float>, -104, 0},
      {&exact::exp<float>, -103.2F, 1.4e-45F},
      {&exact::log<float>, 1, 0},
      {&exact::log<float>, 0, -kInfinity},
      {&exact::log<float>, -0.0F, -kInfinity},
      {&exact::log<float>, -1, kNan},
      {&exact::log<float>, -kInfinity, kNan},
      {&exact::log<float>, kInfinity, kInfinity},
      {&exact::tanh<float>, -0.0F, -0.0F},
      {&exact::tanh<float>, kInfinity, 1},
      {&exact::tanh<float>, -kInfinity, -1},
      {&exact::tanh<float>, 1e-30F, 1e-30F},
      {&exact::erf<float>, -0.0F, -0.0F},
      {&exact::erf<float>, kInfinity, 1},
      {&exact::erf<float>, -kInfinity, -1},
      {&exact::sigmoid<float>, 0, 0.5F},
      {&exact::sigmoid<float>, kInfinity, 1},
      {&exact::sigmoid<float>, -kInfinity, 0},
  };
  for (const auto& [f, x, y] : cases) EXPECT_TRUE(same_bits(f(x), y)) << shown(x) << " gives " << shown(f(x));
  for (const Function& f : kFunctions) EXPECT_NE(f.scalar(kNan), f.scalar(kNan)) << f.name;
}

TEST(ElementaryValues, OneNanForEveryNan) {
  for (const std::uint32_t nan : {0x7fc00000U, 0xffc00000U, 0x7f800001U, 0xffffffffU, 0x7fc12345U}) {
    for (const Function& f : {kFunctions[0], kFunctions[1], kFunctions[2], kFunctions[3]}) {
      EXPECT_EQ(std::bit_cast<std::uint32_t>(f.scalar(std::bit_cast<float>(nan))), 0x7fc00000U) << f.name;
    }
  }
}

TEST(ElementaryValues, LogOfOnePlusKeepsWhatOnePlusLoses) {
  for (const float e : {0.0F, 1e-45F, 1e-30F, 1e-9F, 3e-8F, 1e-4F, 0.3F, 1.0F}) {
    const double truth = std::log1p(static_cast<double>(e));
    EXPECT_LE(ulp_error(exact::log_one_plus(e), truth), 1.6) << e;
  }
}

}  // namespace
}  // namespace mirrorscale::kernels::testing
