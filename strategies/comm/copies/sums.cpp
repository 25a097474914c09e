// The sums of a rank that copies: rounds of a schedule, each fetched and added on the backend's own queue.
#include "strategies/comm/copies/communicator.h"
#include "strategies/comm/copies/tree_plan.h"

#include <stdexcept>

namespace mirrorscale::strategies::copies {
namespace {

std::size_t whole_units(std::size_t count) {
  return (count + 15) / 16 * 16;  // backends add units of 16 floats
}

}  // namespace

void CopyCommunicator::all_reduce(std::span<float> values, ReduceOp op) {
  const Schedule schedule = schedule_of(table_->ops, tree_over_ranks(size()));
  const float* const root[] = {values.data()};
  reduce("all_reduce", schedule, root, values.size(), values);
  if (op == ReduceOp::kMean && rank_ == schedule.result().rank && !schedule.sums.empty()) {
    divide(place(schedule.result().place));
  }
  share(schedule);
}

void CopyCommunicator::all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                                       std::span<float> sum) {
  if (static_cast<int>(plan.roots.size()) != size() ||
      static_cast<int>(roots.size()) != plan.roots[static_cast<std::size_t>(rank_)]) {
    throw std::invalid_argument("[all_reduce_tree] rank " + std::to_string(rank_) + " brings " +
                                std::to_string(roots.size()) + " roots; the plan is for other numbers");
  }
  const Schedule schedule = schedule_of(table_->ops, plan);
  reduce("all_reduce_tree", schedule, roots, sum.size(), sum);
  share(schedule);
}

void CopyCommunicator::reduce_scatter(std::span<const float> values, std::span<float> part) {
  if (values.size() != part.size() * static_cast<std::size_t>(size())) {
    throw std::invalid_argument("[reduce_scatter] rank " + std::to_string(rank_) + " has " +
                                std::to_string(values.size()) + " values for parts of " +
                                std::to_string(part.size()) + "; " + std::to_string(size()) +
                                " parts must make up all of them");
  }
  const Schedule schedule = schedule_of(table_->ops, tree_over_ranks(size()));
  const float* const root[] = {values.data()};
  reduce("reduce_scatter", schedule, root, values.size(), part);
  meet("reduce-scatter: sums are made");
  const int home = schedule.result().rank;
  const float* from = find(schedule, static_cast<int>(schedule.operands.size()) - 1);
  fetch(home, from + static_cast<std::size_t>(rank_) * part.size(), part.size(), part.data());
  meet("reduce-scatter: everybody has read");
  for (int r = 0; rank_ == home && r < size(); ++r) wait_for(r);
}

/// Enqueues this rank's sums of what the ranks bring. The result is where schedule.result() says, for the
/// other ranks after one more meeting.
void CopyCommunicator::reduce(const char* op, const Schedule& schedule, std::span<const float* const> roots,
                              std::size_t count, std::span<float> result) {
  make_room(schedule.places[static_cast<std::size_t>(rank_)], count);
  show(roots, count, result, op);
  refuse_other_counts(op, &Entry::count);
  for (int round = 0; round < schedule.rounds; ++round) {
    if (round > 0) meet("copies: next round of sums");
    for (const Schedule::Sum& sum : schedule.sums) {
      if (sum.rank == rank_ && sum.round == round) add(schedule, sum);
    }
  }
}

void CopyCommunicator::add(const Schedule& schedule, const Schedule::Sum& sum) {
  const auto bring = [&](int operand, float* to) {
    fetch(schedule.operands[static_cast<std::size_t>(operand)].rank, find(schedule, operand), mine().count,
          to);
  };
  float* left = place(sum.left_place);
  float* right = place(sum.right_place);
  if (sum.fetch_left) bring(sum.left, left);
  if (sum.fetch_right) bring(sum.right, right);
  // Up to the end of the last unit, where anything may be: the places are whole units.
  if (mine().count > 0) backend_.add(whole_units(mine().count), left, right, left);
}

const float* CopyCommunicator::find(const Schedule& schedule, int operand) const {
  const auto index = static_cast<std::size_t>(operand);
  const Schedule::Operand& at = schedule.operands[index];
  if (at.place >= 0) return entry(at.rank).places + static_cast<std::size_t>(at.place) * stride_;
  std::size_t before = 0;  // roots of earlier ranks
  for (int r = 0; r < at.rank; ++r) before += entry(r).roots.size();
  return entry(at.rank).roots[index - before];
}

/// Every rank's result becomes the sum.
void CopyCommunicator::share(const Schedule& schedule) {
  const int home = schedule.result().rank;
  if (rank_ == home) {
    const float* sum = find(schedule, static_cast<int>(schedule.operands.size()) - 1);
    if (sum != mine().result) fetch(home, sum, mine().count, mine().result);
  }
  meet("copies: sums are made");
  spread(home);
}

void CopyCommunicator::make_room(int places, std::size_t count) {
  stride_ = whole_units(count);
  const std::size_t floats = static_cast<std::size_t>(places) * stride_;
  if (floats <= room_floats_) return;
  room_ = {};
  room_floats_ = 0;
  room_ = backend_.make_buffer(floats);
  room_floats_ = floats;
}

/// Over the host, for want of an op: the division has the bits that the threads' communicator has.
void CopyCommunicator::divide(float* values) {
  std::vector<float> on_host(mine().count);
  backend_.download(values, on_host.size(), on_host.data());
  for (float& v : on_host) v /= static_cast<float>(size());
  backend_.upload(on_host.data(), on_host.size(), values);
}

}  // namespace mirrorscale::strategies::copies
