#pragma once

#include "emulated_cuda/nccl_clique.h"

namespace mirrorscale::emulated_cuda {

/// The calling thread is between ncclGroupStart and ncclGroupEnd.
bool in_group();
/// The group's end waits until all ranks of this seat's communicator are there.
void join_at_group_end(const Ref<Seat>& seat);
ncclResult_t wait_for_all(Seat& seat);

}  // namespace mirrorscale::emulated_cuda
