#pragma once
#include "strategies/comm/communicator.h"
#include "strategies/comm/device_group.h"
#include "strategies/comm/threads/device_team.h"
#include "strategies/input/sharder.h"
#include "strategies/input/shuffler.h"
#include "strategies/loss_normaliser.h"
#include "strategies/reducer.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mirrorscale::strategies {

/// The replaceable parts of mirrored training. Another part changes what training does, never how the rest is
/// written.
struct EngineParts {
  std::shared_ptr<const Shuffler> shuffler = std::make_shared<UniformShuffle>();
  std::shared_ptr<const Sharder> sharder = std::make_shared<TreeSharder>();
  std::shared_ptr<const LossNormaliser> normaliser = std::make_shared<GlobalMean>();
  /// Empty: default_reducer.
  std::function<std::unique_ptr<Reducer>()> make_reducer = {};
};

struct StrategyOptions {
  EngineParts parts = {};
  TeamOptions team = {};
  std::optional<kernels::Numerics> numerics = {};  // default: the backend's
  kernels::Precision precision = kernels::Precision::kFloat32;
  CrossDeviceOps cross_device_ops = CrossDeviceOps::kDefault;
  /// Record forward and backward of a step once as a CUDA graph, and launch that from then on: one call
  /// instead of one a kernel. Buckets then start after backward. Only where the backend can.
  bool graphs = false;
  /// Register the gradients with NCCL, which then may read and write them without copies of its own.
  bool registered_buffers = false;
};

/// What a function run on every replica knows about itself.
struct ReplicaContext {
  int replica_id = 0;
  int num_replicas = 1;
  Communicator& communicator;
};

class Scope;

/// How replicas train together, and where. A handle: copies are the same strategy.
class Strategy {
 public:
  struct State;

  /// "one_device(cpu:0)", "mirrored(cpu:0, cpu:1)".
  const std::string& name() const;
  /// "one_device", "mirrored", "model_averaging".
  const std::string& kind() const;
  const std::vector<std::string>& devices() const;
  int replicas() const;
  /// "cpu", "cuda" or "reference": the backend of all its devices.
  const std::string& backend() const;
  /// The backend's options for the device of one replica.
  kernels::BackendOptions backend_options(int replica) const;
  /// Whether the backend's results have the bits of docs/exact.md.
  bool exact() const;
  /// The parts' reducer, or the backend's default. Throws std::invalid_argument where the two don't go
  /// together.
  std::unique_ptr<Reducer> make_reducer() const;
  DeviceGroupOptions group_options() const;
  bool graphs() const;
  bool registered_buffers() const;
  DeviceTeam& team() const;
  const EngineParts& parts() const;
  std::uint64_t id() const;
  bool operator==(const Strategy& other) const { return state_ == other.state_; }

  /// While the scope lives, models, optimizers and metrics made on this thread belong to this strategy.
  /// Scopes of the same strategy nest; a different one inside throws std::invalid_argument.
  [[nodiscard]] Scope scope() const;

  /// Runs `body` on every replica at once; see DeviceTeam::run.
  void run(const std::function<void(const ReplicaContext&)>& body) const;
  /// One value per replica into one. Throws std::invalid_argument unless there are as many values as
  /// replicas.
  float reduce(ReduceOp op, std::span<const float> per_replica) const;
  /// Over all rows of all replicas; kMean divides by the true number of rows, so that uneven replicas are
  /// right.
  float reduce_rows(ReduceOp op, std::span<const std::vector<float>> per_replica) const;

 protected:
  /// Throws std::invalid_argument for no devices, a device twice, a device that doesn't exist, or mixed
  /// backends.
  Strategy(std::string kind, std::vector<std::string> devices, const StrategyOptions& options);
  explicit Strategy(std::shared_ptr<State> state) : state_(std::move(state)) {}

 private:
  friend class Scope;
  friend Strategy current_strategy();

  std::shared_ptr<State> state_;
};

/// What devices are where only their number is said, and what they compute in where nothing is said. Before
/// the first strategy is made. The preset: cpu.
void set_default_devices(const std::string& backend, std::optional<kernels::Numerics> numerics = {});

/// The baseline: one replica, no communication.
class OneDevice : public Strategy {
 public:
  /// The first of the default devices.
  OneDevice() : OneDevice(StrategyOptions{}) {}
  explicit OneDevice(const StrategyOptions& options);
  explicit OneDevice(const std::string& device, const StrategyOptions& options = {});
};

/// One replica a device, synchronous: every step is a step on the global batch.
class Mirrored : public Strategy {
 public:
  explicit Mirrored(std::vector<std::string> devices, const StrategyOptions& options = {});
  /// The first `count` of the default devices (cpu:0, cpu:1, …).
  explicit Mirrored(int count, const StrategyOptions& options = {});
};

/// NOT mirrored training: every replica trains on its share of each batch alone; after each epoch the weights
/// are averaged (McMahan et al. 2017 call it federated averaging). Here to show with a number that it is
/// another thing.
class ModelAveraging : public Strategy {
 public:
  explicit ModelAveraging(std::vector<std::string> devices, const StrategyOptions& options = {});
};

/// "cpu:0" … "cpu:(count - 1)", or of another backend; empty: the default one.
std::vector<std::string> device_names(int count, const std::string& backend = "");

/// The strategy whose scope this thread is in; outside of any scope the default one, OneDevice().
Strategy current_strategy();

/// Ends on destruction. Scopes end in the reverse order of their beginnings, on the thread that began them.
class Scope {
 public:
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  friend class Strategy;
  explicit Scope(std::shared_ptr<Strategy::State> state);
  std::shared_ptr<Strategy::State> before_;
};

}  // namespace mirrorscale::strategies
