#include "emulated_cuda/stream.h"

#include "emulated_cuda/capture.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

CUstream_st::CUstream_st() = default;
CUstream_st::~CUstream_st() = default;

namespace mirrorscale::emulated_cuda {
namespace {

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// With a seed, one operation in four starts up to 0.2 ms late, so that streams overtake each other.
void perhaps_linger(std::uint64_t& state) {
  if (!everything().seeded.load()) return;
  state = state * 6364136223846793005u + 1442695040888963407u;
  const auto random = static_cast<std::uint32_t>(state >> 33);
  if (random % 4 != 0) return;
  const timespec pause{0, static_cast<long>(random / 4 % 200) * 1000};
  nanosleep(&pause, nullptr);
}

void flip_one_bit(const Operation& copy) {
  if (copy.bytes == 0) return;
  auto* byte = static_cast<unsigned char*>(copy.destination) + copy.bytes / 2;
  writes(byte, 1);
  *byte ^= 1;
}

void run(CUstream_st& stream, const Entry& entry) {
  Device& device = device_of(stream.device);
  acquired(entry.tag);
  if (entry.record) {  // also on a broken device: nobody may wait for ever
    entry.record->time_ms = now_ms();
    released(&entry.record->tag);
    entry.record->done.store_and_wake(1);
    return;
  }
  if (device.sticky.load()) return;
  if (entry.wait) {
    while (!entry.wait->done.load()) entry.wait->done.sleep_while(0);
    acquired(&entry.wait->tag);
    return;
  }
  if (entry.strike.sticky) {
    std::fprintf(stderr, "emulated CUDA: injected fault %d on device %d at: %s\n", entry.strike.sticky,
                 stream.device, entry.operation->name);
    return break_device(device, entry.strike.sticky);
  }
  if (const cudaError_t error = entry.operation->run()) break_device(device, error);
  if (entry.strike.flips_bit) flip_one_bit(*entry.operation);
}

bool take(CUstream_st& stream) {
  for (;;) {
    const std::uint32_t seen = stream.signal.load();
    {
      const Guard guard(stream.lock);
      if (!stream.queue.empty()) {
        stream.now = std::move(stream.queue.front());
        stream.queue.pop_front();
        stream.busy = true;
        return true;
      }
    }
    if (stream.closing.load()) return false;
    stream.signal.sleep_while(seen);
  }
}

void finish(CUstream_st& stream) {
  Entry gone;
  {
    const Guard guard(stream.lock);
    std::swap(gone, stream.now);
    stream.busy = false;
  }
  delete gone.tag;
  gone = {};  // before `done`: what an operation held is free when the host sees it done
  released(&stream.tag);
  stream.done.add(1);
  stream.done.wake_all();
}

void work(const Stream& stream) {
  set_current_device(stream->device);
  std::uint64_t random = everything().seed + stream->number;
  for (;;) {
    {
      const Unseen unseen;
      if (!take(*stream)) break;
      perhaps_linger(random);
    }
    run(*stream, stream->now);
    const Unseen unseen;
    finish(*stream);
  }
  const Unseen unseen;
  const Guard guard(everything().lock);
  auto& streams = device_of(stream->device).streams;
  streams.erase(std::remove_if(streams.begin(), streams.end(),
                               [&](const Stream& s) { return s.get() == stream.get(); }),
                streams.end());
}

void push(CUstream_st& stream, Entry entry) {
  entry.tag = new char{};
  released(entry.tag);
  {
    const Guard guard(stream.lock);
    stream.queue.push_back(std::move(entry));
    stream.queued.add(1);
  }
  stream.signal.add(1);
  stream.signal.wake_all();
}

/// The legacy default stream and the streams that were not created as non-blocking wait for each other.
void order_with_legacy(CUstream_st& stream) {
  if (stream.flags & cudaStreamNonBlocking) return;
  Device& device = device_of(stream.device);
  std::vector<Stream> others;
  {
    const Guard guard(everything().lock);
    if (!device.legacy) return;
    if (device.legacy.get() != &stream)
      others.push_back(device.legacy);
    else
      for (const Stream& other : device.streams)
        if (!(other->flags & cudaStreamNonBlocking)) others.push_back(other);
  }
  for (const Stream& other : others)
    if (!is_idle(*other))
      push_wait(stream, record_now(*other));
    else
      acquire_stream(*other);
}

}  // namespace

Stream start_stream(int device, unsigned flags, int priority) {
  auto stream = make_ref<CUstream_st>();
  stream->device = device;
  stream->flags = flags;
  stream->priority = priority;
  {
    const Guard guard(everything().lock);
    stream->number = everything().next_stream++;
  }
  std::thread([stream] { work(stream); }).detach();
  return stream;
}

void close_stream(CUstream_st& stream) {
  stream.closing.store(1);
  stream.signal.add(1);
  stream.signal.wake_all();
}

Stream legacy_stream() {
  System& all = everything();
  Device& device = device_of(current_device());
  {
    const Guard guard(all.lock);
    if (device.legacy) return device.legacy;
  }
  Stream made = start_stream(device.index, 0, 0);
  const Guard guard(all.lock);
  if (device.legacy)
    close_stream(*made);
  else
    device.legacy = made;
  return device.legacy;
}

Stream resolve(cudaStream_t handle, const char* call) {
  if (handle && handle != cudaStreamLegacy && handle != cudaStreamPerThread) return handle;
  if (everything().legacy_allowed.load()) return legacy_stream();
  std::fprintf(
      stderr,
      "emulated CUDA: %s on the default stream is refused: it orders work in ways that nobody asked for; "
      "create a stream\n",
      call);
  return {};
}

Ref<Operation> make_operation(Kind kind, const char* name, std::function<cudaError_t()> run) {
  auto operation = make_ref<Operation>();
  operation->kind = kind;
  operation->name = name;
  operation->run = std::move(run);
  return operation;
}

cudaError_t submit(const Stream& stream, Ref<Operation> operation) {
  if (const auto sticky = device_of(stream->device).sticky.load()) return static_cast<cudaError_t>(sticky);
  if (stream->capture) {
    if (stream->capture->invalid) return cudaErrorStreamCaptureInvalidated;
    capture_operation(*stream, std::move(operation));
    return cudaSuccess;
  }
  push_operation(*stream, std::move(operation));
  return cudaSuccess;
}

void push_operation(CUstream_st& stream, Ref<Operation> operation) {
  order_with_legacy(stream);
  Entry entry;
  entry.strike = count_operation(device_of(stream.device), operation->kind);
  entry.operation = std::move(operation);
  push(stream, std::move(entry));
}

void push_record(CUstream_st& stream, Ref<Instance> instance) {
  instance->device = stream.device;
  instance->stream = stream.number;
  Entry entry;
  entry.record = std::move(instance);
  push(stream, std::move(entry));
}

void push_wait(CUstream_st& stream, Ref<Instance> instance) {
  count_operation(device_of(stream.device), Kind::kWait);
  Entry entry;
  entry.wait = std::move(instance);
  push(stream, std::move(entry));
}

Ref<Instance> record_now(CUstream_st& stream) {
  auto instance = make_ref<Instance>();
  push_record(stream, instance);
  return instance;
}

bool is_idle(CUstream_st& stream) {
  return stream.done.load() == stream.queued.load();
}

void acquire_stream(CUstream_st& stream) {
  acquired(&stream.tag);
}

void wait_for(CUstream_st& stream, const char* call) {
  const std::uint32_t goal = stream.queued.load();
  wait_on(stream.done, call, [&] { return static_cast<std::int32_t>(stream.done.load() - goal) >= 0; });
  acquire_stream(stream);
}

void wait_for(Instance& instance, const char* call) {
  wait_on(instance.done, call, [&] { return instance.done.load() != 0; });
  acquired(&instance.tag);
}

void wait_for_device(int index, const char* call) {
  std::vector<Stream> streams;
  {
    Device& device = device_of(index);
    const Guard guard(everything().lock);
    streams = device.streams;
    if (device.legacy) streams.push_back(device.legacy);
  }
  for (const Stream& stream : streams) wait_for(*stream, call);
}

}  // namespace mirrorscale::emulated_cuda
