#include "kernels/cuda/input_queue.h"

#include "kernels/cuda/order.h"

namespace mirrorscale::kernels::cuda {

CudaInputQueue::CudaInputQueue(int ordinal, cudaStream_t compute, DeviceMemory& memory, std::size_t count)
    : ordinal_(ordinal), compute_(compute), copies_(make_stream()) {
  for (Slot& slot : slots_) {
    slot = {make_pinned(count), memory.allocate(count), make_event(), make_event()};
    // The copy stream's first copy may not overtake it.
    check(cudaMemsetAsync(slot.device.get(), 0, count * sizeof(float), copies_.get()), "clear an input slot");
    set_mark(slot.arrived.get(), copies_.get());
  }
}

CudaInputQueue::~CudaInputQueue() {
  report(cudaStreamSynchronize(copies_.get()));  // a copy may still read a slot
}

float* CudaInputQueue::fill(int slot) {
  wait_on_host(at(slot).arrived.get());  // until the last batch has left
  return floats(at(slot).host);
}

void CudaInputQueue::send(int slot, std::size_t count) {
  check(cudaSetDevice(ordinal_), "choose a device");
  Slot& s = at(slot);
  wait_for_mark(copies_.get(), s.done.get());
  check(cudaMemcpyAsync(s.device.get(), floats(s.host), count * sizeof(float), cudaMemcpyHostToDevice,
                        copies_.get()),
        "send input rows");
  set_mark(s.arrived.get(), copies_.get());
}

const float* CudaInputQueue::receive(int slot) {
  wait_for_mark(compute_, at(slot).arrived.get());
  return at(slot).device.get();
}

void CudaInputQueue::done(int slot) {
  set_mark(at(slot).done.get(), compute_);
}

}  // namespace mirrorscale::kernels::cuda
