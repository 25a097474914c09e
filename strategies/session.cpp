#include "strategies/session.h"

#include "strategies/session_state.h"
#include "strategies/trace/range.h"

#include <algorithm>
#include <stdexcept>

namespace mirrorscale::strategies {

Session::Session(Strategy strategy, std::shared_ptr<const Network> network, std::uint64_t seed)
    : strategy_(std::move(strategy)), network_(std::move(network)), state_(std::make_shared<State>()) {
  state_->network = network_;
  const auto n = static_cast<std::size_t>(strategy_.replicas());
  state_->replicas.resize(n);
  state_->training_batches.resize(n);
  state_->judged_batches.resize(n);
  strategy_.team().run(
      [state = state_, backend = strategy_.backend(), devices = strategy_.devices()](Communicator& seat) {
        const auto rank = static_cast<std::size_t>(seat.rank());
        name_this_thread(devices[rank]);
        state->replicas[rank] = std::make_unique<Replica>(*state->network, backend);
      });
  set_weights(network_->initial_weights(seed));
}

Session::~Session() = default;

void Session::compile(Objective objective) {
  if (objective.optimizer->slots().size() > 2) {
    throw std::invalid_argument("[compile] optimizer '" + objective.optimizer->name() + "' wants " +
                                std::to_string(objective.optimizer->slots().size()) +
                                " slots; at most 2 are supported");
  }
  if (objective.metrics.size() > static_cast<std::size_t>(StatisticsColumns::kMost)) {
    throw std::invalid_argument("[compile] " + std::to_string(objective.metrics.size()) +
                                " metrics; at most " + std::to_string(StatisticsColumns::kMost) +
                                " are supported");
  }
  state_->dataset = nullptr;
  state_->objective = std::move(objective);
  state_->reducer = strategy_.parts().make_reducer();
  state_->steps = 0;
  strategy_.team().run([state = state_](Communicator& seat) {
    state->reducer->prepare(seat.rank(), seat.size(), *state->network, *state->objective.optimizer);
  });
}

void Session::set_weights(std::span<const NamedArray> arrays) {
  const auto values = std::make_shared<std::vector<float>>(network_->parameters().size());
  network_->parameters().unpack(arrays, *values);
  strategy_.team().run([state = state_, values](Communicator& seat) {
    Replica& replica = *state->replicas[static_cast<std::size_t>(seat.rank())];
    const std::span<float> mine(replica.weights(), values->size());
    if (seat.rank() == 0) std::copy(values->begin(), values->end(), mine.begin());
    seat.broadcast(mine, 0);
    replica.refresh_transposed();
  });
}

std::vector<NamedArray> Session::weights(int replica) const {
  return network_->parameters().pack(arena(replica));
}

std::vector<NamedArray> Session::slots() const {
  std::vector<NamedArray> all;
  if (!state_->reducer) return all;
  const auto names = state_->objective.optimizer->slots();
  const auto arenas = state_->reducer->slots();
  for (std::size_t s = 0; s < arenas.size(); ++s) {
    for (NamedArray& array : network_->parameters().pack(arenas[s])) {
      array.name += "/" + names[s];
      all.push_back(std::move(array));
    }
  }
  return all;
}

std::span<const float> Session::arena(int replica) const {
  const Replica& r = *state_->replicas.at(static_cast<std::size_t>(replica));
  return {r.weights(), network_->parameters().size()};
}

void Session::average_weights() {
  strategy_.team().run([state = state_](Communicator& seat) {
    Replica& replica = *state->replicas[static_cast<std::size_t>(seat.rank())];
    seat.all_reduce({replica.weights(), state->network->parameters().size()}, ReduceOp::kMean);
    replica.refresh_transposed();
  });
}

std::int64_t Session::steps() const {
  return state_->steps;
}

double Session::penalty() const {
  return state_->penalty();
}

double Session::State::penalty() const {
  double sum = 0;
  Replica& replica = *replicas[0];
  for (const auto& slice : network->parameters().slices()) {
    const Penalty& p = slice.spec.penalty;
    const float* w = replica.weights() + slice.offset;
    if (p.l2 != 0)
      sum += static_cast<double>(p.l2) * static_cast<double>(replica.backend().sum_of_squares(slice.size, w));
    if (p.l1 != 0)
      sum +=
          static_cast<double>(p.l1) * static_cast<double>(replica.backend().sum_of_magnitudes(slice.size, w));
  }
  return sum;
}

void Session::check_features(const Dataset& dataset) const {
  if (dataset.features() == network_->features()) return;
  throw std::invalid_argument("[data] '" + dataset.name() + "' has rows of " +
                              std::to_string(dataset.features()) + " features; the model takes " +
                              std::to_string(network_->features()));
}

void Session::prepare_batches(std::vector<BatchBuffers> State::*batches, const Dataset& dataset, int rows,
                              int roots) {
  check_features(dataset);
  const BatchBuffers::Shape shape{rows, dataset.features(), dataset.classes(), dataset.target_columns(),
                                  dataset.weighted()};
  strategy_.team().run([state = state_, batches, shape, roots](Communicator& seat) {
    const auto rank = static_cast<std::size_t>(seat.rank());
    state->replicas[rank]->reserve(shape.rows, roots);
    BatchBuffers& mine = ((*state).*batches)[rank];
    const BatchBuffers::Shape& have = mine.capacity();
    if (have.rows < shape.rows || have.features != shape.features || have.classes != shape.classes ||
        have.target_columns != shape.target_columns || have.weighted != shape.weighted) {
      mine = BatchBuffers(shape);
    }
  });
}

std::size_t Session::planned_bytes(const Strategy& strategy, const Network& network, const Dataset& dataset,
                                   int global_batch, int optimizer_slots) {
  const int n = strategy.replicas();
  const int batch = static_cast<int>(std::min<std::int64_t>(global_batch, dataset.rows()));
  const BatchPlan plan = strategy.parts().sharder->plan(batch, global_batch, n);
  int rows = 0;
  std::size_t roots = 0;
  for (const auto& share : plan.shares) {
    rows = std::max(rows, share.rows.count);
    roots = std::max(roots, share.roots.size());
  }
  const std::size_t inputs = kernels::activation_size(rows, dataset.features()) +
                             kernels::activation_size(rows, dataset.target_columns()) +
                             static_cast<std::size_t>(dataset.classes() > 0 ? rows : 0);
  return Replica::planned_bytes(network, rows, static_cast<int>(roots)) + inputs * sizeof(float) +
         strategy.parts().make_reducer()->planned_bytes(network, optimizer_slots, n);
}

}  // namespace mirrorscale::strategies
