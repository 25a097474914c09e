#include "emulated_cuda/test_kernels.h"
#include "emulated_cuda/test_support.h"
#include <cuda_bf16.h>
#include <memory>
#include <nccl.h>
#include <thread>

namespace mirrorscale::conformance {
namespace {

/// One thread a device, each a rank with its own stream.
class Collectives : public testing::Test {
 protected:
  void SetUp() override {
    ranks_ = std::min(device_count(), 4);
    if (ranks_ == 0) GTEST_SKIP() << "needs a CUDA device";
  }
  template <class Body>
  void each_rank(Body body) {
    ncclUniqueId id;
    ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks_; ++rank)
      threads.emplace_back([&, rank] {
        ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
        ncclComm_t comm = nullptr;
        ASSERT_EQ(ncclCommInitRank(&comm, ranks_, id, rank), ncclSuccess);
        {
          TestStream stream;
          body(rank, comm, stream);
        }
        EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
      });
    for (auto& thread : threads) thread.join();
  }
  int ranks_ = 0;
};

constexpr std::size_t kCount = 1003;

TEST_F(Collectives, AllReduceInPlace) {
  each_rank([&](int rank, ncclComm_t comm, cudaStream_t stream) {
    TestBuffer<float> x(kCount);
    ASSERT_EQ(fill(x.get(), static_cast<float>(rank + 1), kCount, stream), cudaSuccess);
    for (int turn = 0; turn < 3; ++turn)
      ASSERT_EQ(
          ncclAllReduce(x.get(), x.get(), kCount, ncclFloat32, turn == 0 ? ncclSum : ncclMax, comm, stream),
          ncclSuccess);
    EXPECT_EQ(x.read(stream), std::vector<float>(kCount, static_cast<float>(ranks_ * (ranks_ + 1) / 2)));
  });
}

template <class T>
void reduce_all_ways(int rank, int ranks, ncclComm_t comm, cudaStream_t stream, ncclDataType_t type) {
  TestBuffer<T> x(std::vector<T>(10, static_cast<T>(static_cast<float>(rank + 1))), stream), y(10);
  const auto result = [&](ncclRedOp_t op) {
    EXPECT_EQ(ncclAllReduce(x.get(), y.get(), 10, type, op, comm, stream), ncclSuccess);
    return static_cast<double>(static_cast<float>(y.read(stream)[9]));
  };
  EXPECT_EQ(result(ncclSum), ranks * (ranks + 1) / 2);
  EXPECT_EQ(result(ncclMax), ranks);
  EXPECT_EQ(result(ncclMin), 1);
  double factorial = 1;
  for (int i = 2; i <= ranks; ++i) factorial *= i;
  EXPECT_EQ(result(ncclProd), factorial);
}

TEST_F(Collectives, AllTypesAndOperations) {
  each_rank([&](int rank, ncclComm_t comm, cudaStream_t stream) {
    reduce_all_ways<float>(rank, ranks_, comm, stream, ncclFloat32);
    reduce_all_ways<double>(rank, ranks_, comm, stream, ncclFloat64);
    reduce_all_ways<__half>(rank, ranks_, comm, stream, ncclFloat16);
    reduce_all_ways<__nv_bfloat16>(rank, ranks_, comm, stream, ncclBfloat16);
    reduce_all_ways<int>(rank, ranks_, comm, stream, ncclInt32);
    reduce_all_ways<long long>(rank, ranks_, comm, stream, ncclInt64);
    reduce_all_ways<unsigned char>(rank, ranks_, comm, stream, ncclUint8);
    TestBuffer<float> x(std::vector<float>(4, static_cast<float>(rank)), stream);
    ASSERT_EQ(ncclAllReduce(x.get(), x.get(), 4, ncclFloat32, ncclAvg, comm, stream), ncclSuccess);
    EXPECT_EQ(x.read(stream)[0], static_cast<float>(ranks_ - 1) / 2.0f);
  });
}

TEST_F(Collectives, ScatterAndGather) {
  each_rank([&](int rank, ncclComm_t comm, cudaStream_t stream) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    std::vector<float> values(ranks * 5);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i) + 100.0f * static_cast<float>(rank);
    TestBuffer<float> all(values, stream), part(5), back(values.size());
    ASSERT_EQ(ncclReduceScatter(all.get(), part.get(), 5, ncclFloat32, ncclSum, comm, stream), ncclSuccess);
    ASSERT_EQ(ncclAllGather(part.get(), back.get(), 5, ncclFloat32, comm, stream), ncclSuccess);
    const auto sums = back.read(stream);
    for (std::size_t i = 0; i < sums.size(); ++i)
      EXPECT_EQ(sums[i], static_cast<float>(ranks_) * static_cast<float>(i) +
                             50.0f * static_cast<float>(ranks_ * (ranks_ - 1)));
  });
}

TEST_F(Collectives, RootsGiveAndTake) {
  each_rank([&](int rank, ncclComm_t comm, cudaStream_t stream) {
    const int root = ranks_ - 1;
    TestBuffer<int> x(std::vector<int>(8, rank + 1), stream), y(std::vector<int>(8, -1), stream);
    ASSERT_EQ(ncclReduce(x.get(), y.get(), 8, ncclInt32, ncclSum, root, comm, stream), ncclSuccess);
    EXPECT_EQ(y.read(stream)[0], rank == root ? ranks_ * (ranks_ + 1) / 2 : -1);
    ASSERT_EQ(ncclBroadcast(x.get(), y.get(), 8, ncclInt32, root, comm, stream), ncclSuccess);
    EXPECT_EQ(y.read(stream), std::vector<int>(8, ranks_));
  });
}

TEST_F(Collectives, MessagesGoRound) {
  each_rank([&](int rank, ncclComm_t comm, cudaStream_t stream) {
    TestBuffer<int> x(std::vector<int>(8, rank), stream), y(8);
    ASSERT_EQ(ncclGroupStart(), ncclSuccess);
    ASSERT_EQ(ncclSend(x.get(), 8, ncclInt32, (rank + 1) % ranks_, comm, stream), ncclSuccess);
    ASSERT_EQ(ncclRecv(y.get(), 8, ncclInt32, (rank + ranks_ - 1) % ranks_, comm, stream), ncclSuccess);
    ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
    EXPECT_EQ(y.read(stream), std::vector<int>(8, (rank + ranks_ - 1) % ranks_));
  });
}

TEST_F(Collectives, RanksKnowThemselves) {
  each_rank([&](int rank, ncclComm_t comm, cudaStream_t) {
    int count = 0, user = -1, device = -1;
    EXPECT_EQ(ncclCommCount(comm, &count), ncclSuccess);
    EXPECT_EQ(ncclCommUserRank(comm, &user), ncclSuccess);
    EXPECT_EQ(ncclCommCuDevice(comm, &device), ncclSuccess);
    EXPECT_EQ(count, ranks_);
    EXPECT_EQ(user, rank);
    EXPECT_EQ(device, rank);
    ncclResult_t error = ncclInternalError;
    EXPECT_EQ(ncclCommGetAsyncError(comm, &error), ncclSuccess);
    EXPECT_EQ(error, ncclSuccess);
  });
}

TEST_F(Collectives, OneThreadDrivesAllDevicesInAGroup) {
  std::vector<ncclComm_t> comms(static_cast<std::size_t>(ranks_));
  ASSERT_EQ(ncclCommInitAll(comms.data(), ranks_, nullptr), ncclSuccess);
  std::vector<std::unique_ptr<TestStream>> streams;
  std::vector<std::unique_ptr<TestBuffer<float>>> buffers;
  for (int rank = 0; rank < ranks_; ++rank) {
    ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
    streams.push_back(std::make_unique<TestStream>());
    buffers.push_back(std::make_unique<TestBuffer<float>>(std::vector<float>(64, 1.0f), *streams.back()));
  }
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t rank = 0; rank < comms.size(); ++rank)
    ASSERT_EQ(ncclAllReduce(buffers[rank]->get(), buffers[rank]->get(), 64, ncclFloat32, ncclSum, comms[rank],
                            *streams[rank]),
              ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  for (std::size_t rank = 0; rank < comms.size(); ++rank) {
    ASSERT_EQ(cudaSetDevice(static_cast<int>(rank)), cudaSuccess);
    EXPECT_EQ(buffers[rank]->read(*streams[rank])[63], static_cast<float>(ranks_));
  }
  for (auto* comm : comms) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST_F(Collectives, AreCapturedInGraphs) {
  each_rank([&](int rank, ncclComm_t comm, cudaStream_t stream) {
    TestBuffer<float> x(std::vector<float>(64, static_cast<float>(rank + 1)), stream);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ASSERT_EQ(ncclAllReduce(x.get(), x.get(), 64, ncclFloat32, ncclMax, comm, stream), ncclSuccess);
    ASSERT_EQ(add_scaled(x.get(), x.get(), 1, 64, stream), cudaSuccess);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    for (int turn = 0; turn < 3; ++turn) ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(x.read(stream)[0], 8.0f * static_cast<float>(ranks_));
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  });
}

TEST_F(Collectives, ADeviceTwiceIsRefused) {
  const int twice[] = {0, 0};
  ncclComm_t comms[2] = {};
  EXPECT_EQ(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
}

}  // namespace
}  // namespace mirrorscale::conformance
