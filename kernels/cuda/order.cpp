#include "kernels/cuda/order.h"

#include "kernels/cuda/status.h"

namespace mirrorscale::kernels::cuda {

void set_mark(cudaEvent_t mark, cudaStream_t stream) {
  check(cudaEventRecord(mark, stream), "record an event");
}
void wait_for_mark(cudaStream_t stream, cudaEvent_t mark, Place where) {
  check(cudaStreamWaitEvent(stream, mark, 0), "make a stream wait for an event", where);
}
void wait_on_host(cudaEvent_t mark, Place where) {
  check(cudaEventSynchronize(mark), "wait for an event", where);
}
void order_after(cudaStream_t later, cudaStream_t earlier, cudaEvent_t mark, Place where) {
  set_mark(mark, earlier);
  wait_for_mark(later, mark, where);
}

}  // namespace mirrorscale::kernels::cuda
