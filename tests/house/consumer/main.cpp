// A stranger's program: trains a small net on one device and on two, and finds the same weights.
#include "strategies/input/array_dataset.h"
#include "strategies/model.h"
#include "strategies/strategy.h"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace ms = mirrorscale::strategies;

std::string weights_after_training(const ms::DatasetPtr& data, int devices) {
  const ms::Mirrored strategy(devices);
  const ms::Scope scope = strategy.scope();
  ms::Model model(2, {ms::dense(4, "tanh"), ms::dense(2)});
  model.compile("sgd", "sparse_categorical_crossentropy_from_logits", {"accuracy"});
  model.fit(data, {.epochs = 3, .global_batch = 5});
  return model.weight_hash();
}

int main() {
  ms::ArrayContents rows{.name = "rows", .features = 2};
  std::vector<float> values;
  for (int row = 0; row < 12; ++row) {
    values.push_back(static_cast<float>(row % 3));
    values.push_back(static_cast<float>(row % 4));
    rows.labels.push_back(row % 2);
  }
  rows.values = values;
  const auto data = std::make_shared<ms::ArrayDataset>(rows);
  const std::string one = weights_after_training(data, 1);
  const std::string two = weights_after_training(data, 2);
  std::printf("one device %s, two devices %s\n", one.c_str(), two.c_str());
  return one == two ? 0 : 1;
}
