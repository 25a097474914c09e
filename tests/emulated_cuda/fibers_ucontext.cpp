#include "emulated_cuda/fibers.h"
#include <ucontext.h>

namespace mirrorscale::emulated_cuda {

// For machines without a switch of their own; right, and twenty times slower. A context lives at the top of
// the stack it describes, that of an OS thread is never freed.
void* prepare_stack(char* stack, std::size_t bytes, void (*entry)()) {
  auto* context = reinterpret_cast<ucontext_t*>(
      (reinterpret_cast<std::size_t>(stack) + bytes - sizeof(ucontext_t)) & ~std::size_t{63});
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = static_cast<std::size_t>(reinterpret_cast<char*>(context) - stack);
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
  return context;
}

void switch_stack(void** save, void* to) {
  if (!*save) *save = new ucontext_t{};
  swapcontext(static_cast<ucontext_t*>(*save), static_cast<ucontext_t*>(to));
}

}  // namespace mirrorscale::emulated_cuda
