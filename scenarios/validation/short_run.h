#pragma once
#include "harness/check/coverage.h"
#include "harness/check/verdict.h"
#include "scenarios/cells/cell.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mirrorscale::scenarios {

/// A few steps of training, and what they left behind.
struct ShortRun {
  std::vector<strategies::NamedArray> initial_weights, weights, slots;
  std::vector<double> losses;                // of each step, pooled over the batch
  std::vector<std::vector<double>> metrics;  // by step
  strategies::Logs evaluation;
  strategies::Predictions predictions;
  std::string weight_hash;
};

/// What was seen on the way.
struct ObservedRun {
  ShortRun run;
  harness::SampleLedger ledger;
  harness::Verdict mirrored;  // MIR, after every step
};

/// Rows and batches of a short run: some whole batches and a short last one, and a few rows to evaluate.
struct ShortRunData {
  strategies::DatasetPtr train, test;
  int global_batch = 0;
  int steps = 0;
};
/// `whole` whole batches and, where the data allows, a short one; at most 257 test rows.
ShortRunData short_run_data(const strategies::SplitDataset& data, int global_batch, int whole = 2);

/// Trains a fresh model of `spec` under `strategy`.
ObservedRun run_short(const CellSpec& spec, const strategies::Strategy& strategy, const ShortRunData& data);

}  // namespace mirrorscale::scenarios
