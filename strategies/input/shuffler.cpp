#include "strategies/input/shuffler.h"

#include "kernels/random.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

namespace mirrorscale::strategies {
namespace {

std::vector<std::int64_t> in_order(std::int64_t rows) {
  if (rows < 0)
    throw std::invalid_argument("[shuffle] " + std::to_string(rows) + " rows; expected 0 or more");
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

}  // namespace

std::vector<std::int64_t> InOrder::order(std::int64_t rows, std::uint64_t /*seed*/, int /*epoch*/) const {
  return in_order(rows);
}

std::vector<std::int64_t> UniformShuffle::order(std::int64_t rows, std::uint64_t seed, int epoch) const {
  std::vector<std::int64_t> order = in_order(rows);
  for (std::uint64_t at = order.size(); at-- > 1;) {
    const auto words =
        kernels::random_words(seed, kernels::Purpose::kShuffle, static_cast<std::uint32_t>(epoch), at);
    const std::uint64_t word = (std::uint64_t{words[1]} << 32) | words[0];
    // 64 bits modulo at + 1: no place is likelier than another by more than (at + 1) / 2^64.
    std::swap(order[at], order[word % (at + 1)]);
  }
  return order;
}

}  // namespace mirrorscale::strategies
