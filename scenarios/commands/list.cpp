#include "harness/output/format.h"
#include "harness/output/table.h"
#include "kernels/backend.h"
#include "kernels/device_list.h"
#include "scenarios/commands/command.h"
#include "scenarios/exit_status.h"
#include "scenarios/lessons/lesson.h"
#include "scenarios/workloads/data_source.h"
#include "scenarios/workloads/workload.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace mirrorscale::scenarios {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

void print(const char* title, const Entries& entries) {
  harness::Table table({{title, harness::Align::kLeft}, {"", harness::Align::kLeft}});
  for (const auto& [name, text] : entries) table.add_row({name, text});
  std::printf("%s\n", table.to_text().c_str());
}

void list() {
  Entries entries;
  for (const Workload& w : workloads()) {
    entries.emplace_back(w.name, w.description + "; on " + w.data + " with " + w.optimizer);
  }
  print("workload", entries);

  entries.clear();
  for (const DataSourceInfo& source : data_sources()) entries.emplace_back(source.name, source.description);
  entries.emplace_back("FOLDER", "IDX files: train-images-idx3-ubyte and the other three, plain or .gz");
  entries.emplace_back("FILE.npz", "arrays x_train, y_train, x_test, y_test; or x, y");
  entries.emplace_back("X.npy,Y.npy", "two arrays of as many rows");
  entries.emplace_back("text:FILE",
                       "any file, in windows of 128 bytes (text:FILE@32: of 32); predicts the next byte");
  print("data", entries);

  entries.clear();
  for (const Lesson& lesson : lessons()) entries.emplace_back(lesson.key, lesson.question);
  print("lesson", entries);

  entries.clear();
  const std::string chosen = kernels::make_backend("cpu")->info().target;
  for (const std::string& target : kernels::cpu_targets()) {
    entries.emplace_back("cpu, " + target, target == chosen
                                               ? "chosen; MIRRORSCALE_CPU_TARGET=<name> chooses another"
                                               : "runs here");
  }
  const kernels::DeviceList gpus = kernels::cuda_devices();
  for (const kernels::DeviceInfo& gpu : gpus.devices) {
    entries.emplace_back(
        "cuda, " + gpu.name,
        gpu.model + ", " + harness::format_bytes(static_cast<std::int64_t>(gpu.memory_bytes)));
  }
  if (gpus.devices.empty()) entries.emplace_back("cuda", "not available: " + gpus.why_none);
  entries.emplace_back("reference", "plain loops: the meaning, and the bits, of every operation");
  print("backend", entries);

  print("optimizer", {{"sgd", "rate 0.01"},
                      {"momentum", "rate 0.01, momentum 0.9"},
                      {"nesterov", "rate 0.01, momentum 0.9"},
                      {"adam", "rate 0.001"},
                      {"adamw", "rate 0.001, decoupled decay 0.004"},
                      {"NAME:RATE", "as in sgd:0.1"}});
  print("loss",
        {{"sparse_categorical_crossentropy",
          "class labels; from probabilities, or with _from_logits; with :label_smoothing=0.1 smoothed"},
         {"binary_crossentropy",
          "targets 0 .. 1; from probabilities, or with _from_logits; with :label_smoothing=0.1 smoothed"},
         {"mse", "numeric targets"},
         {"mae", "numeric targets"}});
}

}  // namespace

void add_list(CLI::App& app, CommandContext& context) {
  app.add_subcommand("list", "Workloads, data, lessons, backends, optimizers and losses")
      ->callback([&context] {
        list();
        context.status = kGood;
      });
}

}  // namespace mirrorscale::scenarios
