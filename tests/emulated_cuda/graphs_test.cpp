#include "emulated_cuda/test_kernels.h"
#include "emulated_cuda/test_support.h"

namespace mirrorscale::conformance {
namespace {

constexpr std::size_t kCount = 2000;

/// y = 1 and x = 3 on two branches, then y += 2 x.
void two_branches(cudaStream_t stream, cudaStream_t side, cudaEvent_t fork, cudaEvent_t join, float* x,
                  float* y) {
  ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
  ASSERT_EQ(fill(x, 3, kCount, side), cudaSuccess);
  ASSERT_EQ(fill(y, 1, kCount, stream), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(join, side), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream, join, 0), cudaSuccess);
  ASSERT_EQ(add_scaled(x, y, 2, kCount, stream), cudaSuccess);
}

TEST(Graphs, ReplayWhatWasCaptured) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  TestBuffer<float> x(std::vector<float>(kCount, 1.0f), stream), y(std::vector<float>(kCount, 0.0f), stream);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  ASSERT_EQ(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  ASSERT_EQ(add_scaled(x.get(), y.get(), 2, kCount, stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(y.read(stream)[0], 0.0f);  // capturing runs nothing
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  for (int turn = 1; turn <= 3; ++turn) {
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(y.read(stream)[7], 2.0f * static_cast<float>(turn));
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST(Graphs, KeepTheBranchesOfTwoStreams) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream, side;
  TestEvent fork, join;
  TestBuffer<float> x(kCount), y(kCount);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  two_branches(stream, side, fork, join, x.get(), y.get());
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (int turn = 0; turn < 10; ++turn) {
    ASSERT_EQ(cudaMemsetAsync(x.get(), 0, kCount * sizeof(float), stream), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(y.read(stream), std::vector<float>(kCount, 7.0f));
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST(Graphs, AStreamThatDoesNotComeBackIsAnError) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream, side;
  TestEvent fork;
  TestBuffer<float> x(kCount);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(side, fork, 0), cudaSuccess);
  ASSERT_EQ(fill(x.get(), 3, kCount, side), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
  cudaGetLastError();
  EXPECT_EQ(fill(x.get(), 4, kCount, stream), cudaSuccess);  // the stream works again
  EXPECT_EQ(x.read(stream)[0], 4.0f);
}

TEST(Graphs, SynchronizingACaptureSpoilsIt) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

TEST(Graphs, AllocatingInACaptureSpoilsIt) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  void* p = nullptr;
  EXPECT_EQ(cudaMalloc(&p, 16), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

TEST(Graphs, EventsFromOutsideCannotEnter) {
  MIRRORSCALE_NEEDS_DEVICES(1);
  TestStream stream, other;
  TestEvent outside;
  ASSERT_EQ(cudaEventRecord(outside, other), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, outside, 0), cudaErrorStreamCaptureIsolation);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
  cudaGetLastError();
}

}  // namespace
}  // namespace mirrorscale::conformance
