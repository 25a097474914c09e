#include "emulated_cuda/nccl_clique.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>

namespace mirrorscale::emulated_cuda {
namespace {

const char* name_of(Collective what) {
  switch (what) {
    case Collective::kAllReduce:
      return "ncclAllReduce";
    case Collective::kBroadcast:
      return "ncclBroadcast";
    case Collective::kReduce:
      return "ncclReduce";
    case Collective::kReduceScatter:
      return "ncclReduceScatter";
    case Collective::kAllGather:
      return "ncclAllGather";
  }
  return "a collective";
}

bool same(const Call& a, const Call& b) {
  return a.what == b.what && a.count == b.count && a.type == b.type && a.op == b.op && a.root == b.root;
}

std::string words_of(const Call& call) {
  return std::string(name_of(call.what)) + " of " + std::to_string(call.count) + " elements, type " +
         std::to_string(call.type) + ", operation " + std::to_string(call.op) + ", root " +
         std::to_string(call.root);
}

/// One rank's view of one collective.
class Taking {
 public:
  Taking(Seat& seat, const Call& call) : seat_(seat), clique_(*seat.clique), call_(call) {
    const std::size_t width = width_of(call.type), ranks = static_cast<std::size_t>(clique_.size);
    const bool gives = call.what != Collective::kBroadcast || seat.rank == call.root;
    const bool gets = call.what != Collective::kReduce || seat.rank == call.root;
    in_bytes_ = gives ? call.count * width * (call.what == Collective::kReduceScatter ? ranks : 1) : 0;
    out_bytes_ = gets ? call.count * width * (call.what == Collective::kAllGather ? ranks : 1) : 0;
  }

  cudaError_t run(std::uint64_t number) {
    {
      const Unseen unseen;
      if (!buffer_allowed("send", call_.send, in_bytes_) ||
          !buffer_allowed("receive", call_.receive, out_bytes_))
        return cudaErrorIllegalAddress;
    }
    reads(call_.send, in_bytes_);
    if (!meet(number)) return cudaSuccess;
    if (out_bytes_ > 0) writes(call_.receive, out_bytes_);
    const Unseen unseen;
    take_result();
    leave(number);
    return cudaSuccess;
  }

 private:
  bool buffer_allowed(const char* which, const void* p, std::size_t bytes) const {
    if (bytes == 0 || may_touch(seat_.device, p, bytes)) return true;
    std::fprintf(stderr,
                 "emulated CUDA: %s, rank %d: the %s buffer (%p, %zu bytes) is no memory of device %d\n",
                 name_of(call_.what), seat_.rank, which, p, bytes, seat_.device);
    return false;
  }

  /// Brings what this rank gives, and waits for all; false when aborted.
  bool meet(std::uint64_t number) {
    const Unseen unseen;
    {
      const Guard guard(clique_.lock);
      Ref<Meeting>& meeting = clique_.meetings[number];
      if (!meeting) {
        const auto ranks = static_cast<std::size_t>(clique_.size);
        meeting = make_ref<Meeting>();
        meeting->calls.resize(ranks);
        meeting->arrived.resize(ranks);
        meeting->brought.resize(ranks);
        meeting->tags.resize(ranks);
      }
      meeting_ = meeting;
    }
    const auto rank = static_cast<std::size_t>(seat_.rank);
    const auto* from = static_cast<const unsigned char*>(call_.send);
    if (in_bytes_ > 0) meeting_->brought[rank].assign(from, from + in_bytes_);
    released(&meeting_->tags[rank]);
    {
      const Guard guard(clique_.lock);
      meeting_->calls[rank] = call_;
      meeting_->arrived[rank] = true;
      if (++meeting_->present == clique_.size) compare();
    }
    clique_.change();
    if (!wait_in(seat_, [&] { return meeting_->present == clique_.size; })) return false;
    order();
    if (meeting_->disagree) {
      seat_.async_error.store(ncclInvalidUsage);
      return true;
    }
    return call_.what != Collective::kAllReduce || reduce_together();
  }

  void compare() {
    for (std::size_t rank = 1; rank < meeting_->calls.size(); ++rank) {
      if (same(meeting_->calls[rank], meeting_->calls[0])) continue;
      meeting_->disagree = true;
      std::fprintf(stderr, "emulated CUDA: ranks disagree: rank 0 calls %s; rank %zu calls %s\n",
                   words_of(meeting_->calls[0]).c_str(), rank, words_of(meeting_->calls[rank]).c_str());
      return;
    }
  }

  /// Only what the data imply: whoever receives comes after those whose data it got.
  void order() {
    const bool from_root = call_.what == Collective::kBroadcast;
    const bool to_root = call_.what == Collective::kReduce;
    for (std::size_t rank = 0; rank < meeting_->tags.size(); ++rank) {
      const bool is_root = static_cast<int>(rank) == call_.root;
      if ((from_root && !is_root) || (to_root && seat_.rank != call_.root)) continue;
      acquired(&meeting_->tags[rank]);
    }
  }

  /// Each rank reduces a part for all, so that all get the same bits and nobody works twice.
  bool reduce_together() {
    const auto ranks = static_cast<std::size_t>(clique_.size), rank = static_cast<std::size_t>(seat_.rank);
    const std::size_t width = width_of(call_.type);
    {
      const Guard guard(clique_.lock);
      meeting_->result.resize(call_.count * width);
    }
    const std::size_t from = call_.count * rank / ranks, to = call_.count * (rank + 1) / ranks;
    reduce(meeting_->brought, from, to - from, call_.type, call_.op, meeting_->result.data() + from * width);
    {
      const Guard guard(clique_.lock);
      ++meeting_->reduced;
    }
    clique_.change();
    return wait_in(seat_, [&] { return meeting_->reduced == clique_.size; });
  }

  void take_result() const {
    if (out_bytes_ == 0) return;
    auto* to = static_cast<unsigned char*>(call_.receive);
    if (meeting_->disagree) {
      std::memset(to, 0xff, out_bytes_);
      return;
    }
    const std::size_t part = call_.count * width_of(call_.type);
    switch (call_.what) {
      case Collective::kAllReduce:
        std::memcpy(to, meeting_->result.data(), out_bytes_);
        break;
      case Collective::kBroadcast:
        std::memcpy(to, meeting_->brought[static_cast<std::size_t>(call_.root)].data(), out_bytes_);
        break;
      case Collective::kReduce:
        reduce(meeting_->brought, 0, call_.count, call_.type, call_.op, to);
        break;
      case Collective::kReduceScatter:
        reduce(meeting_->brought, static_cast<std::size_t>(seat_.rank) * call_.count, call_.count, call_.type,
               call_.op, to);
        break;
      case Collective::kAllGather:
        for (std::size_t rank = 0; rank < meeting_->brought.size(); ++rank)
          std::memcpy(to + rank * part, meeting_->brought[rank].data(), part);
        break;
    }
  }

  void leave(std::uint64_t number) {
    const Guard guard(clique_.lock);
    if (++meeting_->finished == clique_.size) clique_.meetings.erase(number);
  }

  Seat& seat_;
  Clique& clique_;
  const Call& call_;
  Ref<Meeting> meeting_;
  std::size_t in_bytes_ = 0, out_bytes_ = 0;
};

/// For the hang report: who has not come.
std::string missing(Seat& seat) {
  const std::uint32_t number = seat.meeting.load();
  if (number == 0) return "not in a meeting";
  const Guard guard(seat.clique->lock);
  const auto found = seat.clique->meetings.find(number - 1);
  std::string text = "communicator " + std::to_string(seat.clique->number) + ", rank " +
                     std::to_string(seat.rank) + " of " + std::to_string(seat.clique->size) +
                     ", collective " + std::to_string(number) + ", not there: rank";
  if (found == seat.clique->meetings.end()) return text + "s unknown";
  for (std::size_t rank = 0; rank < found->second->arrived.size(); ++rank)
    if (!found->second->arrived[rank]) text += " " + std::to_string(rank);
  return text;
}

}  // namespace

Ref<Operation> make_collective(const Ref<Seat>& seat, const Call& call) {
  auto operation = make_operation(Kind::kCollective, name_of(call.what), [seat, call] {
    const std::uint64_t number = seat->next_meeting++;
    CollectiveStrike strike;
    {
      const Unseen unseen;
      if (seat->aborted.load()) return cudaSuccess;
      strike = count_collective(device_of(seat->device));
      if (strike.swallowed) {
        std::fprintf(stderr, "emulated CUDA: injected fault: rank %d (device %d) never joins %s\n",
                     seat->rank, seat->device, words_of(call).c_str());
        return cudaSuccess;
      }
      seat->meeting.store(static_cast<std::uint32_t>(number + 1));
      if (strike.fails) {
        seat->async_error.store(ncclRemoteError);
        wait_in(*seat, [] { return false; });
        return cudaSuccess;
      }
    }
    const cudaError_t error = Taking(*seat, call).run(number);
    seat->meeting.store(0);
    return error;
  });
  operation->explain = [seat] { return missing(*seat); };
  return operation;
}

}  // namespace mirrorscale::emulated_cuda
