#include "strategies/comm/nccl/status.h"

#include <cstdio>
#include <stdexcept>

namespace mirrorscale::strategies::nccl {
namespace {

std::string place(kernels::cuda::Place where) {
  const std::string file = where.file;
  const auto start = file.rfind("/strategies/");  // the same text wherever the sources lie
  return " [" + (start == std::string::npos ? file : file.substr(start + 1)) + ":" +
         std::to_string(where.line) + "]";
}

}  // namespace

std::string text_of(ncclResult_t status, ncclComm_t comm) {
  std::string text = "code " + std::to_string(static_cast<int>(status)) + ", " + ncclGetErrorString(status);
  const char* last = ncclGetLastError(comm);
  if (last && *last) text += std::string(" (") + last + ")";
  return text;
}

void check(ncclResult_t status, const char* doing, ncclComm_t comm, kernels::cuda::Place where) {
  if (!failed(status)) return;
  throw std::runtime_error(std::string("[nccl] could not ") + doing + ": " + text_of(status, comm) +
                           place(where));
}

void report(ncclResult_t status, const char* doing) noexcept {
  if (!failed(status)) return;
  std::fprintf(stderr, "mirrorscale: NCCL could not %s: code %d, %s\n", doing, static_cast<int>(status),
               ncclGetErrorString(status));
}

}  // namespace mirrorscale::strategies::nccl
