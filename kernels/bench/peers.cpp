#include "kernels/bench/peers.h"

#include <dlfcn.h>

namespace mirrorscale::kernels::bench {
namespace {

using Sgemm = void (*)(int order, int transpose_a, int transpose_b, int m, int n, int k, float alpha,
                       const float* a, int lda, const float* b, int ldb, float beta, float* c, int ldc);
enum { kRowMajor = 101, kNoTranspose = 111, kTranspose = 112 };  // of every CBLAS

struct Library {
  const char* name;
  std::vector<const char*> files;
  const char* set_threads;  // void (int)
};

}  // namespace

RowMajor row_major(const Shape& s, const Operands& o) {
  return {.a = s.pass == Pass::kInputGradient ? o.dy.get() : o.x.get(),
          .b = s.pass == Pass::kWeightGradient ? o.dy.get() : o.w.get(),
          .transpose_a = s.pass == Pass::kWeightGradient,
          .transpose_b = s.pass == Pass::kInputGradient,
          .lda = s.pass == Pass::kInputGradient ? s.out : s.in,
          .ldb = s.out};
}

std::vector<Peer> blas_peers() {
  const Library libraries[] = {
      {"OpenBLAS", {"libopenblas.so.0", "libopenblas.so"}, "openblas_set_num_threads"},
      {"BLIS", {"libblis.so.4", "libblis.so"}, "bli_thread_set_num_threads"},
  };
  std::vector<Peer> found;
  for (const Library& library : libraries) {
    void* handle = nullptr;
    for (const char* file : library.files) {
      if (handle == nullptr) handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    }
    if (handle == nullptr) continue;
    const auto sgemm = reinterpret_cast<Sgemm>(dlsym(handle, "cblas_sgemm"));
    if (sgemm == nullptr) continue;
    if (const auto set = reinterpret_cast<void (*)(int)>(dlsym(handle, library.set_threads))) set(1);
    found.push_back({library.name, [sgemm](const Shape& s, const Operands& o) {
                       const RowMajor r = row_major(s, o);
                       sgemm(kRowMajor, r.transpose_a ? kTranspose : kNoTranspose,
                             r.transpose_b ? kTranspose : kNoTranspose, s.m(), s.n(), s.k(), 1, r.a, r.lda,
                             r.b, r.ldb, 0, o.result.get(), s.n());
                     }});
  }
  return found;
}

}  // namespace mirrorscale::kernels::bench
