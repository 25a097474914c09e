#include "kernels/bench/peers.h"

#include <dlfcn.h>
#include <dnnl.hpp>
#include <map>
#include <memory>
#include <tuple>

namespace mirrorscale::kernels::bench {
namespace {

/// Primitives made once a shape: only execution is timed.
class Matmul {
 public:
  void operator()(const Shape& s, const Operands& o) {
    using dnnl::memory;
    const RowMajor r = row_major(s, o);
    const auto f32 = memory::data_type::f32;
    const memory::desc a({s.m(), s.k()}, f32,
                         r.transpose_a ? memory::dims{1, r.lda} : memory::dims{r.lda, 1});
    const memory::desc b({s.k(), s.n()}, f32,
                         r.transpose_b ? memory::dims{1, r.ldb} : memory::dims{r.ldb, 1});
    const memory::desc c({s.m(), s.n()}, f32, memory::dims{s.n(), 1});
    const auto key = std::tuple(s.pass, s.batch, s.in, s.out);
    auto it = made_.find(key);
    if (it == made_.end()) {
      const dnnl::matmul::primitive_desc how(dnnl::matmul::desc(a, b, c), engine_);
      it = made_.emplace(key, dnnl::matmul(how)).first;
    }
    it->second.execute(stream_, {{DNNL_ARG_SRC, memory(a, engine_, const_cast<float*>(r.a))},
                                 {DNNL_ARG_WEIGHTS, memory(b, engine_, const_cast<float*>(r.b))},
                                 {DNNL_ARG_DST, memory(c, engine_, o.result.get())}});
    stream_.wait();
  }

 private:
  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::map<std::tuple<Pass, int, int, int>, dnnl::matmul> made_;
};

}  // namespace

std::vector<Peer> onednn_peers() {
  // oneDNN's own threads are OpenMP's.
  if (const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(1);
  const auto sgemm = [](const Shape& s, const Operands& o) {
    const RowMajor r = row_major(s, o);
    dnnl_sgemm(r.transpose_a ? 'T' : 'N', r.transpose_b ? 'T' : 'N', s.m(), s.n(), s.k(), 1, r.a, r.lda, r.b,
               r.ldb, 0, o.result.get(), s.n());
  };
  const auto matmul = std::make_shared<Matmul>();
  return {{"oneDNN sgemm", sgemm},
          {"oneDNN matmul", [matmul](const Shape& s, const Operands& o) { (*matmul)(s, o); }}};
}

}  // namespace mirrorscale::kernels::bench
