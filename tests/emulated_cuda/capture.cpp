#include "emulated_cuda/capture.h"

#include <algorithm>

namespace mirrorscale::emulated_cuda {
namespace {

Lock captures_lock;
std::vector<Capture*>& captures() {
  static auto* const all = new std::vector<Capture*>;
  return *all;
}
Word ids;
thread_local cudaStreamCaptureMode mode_of_thread = cudaStreamCaptureModeGlobal;

/// Counts a step of the lane in its clock.
Step& append(CUstream_st& stream, Step::What what) {
  Capture& capture = *stream.capture;
  const int lane = stream.capture_lane;
  ++capture.clocks[static_cast<std::size_t>(lane)][static_cast<std::size_t>(lane)];
  capture.graph.steps.push_back({what, lane, {}, 0});
  return capture.graph.steps.back();
}

void join(CUstream_st& stream, const Ref<Capture>& capture) {
  stream.capture_lane = static_cast<int>(capture->graph.lanes.size());
  capture->graph.lanes.push_back(stream.device);
  capture->streams.push_back(&stream);
  capture->clocks.emplace_back();
  for (Clock& clock : capture->clocks) clock.resize(capture->streams.size());
  stream.capture = capture;
}

void forget(const Ref<Capture>& capture) {
  for (CUstream_st* stream : capture->streams) stream->capture = {};
  const Guard guard(captures_lock);
  auto& all = captures();
  all.erase(std::remove(all.begin(), all.end(), capture.get()), all.end());
}

}  // namespace

void capture_operation(CUstream_st& stream, Ref<Operation> operation) {
  append(stream, Step::What::kOperation).operation = std::move(operation);
}

CapturedRecord capture_record(CUstream_st& stream) {
  const int event = stream.capture->graph.events++;
  append(stream, Step::What::kRecord).event = event;
  return {stream.capture, event, stream.capture->clocks[static_cast<std::size_t>(stream.capture_lane)]};
}

cudaError_t capture_wait(CUstream_st& stream, const CapturedRecord& record) {
  if (stream.capture && stream.capture.get() != record.capture.get()) {
    stream.capture->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (!stream.capture) {
    // The capture that the event belongs to may have ended.
    if (std::find(record.capture->streams.begin(), record.capture->streams.end(), nullptr) !=
        record.capture->streams.end())
      return cudaErrorStreamCaptureIsolation;
    join(stream, record.capture);
  }
  append(stream, Step::What::kWait).event = record.event;
  Clock& clock = stream.capture->clocks[static_cast<std::size_t>(stream.capture_lane)];
  for (std::size_t lane = 0; lane < record.clock.size(); ++lane)
    clock[lane] = std::max(clock[lane], record.clock[lane]);
  return cudaSuccess;
}

cudaError_t refuse_while_capturing() {
  if (mode_of_thread == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const Guard guard(captures_lock);
  for (Capture* capture : captures()) {
    const bool mine = capture->owner == std::this_thread::get_id();
    if (capture->mode == cudaStreamCaptureModeRelaxed) continue;
    if (capture->mode == cudaStreamCaptureModeThreadLocal && !mine) continue;
    if (mode_of_thread == cudaStreamCaptureModeThreadLocal && !mine) continue;
    capture->invalid = true;
    return cudaErrorStreamCaptureUnsupported;
  }
  return cudaSuccess;
}

cudaError_t refuse_on_capturing(CUstream_st& stream) {
  if (!stream.capture) return cudaSuccess;
  stream.capture->invalid = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t refuse_on_capturing_device(int device) {
  const Guard guard(captures_lock);
  for (Capture* capture : captures())
    for (const CUstream_st* stream : capture->streams)
      if (stream->device == device) {
        capture->invalid = true;
        return cudaErrorStreamCaptureUnsupported;
      }
  return cudaSuccess;
}

}  // namespace mirrorscale::emulated_cuda

using namespace mirrorscale::emulated_cuda;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (!handle || handle == cudaStreamLegacy) return report(cudaErrorStreamCaptureUnsupported);
  if (handle->capture) return report(cudaErrorIllegalState);
  auto capture = make_ref<Capture>();
  capture->mode = mode;
  capture->owner = std::this_thread::get_id();
  capture->id = ids.add(1) + 1;
  join(*handle, capture);
  const Guard guard(captures_lock);
  captures().push_back(capture.get());
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  const Unseen unseen;
  *graph = nullptr;
  if (!handle || !handle->capture) return report(cudaErrorIllegalState);
  const Ref<Capture> capture = handle->capture;
  if (handle->capture_lane != 0) {
    capture->invalid = true;
    return report(cudaErrorStreamCaptureUnmatched);
  }
  if (capture->mode != cudaStreamCaptureModeRelaxed && capture->owner != std::this_thread::get_id()) {
    capture->invalid = true;
    return report(cudaErrorStreamCaptureWrongThread);
  }
  bool joined = true;
  for (std::size_t lane = 1; lane < capture->clocks.size(); ++lane)
    joined = joined && capture->clocks[0][lane] == capture->clocks[lane][lane];
  forget(capture);
  for (CUstream_st*& stream : capture->streams) stream = nullptr;
  if (capture->invalid) return report(cudaErrorStreamCaptureInvalidated);
  if (!joined) return report(cudaErrorStreamCaptureUnjoined);
  return report(mirrorscale::emulated_cuda::make_graph(std::move(capture->graph), graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  *status = !handle || !handle->capture ? cudaStreamCaptureStatusNone
            : handle->capture->invalid  ? cudaStreamCaptureStatusInvalidated
                                        : cudaStreamCaptureStatusActive;
  return cudaSuccess;
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  if (id && handle && handle->capture) *id = handle->capture->id;
  if (graph) *graph = nullptr;
  if (dependencies) *dependencies = nullptr;
  if (edges) *edges = nullptr;
  if (count) *count = 0;
  return cudaStreamIsCapturing(handle, status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  std::swap(*mode, mode_of_thread);
  return cudaSuccess;
}

}  // extern "C"
