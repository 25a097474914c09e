#include "strategies/checkpoint/training_state.h"

#include "strategies/engine/tally.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace mirrorscale::strategies {
namespace {

constexpr std::string_view kRun = "run.";  // what is compared
constexpr int kRowsLookedAt = 16;

/// Hash of the features of up to 16 rows, evenly spread: tells other data, not every change.
std::string glance_at(const Dataset& data) {
  const auto rows = static_cast<std::int64_t>(std::min<std::int64_t>(kRowsLookedAt, data.rows()));
  std::vector<std::int64_t> chosen;
  for (std::int64_t i = 0; i < rows; ++i) chosen.push_back(i * data.rows() / rows);
  std::vector<float> values(kernels::activation_size(static_cast<int>(rows), data.features()));
  const kernels::Matrix x =
      kernels::activation_view(kernels::Layout::kPanels, values.data(), static_cast<int>(rows),
                               data.features(), static_cast<int>(rows));
  data.copy_features(chosen, x);
  NamedArray seen;
  for (int r = 0; r < x.rows; ++r) {
    for (int c = 0; c < x.columns; ++c) seen.values.push_back(x.at(r, c));
  }
  return hash_of({seen});
}

std::string number(double value) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// A schedule is a function: it is told by some of its values.
std::string rates_in_words(const Optimizer& optimizer) {
  std::string text;
  for (const std::int64_t step : {0, 1, 10, 100, 1000, 10000, 100000})
    text += (text.empty() ? "" : ", ") + number(optimizer.learning_rate(step));
  return text + " at steps 0, 1, 10 ... 100000";
}

std::vector<std::int64_t> shape_of(const NamedArray& array) {
  return {array.shape.begin(), array.shape.end()};
}

void add(PartFile& file, const std::string& folder, const std::vector<NamedArray>& arrays) {
  for (const NamedArray& array : arrays) {
    file.parts.push_back(
        Part::of(folder + array.name, shape_of(array), std::span<const float>(array.values)));
  }
}

/// The arrays that `wanted` names, from the parts below `folder`: all of them and no others.
std::vector<NamedArray> take(const PartFile& file, const std::string& folder,
                             const std::vector<NamedArray>& wanted, const std::string& source) {
  std::vector<NamedArray> arrays;
  for (const NamedArray& expected : wanted) {
    const Part& part = file.at(folder + expected.name, source);
    if (part.shape != shape_of(expected)) {
      throw CheckpointError(
          source, part.name,
          "has shape " + shape_text(part.shape) + "; the model's is " + shape_text(expected.shape));
    }
    NamedArray array{expected.name, expected.shape, {}};
    array.values = part.values<float>(source);
    arrays.push_back(std::move(array));
  }
  for (const Part& part : file.parts) {
    if (!part.name.starts_with(folder)) continue;
    const bool known = std::any_of(wanted.begin(), wanted.end(), [&](const NamedArray& expected) {
      return part.name == folder + expected.name;
    });
    if (!known) throw CheckpointError(source, part.name, "is of nothing that this model has");
  }
  return arrays;
}

std::map<std::string, CallbackState> take_callbacks(const PartFile& file, const FitOptions& options,
                                                    const std::string& source) {
  std::map<std::string, CallbackState> states;
  for (const Part& part : file.parts) {
    constexpr std::string_view kFolder = "callbacks/";
    if (!part.name.starts_with(kFolder)) continue;
    const std::string rest = part.name.substr(kFolder.size());
    const std::string callback = rest.substr(0, rest.find('/'));
    const bool there = std::any_of(options.callbacks.begin(), options.callbacks.end(),
                                   [&](const CallbackPtr& c) { return c->name() == callback; });
    if (!there) throw CheckpointError(source, part.name, "is of a callback that this training does not have");
    const std::string key = rest.substr(callback.size() + 1);
    if (part.type == Part::Type::kFloat64) {
      const auto values = part.values<double>(source);
      if (values.size() != 1) throw CheckpointError(source, part.name, "is not one number");
      states[callback].numbers[key] = values[0];
    } else {
      NamedArray array{key, {}, {}};
      array.values = part.values<float>(source);
      for (const std::int64_t n : part.shape) array.shape.push_back(static_cast<int>(n));
      states[callback].arrays.push_back(std::move(array));
    }
  }
  return states;
}

}  // namespace

std::map<std::string, std::string> describe_run(const Model& model, const Dataset& train,
                                                const FitOptions& options) {
  const Objective& objective = model.objective();
  std::map<std::string, std::string> run;
  run["optimizer"] = objective.optimizer->name() + "(" + objective.optimizer->settings() + ")";
  const Exclusions& spared = objective.optimizer->exclusions();
  if (spared.bias) run["optimizer"] += ", no decay of biases";
  if (spared.normalisation) run["optimizer"] += ", no decay of normalisations";
  if (const Averaging& average = objective.optimizer->averaging(); average.active())
    run["optimizer"] += ", average of momentum " + number(average.momentum) + " written every " +
                        std::to_string(average.overwrite_every) + " steps";
  const Clipping& clipping = objective.optimizer->clipping();
  constexpr std::array<const char*, 4> kClipping = {"none", "value ", "norm ", "global norm "};
  run["clipping"] = kClipping[static_cast<std::size_t>(clipping.kind)];
  if (clipping.active()) run["clipping"] += number(clipping.limit);
  run["loss"] = objective.loss->name();
  for (const MetricPtr& metric : objective.metrics)
    run["metrics"] += (run["metrics"].empty() ? "" : ", ") + metric->name();
  for (const CountMetricPtr& metric : objective.counted)
    run["metrics"] += (run["metrics"].empty() ? "" : ", ") + metric->name();
  run["data"] = std::to_string(train.rows()) + " rows, " + std::to_string(train.features()) + " features, " +
                std::to_string(train.classes()) + " classes, " + std::to_string(train.target_columns()) +
                " targets" + (train.weighted() ? ", weighted" : "") + ", hash of some rows " +
                glance_at(train);
  for (const auto& [of, weight] : options.class_weight)
    run["class_weight"] += std::to_string(of) + "=" + number(static_cast<double>(weight)) + " ";
  run["global_batch"] = std::to_string(options.global_batch);
  run["order"] = options.shuffle ? "shuffled from seed " + std::to_string(options.seed) : "as the rows are";
  if (model.network().chain().random()) run["randomness"] = "from seed " + std::to_string(model.seed());
  run["numerics"] = model.strategy().exact() ? "exact" : "fast on " + model.strategy().backend();
  if (!model.strategy().exact()) run["accumulation"] = std::to_string(options.accumulate);
  // A rate that a callback sets is that callback's state.
  const bool set_by_callback =
      std::any_of(options.callbacks.begin(), options.callbacks.end(),
                  [](const CallbackPtr& callback) { return callback->sets_learning_rate(); });
  run["learning_rate"] = set_by_callback ? "set by a callback" : rates_in_words(*objective.optimizer);
  return run;
}

PartFile capture(const LoopControl& control) {
  Model& model = control.model;
  if (model.strategy().kind() == "model_averaging") {
    throw std::invalid_argument(
        "[checkpoint] model averaging can't be saved: its replicas' weights and slots differ");
  }
  PartFile file;
  file.about["producer"] = "mirrorscale";
  file.about["strategy"] = model.strategy().name();
  for (const auto& [key, value] : describe_run(model, *control.train, *control.options))
    file.about[std::string(kRun) + key] = value;

  const TrainingPosition& at = control.position;
  const std::vector<std::int64_t> counts = {model.steps(), at.epoch, at.batch, at.sums.rows};
  file.parts.push_back(Part::of<std::int64_t>("progress/steps_epoch_batch_rows", {4}, counts));
  if (at.sums.skipped > 0)
    file.parts.push_back(Part::of<std::int64_t>("progress/skipped", {}, std::span(&at.sums.skipped, 1)));
  std::vector<double> sums = {at.sums.loss_sum, at.sums.weight_sum};
  sums.insert(sums.end(), at.sums.metric_sums.begin(), at.sums.metric_sums.end());
  sums.resize(2 + model.objective().metrics.size());  // none yet at the beginning of an epoch
  file.parts.push_back(Part::of<double>("progress/sums", {static_cast<std::int64_t>(sums.size())}, sums));
  if (!model.objective().counted.empty()) {
    const auto cells = Tally(model.objective().counted, model.network().outputs()).counts().size();
    std::vector<std::int64_t> all = at.sums.counts;
    all.resize(cells);  // none yet at the beginning of an epoch
    file.parts.push_back(Part::of<std::int64_t>("progress/counts", {static_cast<std::int64_t>(cells)}, all));
  }
  for (const CallbackPtr& callback : control.options->callbacks) {
    const CallbackState state = callback->state();
    const std::string folder = "callbacks/" + callback->name() + "/";
    for (const auto& [key, value] : state.numbers)
      file.parts.push_back(Part::of<double>(folder + key, {}, std::span(&value, 1)));
    add(file, folder, state.arrays);
  }
  add(file, "weights/", model.weights());
  add(file, "slots/", model.slots());
  return file;
}

void restore(const PartFile& checkpoint, const std::string& source, Model& model, const Dataset& train,
             FitOptions& options) {
  for (const auto& [key, here] : describe_run(model, train, options)) {
    const auto there = checkpoint.about.find(std::string(kRun) + key);
    if (there == checkpoint.about.end())
      throw CheckpointError(source, "table", "does not say the training's " + key);
    if (there->second != here) {
      throw CheckpointError(source, "table",
                            "is of another training: its " + key + " is \"" + there->second +
                                "\", this one's \"" + here + "\"");
    }
  }
  const Part& counts_part = checkpoint.at("progress/steps_epoch_batch_rows", source);
  const auto counts = counts_part.values<std::int64_t>(source);
  const Part& sums_part = checkpoint.at("progress/sums", source);
  const auto sums = sums_part.values<double>(source);
  const std::int64_t batches = (train.rows() + options.global_batch - 1) / options.global_batch;
  if (counts.size() != 4 || counts[0] < 0 || counts[1] < 0 || counts[1] > std::numeric_limits<int>::max() ||
      counts[2] < 0 || counts[2] > batches)
    throw CheckpointError(source, counts_part.name, "is no place in this training");
  if (sums.size() != 2 + model.objective().metrics.size())
    throw CheckpointError(source, sums_part.name, "has another number of sums than loss, weight and metrics");
  std::vector<std::int64_t> counted;
  if (const auto& metrics = model.objective().counted; !metrics.empty()) {
    const Part& part = checkpoint.at("progress/counts", source);
    counted = part.values<std::int64_t>(source);
    if (counted.size() != Tally(metrics, model.network().outputs()).counts().size())
      throw CheckpointError(source, part.name, "has another number of counts than the metrics");
  }
  std::int64_t skipped = 0;
  if (const Part* part = checkpoint.find("progress/skipped")) {
    const auto values = part->values<std::int64_t>(source);
    if (values.size() != 1 || values[0] < 1)
      throw CheckpointError(source, part->name, "is no number of steps that were skipped");
    skipped = values[0];
  }
  // Not inside of the braces that make LoopState: g++ 12 frees members twice when one of them throws.
  auto callbacks = take_callbacks(checkpoint, options, source);
  const auto weights = take(checkpoint, "weights/", model.weights(), source);
  const auto slots = take(checkpoint, "slots/", model.slots(), source);
  model.session().restore(weights, slots, counts[0]);
  TrainingPosition position;
  position.epoch = static_cast<int>(counts[1]);
  position.batch = counts[2];
  position.sums.loss_sum = sums[0];
  position.sums.weight_sum = sums[1];
  position.sums.metric_sums.assign(sums.begin() + 2, sums.end());
  position.sums.rows = counts[3];
  position.sums.counts = std::move(counted);
  position.sums.skipped = skipped;
  options.resume = LoopState{std::move(position), std::move(callbacks)};
}

}  // namespace mirrorscale::strategies
