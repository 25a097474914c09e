#include "strategies/comm/failure.h"
#include "strategies/input/shard_tree.h"
#include "tests/strategies/comm/nccl/support.h"
#include "tests/strategies/support/expect_throw.h"

#include <gtest/gtest.h>
#include <numeric>
#include <tuple>

// What device groups compute, against the threads' communicator on the same values.
namespace mirrorscale::strategies {
namespace {

using namespace testing;
using Numbers = std::vector<float>;

struct Ways {
  CrossDeviceOps ops;
  int ranks;
  bool any_order() const { return ops == CrossDeviceOps::kNccl; }  // of all_reduce's sums
};
const char* name_of(CrossDeviceOps ops) {
  if (ops == CrossDeviceOps::kNccl) return "Nccl";
  return ops == CrossDeviceOps::kHierarchicalCopy ? "HierarchicalCopy" : "ReductionToOneDevice";
}

class Collectives : public ::testing::TestWithParam<std::tuple<CrossDeviceOps, int>> {
 protected:
  void SetUp() override {
    if (devices_there() < ways().ranks) GTEST_SKIP() << "needs " << ways().ranks << " CUDA devices";
  }
  Ways ways() const { return {std::get<0>(GetParam()), std::get<1>(GetParam())}; }
  void run(const std::function<void(DeviceSeat&)>& body) const {
    run_on_devices(ways().ranks, {.ops = ways().ops, .limit = std::chrono::seconds(60)}, body);
  }
};

TEST_P(Collectives, AllReduceSumsInPlace) {
  run([&](DeviceSeat& seat) {
    for (const std::size_t count : kLengths) {
      Numbers expected =
          ways().any_order() ? whole_values(seat.rank, count) : uneven_values(seat.rank, count);
      OnDevice values(seat.backend, expected);
      seat.host.all_reduce(expected, ReduceOp::kSum);
      seat.devices.all_reduce(values.span(), ReduceOp::kSum);
      EXPECT_TRUE(same_bits(values.values(seat), expected)) << count;
    }
  });
}

TEST_P(Collectives, AllReduceHasTheSameBitsOnEveryRank) {
  run([&](DeviceSeat& seat) {
    for (const ReduceOp op : {ReduceOp::kSum, ReduceOp::kMean}) {
      OnDevice values(seat.backend, uneven_values(seat.rank, 1000));
      seat.devices.all_reduce(values.span(), op);
      const Numbers mine = values.values(seat);
      Numbers all(mine.size() * static_cast<std::size_t>(seat.size));
      seat.host.all_gather(mine, all);
      EXPECT_TRUE(same_bits(std::span<const float>(all).first(mine.size()), mine));
      Numbers expected = uneven_values(seat.rank, 1000);
      seat.host.all_reduce(expected, op);
      for (std::size_t i = 0; i < mine.size(); ++i) EXPECT_NEAR(mine[i], expected[i], 0.02) << i;
    }
  });
}

TEST_P(Collectives, AllReduceToTheMean) {
  run([&](DeviceSeat& seat) {
    for (const std::size_t count : kLengths) {
      Numbers expected =
          ways().any_order() ? whole_values(seat.rank, count) : uneven_values(seat.rank, count);
      OnDevice values(seat.backend, expected);
      seat.host.all_reduce(expected, ReduceOp::kMean);
      seat.devices.all_reduce(values.span(), ReduceOp::kMean);
      const Numbers mean = values.values(seat);
      if (ways().any_order() && seat.size == 3) {  // 1 / 3 is rounded
        for (std::size_t i = 0; i < count; ++i) EXPECT_NEAR(mean[i], expected[i], 1e-5) << i;
      } else {
        EXPECT_TRUE(same_bits(mean, expected)) << count;
      }
    }
  });
}

TEST_P(Collectives, ComeAfterAndBeforeTheOpsOfTheBackend) {
  run([&](DeviceSeat& seat) {
    const auto factor = static_cast<float>(4 * seat.size);
    const std::size_t count = 64;
    OnDevice values(seat.backend, Numbers(count, 1.0F)), result(seat.backend, Numbers(count, 0.0F));
    for (int i = 0; i < 20; ++i) {
      float* v = values.span().data();
      seat.backend.add(count, v, v, v);
      seat.devices.all_reduce(values.span(), ReduceOp::kSum);
      seat.backend.add(count, v, v, result.span().data());
      seat.backend.clear(v, count);
      seat.devices.broadcast(values.span(), i % seat.size);
      seat.backend.add(count, v, result.span().data(), v);
      EXPECT_EQ(result.values(seat), Numbers(count, factor)) << i;
      seat.backend.clear(v, count);
      seat.backend.upload(Numbers(count, 1.0F).data(), count, v);
    }
  });
}

TEST_P(Collectives, SumsStartedBesideOtherOpsAreThereAfterTheFinish) {
  run([&](DeviceSeat& seat) {
    const std::size_t count = 160, buckets = 5;
    Numbers expected = whole_values(seat.rank, count);
    OnDevice values(seat.backend, expected), other(seat.backend, whole_values(seat.rank, count));
    seat.host.all_reduce(expected, ReduceOp::kSum);
    for (Numbers::value_type& v : expected) v *= 2;
    for (std::size_t b = buckets; b-- > 0;) {
      const auto bucket = values.span().subspan(b * count / buckets, count / buckets);
      seat.backend.add(bucket.size(), bucket.data(), bucket.data(), bucket.data());
      seat.devices.start_all_reduce(bucket);
      seat.backend.add(count, other.span().data(), other.span().data(), other.span().data());
    }
    seat.devices.finish_all_reduces();
    seat.backend.copy(values.span().data(), count, other.span().data());
    EXPECT_TRUE(same_bits(other.values(seat), expected));
    seat.devices.finish_all_reduces();  // with nothing started
  });
}

TEST_P(Collectives, BroadcastFromEveryRoot) {
  run([&](DeviceSeat& seat) {
    for (int root = 0; root < seat.size; ++root) {
      for (const std::size_t count : kLengths) {
        OnDevice values(seat.backend, uneven_values(seat.rank, count));
        seat.devices.broadcast(values.span(), root);
        EXPECT_TRUE(same_bits(values.values(seat), uneven_values(root, count))) << root << ' ' << count;
      }
    }
  });
}

TEST_P(Collectives, AllGatherOfEqualAndUnequalLengths) {
  run([&](DeviceSeat& seat) {
    const auto check = [&](const std::function<std::size_t(int)>& length) {
      std::size_t total = 0;
      for (int r = 0; r < seat.size; ++r) total += length(r);
      const Numbers mine = uneven_values(seat.rank, length(seat.rank));
      Numbers expected(total);
      seat.host.all_gather(mine, expected);
      OnDevice part(seat.backend, mine), all(seat.backend, Numbers(total, -1.0F));
      seat.devices.all_gather(part.span(), all.span());
      EXPECT_TRUE(same_bits(all.values(seat), expected)) << total;
      EXPECT_TRUE(same_bits(part.values(seat), mine));
    };
    for (const std::size_t count : kLengths) check([&](int) { return count; });
    check([](int r) { return static_cast<std::size_t>(r * 17); });
    check([](int r) { return static_cast<std::size_t>(r == 1 ? 0 : 5); });
    check([&](int r) { return static_cast<std::size_t>(r == seat.size - 1 ? 31 : 0); });
  });
}

TEST_P(Collectives, ReduceScatterHasTheBitsOfTheTree) {
  run([&](DeviceSeat& seat) {
    for (const std::size_t part : kLengths) {
      const Numbers mine = uneven_values(seat.rank, part * static_cast<std::size_t>(seat.size));
      Numbers expected(part);
      seat.host.reduce_scatter(mine, expected);
      OnDevice values(seat.backend, mine), result(seat.backend, Numbers(part, -1.0F));
      seat.devices.reduce_scatter(values.span(), result.span());
      EXPECT_TRUE(same_bits(result.values(seat), expected)) << part;
      EXPECT_TRUE(same_bits(values.values(seat), mine));
    }
  });
}

/// The plan that a training batch of `rows` rows has.
TreePlan plan_for(int rows, int full_batch, int ranks) {
  const BatchPlan batch = plan_batch(rows, full_batch, ranks);
  TreePlan plan;
  for (const auto& share : batch.shares) plan.roots.push_back(static_cast<int>(share.roots.size()));
  for (const Addition& a : batch.additions) plan.additions.push_back({a.left, a.right});
  return plan;
}

void expect_tree_sum(DeviceSeat& seat, const TreePlan& plan, std::size_t count) {
  const auto roots = static_cast<std::size_t>(plan.roots[static_cast<std::size_t>(seat.rank)]);
  std::vector<Numbers> on_host;
  std::vector<OnDevice> on_device;
  std::vector<const float*> host_roots, device_roots;
  for (std::size_t i = 0; i < roots; ++i) {
    on_host.push_back(uneven_values(seat.rank, count, static_cast<int>(i)));
    on_device.emplace_back(seat.backend, on_host.back());
  }
  for (std::size_t i = 0; i < roots; ++i) {
    host_roots.push_back(on_host[i].data());
    device_roots.push_back(on_device[i].span().data());
  }
  Numbers expected(count);
  seat.host.all_reduce_tree(host_roots, plan, expected);
  OnDevice sum(seat.backend, Numbers(count, -1.0F));
  seat.devices.all_reduce_tree(device_roots, plan, sum.span());
  EXPECT_TRUE(same_bits(sum.values(seat), expected)) << count;
  for (std::size_t i = 0; i < roots; ++i) EXPECT_TRUE(same_bits(on_device[i].values(seat), on_host[i]));
}

TEST_P(Collectives, TreeSumsHaveTheBitsOfTheThreads) {
  run([&](DeviceSeat& seat) {
    for (const auto& [rows, full] : {std::pair{1, 1}, {3, 8}, {7, 7}, {32, 32}, {45, 64}, {100, 128}}) {
      for (const std::size_t count : kLengths) {
        SCOPED_TRACE(std::to_string(rows) + " rows");
        expect_tree_sum(seat, plan_for(rows, full, seat.size), count);
      }
    }
  });
}

TEST_P(Collectives, TreeSumsGrowAndShrinkFromCallToCall) {
  run([&](DeviceSeat& seat) {
    for (const std::size_t count : {1000U, 16U, 5000U, 64U, 5000U}) {
      expect_tree_sum(seat, plan_for(64, 64, seat.size), count);
    }
  });
}

TEST_P(Collectives, OneGroupAfterAnother) {
  for (int i = 0; i < 3; ++i) {
    run([&](DeviceSeat& seat) {
      OnDevice values(seat.backend, {1, 2});
      seat.devices.all_reduce(values.span(), ReduceOp::kSum);
      seat.devices.barrier("between");
      EXPECT_EQ(values.values(seat),
                (Numbers{1.0F * static_cast<float>(seat.size), 2.0F * static_cast<float>(seat.size)}));
    });
  }
}

TEST_P(Collectives, RefuseLengthsThatDiffer) {
  if (ways().ranks == 1) return;
  // The rank that finds the difference, or every one, is refused; the others are freed.
  const auto refused = [&](const char* op, const std::function<void(DeviceSeat&)>& call) {
    expect_throw<std::invalid_argument>([&] { run(call); }, {op, "rank"});
  };
  const auto last = [](DeviceSeat& seat) { return seat.rank == seat.size - 1; };
  refused("[all_reduce]", [&](DeviceSeat& seat) {
    OnDevice values(seat.backend, Numbers(last(seat) ? 17 : 16));
    seat.devices.all_reduce(values.span(), ReduceOp::kSum);
    values.values(seat);
  });
  refused("[broadcast]", [&](DeviceSeat& seat) {
    OnDevice values(seat.backend, Numbers(last(seat) ? 17 : 16));
    seat.devices.broadcast(values.span(), 0);
    values.values(seat);
  });
  refused("[all_gather]", [&](DeviceSeat& seat) {
    OnDevice mine(seat.backend, Numbers(3));
    OnDevice all(seat.backend, Numbers(static_cast<std::size_t>(3 * seat.size + last(seat))));
    seat.devices.all_gather(mine.span(), all.span());
  });
  refused("[all_reduce_tree]", [&](DeviceSeat& seat) {
    OnDevice root(seat.backend, Numbers(32)), sum(seat.backend, Numbers(last(seat) ? 32 : 16));
    const float* const roots[] = {root.span().data()};
    seat.devices.all_reduce_tree(roots, plan_for(seat.size, seat.size, seat.size), sum.span());
    sum.values(seat);
  });
  refused("[reduce_scatter]", [&](DeviceSeat& seat) {
    const std::size_t part = last(seat) ? 3 : 4;
    OnDevice values(seat.backend, Numbers(part * static_cast<std::size_t>(seat.size)));
    OnDevice result(seat.backend, Numbers(part));
    seat.devices.reduce_scatter(values.span(), result.span());
    result.values(seat);
  });
}

TEST_P(Collectives, RefuseWhatNoRankCanDo) {
  const auto refused = [&](std::initializer_list<const char*> parts,
                           const std::function<void(DeviceSeat&)>& call) {
    expect_throw<std::invalid_argument>([&] { run(call); }, parts);
  };
  refused({"[broadcast]", "root is -1"}, [](DeviceSeat& seat) { seat.devices.broadcast({}, -1); });
  refused({"[broadcast]", "root is"}, [](DeviceSeat& seat) { seat.devices.broadcast({}, seat.size); });
  refused({"[reduce_scatter]", "has 2 values", "parts of 3"}, [](DeviceSeat& seat) {
    OnDevice values(seat.backend, Numbers(2)), part(seat.backend, Numbers(3));
    seat.devices.reduce_scatter(values.span(), part.span());
  });
  const auto tree = [](const TreePlan& plan) {
    return [plan](DeviceSeat& seat) {
      OnDevice sum(seat.backend, Numbers(16));
      const std::vector<const float*> roots(seat.rank == 0 ? 2 : 0, sum.span().data());
      seat.devices.all_reduce_tree(roots, plan, sum.span());
    };
  };
  std::vector<int> all_on_0(static_cast<std::size_t>(ways().ranks), 0);
  all_on_0[0] = 1;
  refused({"[all_reduce_tree]", "brings 2 roots"}, tree({all_on_0, {}}));
  all_on_0[0] = 2;
  refused({"[all_reduce_tree]", "operand 2"}, tree({all_on_0, {{0, 2}}}));
  refused({"[all_reduce_tree]", "operand -1"}, tree({all_on_0, {{-1, 1}}}));
  refused({"[all_reduce_tree]", "operand 0"}, tree({all_on_0, {{0, 0}}}));
  refused({"[all_reduce_tree]", "no rank brings a root"}, [](DeviceSeat& seat) {
    OnDevice sum(seat.backend, Numbers(16));
    seat.devices.all_reduce_tree({}, {std::vector<int>(static_cast<std::size_t>(seat.size), 0), {}},
                                 sum.span());
  });
}

INSTANTIATE_TEST_SUITE_P(Devices, Collectives,
                         ::testing::Combine(::testing::Values(CrossDeviceOps::kNccl,
                                                              CrossDeviceOps::kReductionToOneDevice,
                                                              CrossDeviceOps::kHierarchicalCopy),
                                            ::testing::Values(1, 2, 3, 4, 8)),
                         [](const auto& test) {
                           return name_of(std::get<0>(test.param)) + std::to_string(std::get<1>(test.param));
                         });

}  // namespace
}  // namespace mirrorscale::strategies
