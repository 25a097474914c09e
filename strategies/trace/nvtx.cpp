#include "strategies/trace/range.h"

#include <nvtx3/nvToolsExt.h>
#include <pthread.h>
#include <string>
#include <sys/syscall.h>
#include <unistd.h>

namespace mirrorscale::strategies {
namespace {

/// Every use of NVTX comes by here first: one thread then initialises it (NVTX's own way is a data race), and
/// the others see that.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t handle = nvtxDomainCreateA("mirrorscale");
  return handle;
}

}  // namespace

TraceRange::TraceRange(const char* name) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = name;
  nvtxDomainRangePushEx(domain(), &event);
}

TraceRange::~TraceRange() {
  nvtxDomainRangePop(domain());
}

bool trace_available() {
  return true;
}

void name_this_thread(std::string_view name) {
  const std::string text(name.substr(0, 15));
  pthread_setname_np(pthread_self(), text.c_str());
  domain();
  nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), text.c_str());
}

}  // namespace mirrorscale::strategies
