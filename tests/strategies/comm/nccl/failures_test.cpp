#include "kernels/cuda/queue.h"
#include "strategies/comm/failure.h"
#include "strategies/comm/nccl/group.h"
#include "tests/emulated_cuda/faults.h"
#include "tests/strategies/comm/nccl/support.h"
#include "tests/strategies/support/expect_throw.h"

#include <array>
#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>

// No wait of a rank outlives its limit, and who is to blame is named.
namespace mirrorscale::strategies {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Numbers = std::vector<float>;
using emulated_cuda::Fault;

class Failures : public ::testing::Test {
 protected:
  void TearDown() override { emulated_cuda::reset(); }
};

double seconds_of(const std::function<void()>& act) {
  const auto start = std::chrono::steady_clock::now();
  act();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// An all-reduce of 16 floats, and its result on the host.
Numbers reduced(DeviceSeat& seat) {
  OnDevice values(seat.backend, Numbers(16, 1.0F));
  seat.devices.all_reduce(values.span(), ReduceOp::kSum);
  return values.values(seat, "the sums");
}

TEST_F(Failures, ARankThatDoesNotJoinIsNamed) {
  DeviceTeam team(3, {.limit = 300ms, .pin = false});
  const auto group = make_device_group("cuda", 3, {.limit = 300ms});
  EXPECT_EQ(group->name(), "nccl");
  expect_throw<GroupBroken>(
      [&] {
        team.run([&](Communicator& host) {
          if (host.rank() == 1) return;
          const auto backend = make_device(host.rank());
          group->join(*backend, host);
        });
      },
      {"rank 1 did not arrive at 'NCCL: all ranks join' within 300 ms"});
}

TEST_F(Failures, ARankThatStopsBeforeNcclMeetsFreesTheOthersAfterTheLimit) {
  DeviceTeam team(3, {.limit = 20s, .pin = false});
  const auto group = make_device_group("cuda", 3, {.limit = 300ms});
  const double took_s = seconds_of([&] {
    expect_throw<GroupBroken>(
        [&] {
          team.run([&](Communicator& host) {
            if (host.rank() == 1) return host.barrier("NCCL: all ranks join");
            const auto backend = make_device(host.rank());
            group->join(*backend, host);
          });
        },
        {"rank 1 did not come, in this process, to join NCCL within 300 ms"});
  });
  EXPECT_LT(took_s, 10);
}

TEST_F(Failures, ARankThatCannotJoinFreesTheOthers) {
  DeviceTeam team(2, {.limit = 20s, .pin = false});
  const auto group = make_device_group("cuda", 3, {.limit = 20s});
  expect_throw<std::invalid_argument>(
      [&] {
        team.run([&](Communicator& host) {
          const auto backend = make_device(host.rank());
          group->join(*backend, host);
        });
      },
      {"the group is for 3 ranks", "seats are 2"});
}

TEST_F(Failures, ARankThatDoesNotCallIsNamed) {
  std::atomic<int> freed{0};
  const double took_s = seconds_of([&] {
    expect_throw<GroupBroken>(
        [&] {
          run_on_devices(4, {.limit = 400ms}, [&](DeviceSeat& seat) {
            reduced(seat);
            if (seat.rank == 2) return;
            try {
              reduced(seat);
            } catch (const GroupBroken&) {
              ++freed;
              EXPECT_THROW(reduced(seat), GroupBroken) << "the group stays broken";
              EXPECT_THROW(seat.devices.broadcast({}, 0), GroupBroken);
              EXPECT_THROW(seat.devices.finish_all_reduces(), GroupBroken);
              throw;
            }
          });
        },
        {"waited at 'the sums' in vain",
         "rank 2 did not call all_reduce of 16 floats (collective 2) within 400 ms"});
  });
  EXPECT_EQ(freed, 3);
  EXPECT_LT(took_s, 10);
}

TEST_F(Failures, ARankThatThrowsFreesTheOthersAtOnce) {
  std::atomic<int> freed{0};
  const double took_s = seconds_of([&] {
    expect_throw<std::runtime_error>(
        [&] {
          run_on_devices(4, {.limit = 60s}, [&](DeviceSeat& seat) {
            seat.host.barrier("all have joined");
            if (seat.rank == 3) throw std::runtime_error("no more paper");
            try {
              reduced(seat);
            } catch (const GroupBroken& e) {
              EXPECT_NE(std::string(e.what()).find("rank 3 failed"), std::string::npos) << e.what();
              ++freed;
              throw;
            }
          });
        },
        {"rank 3", "no more paper"});
  });
  EXPECT_EQ(freed, 3);
  EXPECT_LT(took_s, 20);
}

TEST_F(Failures, AnAbortFromOutsideFreesAll) {
  const std::shared_ptr<DeviceGroup> group = make_device_group("cuda", 2, {.limit = 60s});
  DeviceTeam team(2, {.limit = 60s, .pin = false});
  std::atomic<bool> joined{false};
  std::thread outside([&] {
    joined.wait(false);
    group->abort("the user went home");
    group->abort("a second reason, which comes too late");
  });
  expect_throw<GroupBroken>(
      [&] {
        team.run([&](Communicator& host) {
          const auto backend = make_device(host.rank());
          const auto devices = group->join(*backend, host);
          DeviceSeat seat{host.rank(), host.size(), *backend, *devices, host, *group};
          if (seat.rank == 0) reduced(seat);
          joined.store(true);
          joined.notify_all();
          while (true) {
            group->check(host.rank());
            std::this_thread::sleep_for(1ms);
          }
        });
      },
      {"the user went home"});
  outside.join();
}

TEST_F(Failures, AnErrorOfNcclIsToldWithItsRankLongBeforeTheLimit) {
  const double took_s = seconds_of([&] {
    expect_throw<GroupBroken>(
        [&] {
          run_on_devices(3, {.limit = 60s}, [&](DeviceSeat& seat) {
            if (seat.rank == 0) emulated_cuda::inject(Fault::kCollectiveFails, 1, 2);
            seat.host.barrier("injected");
            for (int i = 0; i < 4; ++i) reduced(seat);
          });
        },
        {"NCCL of rank 1", "code 6"});
  });
  EXPECT_LT(took_s, 20);
}

/// Victims of one collective have not begun the next one that they have called, and are not to blame for
/// that.
TEST_F(Failures, ADeviceThatTakesNoPartIsNamedWhateverIsCalledAfter) {
  for (const std::uint64_t nth : {1, 2}) {  // the exchange of slices, the gathering
    expect_throw<GroupBroken>(
        [&] {
          run_on_devices(4, {.limit = 500ms}, [&](DeviceSeat& seat) {
            if (seat.rank == 0) emulated_cuda::inject(Fault::kRankNeverJoins, 2, nth);
            OnDevice root(seat.backend, Numbers(256, 1.0F)), sum(seat.backend, Numbers(256));
            seat.host.barrier("injected");
            const float* const roots[] = {root.span().data()};
            seat.devices.all_reduce_tree(roots, {{1, 1, 1, 1}, {{0, 1}, {2, 3}, {4, 5}}}, sum.span());
            sum.values(seat);
          });
        },
        {"the device of rank 2 is done with its part of collective", "ranks 0, 1, 3 waits"});
    emulated_cuda::reset();
  }
}

TEST_F(Failures, ADeviceThatTakesNoPartIsNamed) {
  expect_throw<GroupBroken>(
      [&] {
        run_on_devices(3, {.limit = 500ms}, [&](DeviceSeat& seat) {
          if (seat.rank == 0) emulated_cuda::inject(Fault::kRankNeverJoins, 1, 2);
          seat.host.barrier("injected");
          for (int i = 0; i < 2; ++i) reduced(seat);
        });
      },
      {"every rank of this process has called the same collectives", "within 500 ms",
       "the device of rank 1 is done with its part of collective 2, while that of ranks 0, 2 waits"});
}

TEST_F(Failures, ADeviceThatNeverComesToTheCollectiveIsNamed) {
  std::atomic<bool> go_on{false};
  expect_throw<GroupBroken>(
      [&] {
        run_on_devices(3, {.limit = 500ms}, [&](DeviceSeat& seat) {
          OnDevice values(seat.backend, Numbers(16, 1.0F));
          if (seat.rank == 1) {  // a kernel that takes very long
            const auto wait = [](void* flag) { static_cast<std::atomic<bool>*>(flag)->wait(false); };
            ASSERT_EQ(cudaLaunchHostFunc(kernels::cuda::queue_of(seat.backend).stream, wait, &go_on),
                      cudaSuccess);
          }
          try {
            seat.devices.all_reduce(values.span(), ReduceOp::kSum);
            values.values(seat);
          } catch (const GroupBroken&) {
            go_on.store(true);
            go_on.notify_all();
            throw;
          }
        });
      },
      {"within 500 ms: the device of rank 1 has not come to collective 1"});
}

TEST_F(Failures, RanksThatCallDifferentCollectivesAreTold) {
  expect_throw<std::invalid_argument>(
      [&] {
        run_on_devices(2, {.limit = 20s}, [&](DeviceSeat& seat) {
          OnDevice values(seat.backend, Numbers(16));
          if (seat.rank == 0) seat.devices.all_reduce(values.span(), ReduceOp::kSum);
          if (seat.rank == 1) seat.devices.broadcast(values.span(), 0);
          values.values(seat);
        });
      },
      {"all_reduce of 16 floats", "broadcast of 16 floats", "as collective 1"});
}

TEST_F(Failures, NoMemoryForSlicesFreesTheOthers) {
  EXPECT_THROW(run_on_devices(2, {.limit = 20s},
                              [&](DeviceSeat& seat) {
                                OnDevice root(seat.backend, Numbers(64)), sum(seat.backend, Numbers(64));
                                seat.host.barrier("memory made");
                                if (seat.rank == 1) emulated_cuda::inject(Fault::kMallocFails, 1, 1);
                                const float* const roots[] = {root.span().data()};
                                seat.devices.all_reduce_tree(roots, {{1, 1}, {{0, 1}}}, sum.span());
                                sum.values(seat);
                              }),
               std::runtime_error);
}

TEST_F(Failures, CopiesNameTheRankThatDoesNotCall) {
  for (const auto ops : {CrossDeviceOps::kReductionToOneDevice, CrossDeviceOps::kHierarchicalCopy}) {
    expect_throw<GroupBroken>(
        [&] {
          run_on_devices(3, {.ops = ops, .limit = 300ms}, [&](DeviceSeat& seat) {
            if (seat.rank != 2) reduced(seat);
          });
        },
        {"rank 2 did not arrive at 'all_reduce' within 300 ms"});
  }
}

TEST_F(Failures, CopiesRefuseToGoOnAfterAnAbort) {
  for (const auto ops : {CrossDeviceOps::kReductionToOneDevice, CrossDeviceOps::kHierarchicalCopy}) {
    run_on_devices(2, {.ops = ops, .limit = 20s}, [&](DeviceSeat& seat) {
      EXPECT_EQ(seat.group.name(),
                ops == CrossDeviceOps::kHierarchicalCopy ? "hierarchical_copy" : "reduction_to_one_device");
      EXPECT_EQ(reduced(seat), Numbers(16, 2.0F));
      seat.host.barrier("both have their sums");
      seat.group.abort("enough");
      seat.group.abort("more than enough");
      expect_throw<GroupBroken>([&] { seat.devices.broadcast({}, 0); }, {"enough"});
      expect_throw<GroupBroken>([&] { seat.group.check(seat.rank); }, {"works in vain: enough"});
    });
  }
}

TEST_F(Failures, WithoutPeerAccessCopiesGiveTheSame) {
  emulated_cuda::set_peer_access_possible(false);
  for (const auto ops : {CrossDeviceOps::kReductionToOneDevice, CrossDeviceOps::kHierarchicalCopy}) {
    run_on_devices(3, {.ops = ops, .limit = 20s},
                   [&](DeviceSeat& seat) { EXPECT_EQ(reduced(seat), Numbers(16, 3.0F)); });
  }
  emulated_cuda::set_peer_access_possible(true);
}

TEST_F(Failures, NothingIsLeftBehind) {
  const auto before = emulated_cuda::live();
  EXPECT_THROW(run_on_devices(3, {.limit = 200ms},
                              [&](DeviceSeat& seat) {
                                if (seat.rank != 1) reduced(seat);
                              }),
               GroupBroken);
  run_on_devices(3, {.limit = 20s}, [&](DeviceSeat& seat) { reduced(seat); });
  const auto after = emulated_cuda::live();
  EXPECT_EQ(after.communicators, before.communicators);
  EXPECT_EQ(after.streams, before.streams);
  EXPECT_EQ(after.events, before.events);
  EXPECT_EQ(after.device_bytes, before.device_bytes);
}

TEST_F(Failures, AGroupOfRanksThatGotTheIdByHand) {
  // As processes would: a group object for each rank, and nothing in common but the id and the host's seats.
  const NcclId id = make_nccl_id();
  DeviceTeam team(3, {.limit = 20s, .pin = false});
  team.run([&](Communicator& host) {
    const auto group = make_nccl_group(id, 3, 20s);
    const auto backend = make_device(host.rank());
    const auto devices = group->join(*backend, host);
    DeviceSeat seat{host.rank(), host.size(), *backend, *devices, host, *group};
    EXPECT_EQ(reduced(seat), Numbers(16, 3.0F));
    host.barrier("done");
  });
}

}  // namespace
}  // namespace mirrorscale::strategies
