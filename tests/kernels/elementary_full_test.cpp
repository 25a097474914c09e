// All 2^32 floats through each element function: minutes on a few cores. This file is compiled with FMA where
// the compiler can (CMakeLists.txt), or the scalar definition would call fmaf some 10^11 times.
#include "tests/kernels/elementary.h"
#include "tests/kernels/support.h"

#include <thread>
#include <vector>

namespace mirrorscale::kernels::testing {
namespace {

constexpr std::size_t kChunk = 4096;

struct Part {
  std::uint64_t differ = 0, checked = 0;
  double worst_ulp = 0;
  float worst_at = 0, differs_at = 0;
};

/// Chunks `first`, `first + step`, ... of all floats. The portable table and the double library: one chunk
/// in 64.
Part check(const Function& f, std::uint64_t first, std::uint64_t step) {
  Part part;
  Line in(kChunk), out(kChunk), lanes(kChunk);
  for (std::uint64_t chunk = first; chunk < (1ULL << 32) / kChunk; chunk += step) {
    for (std::size_t i = 0; i < kChunk; ++i) {
      in[i] = std::bit_cast<float>(static_cast<std::uint32_t>(chunk * kChunk + i));
      out[i] = f.scalar(in[i]);
    }
    const bool sampled = chunk / step % 64 == 0;
    for (const cpu::Tables& tables : cpu::all_tables()) {
      if (tables.lanes == 1 && !sampled) continue;
      (tables.elements->*f.map)(kChunk, in.data(), lanes.data());
      for (std::size_t i = 0; i < kChunk; ++i) {
        if (same_bits(out[i], lanes[i])) continue;
        ++part.differ;
        part.differs_at = in[i];
      }
    }
    for (std::size_t i = 0; i < kChunk && sampled; ++i) {
      const double truth = f.truth(static_cast<double>(in[i]));
      if (std::abs(static_cast<double>(out[i]) - truth) <= f.allowed_absolute) continue;
      const double error = ulp_error(out[i], truth);
      if (error > part.worst_ulp) {
        part.worst_ulp = error;
        part.worst_at = in[i];
      }
    }
    part.checked += kChunk;
  }
  return part;
}

class EveryFloat : public ::testing::TestWithParam<Function> {};

TEST_P(EveryFloat, HasTheSameBitsOnEveryTargetAndAnErrorWithinTheTable) {
  const Function f = GetParam();
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<Part> parts(threads);
  std::vector<std::thread> pool;
  for (unsigned t = 0; t < threads; ++t) pool.emplace_back([&, t] { parts[t] = check(f, t, threads); });
  for (std::thread& thread : pool) thread.join();
  Part all;
  for (const Part& part : parts) {
    all.checked += part.checked;
    EXPECT_EQ(part.differ, 0U) << "e.g. at " << shown(part.differs_at);
    if (part.worst_ulp > all.worst_ulp) all = {0, all.checked, part.worst_ulp, part.worst_at, 0};
  }
  EXPECT_EQ(all.checked, 1ULL << 32);
  EXPECT_LE(all.worst_ulp, f.allowed_ulp) << "at " << shown(all.worst_at);
  RecordProperty("largest_error_ulp", std::to_string(all.worst_ulp));
}

INSTANTIATE_TEST_SUITE_P(Functions, EveryFloat, ::testing::ValuesIn(kFunctions),
                         [](const auto& given) { return std::string(given.param.name); });

}  // namespace
}  // namespace mirrorscale::kernels::testing
