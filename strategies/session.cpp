#include "strategies/session.h"

#include "strategies/session_state.h"
#include "strategies/trace/range.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace mirrorscale::strategies {

Session::Session(Strategy strategy, std::shared_ptr<const Network> network, std::uint64_t seed)
    : strategy_(std::move(strategy)), network_(std::move(network)), state_(std::make_shared<State>()) {
  state_->network = network_;
  state_->seed = seed;
  const auto n = static_cast<std::size_t>(strategy_.replicas());
  state_->replicas.resize(n);
  state_->training_batches.resize(n);
  state_->judged_batches.resize(n);
  state_->seats.resize(n);
  state_->group = make_device_group(strategy_.backend(), strategy_.replicas(), strategy_.group_options());
  State::run(strategy_, state_, [strategy = strategy_](State& state, Communicator& host) {
    const auto rank = static_cast<std::size_t>(host.rank());
    name_this_thread(strategy.devices()[rank]);
    state.replicas[rank] =
        std::make_unique<Replica>(*state.network, strategy.backend(), strategy.backend_options(host.rank()));
    state.seats[rank] = state.group->join(state.replicas[rank]->backend(), host);
  });
  set_weights(network_->initial_weights(seed));
}

Session::~Session() = default;

void Session::compile(Objective objective) {
  if (objective.optimizer->all_slots().size() > kMostSlots) {
    throw std::invalid_argument("[compile] optimizer '" + objective.optimizer->name() + "' wants " +
                                std::to_string(objective.optimizer->all_slots().size()) + " slots; at most " +
                                std::to_string(kMostSlots) + " are supported");
  }
  if (objective.metrics.size() > static_cast<std::size_t>(StatisticsColumns::kMost)) {
    throw std::invalid_argument("[compile] " + std::to_string(objective.metrics.size()) +
                                " metrics; at most " + std::to_string(StatisticsColumns::kMost) +
                                " are supported");
  }
  state_->dataset = nullptr;
  state_->objective = std::move(objective);
  state_->reducer = strategy_.make_reducer();
  state_->steps = 0;
  State::run(strategy_, state_, [](State& state, Communicator& host) {
    state.reducer->prepare(host.rank(), host.size(), *state.replicas[static_cast<std::size_t>(host.rank())],
                           *state.objective.optimizer);
  });
  set_initial_slots();
}

/// Slots are made as zeros; others begin with what the optimizer says, padding aside.
void Session::set_initial_slots() {
  const Optimizer& optimizer = *state_->objective.optimizer;
  const std::size_t count = optimizer.all_slots().size();
  bool any = false;
  const std::size_t own = optimizer.slots().size();  // the average needs no beginning
  for (std::size_t s = 0; s < own; ++s) any = any || optimizer.initial(s) != 0;
  if (!any) return;
  const auto arenas = std::make_shared<std::vector<std::vector<float>>>(
      count, std::vector<float>(network_->parameters().size()));
  for (std::size_t s = 0; s < own; ++s) {
    if (optimizer.initial(s) == 0) continue;
    auto values = network_->parameters().pack((*arenas)[s], state_->replicas[0]->layout());
    for (NamedArray& array : values)
      std::fill(array.values.begin(), array.values.end(), optimizer.initial(s));
    network_->parameters().unpack(values, (*arenas)[s], state_->replicas[0]->layout());
  }
  write_slots(arenas);
}

void Session::write_slots(std::shared_ptr<const std::vector<std::vector<float>>> arenas) {
  State::run(strategy_, state_, [arenas](State& state, Communicator& host) {
    state.reducer->write_slots(host.rank(), *state.replicas[static_cast<std::size_t>(host.rank())], *arenas);
    state.wait(host.rank(), "slots given to all");
  });
}

void Session::set_weights(std::span<const NamedArray> arrays) {
  const auto values = std::make_shared<std::vector<float>>(network_->parameters().size());
  network_->parameters().unpack(arrays, *values, state_->replicas[0]->layout());
  State::run(strategy_, state_, [values](State& state, Communicator& host) {
    const auto rank = static_cast<std::size_t>(host.rank());
    Replica& replica = *state.replicas[rank];
    if (rank == 0) replica.backend().upload(values->data(), values->size(), replica.weights());
    state.seats[rank]->broadcast({replica.weights(), values->size()}, 0);
    replica.refresh_transposed();
    state.wait(host.rank(), "weights given to all");
  });
}

std::vector<NamedArray> Session::weights(int replica) const {
  return network_->parameters().pack(arena(replica), state_->replicas[0]->layout());
}

std::vector<NamedArray> Session::slots() const {
  std::vector<NamedArray> all;
  if (!state_->reducer) return all;
  const auto names = state_->objective.optimizer->all_slots();
  const auto arenas = std::make_shared<std::vector<std::vector<float>>>(
      names.size(), std::vector<float>(network_->parameters().size()));
  State::run(strategy_, state_, [arenas](State& state, Communicator& host) {
    state.reducer->read_slots(host.rank(), *state.replicas[static_cast<std::size_t>(host.rank())], *arenas);
  });
  for (std::size_t s = 0; s < names.size(); ++s) {
    for (NamedArray& array : network_->parameters().pack((*arenas)[s], state_->replicas[0]->layout())) {
      array.name += "/" + names[s];
      all.push_back(std::move(array));
    }
  }
  return all;
}

void Session::restore(std::span<const NamedArray> weights, std::span<const NamedArray> slots,
                      std::int64_t steps) {
  if (!state_->reducer)
    throw std::invalid_argument("[restore] the model is not compiled; call compile first");
  const ParameterLayout& parameters = network_->parameters();
  const std::size_t wanted = state_->objective.optimizer->all_slots().size();
  if (slots.size() != wanted * parameters.slices().size()) {
    throw std::invalid_argument("[restore] got " + std::to_string(slots.size()) +
                                " arrays of slots; the optimizer has " + std::to_string(wanted) +
                                " slots for each of " + std::to_string(parameters.slices().size()) +
                                " parameters");
  }
  const auto arenas =
      std::make_shared<std::vector<std::vector<float>>>(wanted, std::vector<float>(parameters.size()));
  for (std::size_t s = 0; s < wanted; ++s) {
    parameters.unpack(slots.subspan(s * parameters.slices().size(), parameters.slices().size()), (*arenas)[s],
                      state_->replicas[0]->layout());
  }
  set_weights(weights);
  write_slots(arenas);
  state_->steps = steps;
}

std::vector<float> Session::arena(int replica) const {
  Replica& wanted = *state_->replicas.at(static_cast<std::size_t>(replica));
  const auto values = std::make_shared<std::vector<float>>(network_->parameters().size());
  if (wanted.backend().info().on_host) {
    std::copy_n(wanted.weights(), values->size(), values->begin());
  } else {
    State::run(strategy_, state_, [replica, values](State& state, Communicator& host) {
      if (host.rank() != replica) return;
      Replica& mine = *state.replicas[static_cast<std::size_t>(replica)];
      mine.backend().download(mine.weights(), values->size(), values->data());
    });
  }
  return std::move(*values);
}

void Session::average_weights() {
  State::run(strategy_, state_, [](State& state, Communicator& host) {
    const auto rank = static_cast<std::size_t>(host.rank());
    Replica& replica = *state.replicas[rank];
    state.seats[rank]->all_reduce({replica.weights(), state.network->parameters().size()}, ReduceOp::kMean);
    replica.refresh_transposed();
    state.wait(host.rank(), "weights averaged");
  });
}

void Session::State::wait(int rank, const char* what) {
  {
    const auto watch = group->watch(rank, what);
    replicas[static_cast<std::size_t>(rank)]->backend().synchronize();
  }
  group->check(rank);
}

void Session::State::run(const Strategy& strategy, const std::shared_ptr<State>& state,
                         const std::function<void(State&, Communicator& host)>& body) {
  strategy.team().run([state, body](Communicator& host) {
    try {
      body(*state, host);
    } catch (const std::exception& error) {
      state->group->abort("rank " + std::to_string(host.rank()) + " failed: " + error.what());
      throw;
    }
  });
}

std::int64_t Session::steps() const {
  return state_->steps;
}

NonFinite Session::non_finite() const {
  return state_->non_finite;
}

double Session::penalty() const {
  const auto sum = std::make_shared<double>(0);
  if (state_->replicas[0]->backend().info().on_host) return state_->penalty();
  State::run(strategy_, state_, [sum](State& state, Communicator& host) {
    if (host.rank() == 0) *sum = state.penalty();
  });
  return *sum;
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

void Session::check_features(const DatasetPtr& dataset) {
  if (checked_.lock() == dataset) return;
  if (dataset->features() != network_->features()) {
    throw std::invalid_argument("[data] '" + dataset->name() + "' has rows of " +
                                std::to_string(dataset->features()) + " features; the model takes " +
                                std::to_string(network_->features()));
  }
  const Layer& first = *network_->stages().front().layer;
  constexpr std::int64_t kRows = 1024;  // looked at together
  const std::int64_t all = first.takes_tokens() ? dataset->rows() : 0;
  const auto room = kernels::make_buffer(all > 0 ? kernels::activation_size(kRows, dataset->features()) : 0);
  std::vector<std::int64_t> rows;
  for (std::int64_t from = 0; from < all; from += kRows) {
    rows.resize(static_cast<std::size_t>(std::min(kRows, all - from)));
    std::iota(rows.begin(), rows.end(), from);
    const kernels::Matrix x = kernels::activation_view(
        kernels::Layout::kPanels, room.get(), static_cast<int>(rows.size()), dataset->features(), kRows);
    dataset->copy_features(rows, x);
    first.check_input(x, from, dataset->name());
  }
  checked_ = dataset;
}

void Session::check_answers(const Dataset& dataset) const {
  const TargetShape shape{dataset.classes(), dataset.target_columns()};
  state_->objective.loss->check(network_->outputs(), shape);
  for (const auto& metric : state_->objective.metrics) metric->check(network_->outputs(), shape);
  for (const auto& metric : state_->objective.counted) metric->check(network_->outputs(), shape);
  const int positions = network_->out().rows(), answers = shape.classes > 0 ? dataset.labels_per_row() : 1;
  if (answers == positions) return;
  throw std::invalid_argument("[data] '" + dataset.name() + "' has " + std::to_string(answers) +
                              (answers == 1 ? " answer" : " labels") + " a row; the model predicts at " +
                              std::to_string(positions) + (positions == 1 ? " position" : " positions") +
                              " of each; both must be the same");
}

namespace {

BatchBuffers::Shape batch_shape(const Dataset& dataset, int rows) {
  return {rows,
          dataset.features(),
          dataset.classes(),
          dataset.target_columns(),
          dataset.weighted(),
          dataset.labels_per_row()};
}

}  // namespace

void Session::prepare_batches(std::vector<BatchBuffers> State::*batches, const Dataset& dataset, int rows,
                              int roots) {
  const BatchBuffers::Shape shape = batch_shape(dataset, rows);
  State::run(strategy_, state_, [batches, shape, roots](State& state, Communicator& host) {
    const auto rank = static_cast<std::size_t>(host.rank());
    Replica& replica = *state.replicas[rank];
    replica.reserve(shape.rows, roots);
    BatchBuffers& mine = (state.*batches)[rank];
    BatchBuffers::Shape wanted = shape;
    wanted.rows = std::max(shape.rows, mine.capacity().rows);
    if (mine.capacity() == wanted) return;
    mine = {};
    mine = BatchBuffers(replica.backend(), shape);
  });
}

std::size_t Session::planned_bytes(const Strategy& strategy, const Network& network, const Dataset& dataset,
                                   int global_batch, const Optimizer& optimizer, const Dataset* validation,
                                   int accumulate, OnNan on_nan) {
  const int n = strategy.replicas();
  const int batch = static_cast<int>(std::min<std::int64_t>(global_batch, dataset.rows()));
  const auto rest = static_cast<int>(dataset.rows() % global_batch);
  const auto reducer = strategy.make_reducer();
  int rows = 1, arenas = 1;
  std::size_t all_roots = 1, all_sums = 0;
  for (const int rows_of_batch : {batch, rest > 0 ? rest : batch}) {
    const BatchPlan plan = strategy.parts().sharder->plan(rows_of_batch, global_batch, n);
    std::size_t sums = 0, roots = 0;
    for (const auto& share : plan.shares) {
      const PiecePlan pieces = cut_share(share, plan.shard_rows, accumulate, reducer->whole_shares());
      rows = std::max(rows, pieces.most_rows);
      arenas = std::max(arenas, pieces.arenas);
      roots += share.roots.size();
      sums += reducer->whole_shares() ? 1 : share.roots.size();
    }
    all_roots = std::max(all_roots, roots);
    all_sums = std::max(all_sums, sums);
  }
  const BatchBuffers::Shape inputs = batch_shape(dataset, rows);
  std::size_t judged = 0;
  const int input_slots = strategy.backend() == "cuda" ? 2 : 1;
  if (validation != nullptr) {
    const auto most = static_cast<int>(std::min<std::int64_t>(global_batch, validation->rows()));
    const BatchBuffers::Shape shape = batch_shape(*validation, (most + n - 1) / n);
    rows = std::max(rows, shape.rows);
    judged = BatchBuffers::planned_bytes(shape, input_slots);
  }
  const bool cuda = strategy.backend() == "cuda";
  std::size_t largest_matrix = network.chain().largest_matrix(rows);
  for (const auto& slice : network.parameters().slices())
    largest_matrix = std::max(largest_matrix, slice.size);
  std::size_t slices = 0;  // of all ranks' roots, which a rank sums
  if (cuda && n > 1 && strategy.exact()) {
    slices = all_sums * (network.parameters().size() / static_cast<std::size_t>(n) + kernels::kBlock);
  }
  // With one device there is nothing to share, and its collectives keep an arena of sums all the same.
  if (cuda && n == 1 && strategy.exact()) slices = network.parameters().size() + kernels::kBlock;
  return Replica::planned_bytes(network, rows, arenas) + BatchBuffers::planned_bytes(inputs, input_slots) +
         judged + reducer->planned_bytes(network, optimizer, n, all_roots, on_nan != OnNan::kContinue) +
         slices * sizeof(float) +
         kernels::own_bytes(strategy.backend(), strategy.backend_options(0), largest_matrix);
}

std::size_t Session::used_bytes() const {
  std::size_t most = 0;
  for (const auto& replica : state_->replicas) most = std::max(most, replica->backend().used_bytes());
  return most;
}

}  // namespace mirrorscale::strategies
