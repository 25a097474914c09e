#include "strategies/strategy.h"

#include "kernels/device_list.h"
#include "strategies/engine/scope_tag.h"

#include <atomic>
#include <charconv>
#include <mutex>
#include <set>
#include <stdexcept>

namespace mirrorscale::strategies {

struct Strategy::State {
  std::uint64_t id = 0;
  std::string kind, name, backend;
  std::vector<std::string> devices;
  std::vector<int> ordinals;
  StrategyOptions options;
  std::mutex mutex;
  std::unique_ptr<DeviceTeam> team;  // made when first needed
};

namespace {

thread_local std::shared_ptr<Strategy::State> current;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

std::string joined(const std::vector<std::string>& devices) {
  std::string text;
  for (const std::string& d : devices) text += (text.empty() ? "" : ", ") + d;
  return text;
}

struct Defaults {
  std::string backend = "cpu";
  std::optional<kernels::Numerics> numerics;
};
Defaults& defaults() {
  static Defaults made;
  return made;
}

struct Device {
  std::string backend;
  int ordinal = 0;
};

std::string what_is_there() {
  return "there are cpu:0, cpu:1, … (virtual), reference:0, … and " + in_words(kernels::cuda_devices());
}

/// The parts of "cpu:3". Throws for anything that is no name of a device.
Device device_from(const std::string& name) {
  const std::size_t colon = name.find(':');
  Device device{name.substr(0, colon), -1};
  if (colon != std::string::npos) {
    const char* begin = name.data() + colon + 1;
    const char* end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(begin, end, device.ordinal);
    if (error != std::errc() || stop != end) device.ordinal = -1;
  }
  const bool known = device.backend == "cpu" || device.backend == "reference" || device.backend == "cuda";
  if (device.ordinal < 0 || !known) {
    throw std::invalid_argument("[strategy] '" + name + "' is no device; " + what_is_there());
  }
  return device;
}

void require_cuda_devices(const std::vector<int>& ordinals) {
  const kernels::DeviceList there = kernels::cuda_devices();
  for (const int ordinal : ordinals) {
    if (static_cast<std::size_t>(ordinal) < there.devices.size()) continue;
    throw std::invalid_argument("[strategy] there is no cuda:" + std::to_string(ordinal) + "; there is " +
                                in_words(there));
  }
}

}  // namespace

Strategy::Strategy(std::string kind, std::vector<std::string> devices, const StrategyOptions& options)
    : state_(std::make_shared<State>()) {
  if (devices.empty()) throw std::invalid_argument("[strategy] no devices; name at least one, e.g. cpu:0");
  std::set<std::string> seen;
  for (const std::string& device : devices) {
    const auto [backend, ordinal] = device_from(device);
    if (!seen.insert(device).second) {
      throw std::invalid_argument("[strategy] device '" + device + "' is named twice in (" + joined(devices) +
                                  "); each replica needs a device of its own; " + what_is_there());
    }
    if (!state_->backend.empty() && state_->backend != backend) {
      throw std::invalid_argument("[strategy] devices of different backends in (" + joined(devices) +
                                  "); all must be of one backend; " + what_is_there());
    }
    state_->backend = backend;
    state_->ordinals.push_back(ordinal);
  }
  if (state_->backend == "cuda") require_cuda_devices(state_->ordinals);
  state_->id = next_id();
  state_->kind = std::move(kind);
  state_->devices = std::move(devices);
  state_->name = state_->kind + "(" + joined(state_->devices) + ")";
  state_->options = options;
  if (!options.numerics && state_->backend == defaults().backend)
    state_->options.numerics = defaults().numerics;
  if (state_->backend != "cuda" && options.graphs) {
    throw std::invalid_argument("[strategy] graphs need cuda devices; " + state_->backend + " has none");
  }
  const bool copies = options.cross_device_ops == CrossDeviceOps::kReductionToOneDevice ||
                      options.cross_device_ops == CrossDeviceOps::kHierarchicalCopy;
  if (options.registered_buffers && (state_->backend != "cuda" || copies)) {
    throw std::invalid_argument(
        "[strategy] registered buffers are NCCL's; they need cuda devices and no other cross-device ops");
  }
  if (state_->backend != "cuda" &&
      (options.numerics == kernels::Numerics::kFast || options.precision != kernels::Precision::kFloat32)) {
    throw std::invalid_argument("[strategy] " + state_->backend +
                                " devices compute in exact float32 only; fast numerics and other precisions "
                                "need cuda devices");
  }
}

const std::string& Strategy::name() const {
  return state_->name;
}
const std::string& Strategy::kind() const {
  return state_->kind;
}
const std::vector<std::string>& Strategy::devices() const {
  return state_->devices;
}
int Strategy::replicas() const {
  return static_cast<int>(state_->devices.size());
}
const std::string& Strategy::backend() const {
  return state_->backend;
}
kernels::BackendOptions Strategy::backend_options(int replica) const {
  return {state_->ordinals.at(static_cast<std::size_t>(replica)), state_->options.numerics,
          state_->options.precision};
}
bool Strategy::exact() const {
  return state_->options.numerics.value_or(state_->backend == "cuda"
                                               ? kernels::Numerics::kFast
                                               : kernels::Numerics::kExact) == kernels::Numerics::kExact;
}
bool Strategy::graphs() const {
  return state_->options.graphs;
}
bool Strategy::registered_buffers() const {
  return state_->options.registered_buffers;
}
DeviceGroupOptions Strategy::group_options() const {
  return {state_->options.cross_device_ops, state_->options.team.limit};
}

std::unique_ptr<Reducer> Strategy::make_reducer() const {
  kernels::BackendInfo info;
  info.name = backend();
  info.on_host = backend() != "cuda";
  info.numerics = exact() ? "exact" : "fast";
  if (!parts().make_reducer) return default_reducer(info);
  std::unique_ptr<Reducer> reducer = parts().make_reducer();
  const std::string why_not = reducer->why_not(info);
  if (!why_not.empty()) {
    throw std::invalid_argument("[strategy] the reducer '" + reducer->name() +
                                "' doesn't work here: " + why_not);
  }
  return reducer;
}

const EngineParts& Strategy::parts() const {
  return state_->options.parts;
}
std::uint64_t Strategy::id() const {
  return state_->id;
}

DeviceTeam& Strategy::team() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->team) {
    TeamOptions options = state_->options.team;
    // Who waits for a device is freed after the limit and tells which one it was; who waits for such a rank
    // is patient enough to hear that.
    if (state_->backend == "cuda") options.limit += options.limit / 4;
    state_->team = std::make_unique<DeviceTeam>(replicas(), options);
  }
  return *state_->team;
}

Scope Strategy::scope() const {
  return Scope(state_);
}

void Strategy::run(const std::function<void(const ReplicaContext&)>& body) const {
  team().run([body](Communicator& seat) { body({seat.rank(), seat.size(), seat}); });
}

float Strategy::reduce(ReduceOp op, std::span<const float> per_replica) const {
  if (static_cast<int>(per_replica.size()) != replicas()) {
    throw std::invalid_argument("[reduce] got " + std::to_string(per_replica.size()) + " values; " + name() +
                                " has " + std::to_string(replicas()) + " replicas");
  }
  std::vector<float> level(per_replica.begin(), per_replica.end());
  for (std::size_t step = 1; step < level.size(); step *= 2) {
    for (std::size_t left = 0; left + step < level.size(); left += 2 * step)
      level[left] += level[left + step];
  }
  return op == ReduceOp::kMean ? level[0] / static_cast<float>(replicas()) : level[0];
}

float Strategy::reduce_rows(ReduceOp op, std::span<const std::vector<float>> per_replica) const {
  std::vector<float> sums, counts;
  for (const auto& rows : per_replica) {
    float sum = 0;
    for (const float v : rows) sum += v;
    sums.push_back(sum);
    counts.push_back(static_cast<float>(rows.size()));
  }
  const float sum = reduce(ReduceOp::kSum, sums);
  const float count = reduce(ReduceOp::kSum, counts);
  return op == ReduceOp::kSum ? sum : count == 0 ? 0.0F : sum / count;
}

void set_default_devices(const std::string& backend, std::optional<kernels::Numerics> numerics) {
  defaults().backend = backend;
  defaults().numerics = numerics;
}

OneDevice::OneDevice(const std::string& device, const StrategyOptions& options)
    : Strategy("one_device", {device}, options) {}

OneDevice::OneDevice(const StrategyOptions& options) : OneDevice(device_names(1).front(), options) {}

Mirrored::Mirrored(std::vector<std::string> devices, const StrategyOptions& options)
    : Strategy("mirrored", std::move(devices), options) {}

Mirrored::Mirrored(int count, const StrategyOptions& options) : Mirrored(device_names(count), options) {}

namespace {

StrategyOptions with_local_updates(StrategyOptions options) {
  options.parts.make_reducer = local_reducer;
  return options;
}

}  // namespace

ModelAveraging::ModelAveraging(std::vector<std::string> devices, const StrategyOptions& options)
    : Strategy("model_averaging", std::move(devices), with_local_updates(options)) {}

std::vector<std::string> device_names(int count, const std::string& backend) {
  const std::string prefix = (backend.empty() ? defaults().backend : backend) + ":";
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

Strategy current_strategy() {
  if (current) return Strategy(current);
  static const OneDevice preset;
  return preset;
}

Scope::Scope(std::shared_ptr<Strategy::State> state) : before_(current) {
  if (current && current != state) {
    throw std::invalid_argument("[scope] " + state->name + " can't be entered inside the scope of " +
                                current->name +
                                ": scopes of different strategies don't nest; end the outer scope first");
  }
  internal::exchange_current_scope({state->id, state->name});
  current = std::move(state);
}

Scope::~Scope() {
  internal::exchange_current_scope(before_ ? ScopeTag{before_->id, before_->name} : ScopeTag{0, "no scope"});
  current = std::move(before_);
}

}  // namespace mirrorscale::strategies
