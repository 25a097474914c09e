#include "strategies/comm/device_group.h"

#include "strategies/comm/threads/device_team.h"
#include "tests/strategies/support/expect_throw.h"

#include <gtest/gtest.h>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace mirrorscale::strategies {
namespace {

using testing::expect_throw;

TEST(DeviceGroup, OpsHaveNames) {
  EXPECT_EQ(cross_device_ops_from("default"), CrossDeviceOps::kDefault);
  EXPECT_EQ(cross_device_ops_from("nccl"), CrossDeviceOps::kNccl);
  EXPECT_EQ(cross_device_ops_from("reduction_to_one_device"), CrossDeviceOps::kReductionToOneDevice);
  EXPECT_EQ(cross_device_ops_from("hierarchical_copy"), CrossDeviceOps::kHierarchicalCopy);
  expect_throw<std::invalid_argument>(
      [] { cross_device_ops_from("ring"); },
      {"'ring'", "default, nccl, reduction_to_one_device, hierarchical_copy"});
}

TEST(DeviceGroup, RefusesWhatDoesNotGoTogether) {
  expect_throw<std::invalid_argument>([] { make_device_group("cpu", 2, {.ops = CrossDeviceOps::kNccl}); },
                                      {"'nccl'", "cuda backend", "'cpu'"});
  expect_throw<std::invalid_argument>(
      [] { make_device_group("reference", 2, {.ops = CrossDeviceOps::kHierarchicalCopy}); },
      {"'hierarchical_copy'", "'reference'"});
  expect_throw<std::invalid_argument>([] { make_device_group("abacus", 2); },
                                      {"'abacus'", "cpu, reference, cuda"});
  expect_throw<std::invalid_argument>([] { make_device_group("cpu", 0); }, {"at least 1", "0"});
  EXPECT_THROW(make_device_group("cpu", 1, {.ops = static_cast<CrossDeviceOps>(9)}), std::logic_error);
}

TEST(DeviceGroup, OnTheHostThreadsDoEverything) {
  const auto group = make_device_group("cpu", 3);
  EXPECT_EQ(group->name(), "threads");
  DeviceTeam team(3);
  team.run([&](Communicator& host) {
    const auto backend = kernels::make_backend("cpu");
    const auto seat = group->join(*backend, host);
    EXPECT_EQ(seat->rank(), host.rank());
    EXPECT_EQ(seat->size(), 3);
    const auto mine = static_cast<float>(host.rank() + 1);
    std::vector<float> values(3, mine), part(1), all(3);
    seat->all_reduce(values, ReduceOp::kSum);
    EXPECT_EQ(values, std::vector<float>(3, 6));
    seat->start_all_reduce(values);
    seat->finish_all_reduces();
    EXPECT_EQ(values, std::vector<float>(3, 18));
    seat->reduce_scatter(values, part);
    EXPECT_EQ(part[0], 54);
    part[0] = mine;
    seat->all_gather(part, all);
    EXPECT_EQ(all, (std::vector<float>{1, 2, 3}));
    seat->broadcast(all, 1);
    const float* const roots[] = {all.data()};
    seat->all_reduce_tree(roots, {{1, 1, 1}, {{0, 1}, {3, 2}}}, values);
    EXPECT_EQ(values, (std::vector<float>{3, 6, 9}));
    seat->barrier("end");
    EXPECT_EQ(group->watch(host.rank(), "nothing"), nullptr);
    group->check(host.rank());
    group->abort("no matter");
    group->check(host.rank());
  });
}

}  // namespace
}  // namespace mirrorscale::strategies
