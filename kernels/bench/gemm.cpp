// GFLOP/s of one thread at the shapes of the MLP: ours against the libraries that are installed, all of them
// in turn within each round, because a shared machine's speed drifts. The ratio is the median over rounds of
// ours to the best peer (the one with the highest median at that shape). Bits are checked before anything is
// timed.
#include "kernels/bench/options.h"
#include "kernels/bench/peers.h"
#include "kernels/bench/shapes.h"
#include "kernels/bench/timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::kernels::bench {
namespace {

struct Options {
  int rounds = 15;
  double slice_ms = 4;
  std::string target;  // empty: the best
  std::string only;    // e.g. "dW 1024 512-512": shapes whose label contains it
};

constexpr const char* kUsage =
    "usage: mirrorscale_bench_gemm [--rounds N] [--slice-ms X] [--target NAME] [--only TEXT]\n"
    "  --only  shapes whose label contains TEXT; labels look like 'dW 1024 512-512'\n";

Options parse(int argc, char** argv) {
  Options options;
  using Value = const std::string&;
  read_options(argc, argv,
               {{"--rounds", [&](Value v) { options.rounds = std::stoi(v); }},
                {"--slice-ms", [&](Value v) { options.slice_ms = std::stod(v); }},
                {"--target", [&](Value v) { options.target = v; }},
                {"--only", [&](Value v) { options.only = v; }}});
  if (options.rounds < 1 || options.slice_ms <= 0)
    throw std::invalid_argument("--rounds and --slice-ms are positive");
  return options;
}

std::string label(const Shape& s) {
  return std::string(s.name()) + " " + std::to_string(s.batch) + " " + std::to_string(s.in) + "-" +
         std::to_string(s.out);
}

int check_all_bits() {
  int wrong = 0, checked = 0;
  for (const std::string& target : cpu_targets()) {
    const auto backend = make_cpu_backend(target);
    for (const Shape& shape : mlp_shapes()) {
      const std::string difference = check_bits(*backend, shape, backend->info().lanes == 1 ? 61 : 17);
      ++checked;
      if (difference.empty()) continue;
      ++wrong;
      std::printf("BITS DIFFER %s\n", difference.c_str());
    }
  }
  std::printf("bits: %d products on %zu instruction sets against plain loops, %d differ\n", checked,
              cpu_targets().size(), wrong);
  return wrong;
}

int compare(const Options& options) {
  const auto backend = options.target.empty() ? make_backend("cpu") : make_cpu_backend(options.target);
  std::vector<Peer> contestants{
      {backend->info().target, [&](const Shape& s, const Operands& o) { run(*backend, s, o); }}};
  for (const auto& peers : {onednn_peers(), blas_peers()}) {
    contestants.insert(contestants.end(), peers.begin(), peers.end());
  }
  std::printf("%-18s", "GFLOP/s");
  for (const Peer& peer : contestants) std::printf(" %13s", peer.name.c_str());
  std::printf("   ratio to best\n");
  double log_sum = 0, least = 1e9;
  int count = 0;
  std::string least_at;
  for (const Shape& shape : mlp_shapes()) {
    if (label(shape).find(options.only) == std::string::npos) continue;
    const Operands operands(shape);
    std::vector<std::vector<double>> rates(contestants.size());
    for (int round = 0; round < options.rounds; ++round) {
      for (std::size_t i = 0; i < contestants.size(); ++i) {
        const std::size_t c = (i + static_cast<std::size_t>(round)) % contestants.size();
        rates[c].push_back(
            rate([&] { contestants[c].run(shape, operands); }, shape.flop(), options.slice_ms * 1e-3));
      }
    }
    std::printf("%-18s", label(shape).c_str());
    std::size_t best = 0;
    for (std::size_t c = 0; c < contestants.size(); ++c) {
      std::printf(" %13.1f", median_of(rates[c]));
      if (c > 0 && (best == 0 || median_of(rates[c]) > median_of(rates[best]))) best = c;
    }
    if (best > 0) {
      std::vector<double> ratios;
      for (std::size_t r = 0; r < rates[0].size(); ++r) ratios.push_back(rates[0][r] / rates[best][r]);
      const double ratio = median_of(ratios);
      std::printf("   %.2f %s", ratio, contestants[best].name.c_str());
      log_sum += std::log(ratio);
      ++count;
      if (ratio < least) {
        least = ratio;
        least_at = label(shape);
      }
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  if (count > 0) {
    std::printf("geometric mean of %d ratios: %.3f; least %.2f at %s\n", count, std::exp(log_sum / count),
                least, least_at.c_str());
  } else {
    std::printf(
        "no peer is installed (oneDNN, OpenBLAS, BLIS), or no shape matches: nothing to compare with\n");
  }
  return 0;
}

}  // namespace
}  // namespace mirrorscale::kernels::bench

int main(int argc, char** argv) {
  using namespace mirrorscale::kernels::bench;
  Options options;
  try {
    options = parse(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mirrorscale_bench_gemm: %s\n%s", error.what(), kUsage);
    return 2;
  }
  try {
    stay_on_this_core();
    if (check_all_bits() != 0) return 1;
    return compare(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mirrorscale_bench_gemm: %s\n", error.what());
    return 3;
  }
}
