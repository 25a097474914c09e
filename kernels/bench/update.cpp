// Optimizer steps over many parameters against the memory's bandwidth in the same seconds: a step does little
// with each number, so that it can't be faster than the numbers come and go.
#include "kernels/backend.h"
#include "kernels/bench/options.h"
#include "kernels/bench/timing.h"

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mirrorscale::kernels::bench {
namespace {

struct Options {
  std::size_t parameters = 10'000'000;
  int rounds = 15;
};

/// An optimizer's step, and the floats it reads and writes for each parameter.
struct Case {
  const char* name;
  int floats;
  std::function<void()> run;
};

Buffer small_numbers(std::size_t count, float scale) {
  Buffer values = make_buffer(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = scale * (static_cast<float>(i % 17) / 16 + 0.01F);
  return values;
}

double seconds_of(const std::function<void()>& run) {
  const double start = now_s();
  run();
  return now_s() - start;
}

int compare(const Options& options) {
  const auto backend = make_backend("cpu");
  const std::size_t n = options.parameters;
  const Buffer g = small_numbers(n, 1e-3F), w = small_numbers(n, 1), a = small_numbers(n, 1e-3F),
               b = small_numbers(n, 1e-5F), c = small_numbers(n, 1e-3F);
  // Gradient and parameter are read, the parameter is written; each slot is read and written.
  const std::vector<Case> cases = {
      {"sgd", 3, [&] { backend->sgd(n, Sgd{}, g.get(), w.get(), nullptr); }},
      {"momentum", 5,
       [&] { backend->sgd(n, Sgd{.terms = {}, .momentum = 0.9F}, g.get(), w.get(), a.get()); }},
      {"adagrad", 5, [&] { backend->adagrad(n, Adagrad{}, g.get(), w.get(), b.get()); }},
      {"adam", 7,
       [&] { backend->adam(n, Adam{.terms = {}, .step_rate = 1e-3F}, g.get(), w.get(), a.get(), b.get()); }},
      {"amsgrad", 9, [&] {
         backend->amsgrad(n, Adam{.terms = {}, .step_rate = 1e-3F}, g.get(), w.get(), a.get(), b.get(),
                          c.get());
       }}};
  // In place, as the steps are: two reads and a write, and no line is fetched only to be overwritten.
  const auto limit = [&] { backend->add(n, a.get(), g.get(), a.get()); };
  std::printf("%zu parameters, one thread, %s; GB/s\n%-10s %8s %8s   ratio\n", n,
              backend->info().target.c_str(), "step", "step", "memory");
  for (const Case& one : cases) {
    std::vector<double> rates, limits, ratios;
    seconds_of(one.run);  // pages and clocks are warm
    for (int round = 0; round < options.rounds; ++round) {
      const double before = 12e-9 * static_cast<double>(n) / seconds_of(limit);
      rates.push_back(4e-9 * one.floats * static_cast<double>(n) / seconds_of(one.run));
      const double after = 12e-9 * static_cast<double>(n) / seconds_of(limit);
      limits.push_back((before + after) / 2);
      ratios.push_back(rates.back() / limits.back());
    }
    std::printf("%-10s %8.2f %8.2f   %.2f\n", one.name, median_of(rates), median_of(limits),
                median_of(ratios));
    std::fflush(stdout);
  }
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace mirrorscale::kernels::bench

int main(int argc, char** argv) {
  using namespace mirrorscale::kernels::bench;
  try {
    Options options;
    read_options(
        argc, argv,
        {{"--parameters", [&](const std::string& v) { options.parameters = std::stoul(v) / 16 * 16; }},
         {"--rounds", [&](const std::string& v) { options.rounds = std::stoi(v); }}});
    if (options.parameters == 0 || options.rounds < 1)
      throw std::invalid_argument("sizes are at least 16 and 1");
    stay_on_this_core();
    return compare(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mirrorscale_bench_update: %s; options: --parameters N --rounds N\n", error.what());
    return 2;
  }
}
