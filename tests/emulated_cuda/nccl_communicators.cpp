#include "emulated_cuda/nccl_group.h"
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>

using namespace mirrorscale::emulated_cuda;

namespace {

constexpr std::uint64_t kMagic = 0x6c636e64756d65;

/// The communicators that ranks may still join.
struct Lobby {
  Lock lock;
  std::uint32_t next = 1;
  std::map<std::uint32_t, Ref<Clique>> cliques;
};
Lobby& lobby() {
  static auto* const all = new Lobby;
  return *all;
}

thread_local char last_words[256] = "";

struct IdContent {
  std::uint64_t magic;
  std::uint32_t number;
};

Ref<Clique> clique_of(const ncclUniqueId& id, int size) {
  IdContent content{};
  std::memcpy(&content, id.internal, sizeof content);
  const Guard guard(lobby().lock);
  if (content.magic != kMagic || content.number >= lobby().next) return {};
  Ref<Clique>& clique = lobby().cliques[content.number];
  if (!clique) {
    clique = make_ref<Clique>();
    clique->size = size;
    clique->number = content.number;
    clique->devices.assign(static_cast<std::size_t>(size), -1);
    clique->aborted.assign(static_cast<std::size_t>(size), 0);
  }
  return clique;
}

/// Takes the seat; a second rank on one device spoils the communicator for all, as the real library refuses
/// it.
void sit_down(Seat& seat, int size) {
  Clique& clique = *seat.clique;
  released(&clique.join_tag);
  {
    const Guard guard(clique.lock);
    const auto same = std::find(clique.devices.begin(), clique.devices.end(), seat.device);
    if (size != clique.size || clique.devices[static_cast<std::size_t>(seat.rank)] >= 0)
      clique.refused = true;
    if (same != clique.devices.end()) {
      clique.refused = true;
      std::fprintf(stderr,
                   "emulated CUDA: Duplicate GPU detected : rank %d and rank %d both on CUDA device %d\n",
                   seat.rank, static_cast<int>(same - clique.devices.begin()), seat.device);
    }
    clique.devices[static_cast<std::size_t>(seat.rank)] = seat.device;
    ++clique.joined;
  }
  clique.change();
}

ncclResult_t init(ncclComm_t* made, int size, const ncclUniqueId& id, int rank, bool blocking) {
  if (!made || size < 1 || rank < 0 || rank >= size)
    return fail(ncclInvalidArgument, "the rank or the size is wrong");
  *made = nullptr;
  if (usable()) return fail(ncclUnhandledCudaError, "the device cannot be used");
  const Ref<Clique> clique = clique_of(id, size);
  if (!clique) return fail(ncclInvalidArgument, "the id is none that ncclGetUniqueId gave");
  if (rank >= clique->size) return fail(ncclInvalidArgument, "the ranks disagree on their number");
  auto seat = make_ref<Seat>();
  seat->clique = clique;
  seat->rank = rank;
  seat->device = current_device();
  seat->blocking = blocking;
  sit_down(*seat, size);
  {
    const Guard guard(everything().lock);
    ++everything().live.communicators;
  }
  *made = new ncclComm{seat};
  if (!blocking) return ncclInProgress;
  if (in_group()) {
    join_at_group_end(seat);
    return ncclSuccess;
  }
  return wait_for_all(*seat);
}

void stand_up(ncclComm_t comm) {
  Clique& clique = *comm->seat->clique;
  bool last = false;
  {
    const Guard guard(clique.lock);
    last = ++clique.left == clique.size;
  }
  if (last) {
    const Guard guard(lobby().lock);
    lobby().cliques.erase(clique.number);
  }
  delete comm;
  const Guard guard(everything().lock);
  --everything().live.communicators;
}

/// Waits for what the rank has issued, unless its device has failed.
void drain(Seat& seat) {
  if (seat.last && !device_of(seat.device).sticky.load()) wait_for(*seat.last, "ncclCommDestroy");
}

}  // namespace

namespace mirrorscale::emulated_cuda {

ncclResult_t fail(ncclResult_t result, const char* words) {
  std::snprintf(last_words, sizeof last_words, "%s", words);
  std::fprintf(stderr, "emulated CUDA: NCCL: %s\n", words);
  return result;
}

ncclResult_t wait_for_all(Seat& seat) {
  Clique& clique = *seat.clique;
  bool refused = false;
  wait_on(clique.changed, "ncclCommInitRank", [&] {
    const Guard guard(clique.lock);
    refused = clique.refused;
    return refused || clique.joined >= clique.size;
  });
  acquired(&clique.join_tag);
  return refused ? fail(ncclInvalidUsage,
                        "the ranks do not fit together: one GPU for each rank, one number of ranks")
                 : ncclSuccess;
}

}  // namespace mirrorscale::emulated_cuda

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const Unseen unseen;
  if (!id) return fail(ncclInvalidArgument, "no place for the id");
  std::memset(id, 0, sizeof *id);
  const Guard guard(lobby().lock);
  const IdContent content{kMagic, lobby().next++};
  std::memcpy(id->internal, &content, sizeof content);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int size, ncclUniqueId id, int rank) {
  const Unseen unseen;
  return init(comm, size, id, rank, true);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int size, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  const Unseen unseen;
  if (config && config->magic != 0xcafebeef)
    return fail(ncclInvalidArgument, "the config was not initialised");
  return init(comm, size, id, rank, !config || config->blocking != 0);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  const Unseen unseen;
  if (!comms || count < 1) return fail(ncclInvalidArgument, "no communicator asked for");
  const int before = current_device();
  for (int i = 0; i < count; ++i) {
    const int device = devices ? devices[i] : i;
    if (static_cast<std::uint32_t>(device) >= everything().device_count.load() || device < 0)
      return fail(driver_state() ? ncclUnhandledCudaError : ncclInvalidArgument, "no such device");
    for (int j = 0; j < i; ++j)
      if ((devices ? devices[j] : j) == device) return fail(ncclInvalidUsage, "Duplicate GPU detected");
  }
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclGroupStart();
  ncclResult_t result = ncclSuccess;
  for (int rank = 0; rank < count && result == ncclSuccess; ++rank) {
    set_current_device(devices ? devices[rank] : rank);
    result = init(&comms[rank], count, id, rank, true);
  }
  set_current_device(before);
  const ncclResult_t end = result == ncclSuccess ? ncclGroupEnd() : result;
  return end;
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) {
  const Unseen unseen;
  if (!comm) return fail(ncclInvalidArgument, "the communicator is null");
  drain(*comm->seat);
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  const Unseen unseen;
  if (!comm) return ncclSuccess;
  drain(*comm->seat);
  stand_up(comm);
  return ncclSuccess;
}

/// Frees this rank's streams at once; its peers wait on, until each aborts for itself.
ncclResult_t ncclCommAbort(ncclComm_t comm) {
  const Unseen unseen;
  if (!comm) return ncclSuccess;
  Clique& clique = *comm->seat->clique;
  comm->seat->aborted.store(1);
  {
    const Guard guard(clique.lock);
    clique.aborted[static_cast<std::size_t>(comm->seat->rank)] = 1;
  }
  clique.change();
  stand_up(comm);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  const Unseen unseen;
  if (!comm || !error) return fail(ncclInvalidArgument, "the communicator is null");
  Seat& seat = *comm->seat;
  *error = static_cast<ncclResult_t>(seat.async_error.load());
  if (*error != ncclSuccess) return ncclSuccess;
  if (device_of(seat.device).sticky.load()) {
    *error = ncclUnhandledCudaError;
    return ncclSuccess;
  }
  const Guard guard(seat.clique->lock);
  if (seat.clique->refused)
    *error = ncclInvalidUsage;
  else if (seat.clique->joined < seat.clique->size)
    *error = ncclInProgress;
  else if (std::count(seat.clique->aborted.begin(), seat.clique->aborted.end(), 1) > 0)
    *error = ncclRemoteError;
  else
    acquired(&seat.clique->join_tag);
  return ncclSuccess;
}

ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
  if (!comm) return fail(ncclInvalidArgument, "the communicator is null");
  *count = comm->seat->clique->size;
  return ncclSuccess;
}

ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
  if (!comm) return fail(ncclInvalidArgument, "the communicator is null");
  *rank = comm->seat->rank;
  return ncclSuccess;
}

ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
  if (!comm) return fail(ncclInvalidArgument, "the communicator is null");
  *device = comm->seat->device;
  return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
  switch (result) {
    case ncclSuccess:
      return "no error";
    case ncclUnhandledCudaError:
      return "unhandled cuda error (run with NCCL_DEBUG=INFO for details)";
    case ncclSystemError:
      return "unhandled system error (run with NCCL_DEBUG=INFO for details)";
    case ncclInternalError:
      return "internal error - please report this issue to the NCCL developers";
    case ncclInvalidArgument:
      return "invalid argument (run with NCCL_DEBUG=WARN for details)";
    case ncclInvalidUsage:
      return "invalid usage (run with NCCL_DEBUG=WARN for details)";
    case ncclRemoteError:
      return "remote process exited or there was a network error";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "unknown result code";
  }
}

const char* ncclGetLastError(ncclComm_t) {
  return last_words;
}

ncclResult_t ncclMemAlloc(void** p, size_t bytes) {
  return cudaMalloc(p, bytes) ? fail(ncclUnhandledCudaError, "no memory") : ncclSuccess;
}

ncclResult_t ncclMemFree(void* p) {
  return cudaFree(p) ? fail(ncclUnhandledCudaError, "the memory could not be freed") : ncclSuccess;
}

ncclResult_t ncclCommRegister(const ncclComm_t comm, void* buffer, size_t bytes, void** handle) {
  const Unseen unseen;
  if (!comm || !handle || !may_touch(comm->seat->device, buffer, bytes))
    return fail(ncclInvalidArgument, "only memory of the communicator's device can be registered");
  *handle = buffer;
  return ncclSuccess;
}

ncclResult_t ncclCommDeregister(const ncclComm_t, void*) {
  return ncclSuccess;
}

}  // extern "C"
