// GFLOP/s of one thread at the convolutions of the workloads: ours against oneDNN in its best layouts, in
// turn within each round, because a shared machine's speed drifts; and the FMA peak of the same rounds.
// Padding counts as work. The ratio is the median over rounds.
#include "kernels/backend.h"
#include "kernels/bench/convolution_peers.h"
#include "kernels/bench/options.h"
#include "kernels/bench/timing.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace mirrorscale::kernels::bench {
namespace {

struct Options {
  int rounds = 9, samples = 32;
  double slice_ms = 10;
  std::string only;
};

constexpr const char* kUsage =
    "usage: mirrorscale_bench_convolution [--rounds N] [--slice-ms X] [--samples N] [--only TEXT]\n"
    "  --only  shapes whose label contains TEXT; labels look like 'dW cnn 32-64 3x3 14x14'\n";

Options parse(int argc, char** argv) {
  Options options;
  using Value = const std::string&;
  read_options(argc, argv,
               {{"--rounds", [&](Value v) { options.rounds = std::stoi(v); }},
                {"--slice-ms", [&](Value v) { options.slice_ms = std::stod(v); }},
                {"--samples", [&](Value v) { options.samples = std::stoi(v); }},
                {"--only", [&](Value v) { options.only = v; }}});
  if (options.rounds < 1 || options.samples < 1 || options.slice_ms <= 0)
    throw std::invalid_argument("--rounds, --samples and --slice-ms are positive");
  return options;
}

struct Case {
  const char* model;
  int size, in, out, kernel, stride;
  bool same, packed;
};
constexpr Case kCases[] = {
    {"cnn", 28, 1, 32, 3, 1, true, true},      {"cnn", 14, 32, 64, 3, 1, true, false},
    {"lenet", 28, 1, 6, 5, 1, true, true},     {"lenet", 14, 6, 16, 5, 1, false, false},
    {"resnet", 32, 3, 16, 3, 1, true, true},   {"resnet", 32, 16, 16, 3, 1, true, false},
    {"resnet", 32, 16, 32, 3, 2, true, false}, {"resnet", 16, 32, 32, 3, 1, true, false},
    {"resnet", 16, 32, 64, 3, 2, true, false}, {"resnet", 8, 64, 64, 3, 1, true, false},
};

Convolution geometry(const Case& c) {
  const int out = c.same ? (c.size + c.stride - 1) / c.stride : (c.size - c.kernel) / c.stride + 1;
  const int missing = (out - 1) * c.stride + c.kernel - c.size;
  const WindowAxis axis{c.size, out, c.kernel, c.stride, 1, missing > 0 ? missing / 2 : 0};
  return {{axis, axis}, c.in, c.out, 1, c.packed};
}

/// A matrix of small numbers that owns them.
struct Values {
  Values(std::size_t size) : data(make_buffer(size)) {
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<float>(i % 17) / 16 - 0.5F;
  }
  Buffer data;
};

/// Our run of one pass.
std::function<void()> ours(Backend& backend, const Convolution& g, int samples, ConvolutionPass pass) {
  const int in_rows = g.packed ? samples : samples * g.window.in_pixels();
  const int in_columns = g.packed ? g.window.in_pixels() * g.channels : g.channels;
  const int out_rows = samples * g.window.out_pixels();
  const auto own = [](std::size_t size) { return std::make_shared<Values>(size); };
  const auto x = own(activation_size(in_rows, in_columns)), y = own(activation_size(out_rows, g.filters)),
             w = own(weight_size(g.kernel_rows(), g.filters)),
             wt = own(weight_size(g.filters, g.kernel_rows())), scratch = own(convolution_scratch(g));
  return [=, &backend] {
    const Matrix xm = activation_view(Layout::kPanels, x->data.get(), in_rows, in_columns, in_rows),
                 ym = activation_view(Layout::kPanels, y->data.get(), out_rows, g.filters, out_rows),
                 wm = weight_view(Layout::kPanels, w->data.get(), g.kernel_rows(), g.filters),
                 wtm = weight_view(Layout::kPanels, wt->data.get(), g.filters, g.kernel_rows());
    switch (pass) {
      case ConvolutionPass::kForward:
        return backend.convolve(g, xm, wm, nullptr, Activation::kLinear, ym, scratch->data.get());
      case ConvolutionPass::kInputGradient:
        return backend.convolve_backward_input(g, ym, wtm, Activation::kLinear, {}, xm, scratch->data.get());
      case ConvolutionPass::kWeightGradient:
        return backend.convolve_backward_weights(g, xm, ym, 16, wm, scratch->data.get());
    }
  };
}

int compare(const Options& options) {
  const auto backend = make_backend("cpu");
  std::printf("%-30s %8s %8s %8s   ratio, share of peak\n", "GFLOP/s", backend->info().target.c_str(),
              "oneDNN", "peak");
  double logs = 0;
  int count = 0;
  for (const Case& c : kCases) {
    const Convolution g = geometry(c);
    const double flop =
        2.0 * options.samples * g.window.out_pixels() * g.window.taps() * g.channels * g.filters;
    for (const auto& [pass, name] :
         {std::pair(ConvolutionPass::kForward, "fwd"), std::pair(ConvolutionPass::kInputGradient, "dX"),
          std::pair(ConvolutionPass::kWeightGradient, "dW")}) {
      if (c.packed && pass == ConvolutionPass::kInputGradient) continue;
      char label[64];
      std::snprintf(label, sizeof label, "%s %s %d-%d %dx%d/%d %dx%d", name, c.model, c.in, c.out, c.kernel,
                    c.kernel, c.stride, c.size, c.size);
      if (std::string_view(label).find(options.only) == std::string_view::npos) continue;
      const auto mine = ours(*backend, g, options.samples, pass),
                 theirs = onednn_convolution(g, options.samples, pass);
      std::vector<double> rates, others, peaks, ratios;
      for (int round = 0; round < options.rounds; ++round) {
        rates.push_back(rate(mine, flop, options.slice_ms * 1e-3));
        peaks.push_back(rate([&] { backend->run_fma_peak(1e6); }, 1e6, options.slice_ms * 1e-3));
        if (!theirs) continue;
        others.push_back(rate(theirs, flop, options.slice_ms * 1e-3));
        ratios.push_back(rates.back() / others.back());
      }
      std::printf("%-30s %8.1f %8.1f %8.1f   %.2f %.2f\n", label, median_of(rates),
                  theirs ? median_of(others) : 0, median_of(peaks), theirs ? median_of(ratios) : 0,
                  median_of(rates) / median_of(peaks));
      std::fflush(stdout);
      if (!theirs) continue;
      logs += std::log(median_of(ratios));
      ++count;
    }
  }
  if (count > 0) std::printf("geometric mean of %d ratios: %.3f\n", count, std::exp(logs / count));
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace mirrorscale::kernels::bench

int main(int argc, char** argv) {
  using namespace mirrorscale::kernels::bench;
  try {
    const auto options = parse(argc, argv);
    stay_on_this_core();
    return compare(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n%s", error.what(), kUsage);
    return 2;
  }
}
