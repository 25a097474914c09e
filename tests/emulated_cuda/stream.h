#pragma once

#include "emulated_cuda/system.h"
#include <cstddef>
#include <cuda_runtime_api.h>
#include <deque>
#include <functional>
#include <string>

namespace mirrorscale::emulated_cuda {

/// One recording of an event.
struct Instance : Counted {
  Word done;
  double time_ms = 0;
  char tag = 0;
  int device = 0;
  unsigned stream = 0;
};

/// What a stream runs. A graph replays the same object many times.
struct Operation : Counted {
  Kind kind = Kind::kHostFunction;
  const char* name = "";
  std::function<cudaError_t()> run;
  /// What it waits for, for the hang report; may be empty.
  std::function<std::string()> explain;
  void* destination = nullptr;  // of a copy: where a fault flips a bit
  std::size_t bytes = 0;
};

struct Entry {
  Ref<Operation> operation;
  Ref<Instance> record;  // else: an event to be recorded
  Ref<Instance> wait;    // else: an event to be waited for
  Strike strike;
  char* tag = nullptr;  // orders the enqueuing thread before the operation; heap, so that TSan knows it apart
};

struct Capture;

}  // namespace mirrorscale::emulated_cuda

/// A stream is a thread that runs a queue.
struct CUstream_st : mirrorscale::emulated_cuda::Counted {
  CUstream_st();
  ~CUstream_st();

  int device = 0;
  unsigned number = 0;
  unsigned flags = 0;
  int priority = 0;

  mirrorscale::emulated_cuda::Lock lock;  // of the queue and of what it does now
  std::deque<mirrorscale::emulated_cuda::Entry> queue;
  mirrorscale::emulated_cuda::Entry now;
  bool busy = false;
  mirrorscale::emulated_cuda::Word queued, done, closing;
  mirrorscale::emulated_cuda::Word signal;  // changes when there is something to take, or the end
  char tag = 0;

  mirrorscale::emulated_cuda::Ref<mirrorscale::emulated_cuda::Capture> capture;  // while it captures
  int capture_lane = 0;
};

namespace mirrorscale::emulated_cuda {

using Stream = Ref<CUstream_st>;

/// The name of a handle in a call; null, and a printed line, for the legacy default stream where that is
/// refused.
Stream resolve(cudaStream_t handle, const char* call);
/// The modelled legacy stream of the current device, for the synchronous calls.
Stream legacy_stream();
Stream start_stream(int device, unsigned flags, int priority);
void close_stream(CUstream_st& stream);

Ref<Operation> make_operation(Kind kind, const char* name, std::function<cudaError_t()> run);
/// The one way to give work to a stream: refused on a broken device, captured by a capturing stream, run
/// otherwise.
cudaError_t submit(const Stream& stream, Ref<Operation> operation);
/// Record or wait, past any capture.
void push_record(CUstream_st& stream, Ref<Instance> instance);
void push_wait(CUstream_st& stream, Ref<Instance> instance);
void push_operation(CUstream_st& stream, Ref<Operation> operation);
/// A fresh recording on this stream, pushed.
Ref<Instance> record_now(CUstream_st& stream);

/// Waits on the host until what is queued now has run.
void wait_for(CUstream_st& stream, const char* call);
void wait_for(Instance& instance, const char* call);
void wait_for_device(int device, const char* call);
bool is_idle(CUstream_st& stream);
/// Ordered after what the stream has done, when `is_idle`.
void acquire_stream(CUstream_st& stream);

}  // namespace mirrorscale::emulated_cuda
