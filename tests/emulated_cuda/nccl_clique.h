#pragma once

#include "emulated_cuda/stream.h"
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <nccl.h>
#include <vector>

namespace mirrorscale::emulated_cuda {

enum class Collective { kAllReduce, kBroadcast, kReduce, kReduceScatter, kAllGather };

/// What one rank asks for.
struct Call {
  Collective what = Collective::kAllReduce;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  ncclRedOp_t op = ncclSum;
  int root = 0;
};

/// One collective, where the ranks meet. What each rank brings is copied here by that rank and taken from
/// here by the others: buffers are touched by their own device only, and only real dependencies order ranks.
struct Meeting : Counted {
  std::vector<Call> calls;
  std::vector<bool> arrived;
  std::vector<std::vector<unsigned char>> brought;
  std::vector<char> tags;
  int present = 0, finished = 0;
  int reduced = 0;                    // ranks that have reduced their part
  std::vector<unsigned char> result;  // of an all-reduce
  bool disagree = false;
};

/// A message between two ranks, until it is taken.
struct Message : Counted {
  std::vector<unsigned char> content;
  ncclDataType_t type = ncclFloat32;
  bool taken = false;
  char tag = 0;
};

/// The ranks of one communicator.
struct Clique : Counted {
  int size = 0;
  unsigned number = 0;
  Lock lock;
  Word changed;  // grows with every change that someone may wait for
  std::vector<int> devices;
  int joined = 0, left = 0;
  bool refused = false;  // a duplicate device, or ranks that disagree on the size
  std::map<std::uint64_t, Ref<Meeting>> meetings;
  std::map<std::pair<int, int>, std::deque<Ref<Message>>> mail;  // (from, to)
  std::vector<char> aborted;                                     // by rank
  char join_tag = 0;

  void change() {
    changed.add(1);
    changed.wake_all();
  }
};

/// One rank; outlives its handle while operations are in flight.
struct Seat : Counted {
  Ref<Clique> clique;
  int rank = 0;
  int device = 0;
  bool blocking = true;
  std::uint64_t next_meeting = 0;  // of the stream that runs, in its order
  Word aborted;
  Word async_error{ncclSuccess};
  Word meeting;        // the number of the collective that it is in, plus 1; 0: none
  Ref<Instance> last;  // recorded behind the last operation, on the stream it went to
  unsigned last_stream = 0;
};

std::size_t width_of(ncclDataType_t type);
bool is_known(ncclDataType_t type);
bool is_known(ncclRedOp_t op);
/// out[i] = op over ranks of parts[rank][from + i], in rank order, 16-bit floats accumulated in fp32.
void reduce(const std::vector<std::vector<unsigned char>>& parts, std::size_t from, std::size_t count,
            ncclDataType_t type, ncclRedOp_t op, unsigned char* out);

/// Sends and receives that one group holds, progressing together.
struct Transfer {
  bool sends = false;
  const void* send = nullptr;
  void* receive = nullptr;
  std::size_t count = 0;
  ncclDataType_t type = ncclFloat32;
  int peer = 0;
};

Ref<Operation> make_collective(const Ref<Seat>& seat, const Call& call);
Ref<Operation> make_transfers(const Ref<Seat>& seat, std::vector<Transfer> transfers);
/// Gives an operation of the seat to a stream, behind the seat's last one.
ncclResult_t issue(const Ref<Seat>& seat, cudaStream_t stream, Ref<Operation> operation, const char* name);
ncclResult_t fail(ncclResult_t result, const char* words);
/// Sleeps on the clique until `done()` or until the seat is aborted; false when aborted.
template <class Done>
bool wait_in(Seat& seat, Done done) {
  for (;;) {
    const std::uint32_t seen = seat.clique->changed.load();
    if (seat.aborted.load()) return false;
    {
      const Guard guard(seat.clique->lock);
      if (done()) return true;
    }
    seat.clique->changed.sleep_while(seen);
  }
}

}  // namespace mirrorscale::emulated_cuda

struct ncclComm {
  mirrorscale::emulated_cuda::Ref<mirrorscale::emulated_cuda::Seat> seat;
};
