// kernels/cuda/order.h again, linked in front of the engine's own: leaves out the wait that
// MIRRORSCALE_TEST_REMOVED_WAIT names ("cuda/input_queue.cpp:29"). "list" leaves out none and prints each
// place at its first use.
#include "kernels/cuda/order.h"
#include "kernels/cuda/status.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string>

namespace mirrorscale::kernels::cuda {
namespace {

std::string name_of(const Place& where) {
  const std::string path = where.file;
  const auto file = path.rfind('/');
  return path.substr(path.rfind('/', file - 1) + 1) + ":" + std::to_string(where.line);
}

/// A lock would be an order of its own, and hide from ThreadSanitizer what is looked for: only "list" takes
/// one.
bool removed(const Place& where) {
  static const char* const wanted = std::getenv("MIRRORSCALE_TEST_REMOVED_WAIT");
  if (wanted == nullptr) return false;
  const std::string name = name_of(where);
  if (std::string(wanted) != "list") return name == wanted;
  static std::mutex mutex;
  static std::set<std::string> seen;
  const std::lock_guard lock(mutex);
  if (seen.insert(name).second) std::printf("wait %s\n", name.c_str());
  return false;
}

}  // namespace

void set_mark(cudaEvent_t mark, cudaStream_t stream) {
  check(cudaEventRecord(mark, stream), "record an event");
}
void wait_for_mark(cudaStream_t stream, cudaEvent_t mark, Place where) {
  if (!removed(where)) check(cudaStreamWaitEvent(stream, mark, 0), "make a stream wait for an event", where);
}
void wait_on_host(cudaEvent_t mark, Place where) {
  if (!removed(where)) check(cudaEventSynchronize(mark), "wait for an event", where);
}
void order_after(cudaStream_t later, cudaStream_t earlier, cudaEvent_t mark, Place where) {
  set_mark(mark, earlier);
  wait_for_mark(later, mark, where);
}

}  // namespace mirrorscale::kernels::cuda
