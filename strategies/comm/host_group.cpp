#include "strategies/comm/host_group.h"

namespace mirrorscale::strategies {
namespace {

/// Hands every call on to a seat among the threads.
class HostSeat final : public Communicator {
 public:
  explicit HostSeat(Communicator& host) : host_(host) {}
  int rank() const override { return host_.rank(); }
  int size() const override { return host_.size(); }
  void barrier(const char* what) override { host_.barrier(what); }
  void all_reduce(std::span<float> values, ReduceOp op) override { host_.all_reduce(values, op); }
  void broadcast(std::span<float> values, int root) override { host_.broadcast(values, root); }
  void all_gather(std::span<const float> mine, std::span<float> all) override { host_.all_gather(mine, all); }
  void all_reduce_tree(std::span<const float* const> roots, const TreePlan& plan,
                       std::span<float> sum) override {
    host_.all_reduce_tree(roots, plan, sum);
  }
  void reduce_scatter(std::span<const float> values, std::span<float> part) override {
    host_.reduce_scatter(values, part);
  }
  void start_all_reduce(std::span<float> values) override { host_.start_all_reduce(values); }
  void finish_all_reduces() override { host_.finish_all_reduces(); }

 private:
  Communicator& host_;
};

class HostGroup final : public DeviceGroup {
 public:
  std::string name() const override { return "threads"; }
  std::unique_ptr<Communicator> join(kernels::Backend&, Communicator& host) override {
    return std::make_unique<HostSeat>(host);
  }
  // A rank that fails breaks the threads' own meeting, and that is all there is to wait at.
  void abort(const std::string&) noexcept override {}
  std::shared_ptr<void> watch(int, const char*) override { return nullptr; }
  void check(int) override {}
};

}  // namespace

std::unique_ptr<DeviceGroup> make_host_group() {
  return std::make_unique<HostGroup>();
}

}  // namespace mirrorscale::strategies
