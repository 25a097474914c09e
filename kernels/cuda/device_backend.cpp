#include "kernels/cuda/device_backend.h"

#include "kernels/cuda/graph.h"
#include "kernels/cuda/input_queue.h"
#include "kernels/cuda/status.h"

#include <utility>

namespace mirrorscale::kernels::cuda {

DeviceBackend::DeviceBackend(const DeviceInfo& device, int ordinal, BackendInfo info)
    : ordinal_(ordinal),
      info_(std::move(info)),
      bytes_(std::make_shared<DeviceMemory::Bytes>()),
      own_memory_(std::make_shared<DeviceMemory>(device.name, bytes_)),
      memory_(std::make_shared<DeviceMemory>(device.name, bytes_)) {
  enter();
  stream_ = make_stream();
  clock_.emplace(stream_.get());
  staging_.emplace(stream_.get());
}

void DeviceBackend::enter() const {
  check(cudaSetDevice(ordinal_), "choose a device");
}

Buffer DeviceBackend::make_buffer(std::size_t count) {
  enter();
  Buffer buffer = memory_->allocate(count);
  clear(buffer.get(), count);
  synchronize();  // other streams may be the first to use it
  return buffer;
}

void DeviceBackend::upload(const float* host, std::size_t count, float* device) {
  enter();
  staging_->upload(host, count, device);
}

void DeviceBackend::download(const float* device, std::size_t count, float* host) {
  enter();
  staging_->download(device, count, host);
}

void DeviceBackend::copy(const float* from, std::size_t count, float* to) {
  enter();
  if (count == 0) return;
  check(cudaMemcpyAsync(to, from, count * sizeof(float), cudaMemcpyDeviceToDevice, stream_.get()),
        "copy on the device");
}

void DeviceBackend::clear(float* data, std::size_t count) {
  enter();
  if (count == 0) return;
  check(cudaMemsetAsync(data, 0, count * sizeof(float), stream_.get()), "clear device memory");
}

void DeviceBackend::synchronize() {
  enter();
  check(cudaStreamSynchronize(stream_.get()), "wait for the device");
}

std::unique_ptr<RecordedOps> DeviceBackend::record(const std::function<void()>& body) {
  enter();
  return record_graph(stream_.get(), body);
}

std::unique_ptr<InputQueue> DeviceBackend::make_input_queue(std::size_t count) {
  enter();
  return std::make_unique<CudaInputQueue>(ordinal_, stream_.get(), *own_memory_, count);
}

void DeviceBackend::mark(int number) {
  enter();
  clock_->mark(number, stream_.get());
}

double DeviceBackend::marked_s(int number) {
  enter();
  return clock_->marked_s(number);
}

Queue queue_of(Backend& backend) {
  auto* cuda = dynamic_cast<DeviceBackend*>(&backend);
  if (cuda == nullptr)
    throw std::logic_error("[cuda] the backend '" + backend.info().name + "' is not a CUDA one");
  return cuda->queue();
}

}  // namespace mirrorscale::kernels::cuda
