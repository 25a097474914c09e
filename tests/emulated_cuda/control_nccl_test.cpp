// Collectives that go wrong.
#include "emulated_cuda/faults.h"
#include "emulated_cuda/test_kernels.h"
#include "emulated_cuda/test_support.h"
#include <chrono>
#include <memory>
#include <nccl.h>
#include <string>
#include <thread>

namespace mirrorscale::conformance {
namespace {

namespace emulated = emulated_cuda;
constexpr std::size_t kRanks = 3;

class FaultyCollectives : public testing::Test {
 protected:
  void SetUp() override {
    emulated::reset();
    emulated::set_device_count(4);
    ASSERT_EQ(ncclCommInitAll(comms_, kRanks, nullptr), ncclSuccess);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      ASSERT_EQ(cudaSetDevice(static_cast<int>(rank)), cudaSuccess);
      streams_.push_back(std::make_unique<TestStream>());
      buffers_.push_back(std::make_unique<TestBuffer<float>>(std::vector<float>(8, 1.0f), *streams_.back()));
    }
  }
  void TearDown() override {
    for (ncclComm_t comm : comms_)
      if (comm) ncclCommAbort(comm);
    for (std::size_t rank = 0; rank < kRanks; ++rank) {
      cudaSetDevice(static_cast<int>(rank));
      cudaDeviceSynchronize();
      buffers_[rank].reset();
      streams_[rank].reset();
    }
    emulated::reset();
    EXPECT_EQ(emulated::live().communicators, 0u);
  }
  ncclResult_t reduce(std::size_t rank, std::size_t count = 8) {
    return ncclAllReduce(buffers_[rank]->get(), buffers_[rank]->get(), count, ncclFloat32, ncclSum,
                         comms_[rank], *streams_[rank]);
  }
  ncclResult_t error(std::size_t rank) {
    ncclResult_t result = ncclInternalError;
    EXPECT_EQ(ncclCommGetAsyncError(comms_[rank], &result), ncclSuccess);
    return result;
  }
  void abort(std::size_t rank) {
    EXPECT_EQ(ncclCommAbort(std::exchange(comms_[rank], nullptr)), ncclSuccess);
  }
  bool stays_busy(std::size_t rank) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return cudaStreamQuery(*streams_[rank]) == cudaErrorNotReady;
  }
  ncclComm_t comms_[kRanks] = {};
  std::vector<std::unique_ptr<TestStream>> streams_;
  std::vector<std::unique_ptr<TestBuffer<float>>> buffers_;
};

TEST_F(FaultyCollectives, RanksThatDisagreeAreTold) {
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t rank = 0; rank < kRanks; ++rank) ASSERT_EQ(reduce(rank, rank == 1 ? 7 : 8), ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    streams_[rank]->wait();
    EXPECT_EQ(error(rank), ncclInvalidUsage);
  }
}

TEST_F(FaultyCollectives, ARankThatNeverJoinsHoldsItsPeersUntilTheyAbort) {
  emulated::inject("join:1@1");
  for (std::size_t rank = 0; rank < kRanks; ++rank) ASSERT_EQ(reduce(rank), ncclSuccess);
  streams_[1]->wait();  // swallowed
  EXPECT_TRUE(stays_busy(0));
  EXPECT_TRUE(stays_busy(2));
  EXPECT_NE(emulated::hang_report().find("not there: rank 1"), std::string::npos) << emulated::hang_report();
  std::thread([this] { abort(0); }).join();  // from any thread
  streams_[0]->wait();
  EXPECT_TRUE(stays_busy(2));  // an abort is local
  EXPECT_EQ(error(2), ncclRemoteError);
  abort(2);
  streams_[2]->wait();
}

TEST_F(FaultyCollectives, ALinkErrorIsSeenAsynchronously) {
  emulated::inject("nccl:2@1");
  for (int turn = 0; turn < 2; ++turn)
    for (std::size_t rank = 0; rank < kRanks; ++rank) ASSERT_EQ(reduce(rank), ncclSuccess);
  for (int turn = 0; turn < 5000 && error(1) == ncclSuccess; ++turn)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(error(1), ncclRemoteError);
  EXPECT_EQ(error(0), ncclSuccess);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    abort(rank);
    streams_[rank]->wait();
  }
}

TEST_F(FaultyCollectives, ABrokenDeviceHoldsItsPeers) {
  emulated::inject("kernel:1@2");
  ASSERT_EQ(cudaSetDevice(2), cudaSuccess);
  ASSERT_EQ(fill(buffers_[2]->get(), 1, 8, *streams_[2]), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(*streams_[2]), cudaErrorIllegalAddress);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    EXPECT_EQ(reduce(rank), rank == 2 ? ncclUnhandledCudaError : ncclSuccess);
  EXPECT_EQ(error(2), ncclUnhandledCudaError);
  EXPECT_TRUE(stays_busy(0));
  for (std::size_t rank = 0; rank < kRanks; ++rank) abort(rank);
  streams_[0]->wait();
  streams_[1]->wait();
}

TEST_F(FaultyCollectives, BuffersOfAnotherDeviceFault) {
  ASSERT_EQ(ncclGroupStart(), ncclSuccess);
  for (std::size_t rank = 0; rank < kRanks; ++rank)
    ASSERT_EQ(ncclAllReduce(buffers_[0]->get(), buffers_[rank]->get(), 8, ncclFloat32, ncclSum, comms_[rank],
                            *streams_[rank]),
              ncclSuccess);
  ASSERT_EQ(ncclGroupEnd(), ncclSuccess);
  EXPECT_EQ(cudaStreamSynchronize(*streams_[1]), cudaErrorIllegalAddress);
  for (std::size_t rank = 0; rank < kRanks; ++rank) abort(rank);
}

TEST_F(FaultyCollectives, StreamsOfAnotherDeviceAreRefused) {
  EXPECT_EQ(
      ncclAllReduce(buffers_[0]->get(), buffers_[0]->get(), 8, ncclFloat32, ncclSum, comms_[0], *streams_[1]),
      ncclInvalidUsage);
}

TEST_F(FaultyCollectives, NonblockingRanksReportProgress) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t pair[2] = {};
  ncclResult_t state = ncclSuccess;
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(ncclCommInitRankConfig(&pair[0], 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclCommGetAsyncError(pair[0], &state), ncclSuccess);
  EXPECT_EQ(state, ncclInProgress);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  EXPECT_EQ(ncclCommInitRankConfig(&pair[1], 2, id, 1, &config), ncclInProgress);
  EXPECT_EQ(ncclCommGetAsyncError(pair[0], &state), ncclSuccess);
  EXPECT_EQ(state, ncclSuccess);
  for (ncclComm_t comm : pair) EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
}

TEST_F(FaultyCollectives, OneDeviceForTwoRanksIsRefused) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess);
  ncclComm_t pair[2] = {};
  ncclResult_t results[2] = {};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank)
    threads.emplace_back([&, rank] {
      cudaSetDevice(3);
      results[rank] = ncclCommInitRank(&pair[rank], 2, id, rank);
    });
  for (auto& thread : threads) thread.join();
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(results[rank], ncclInvalidUsage);
    if (pair[rank]) ncclCommAbort(pair[rank]);
  }
}

}  // namespace
}  // namespace mirrorscale::conformance
