#include "scenarios/model_file/layer_maker.h"

#include "strategies/engine/convolution.h"
#include "strategies/engine/pooling.h"
#include "strategies/engine/reshape.h"
#include "strategies/model.h"

#include <map>
#include <stdexcept>

namespace mirrorscale::scenarios {
namespace {

using strategies::LayerPtr;

std::vector<LayerPtr> branch_of(ModelTable& table, const std::string& key, int outputs) {
  std::vector<LayerPtr> layers;
  for (const ModelTable& inner : table.tables(key)) layers.push_back(make_layer(inner, outputs));
  return layers;
}

/// What all layers with a kernel have.
template <class Options>
void take_kernel_options(ModelTable& table, Options& options) {
  options.activation = table.text("activation", "linear");
  options.use_bias = table.flag("use_bias", true);
  options.kernel_initializer = strategies::initializer_from(table.text("initializer", "glorot_uniform"));
  options.kernel_penalty = {static_cast<float>(table.number("l1", 0, 0, 1e6)),
                            static_cast<float>(table.number("l2", 0, 0, 1e6))};
}

LayerPtr make_dense(ModelTable& table, int outputs) {
  strategies::DenseOptions options;
  take_kernel_options(table, options);
  return strategies::dense(table.units("units", outputs), options);
}

LayerPtr make_activation(ModelTable& table, int) {
  return strategies::activation(table.text("function"));
}

LayerPtr make_residual(ModelTable& table, int outputs) {
  strategies::ResidualOptions options;
  options.activation = table.text("activation", "linear");
  options.shortcut = branch_of(table, "shortcut", outputs);
  return strategies::residual(branch_of(table, "branch", outputs), options);
}

LayerPtr make_dropout(ModelTable& table, int) {
  return strategies::dropout(table.number("rate", 0.1, 0, 0.999));
}

LayerPtr make_embedding(ModelTable& table, int outputs) {
  return strategies::embedding(table.units("tokens", outputs), table.count("width"));
}

LayerPtr make_layer_norm(ModelTable& table, int) {
  return strategies::layer_norm(table.number("epsilon", 1e-5, 1e-12, 1));
}

LayerPtr make_position_embedding(ModelTable&, int) {
  return strategies::position_embedding();
}

LayerPtr make_self_attention(ModelTable& table, int) {
  return strategies::self_attention({.heads = table.count("heads"), .causal = table.flag("causal", false)});
}

/// One size for both axes, or two: of height and width.
strategies::Both both(ModelTable& table, const std::string& key, int otherwise) {
  const std::vector<int> sizes = table.counts(key);
  if (sizes.empty()) return otherwise;
  if (sizes.size() > 2) table.refuse("'" + key + "' needs one size, or height and width");
  return {sizes.front(), sizes.back()};
}

LayerPtr make_conv2d(ModelTable& table, int) {
  strategies::Conv2DOptions options;
  options.filters = table.count("filters");
  options.kernel = both(table, "kernel", 3);
  options.stride = both(table, "stride", 1);
  options.dilation = both(table, "dilation", 1);
  options.padding = table.text("padding", "valid");
  options.groups = table.count("groups", 1);
  take_kernel_options(table, options);
  return strategies::conv2d(options);
}

template <LayerPtr (*kMake)(const strategies::Both&, int, const std::string&)>
LayerPtr make_pool(ModelTable& table, int) {
  const strategies::Both size = both(table, "size", 2);
  return kMake(size, table.has("stride") ? table.count("stride") : 0, table.text("padding", "valid"));
}

using Maker = LayerPtr (*)(ModelTable&, int outputs);
const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all{
      {"activation", make_activation},
      {"average_pool", make_pool<strategies::average_pool>},
      {"conv2d", make_conv2d},
      {"dense", make_dense},
      {"dropout", make_dropout},
      {"embedding", make_embedding},
      {"flatten", [](ModelTable&, int) { return strategies::flatten(); }},
      {"global_average_pool", [](ModelTable&, int) { return strategies::global_average_pool(); }},
      {"layer_norm", make_layer_norm},
      {"max_pool", make_pool<strategies::max_pool>},
      {"position_embedding", make_position_embedding},
      {"residual", make_residual},
      {"self_attention", make_self_attention}};
  return all;
}

}  // namespace

LayerPtr make_layer(ModelTable table, int outputs) {
  const std::string kind = table.text("kind");
  const auto found = makers().find(kind);
  if (found == makers().end()) {
    std::string known;
    for (const auto& [name, maker] : makers()) known += (known.empty() ? "" : ", ") + name;
    table.refuse("no layer of kind '" + kind + "'; there are: " + known);
  }
  LayerPtr layer;
  try {
    layer = found->second(table, outputs);
  } catch (const std::invalid_argument& error) {
    const std::string text = error.what();
    if (text.rfind("[model]", 0) == 0) throw;  // has its place already
    table.refuse(text);
  }
  table.require_all_known();
  return layer;
}

}  // namespace mirrorscale::scenarios
