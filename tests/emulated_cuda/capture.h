#pragma once

#include "emulated_cuda/stream.h"
#include <cstdint>
#include <thread>
#include <vector>

namespace mirrorscale::emulated_cuda {

/// What a captured stream was told to do. `lane` is the place of the stream within the capture, 0 its origin.
struct Step {
  enum class What { kOperation, kRecord, kWait };
  What what = What::kOperation;
  int lane = 0;
  Ref<Operation> operation;
  int event = 0;  // which of the graph's inner events is recorded or waited for
};

struct Steps {
  std::vector<Step> steps;
  std::vector<int> lanes;  // the device of each
  int events = 0;
};

/// How many steps of each lane precede a point.
using Clock = std::vector<std::uint64_t>;

struct Capture : Counted {
  Steps graph;
  std::vector<CUstream_st*> streams;  // by lane; the capture ends before they do
  std::vector<Clock> clocks;          // by lane
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id owner;
  std::uint64_t id = 0;
  bool invalid = false;
};

/// One recording within a capture.
struct CapturedRecord {
  Ref<Capture> capture;
  int event = 0;
  Clock clock;
};

/// A graph of the API, with the steps of a capture that ended.
cudaError_t make_graph(Steps steps, cudaGraph_t* graph);

/// Appends to the capture that `stream` takes part in.
void capture_operation(CUstream_st& stream, Ref<Operation> operation);
CapturedRecord capture_record(CUstream_st& stream);
/// Makes `stream` wait for the recording, joining the capture when it was outside.
cudaError_t capture_wait(CUstream_st& stream, const CapturedRecord& record);
/// A call that no capture may contain: cudaSuccess when none is in its way; else the capture becomes invalid.
cudaError_t refuse_while_capturing();
cudaError_t refuse_on_capturing(CUstream_st& stream);
cudaError_t refuse_on_capturing_device(int device);

}  // namespace mirrorscale::emulated_cuda
