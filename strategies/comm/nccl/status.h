#pragma once
#include "kernels/cuda/place.h"

#include <nccl.h>
#include <string>

namespace mirrorscale::strategies::nccl {

/// "code 6, remote process exited …", with NCCL's own last message where there is one.
std::string text_of(ncclResult_t status, ncclComm_t comm = nullptr);

/// Throws std::runtime_error for every status but ncclSuccess and ncclInProgress; `doing` says what we
/// wanted.
void check(ncclResult_t status, const char* doing, ncclComm_t comm = nullptr,
           kernels::cuda::Place where = kernels::cuda::Place::current());

/// For destructors: one line on standard error, nothing thrown.
void report(ncclResult_t status, const char* doing) noexcept;

inline bool failed(ncclResult_t status) {
  return status != ncclSuccess && status != ncclInProgress;
}

/// The first failure of several NCCL calls.
class Statuses {
 public:
  void add(ncclResult_t status) {
    if (!failed(first_)) first_ = status;
  }
  ncclResult_t first() const { return first_; }

 private:
  ncclResult_t first_ = ncclSuccess;
};

}  // namespace mirrorscale::strategies::nccl
