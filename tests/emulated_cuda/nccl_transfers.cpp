#include "emulated_cuda/nccl_clique.h"
#include <cstdio>
#include <cstring>

namespace mirrorscale::emulated_cuda {
namespace {

/// False when the buffer is not the device's.
bool post(Seat& seat, const Transfer& transfer, std::vector<Ref<Message>>& posted) {
  const std::size_t bytes = transfer.count * width_of(transfer.type);
  {
    const Unseen unseen;
    if (bytes > 0 && !may_touch(seat.device, transfer.send, bytes)) return false;
  }
  reads(transfer.send, bytes);
  const Unseen unseen;
  auto message = make_ref<Message>();
  const auto* from = static_cast<const unsigned char*>(transfer.send);
  if (bytes > 0) message->content.assign(from, from + bytes);
  message->type = transfer.type;
  released(&message->tag);
  posted.push_back(message);
  {
    const Guard guard(seat.clique->lock);
    seat.clique->mail[{seat.rank, transfer.peer}].push_back(message);
  }
  seat.clique->change();
  return true;
}

bool fetch(Seat& seat, const Transfer& transfer) {
  const std::size_t bytes = transfer.count * width_of(transfer.type);
  Ref<Message> message;
  {
    const Unseen unseen;
    if (bytes > 0 && !may_touch(seat.device, transfer.receive, bytes)) return false;
    const bool came = wait_in(seat, [&] {
      auto& queue = seat.clique->mail[{transfer.peer, seat.rank}];
      if (queue.empty()) return false;
      message = queue.front();
      queue.pop_front();
      return true;
    });
    if (!came) return true;
    acquired(&message->tag);
  }
  if (bytes > 0) writes(transfer.receive, bytes);
  const Unseen unseen;
  if (message->content.size() == bytes && message->type == transfer.type) {
    if (bytes > 0) std::memcpy(transfer.receive, message->content.data(), bytes);
  } else {
    std::fprintf(
        stderr,
        "emulated CUDA: ranks disagree: rank %d sends %zu bytes of type %d, rank %d expects %zu of %d\n",
        transfer.peer, message->content.size(), message->type, seat.rank, bytes, transfer.type);
    seat.async_error.store(ncclInvalidUsage);
    if (bytes > 0) std::memset(transfer.receive, 0xff, bytes);
  }
  {
    const Guard guard(seat.clique->lock);
    message->taken = true;
  }
  seat.clique->change();
  return true;
}

cudaError_t run(Seat& seat, const std::vector<Transfer>& transfers) {
  std::vector<Ref<Message>> posted;
  {
    const Unseen unseen;
    if (seat.aborted.load()) return cudaSuccess;
    const CollectiveStrike strike = count_collective(device_of(seat.device));
    if (strike.swallowed) return cudaSuccess;
    if (strike.fails) {
      seat.async_error.store(ncclRemoteError);
      wait_in(seat, [] { return false; });
      return cudaSuccess;
    }
    posted.reserve(transfers.size());
  }
  for (const Transfer& transfer : transfers)
    if (transfer.sends && !post(seat, transfer, posted)) return cudaErrorIllegalAddress;
  for (const Transfer& transfer : transfers)
    if (!transfer.sends && !fetch(seat, transfer)) return cudaErrorIllegalAddress;
  const Unseen unseen;
  // A message without a receiver holds its stream, as a large one does on a real device.
  for (const Ref<Message>& message : posted)
    if (!wait_in(seat, [&] { return message->taken; })) break;
  posted = {};
  return cudaSuccess;
}

}  // namespace

Ref<Operation> make_transfers(const Ref<Seat>& seat, std::vector<Transfer> transfers) {
  std::string peers = "rank " + std::to_string(seat->rank) + ":";
  for (const Transfer& transfer : transfers)
    peers += (transfer.sends ? " to " : " from ") + std::to_string(transfer.peer);
  auto operation = make_operation(Kind::kCollective, "ncclSend/ncclRecv",
                                  [seat, transfers = std::move(transfers)] { return run(*seat, transfers); });
  operation->explain = [peers] { return peers; };
  return operation;
}

}  // namespace mirrorscale::emulated_cuda
