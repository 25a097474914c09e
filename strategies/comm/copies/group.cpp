#include "strategies/comm/copies/group.h"

#include "strategies/comm/copies/communicator.h"

namespace mirrorscale::strategies {
namespace {

class CopyGroup final : public DeviceGroup {
 public:
  CopyGroup(CrossDeviceOps ops, int ranks) : table_(std::make_shared<copies::Table>(ops, ranks)) {}
  std::string name() const override {
    return table_->ops == CrossDeviceOps::kHierarchicalCopy ? "hierarchical_copy" : "reduction_to_one_device";
  }
  std::unique_ptr<Communicator> join(kernels::Backend& backend, Communicator& host) override {
    return std::make_unique<copies::CopyCommunicator>(table_, backend, host);
  }
  // A waiting rank waits at a meeting of the host's, which a failing rank breaks; this is for the later
  // calls.
  void abort(const std::string& why) noexcept override {
    const std::lock_guard lock(table_->mutex);
    if (table_->aborted.load()) return;
    table_->why = why;
    table_->aborted.store(true);
  }
  std::shared_ptr<void> watch(int, const char*) override { return nullptr; }
  void check(int rank) override { table_->throw_if_aborted(rank); }

 private:
  std::shared_ptr<copies::Table> table_;
};

}  // namespace

std::unique_ptr<DeviceGroup> make_copy_group(CrossDeviceOps ops, int ranks) {
  return std::make_unique<CopyGroup>(ops, ranks);
}

}  // namespace mirrorscale::strategies
