#include "emulated_cuda/capture.h"

using namespace mirrorscale::emulated_cuda;

namespace {

cudaError_t create(cudaStream_t* made, unsigned flags, int priority) {
  if (const auto state = usable()) return state;
  if (!made || flags > cudaStreamNonBlocking) return cudaErrorInvalidValue;
  Stream stream = start_stream(current_device(), flags, priority);
  *made = stream.get();
  const Guard guard(everything().lock);
  device_of(stream->device).streams.push_back(stream);
  ++everything().live.streams;
  return cudaSuccess;
}

cudaError_t sticky(const CUstream_st& stream) {
  return static_cast<cudaError_t>(device_of(stream.device).sticky.load());
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  const Unseen unseen;
  return report(create(stream, cudaStreamDefault, 0));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const Unseen unseen;
  return report(create(stream, flags, 0));
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const Unseen unseen;
  return report(create(stream, flags, priority < -5 ? -5 : priority > 0 ? 0 : priority));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (const auto state = usable()) return report(state);
  if (least) *least = 0;
  if (greatest) *greatest = -5;
  return cudaSuccess;
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  *priority = stream ? stream->priority : 0;
  return cudaSuccess;
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  *flags = stream ? stream->flags : 0;
  return cudaSuccess;
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  *device = stream ? stream->device : current_device();
  return cudaSuccess;
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  *id = stream ? stream->number : 0;
  return cudaSuccess;
}

/// Returns at once; what was queued still runs.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  const Unseen unseen;
  if (!handle) return report(cudaErrorInvalidResourceHandle);
  const Stream stream = handle;
  const cudaError_t error = sticky(*stream);
  close_stream(*stream);
  const Guard guard(everything().lock);
  --everything().live.streams;
  return report(error);
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  const Stream stream = resolve(handle, "cudaStreamSynchronize");
  if (!stream) return report(cudaErrorInvalidResourceHandle);
  if (const auto refused = refuse_on_capturing(*stream)) return report(refused);
  wait_for(*stream, "cudaStreamSynchronize");
  return report(sticky(*stream));
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  const Stream stream = resolve(handle, "cudaStreamQuery");
  if (!stream) return report(cudaErrorInvalidResourceHandle);
  if (const auto refused = refuse_on_capturing(*stream)) return report(refused);
  if (const auto error = sticky(*stream)) return report(error);
  if (!is_idle(*stream)) return report(cudaErrorNotReady);
  acquire_stream(*stream);
  return report(sticky(*stream));
}

cudaError_t cudaDeviceSynchronize() {
  const Unseen unseen;
  if (const auto state = driver_state()) return report(state);
  if (const auto refused = refuse_on_capturing_device(current_device())) return report(refused);
  wait_for_device(current_device(), "cudaDeviceSynchronize");
  return report(usable());
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* argument) {
  const Unseen unseen;
  if (!function) return report(cudaErrorInvalidValue);
  const Stream stream = resolve(handle, "cudaLaunchHostFunc");
  if (!stream) return report(cudaErrorInvalidResourceHandle);
  return report(submit(stream, make_operation(Kind::kHostFunction, "a host function", [=] {
                         function(argument);
                         return cudaSuccess;
                       })));
}

}  // extern "C"
