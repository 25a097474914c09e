#include "strategies/comm/nccl/group.h"

#include "strategies/comm/nccl/communicator.h"

#include <bit>

namespace mirrorscale::strategies {
namespace {

class NcclGroup final : public DeviceGroup {
 public:
  NcclGroup(const NcclId& id, int ranks, std::chrono::milliseconds limit)
      : links_(std::make_shared<nccl::Links>(id, ranks, limit)) {}
  std::string name() const override { return "nccl"; }
  std::unique_ptr<Communicator> join(kernels::Backend& backend, Communicator& host) override {
    return std::make_unique<nccl::NcclCommunicator>(links_, backend, host);
  }
  void abort(const std::string& why) noexcept override { links_->break_up(why); }
  std::shared_ptr<void> watch(int rank, const char* what) override {
    links_->watchdog().begin(rank, what);
    return {links_.get(), [links = links_, rank](void*) { links->watchdog().end(rank); }};
  }
  void check(int rank) override { links_->check(rank); }

 private:
  std::shared_ptr<nccl::Links> links_;
};

}  // namespace

NcclId make_nccl_id() {
  ncclUniqueId id{};
  nccl::check(ncclGetUniqueId(&id), "make an id for a communicator");
  return std::bit_cast<NcclId>(id);
}

std::unique_ptr<DeviceGroup> make_nccl_group(const NcclId& id, int ranks, std::chrono::milliseconds limit) {
  return std::make_unique<NcclGroup>(id, ranks, limit);
}

std::string nccl_version() {
  int version = 0;
  nccl::check(ncclGetVersion(&version), "read NCCL's version");  // 22809 is 2.28.9
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

}  // namespace mirrorscale::strategies
