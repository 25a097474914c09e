#include "strategies/strategy.h"

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
  EngineParts parts;
  TeamOptions team_options;
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

/// The backend's part of "cpu:3". Throws for anything that is no device of this build.
std::string backend_of(const std::string& device) {
  const std::size_t colon = device.find(':');
  const std::string backend = device.substr(0, colon);
  int ordinal = -1;
  if (colon != std::string::npos) {
    const char* begin = device.data() + colon + 1;
    const char* end = device.data() + device.size();
    const auto [stop, error] = std::from_chars(begin, end, ordinal);
    if (error != std::errc() || stop != end) ordinal = -1;
  }
  if (ordinal < 0 || (backend != "cpu" && backend != "reference")) {
    throw std::invalid_argument(
        "[strategy] '" + device +
        "' is no device; this build has cpu:0, cpu:1, … and reference:0, reference:1, …");
  }
  return backend;
}

}  // namespace

Strategy::Strategy(std::string kind, std::vector<std::string> devices, const StrategyOptions& options)
    : state_(std::make_shared<State>()) {
  if (devices.empty()) throw std::invalid_argument("[strategy] no devices; name at least one, e.g. cpu:0");
  std::set<std::string> seen;
  for (const std::string& device : devices) {
    const std::string backend = backend_of(device);
    if (!seen.insert(device).second) {
      throw std::invalid_argument("[strategy] device '" + device + "' is named twice in (" + joined(devices) +
                                  "); each replica needs a device of its own");
    }
    if (!state_->backend.empty() && state_->backend != backend) {
      throw std::invalid_argument("[strategy] devices of different backends in (" + joined(devices) +
                                  "); all must be of one backend");
    }
    state_->backend = backend;
  }
  state_->id = next_id();
  state_->kind = std::move(kind);
  state_->devices = std::move(devices);
  state_->name = state_->kind + "(" + joined(state_->devices) + ")";
  state_->parts = options.parts;
  state_->team_options = options.team;
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
const EngineParts& Strategy::parts() const {
  return state_->parts;
}
std::uint64_t Strategy::id() const {
  return state_->id;
}

DeviceTeam& Strategy::team() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->team) state_->team = std::make_unique<DeviceTeam>(replicas(), state_->team_options);
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

OneDevice::OneDevice(const std::string& device, const StrategyOptions& options)
    : Strategy("one_device", {device}, options) {}

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
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.push_back(backend + ":" + std::to_string(i));
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
