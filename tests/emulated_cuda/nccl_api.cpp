#include "emulated_cuda/nccl_clique.h"
#include "emulated_cuda/nccl_group.h"
#include <string>
#include <vector>

using namespace mirrorscale::emulated_cuda;

namespace {

struct Waiting {  // until the group ends
  Ref<Seat> seat;
  cudaStream_t stream;
  bool is_transfer;
  Call call;
  Transfer transfer;
};

thread_local int depth = 0;
thread_local std::vector<Waiting> waiting;
thread_local std::vector<Ref<Seat>> joining;
thread_local ncclResult_t first_error = ncclSuccess;

ncclResult_t issue_all(std::vector<Waiting> all) {
  for (Waiting& one : all)
    if (!one.is_transfer)
      if (const auto error = issue(one.seat, one.stream, make_collective(one.seat, one.call), "a collective"))
        return error;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].is_transfer) continue;
    std::vector<Transfer> together;
    for (std::size_t j = i; j < all.size(); ++j)
      if (all[j].is_transfer && all[j].seat.get() == all[i].seat.get() && all[j].stream == all[i].stream) {
        together.push_back(all[j].transfer);
        if (j > i) all[j].is_transfer = false;
      }
    if (const auto error =
            issue(all[i].seat, all[i].stream, make_transfers(all[i].seat, std::move(together)), "a transfer"))
      return error;
  }
  return ncclSuccess;
}

ncclResult_t submit_one(Waiting one) {
  if (depth > 0) {
    waiting.push_back(std::move(one));
    return ncclSuccess;
  }
  std::vector<Waiting> all;
  all.push_back(std::move(one));
  return issue_all(std::move(all));
}

ncclResult_t remember(ncclResult_t result) {
  if (depth > 0 && result != ncclSuccess && first_error == ncclSuccess) first_error = result;
  return result;
}

ncclResult_t check(ncclComm_t comm, ncclDataType_t type) {
  if (!comm) return fail(ncclInvalidArgument, "the communicator is null");
  Seat& seat = *comm->seat;
  if (!is_known(type)) return fail(ncclInvalidArgument, "unknown data type");
  if (seat.aborted.load()) return fail(ncclInvalidUsage, "the communicator was aborted");
  const Guard guard(seat.clique->lock);
  if (seat.clique->joined < seat.clique->size && depth == 0)
    return fail(ncclInvalidUsage, "the communicator is not complete yet");
  return ncclSuccess;
}

ncclResult_t collective(ncclComm_t comm, cudaStream_t stream, const Call& call) {
  const Unseen unseen;
  if (const auto wrong = check(comm, call.type)) return remember(wrong);
  if (!is_known(call.op)) return remember(fail(ncclInvalidArgument, "unknown reduction"));
  if (call.root < 0 || call.root >= comm->seat->clique->size)
    return remember(fail(ncclInvalidArgument, "the root is no rank"));
  return remember(submit_one({comm->seat, stream, false, call, {}}));
}

ncclResult_t transfer(ncclComm_t comm, cudaStream_t stream, const Transfer& what) {
  const Unseen unseen;
  if (const auto wrong = check(comm, what.type)) return remember(wrong);
  if (what.peer < 0 || what.peer >= comm->seat->clique->size)
    return remember(fail(ncclInvalidArgument, "the peer is no rank"));
  return remember(submit_one({comm->seat, stream, true, {}, what}));
}

}  // namespace

namespace mirrorscale::emulated_cuda {

bool in_group() {
  return depth > 0;
}
void join_at_group_end(const Ref<Seat>& seat) {
  joining.push_back(seat);
}

ncclResult_t issue(const Ref<Seat>& seat, cudaStream_t handle, Ref<Operation> operation, const char* name) {
  const Stream stream = resolve(handle, name);
  if (!stream) return fail(ncclInvalidUsage, "the default stream is refused");
  if (stream->device != seat->device)
    return fail(ncclInvalidUsage, "the stream belongs to another device than the communicator");
  // A communicator runs one operation at a time, in the order of the calls, whatever streams they name.
  if (seat->last && seat->last_stream != stream->number && !stream->capture && !seat->last->done.load())
    push_wait(*stream, seat->last);
  if (submit(stream, std::move(operation))) return fail(ncclUnhandledCudaError, "the device has failed");
  if (!stream->capture) {
    seat->last = record_now(*stream);
    seat->last_stream = stream->number;
  }
  return ncclSuccess;
}

}  // namespace mirrorscale::emulated_cuda

extern "C" {

ncclResult_t ncclGroupStart() {
  if (depth++ == 0) first_error = ncclSuccess;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  const Unseen unseen;
  if (depth == 0) return fail(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  if (--depth > 0) return ncclSuccess;
  auto all = std::exchange(waiting, {});
  const auto seats = std::exchange(joining, {});
  if (first_error) return std::exchange(first_error, ncclSuccess);
  for (const Ref<Seat>& seat : seats)
    if (const auto error = wait_for_all(*seat)) return error;
  return issue_all(std::move(all));
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream) {
  return collective(comm, stream, {Collective::kAllReduce, send, receive, count, type, op, 0});
}

ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return collective(comm, stream, {Collective::kReduce, send, receive, count, type, op, root});
}

ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  return collective(comm, stream, {Collective::kBroadcast, send, receive, count, type, ncclSum, root});
}

ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  return collective(comm, stream, {Collective::kReduceScatter, send, receive, count, type, op, 0});
}

ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  return collective(comm, stream, {Collective::kAllGather, send, receive, count, type, ncclSum, 0});
}

ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return transfer(comm, stream, {true, send, nullptr, count, type, peer});
}

ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  return transfer(comm, stream, {false, nullptr, receive, count, type, peer});
}

}  // extern "C"
