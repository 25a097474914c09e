// Training steps: what every replica's thread does, from the rows of its share to the new weights.
#include "strategies/session_state.h"
#include "strategies/step_mark.h"
#include "strategies/trace/range.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

namespace mirrorscale::strategies {

void Session::State::load(const Dataset& dataset, std::span<const std::int64_t> rows, BatchBuffers& batch,
                          int slot) {
  const TraceRange range("input");
  const BatchBuffers::Filling to = batch.fill(slot, static_cast<int>(rows.size()));
  dataset.copy_features(rows, to.features);
  if (dataset.classes() > 0) dataset.copy_labels(rows, to.labels);
  if (dataset.target_columns() > 0) dataset.copy_targets(rows, to.values);
  if (dataset.weighted()) {
    dataset.copy_weights(rows, to.weights);
    // A row's weight is that of each of its labels; from the last on, so that none is overwritten unread.
    const auto labels = static_cast<std::size_t>(dataset.labels_per_row());
    for (std::size_t i = rows.size() * labels; labels > 1 && i-- > 0;) to.weights[i] = to.weights[i / labels];
  }
  batch.send(slot);
}

std::vector<Tally> Session::State::tallies() const {
  if (objective.counted.empty()) return {};
  return {replicas.size(), Tally(objective.counted, network->outputs())};
}

void Session::start_training(DatasetPtr dataset, int global_batch, int accumulate, OnNan on_nan) {
  if (!state_->reducer) throw std::invalid_argument("[fit] the model is not compiled; call compile first");
  if (global_batch < 1) {
    throw std::invalid_argument("[fit] global batch is " + std::to_string(global_batch) +
                                "; needs at least 1");
  }
  if (dataset->rows() < 1)
    throw std::invalid_argument("[fit] data set '" + dataset->name() + "' has no rows");
  if (on_nan != OnNan::kContinue && strategy_.kind() == "model_averaging") {
    throw std::invalid_argument(
        "[fit] on_nan is decided on reduced values, and model averaging reduces none within an epoch; choose "
        "'continue', or a mirrored strategy");
  }
  check_features(dataset);
  check_answers(*dataset);
  if (strategy_.graphs() && network_->chain().random()) {
    throw std::invalid_argument(
        "[fit] the model has a dropout layer, which draws other numbers in each step, and graphs repeat a "
        "step "
        "as it was recorded; train it without graphs (--graphs)");
  }

  state_->dataset = nullptr;  // until all is ready
  state_->recordings.clear();
  if (strategy_.graphs()) state_->recordings.resize(static_cast<std::size_t>(strategy_.replicas()));
  const int n = strategy_.replicas();
  const Sharder& sharder = *strategy_.parts().sharder;
  const auto rest = static_cast<int>(dataset->rows() % global_batch);
  const bool whole = dataset->rows() >= global_batch;
  const bool whole_shares = state_->reducer->whole_shares();
  const auto plan = [&](int rows_of_batch) {
    State::StepPlan step{.batch = sharder.plan(rows_of_batch, global_batch, n), .shares = {}};
    for (const auto& share : step.batch.shares)
      step.shares.push_back(cut_share(share, step.batch.shard_rows, accumulate, whole_shares));
    return step;
  };
  state_->full = whole ? plan(global_batch) : State::StepPlan{};
  state_->last = rest != 0 ? plan(rest) : state_->full;
  state_->global_batch = global_batch;
  state_->on_nan = on_nan;
  int rows = 1, arenas = 1, most_roots = 1;
  std::size_t all_roots = 1;
  for (const State::StepPlan* step : {&state_->full, &state_->last}) {
    std::size_t sum = 0;
    for (const auto& share : step->batch.shares) sum += share.roots.size();
    for (const PiecePlan& share : step->shares) {
      rows = std::max(rows, share.most_rows);
      arenas = std::max(arenas, share.arenas);
      most_roots = std::max(most_roots, share.most_roots);
    }
    all_roots = std::max(all_roots, sum);
  }
  state_->most_roots = static_cast<std::size_t>(most_roots);
  prepare_batches(&State::training_batches, *dataset, rows, arenas);
  State::run(strategy_, state_,
             [all_roots, often = strategy_.registered_buffers()](State& state, Communicator& host) {
               const auto rank = static_cast<std::size_t>(host.rank());
               state.reducer->reserve(host.rank(), all_roots);
               Replica& replica = *state.replicas[rank];
               if (state.on_nan != OnNan::kContinue) state.reducer->guard(host.rank(), replica);
               if (often) state.seats[rank]->register_memory({replica.gradient(0), replica.arena_size()});
             });
  state_->dataset = std::move(dataset);
}

void Session::check_steps(std::span<const std::int64_t> order, std::int64_t first, std::int64_t count,
                          const Timeline* timeline) const {
  if (!state_->dataset) throw std::logic_error("[session] train before start_training");
  const std::int64_t rows = state_->dataset->rows();
  if (static_cast<std::int64_t>(order.size()) != rows) {
    throw std::invalid_argument("[train] the order has " + std::to_string(order.size()) +
                                " rows; the data set has " + std::to_string(rows));
  }
  const std::int64_t batches = (rows + state_->global_batch - 1) / state_->global_batch;
  if (first < 0 || count < 0 || first > batches - count) {
    throw std::invalid_argument("[train] batches " + std::to_string(first) + " .. " +
                                std::to_string(first + count - 1) + " are asked for; an epoch has " +
                                std::to_string(batches) + " batches, counted from 0");
  }
  if (timeline != nullptr &&
      (timeline->replicas() != strategy_.replicas() || timeline->steps() < static_cast<std::size_t>(count))) {
    throw std::invalid_argument("[train] the timeline has room for " + std::to_string(timeline->steps()) +
                                " steps of " + std::to_string(timeline->replicas()) + " replicas, not for " +
                                std::to_string(count) + " of " + std::to_string(strategy_.replicas()));
  }
}

/// Runs steps on one replica's thread.
class Session::Steps {
 public:
  Steps(State& state, Communicator& host, const LossNormaliser& normaliser, std::int64_t done,
        RowObserver* observer, Tally* tally)
      : state_(state),
        host_(host),
        rank_(host.rank()),
        replica_(*state.replicas[static_cast<std::size_t>(rank_)]),
        backend_(replica_.backend()),
        batch_(state.training_batches[static_cast<std::size_t>(rank_)]),
        seat_(*state.seats[static_cast<std::size_t>(rank_)]),
        normaliser_(normaliser),
        done_(done),
        observer_(observer),
        tally_(tally),
        gradients_ready_(
            [this](std::size_t from) { state_.reducer->gradients_ready(rank_, seat_, replica_, from); }) {
    roots_.reserve(state.most_roots);
    host_.barrier("start of training steps");
    backend_.mark(StepMark::kEnd);
  }

  /// Step i of `count`, whose first batch is number `first` of the epoch; `rows` are those of all the steps.
  void run(std::span<const std::int64_t> rows, std::int64_t first, std::int64_t i, std::int64_t count,
           Timeline* timeline) {
    if (timeline != nullptr && i == 0) timeline->start(rank_, backend_.marked_s(StepMark::kEnd));
    marking_ = timeline != nullptr;
    plan_ = &state_.plan(first + i).batch;
    step_ = done_ + i - skipped_;
    const auto& pieces = pieces_of(first + i);
    mark(StepMark::kStart);
    if (tally_ != nullptr && state_.on_nan != OnNan::kContinue) tally_->remember();
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      if (loaded_ == used_) {
        const auto begin = std::chrono::steady_clock::now();
        load(rows, first, i, pieces[p]);
        data_wait_s_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      }
      const auto slot = static_cast<int>(used_++ % batch_.slots());
      const BatchBuffers::Arrived arrived = batch_.receive(slot, pieces[p].rows.count);
      if (p == 0) mark(StepMark::kInput);
      // The pieces of an accumulation can't be told apart: all their time is backward's.
      if (p == 0 && pieces.size() > 1) mark(StepMark::kForward);
      first_row_ = plan_->shares[static_cast<std::size_t>(rank_)].rows.first + pieces[p].rows.first;
      work(pieces[p], arrived, slot, pieces.size() == 1);
      batch_.done(slot);
      if (p + 1 == pieces.size()) mark(StepMark::kBackward);
      // While the device works on these rows the next ones come.
      if (batch_.slots() == 1) continue;
      if (p + 1 < pieces.size()) {
        load(rows, first, i, pieces[p + 1]);
      } else if (i + 1 < count && !pieces_of(first + i + 1).empty()) {
        load(rows, first, i + 1, pieces_of(first + i + 1).front());
      }
    }
    penalty_ = rank_ == 0 ? state_.penalty() : 0;  // of the weights that this step's loss is about
    meet("gradients ready");
    mark(StepMark::kMet);
    {
      const TraceRange range("reduce and update");
      const auto watch = state_.group->watch(rank_, "gradients of all ranks");
      reduced_ = state_.reducer->reduce_and_update({rank_, seat_, host_, state_.replicas, *plan_,
                                                    *state_.objective.optimizer, normaliser_, step_,
                                                    state_.on_nan != OnNan::kContinue});
      mark(StepMark::kUpdated);
      if (timeline != nullptr) backend_.marked_s(StepMark::kUpdated);
    }
    state_.group->check(rank_);
    meet("weights written");
    if (!applied()) {
      ++skipped_;
      if (tally_ != nullptr) tally_->undo();
      if (rank_ == 0) state_.non_finite = reduced_.non_finite;
    } else if (rank_ == 0) {
      ++state_.steps;
    }
    mark(StepMark::kEnd);
    if (timeline != nullptr) {
      timeline->at(rank_, static_cast<std::size_t>(i)) = marks(!pieces.empty());
    }
  }

  double data_wait_s() const { return data_wait_s_; }
  /// Of the last step: the same on all ranks.
  bool applied() const { return reduced_.non_finite == NonFinite::kNone; }

  void add_to(Pooled& sums) const {
    if (applied()) {
      sums.add(reduced_.statistics, plan_->rows, penalty_);
    } else {
      ++sums.skipped;
    }
  }

  /// Takes in rows that were sent ahead for a step that won't come.
  void drain() {
    while (used_ < loaded_) {
      const auto slot = static_cast<int>(used_++ % batch_.slots());
      batch_.receive(slot, sent_rows_);
      batch_.done(slot);
    }
  }

 private:
  /// Notes a moment where somebody will ask for it: on a GPU each is an event.
  void mark(int moment) {
    if (marking_) backend_.mark(moment);
  }

  const std::vector<Piece>& pieces_of(std::int64_t batch) const {
    return state_.plan(batch).shares[static_cast<std::size_t>(rank_)].pieces;
  }

  /// Forward, backward, and what the accumulation adds up. `alone`: the piece is all of the step, so that the
  /// reducer may begin with its gradients.
  void work(const Piece& piece, const BatchBuffers::Arrived& arrived, int slot, bool alone) {
    roots_.clear();
    for (const Piece::Root& root : piece.roots)
      roots_.push_back({root.rows.first, root.rows.count, replica_.gradient(root.arena)});
    if (state_.recordings.empty() || !run_recorded(piece, arrived, slot, alone)) {
      forward(arrived);
      if (tally_ != nullptr) tally_->add(backend_, replica_.output(), arrived.targets);
      if (alone) mark(StepMark::kForward);
      backward(alone ? gradients_ready_ : std::function<void(std::size_t)>());
    }
    for (const Addition& a : piece.additions)
      backend_.add(replica_.arena_size(), replica_.gradient(a.left), replica_.gradient(a.right),
                   replica_.gradient(a.left));
  }

  void forward(const BatchBuffers::Arrived& arrived) {
    const TraceRange range("forward");
    replica_.forward(arrived.features, {true, state_.seed, step_, first_row_});
    replica_.judge(*state_.objective.loss, state_.objective.metrics, arrived.targets, true);
  }
  void backward(const std::function<void(std::size_t)>& ready) {
    const TraceRange range("backward");
    replica_.backward(roots_, plan_->shard_rows, ready);
  }

  /// The piece's forward and backward as one launch; false when it is their first time, which must be a plain
  /// run (it may allocate). What is recorded can't be told apart: all its time is backward's.
  bool run_recorded(const Piece& piece, const BatchBuffers::Arrived& arrived, int slot, bool alone) {
    auto& recordings = state_.recordings[static_cast<std::size_t>(rank_)];
    const int generation = replica_.generation();
    std::erase_if(recordings, [&](const auto& r) { return r.generation != generation; });
    const auto found = std::find_if(recordings.begin(), recordings.end(),
                                    [&](const auto& r) { return r.piece == &piece && r.slot == slot; });
    if (found == recordings.end()) {
      recordings.push_back({&piece, slot, generation, nullptr, {}});
      return false;
    }
    if (found->ops == nullptr) {
      found->ops = backend_.record([&] {
        forward(arrived);
        found->output = replica_.output();
        backward({});
      });
    }
    if (alone) mark(StepMark::kForward);
    const TraceRange range("forward and backward");
    found->ops->replay();
    if (tally_ != nullptr) tally_->add(backend_, found->output, arrived.targets);
    return true;
  }

  /// The rows of a piece of step i into the next slot.
  void load(std::span<const std::int64_t> rows, std::int64_t first, std::int64_t i, const Piece& piece) {
    const auto& share = state_.plan(first + i).batch.shares[static_cast<std::size_t>(rank_)];
    const std::int64_t at = i * state_.global_batch + share.rows.first + piece.rows.first;
    const auto mine = rows.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(piece.rows.count));
    if (observer_ != nullptr) observer_->rows_taken(rank_, done_ + i, mine);
    State::load(*state_.dataset, mine, batch_, static_cast<int>(loaded_++ % batch_.slots()));
    sent_rows_ = piece.rows.count;
  }

  void meet(const char* what) {
    const TraceRange range("wait");
    host_.barrier(what);
  }

  /// From the moments that the device has noted.
  StepMarks marks(bool had_rows) {
    const auto at = [this](int mark) { return backend_.marked_s(mark); };
    StepMarks m;
    double before = at(StepMark::kStart);
    if (had_rows) {
      m.input_s = at(StepMark::kInput) - before;
      m.forward_s = at(StepMark::kForward) - at(StepMark::kInput);
      m.backward_s = at(StepMark::kBackward) - at(StepMark::kForward);
      before = at(StepMark::kBackward);
    }
    const double met = at(StepMark::kMet), updated = at(StepMark::kUpdated);
    const double reduced = reduced_.marked_reduction ? at(StepMark::kReduced) : met;
    m.end_s = at(StepMark::kEnd);
    m.wait_s = met - before + (m.end_s - updated);
    m.reduction_s = reduced - met;
    m.optimizer_s = updated - reduced;
    return m;
  }

  State& state_;
  Communicator& host_;
  const int rank_;
  Replica& replica_;
  kernels::Backend& backend_;
  BatchBuffers& batch_;
  Communicator& seat_;  // of the devices' memory
  const LossNormaliser& normaliser_;
  const std::int64_t done_;  // steps before the first of these
  RowObserver* const observer_;
  Tally* const tally_;  // null where no metric counts
  const std::function<void(std::size_t)> gradients_ready_;
  std::vector<GradientRoot> roots_;
  const BatchPlan* plan_ = nullptr;
  std::int64_t step_ = 0, first_row_ = 0;  // of this step
  ReductionResult reduced_;
  double penalty_ = 0, data_wait_s_ = 0;
  bool marking_ = false;
  std::int64_t loaded_ = 0, used_ = 0;  // pieces
  int sent_rows_ = 0;                   // of the last piece that was loaded
  std::int64_t skipped_ = 0;            // of these steps
};

Pooled Session::train(std::span<const std::int64_t> order, std::int64_t first, std::int64_t count,
                      Timeline* timeline, std::vector<Pooled>* each_step) {
  check_steps(order, first, count, timeline);
  // What the ranks use is shared with them, so that one that is left behind finds it alive.
  struct Work {
    std::vector<std::int64_t> rows;  // of these steps, in order
    Pooled sums;
    std::vector<Pooled> each;
    std::vector<Tally> tallies;  // by rank, and so is
    std::vector<double> data_wait_s;
  };
  const auto work = std::make_shared<Work>();
  const auto begin = static_cast<std::size_t>(first * state_->global_batch);
  const auto wanted = static_cast<std::size_t>(count * state_->global_batch);
  const auto part = order.subspan(std::min(begin, order.size()), std::min(wanted, order.size() - begin));
  work->rows.assign(part.begin(), part.end());
  work->sums.metric_sums.resize(state_->objective.metrics.size());
  work->tallies = state_->tallies();
  work->data_wait_s.resize(state_->replicas.size());
  if (each_step != nullptr) work->each.assign(static_cast<std::size_t>(count), work->sums);
  State::run(strategy_, state_,
             [work, first, count, timeline, done = steps(), observer = observer_,
              normaliser = strategy_.parts().normaliser](State& state, Communicator& host) {
               const auto rank = static_cast<std::size_t>(host.rank());
               Steps steps(state, host, *normaliser, done, observer,
                           work->tallies.empty() ? nullptr : &work->tallies[rank]);
               for (std::int64_t i = 0; i < count; ++i) {
                 steps.run(work->rows, first, i, count, timeline);
                 if (!steps.applied() && state.on_nan == OnNan::kStop) {
                   steps.drain();
                   if (host.rank() == 0 && !work->each.empty())
                     work->each.resize(static_cast<std::size_t>(i));
                   break;
                 }
                 if (host.rank() != 0) continue;
                 steps.add_to(work->sums);
                 if (!work->each.empty()) steps.add_to(work->each[static_cast<std::size_t>(i)]);
               }
               work->data_wait_s[rank] = steps.data_wait_s();
             });
  work->sums.data_wait_s = *std::max_element(work->data_wait_s.begin(), work->data_wait_s.end());
  for (const Tally& tally : work->tallies) work->sums.add_counts(tally.counts());
  if (each_step != nullptr) *each_step = std::move(work->each);
  return std::move(work->sums);
}

}  // namespace mirrorscale::strategies
