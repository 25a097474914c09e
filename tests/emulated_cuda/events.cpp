#include "emulated_cuda/capture.h"

using namespace mirrorscale::emulated_cuda;

struct CUevent_st {
  unsigned flags = 0;
  int device = 0;
  Lock lock;
  Ref<Instance> last;       // null: never recorded
  CapturedRecord captured;  // the last recording was part of a capture
};

namespace {

Ref<Instance> last_of(cudaEvent_t event) {
  const Guard guard(event->lock);
  return event->last;
}

cudaError_t create(cudaEvent_t* made, unsigned flags) {
  if (const auto state = usable()) return state;
  if (!made) return cudaErrorInvalidValue;
  auto* event = new CUevent_st;
  event->flags = flags;
  event->device = current_device();
  *made = event;
  const Guard guard(everything().lock);
  ++everything().live.events;
  return cudaSuccess;
}

cudaError_t record(cudaEvent_t event, cudaStream_t handle) {
  if (const auto state = driver_state()) return state;
  if (!event) return cudaErrorInvalidResourceHandle;
  const Stream stream = resolve(handle, "cudaEventRecord");
  if (!stream || stream->device != event->device) return cudaErrorInvalidResourceHandle;
  if (const auto sticky = device_of(stream->device).sticky.load()) return static_cast<cudaError_t>(sticky);
  if (stream->capture) {
    if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    CapturedRecord captured = capture_record(*stream);
    const Guard guard(event->lock);
    event->captured = std::move(captured);
    return cudaSuccess;
  }
  auto instance = make_ref<Instance>();
  {
    const Guard guard(event->lock);
    event->last = instance;
    event->captured = {};
  }
  push_record(*stream, instance);
  return cudaSuccess;
}

cudaError_t wait(cudaStream_t handle, cudaEvent_t event) {
  if (const auto state = driver_state()) return state;
  if (!event) return cudaErrorInvalidResourceHandle;
  const Stream stream = resolve(handle, "cudaStreamWaitEvent");
  if (!stream) return cudaErrorInvalidResourceHandle;
  if (const auto sticky = device_of(stream->device).sticky.load()) return static_cast<cudaError_t>(sticky);
  CapturedRecord captured;
  Ref<Instance> instance;
  {
    const Guard guard(event->lock);
    captured = event->captured;
    instance = event->last;
  }
  if (captured.capture) return capture_wait(*stream, captured);
  if (stream->capture) {  // what is outside of a capture cannot become part of its graph
    stream->capture->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (instance) push_wait(*stream, instance);
  return cudaSuccess;
}

cudaError_t sticky_of(cudaEvent_t event) {
  return static_cast<cudaError_t>(device_of(event->device).sticky.load());
}

}  // namespace

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  const Unseen unseen;
  return report(create(event, cudaEventDefault));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  const Unseen unseen;
  return report(create(event, flags));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  const Unseen unseen;
  return report(record(event, stream));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  const Unseen unseen;
  return report(record(event, stream));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  const Unseen unseen;
  return report(wait(stream, event));
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  const Unseen unseen;
  if (!event) return report(cudaErrorInvalidResourceHandle);
  if (event->captured.capture) return report(cudaErrorCapturedEvent);
  if (const auto sticky = sticky_of(event)) return report(sticky);
  const Ref<Instance> instance = last_of(event);
  if (!instance) return cudaSuccess;
  if (!instance->done.load()) return report(cudaErrorNotReady);
  acquired(&instance->tag);
  return report(sticky_of(event));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const Unseen unseen;
  if (!event) return report(cudaErrorInvalidResourceHandle);
  if (event->captured.capture) return report(cudaErrorCapturedEvent);
  if (const Ref<Instance> instance = last_of(event)) wait_for(*instance, "cudaEventSynchronize");
  return report(sticky_of(event));
}

cudaError_t cudaEventElapsedTime(float* ms, cudaEvent_t start, cudaEvent_t end) {
  const Unseen unseen;
  if (!ms) return report(cudaErrorInvalidValue);
  if (!start || !end || ((start->flags | end->flags) & cudaEventDisableTiming) != 0)
    return report(cudaErrorInvalidResourceHandle);
  const Ref<Instance> from = last_of(start), to = last_of(end);
  if (!from || !to) return report(cudaErrorInvalidResourceHandle);
  if (!from->done.load() || !to->done.load()) return report(cudaErrorNotReady);
  *ms = static_cast<float>(to->time_ms - from->time_ms);
  return report(sticky_of(end));
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  const Unseen unseen;
  if (!event) return report(cudaErrorInvalidResourceHandle);
  delete event;
  const Guard guard(everything().lock);
  --everything().live.events;
  return cudaSuccess;
}

}  // extern "C"
