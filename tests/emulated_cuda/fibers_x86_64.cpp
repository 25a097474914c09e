#include "emulated_cuda/fibers.h"

// Callee-saved registers only: 13 ns, where swapcontext takes 280 (it saves the signal mask by a system
// call).
extern "C" void mirrorscale_emulated_cuda_switch(void** save, void* to);
asm(R"(
.text
.globl mirrorscale_emulated_cuda_switch
.hidden mirrorscale_emulated_cuda_switch
.type mirrorscale_emulated_cuda_switch,@function
mirrorscale_emulated_cuda_switch:
  pushq %rbp; pushq %rbx; pushq %r12; pushq %r13; pushq %r14; pushq %r15
  movq %rsp,(%rdi)
  movq %rsi,%rsp
  popq %r15; popq %r14; popq %r13; popq %r12; popq %rbx; popq %rbp
  ret
.size mirrorscale_emulated_cuda_switch,.-mirrorscale_emulated_cuda_switch
.section .note.GNU-stack,"",@progbits
.text
)");

namespace mirrorscale::emulated_cuda {

void* prepare_stack(char* stack, std::size_t bytes, void (*entry)()) {
  void** top = reinterpret_cast<void**>(stack + bytes);
  *--top = nullptr;  // the alignment that a call would have left
  *--top = reinterpret_cast<void*>(entry);
  for (int reg = 0; reg < 6; ++reg) *--top = nullptr;
  return top;
}

void switch_stack(void** save, void* to) {
  mirrorscale_emulated_cuda_switch(save, to);
}

}  // namespace mirrorscale::emulated_cuda
