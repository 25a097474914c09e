// Programs with one fault each, and their right twins. `planted NAME` runs one; what must be said about it
// stands in tests.cmake. Only the CUDA API is used.
#include "emulated_cuda/test_kernels.h"
#include <cstdio>
#include <cstdlib>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <functional>
#include <map>
#include <nccl.h>
#include <string>
#include <vector>

using namespace mirrorscale::conformance;

namespace {

constexpr std::size_t kCount = 4096;

void check(int status) {
  if (status == 0) return;
  std::fprintf(stderr, "planted: status %d\n", status);
  std::exit(2);
}

cudaStream_t stream() {
  cudaStream_t made = nullptr;
  check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking));
  return made;
}

std::vector<cudaEvent_t> events;  // given back at the end: LeakSanitizer would name them

cudaEvent_t event() {
  cudaEvent_t made = nullptr;
  check(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  events.push_back(made);
  return made;
}

float* floats(std::size_t count) {
  void* p = nullptr;
  check(cudaMalloc(&p, count * sizeof(float)));
  return static_cast<float*>(p);
}

/// A copy on one stream, a kernel that needs it on another.
void two_streams(bool waits) {
  cudaStream_t copy = stream(), compute = stream();
  cudaEvent_t copied = event();
  std::vector<float> host(kCount, 1.0f);
  float *x = floats(kCount), *y = floats(kCount);
  check(cudaMemcpyAsync(x, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, copy));
  check(cudaEventRecord(copied, copy));
  check(fill(y, 0, kCount, compute));
  if (waits) check(cudaStreamWaitEvent(compute, copied, 0));
  check(add_scaled(x, y, 2, kCount, compute));
  check(cudaStreamSynchronize(compute));
  check(cudaStreamSynchronize(copy));
}

/// An all-reduce whose stream waits, or on rank 1 does not, for the kernel that makes its input.
void collective(bool waits) {
  constexpr int kRanks = 3;
  ncclComm_t comms[kRanks];
  check(ncclCommInitAll(comms, kRanks, nullptr));
  cudaStream_t compute[kRanks], net[kRanks];
  float* x[kRanks];
  for (int rank = 0; rank < kRanks; ++rank) {
    check(cudaSetDevice(rank));
    compute[rank] = stream();
    net[rank] = stream();
    x[rank] = floats(kCount);
    cudaEvent_t made = event();
    check(fill(x[rank], 1, kCount, compute[rank]));
    check(cudaEventRecord(made, compute[rank]));
    if (waits || rank != 1) check(cudaStreamWaitEvent(net[rank], made, 0));
  }
  check(ncclGroupStart());
  for (int rank = 0; rank < kRanks; ++rank)
    check(ncclAllReduce(x[rank], x[rank], kCount, ncclFloat32, ncclSum, comms[rank], net[rank]));
  check(ncclGroupEnd());
  for (int rank = 0; rank < kRanks; ++rank) {
    check(cudaSetDevice(rank));
    check(cudaDeviceSynchronize());
    check(ncclCommDestroy(comms[rank]));
  }
}

/// Two branches of a captured graph; the second uses what the first writes.
void graph(bool waits) {
  cudaStream_t main = stream(), side = stream();
  cudaEvent_t fork = event(), half = event(), join = event();
  float *x = floats(kCount), *y = floats(kCount);
  check(cudaStreamBeginCapture(main, cudaStreamCaptureModeGlobal));
  check(cudaEventRecord(fork, main));
  check(cudaStreamWaitEvent(side, fork, 0));
  check(fill(x, 1, kCount, side));
  check(cudaEventRecord(half, side));
  check(fill(y, 1, kCount, main));
  if (waits) check(cudaStreamWaitEvent(main, half, 0));
  check(add_scaled(x, y, 2, kCount, main));
  check(cudaEventRecord(join, side));
  check(cudaStreamWaitEvent(main, join, 0));
  cudaGraph_t captured = nullptr;
  check(cudaStreamEndCapture(main, &captured));
  cudaGraphExec_t exec = nullptr;
  check(cudaGraphInstantiate(&exec, captured, 0));
  for (int turn = 0; turn < 3; ++turn) check(cudaGraphLaunch(exec, main));
  check(cudaStreamSynchronize(main));
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(captured));
}

void host_reads_too_early() {
  cudaStream_t s = stream();
  std::vector<float> host(kCount);
  float* x = floats(kCount);
  check(fill(x, 3, kCount, s));
  check(cudaMemcpyAsync(host.data(), x, kCount * sizeof(float), cudaMemcpyDeviceToHost, s));
  std::printf("%g\n", static_cast<double>(host[5]));
  check(cudaStreamSynchronize(s));
}

void host_writes_too_early() {
  cudaStream_t s = stream();
  std::vector<float> host(kCount, 1.0f);
  float* x = floats(kCount);
  check(cudaMemcpyAsync(x, host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, s));
  host[5] = 2;
  check(cudaStreamSynchronize(s));
}

void kernel_without_barrier() {
  cudaStream_t s = stream();
  float *x = floats(kCount), *partial = floats(2);
  check(fill(x, 1, kCount, s));
  check(block_sums_unsynchronised(x, partial, kCount, 2, s));
  check(cudaStreamSynchronize(s));
}

/// Two products on two streams that share one workspace.
void workspace() {
  cublasHandle_t handles[2];
  float* shared = floats(1024);
  const float one = 1, zero = 0;
  float *x = floats(2 * 4096), *y = floats(2 * 4096);
  check(fill(x, 1, 2 * 4096, stream()));
  check(cudaDeviceSynchronize());
  for (int i = 0; i < 2; ++i) {
    check(cublasCreate(&handles[i]));
    check(cublasSetStream(handles[i], stream()));
    check(cublasSetWorkspace(handles[i], shared, 4096));
    check(cublasSgemm(handles[i], CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, x, 64, x, 64, &zero,
                      y + 4096 * i, 64));
  }
  check(cudaDeviceSynchronize());
  for (cublasHandle_t handle : handles) check(cublasDestroy(handle));
}

/// Blocks of one launch write the same element.
void blocks_race() {
  cudaStream_t s = stream();
  auto* out = reinterpret_cast<unsigned*>(floats(1));
  check(racing_blocks(out, s));
  check(cudaStreamSynchronize(s));
}

/// cudaMemset returns before the memory is written, and does not order a non-blocking stream.
void memset_then_kernel() {
  cudaStream_t s = stream();
  float* x = floats(kCount);
  check(cudaMemset(x, 0, kCount * sizeof(float)));
  check(fill(x, 1, kCount, s));
  check(cudaDeviceSynchronize());
}

void freed_argument() {
  cudaStream_t s = stream();
  float* x = floats(kCount);
  check(cudaFree(x));
  check(fill(x, 1, kCount, s));
  std::printf("status %d\n", cudaStreamSynchronize(s));
}

void finish(cudaError_t launched) {
  check(launched);
  cudaDeviceSynchronize();
}

const std::map<std::string, std::function<void()>> kPrograms{
    {"with_wait", [] { two_streams(true); }},
    {"missing_wait", [] { two_streams(false); }},
    {"with_wait_collective", [] { collective(true); }},
    {"missing_wait_collective", [] { collective(false); }},
    {"with_wait_graph", [] { graph(true); }},
    {"missing_wait_graph", [] { graph(false); }},
    {"missing_host_wait", host_reads_too_early},
    {"early_overwrite", host_writes_too_early},
    {"missing_barrier", kernel_without_barrier},
    {"shared_workspace", workspace},
    {"racing_blocks", blocks_race},
    {"memset_without_wait", memset_then_kernel},
    {"freed_argument", freed_argument},
    {"write_one_too_many", [] { finish(write_one_too_many(floats(1000), 1000, stream())); }},
    {"shared_one_too_few", [] { finish(shared_one_too_few(floats(128), floats(1), stream())); }},
    {"leave_before_barrier", [] { finish(leave_before_barrier(stream())); }},
    {"divergent_barrier", [] { finish(divergent_barrier(stream())); }},
    {"half_a_warp", [] { finish(half_a_warp(stream())); }},
};

}  // namespace

int main(int count, char** words) {
  const auto found = kPrograms.find(count == 2 ? words[1] : "");
  if (found == kPrograms.end()) {
    std::fprintf(stderr, "planted: one name, as in tests.cmake\n");
    return 2;
  }
  found->second();
  for (cudaEvent_t made : events) check(cudaEventDestroy(made));
  std::printf("%s ended\n", words[1]);
  return 0;
}
