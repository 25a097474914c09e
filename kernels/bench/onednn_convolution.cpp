#include "kernels/bench/convolution_peers.h"

#include <algorithm>
#include <dlfcn.h>
#include <dnnl.hpp>
#include <memory>
#include <unordered_map>

namespace mirrorscale::kernels::bench {
namespace {

using dnnl::memory;

/// Memory of a layout, filled.
memory filled(const memory::desc& layout, const dnnl::engine& engine) {
  memory m(layout, engine);
  auto* values = static_cast<float*>(m.get_data_handle());
  for (std::size_t i = 0; i < layout.get_size() / sizeof(float); ++i)
    values[i] = static_cast<float>(i % 17) / 16 - 0.5F;
  return m;
}

int behind(const WindowAxis& a) {
  return std::max(0, (a.out - 1) * a.stride + (a.size - 1) * a.dilation + 1 - a.in - a.pad);
}

}  // namespace

std::function<void()> onednn_convolution(const Convolution& g, int samples, ConvolutionPass pass) {
  // oneDNN's own threads are OpenMP's.
  if (const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"))) set(1);
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  static dnnl::stream stream(engine);
  const auto any = [](memory::dims dims) {
    return memory::desc(std::move(dims), memory::data_type::f32, memory::format_tag::any);
  };
  const auto &y = g.window.y, &x = g.window.x;
  const memory::desc from = any({samples, g.channels, y.in, x.in}),
                     to = any({samples, g.filters, y.out, x.out}),
                     kernel = any({g.filters, g.channels, y.size, x.size});
  const memory::dims stride{y.stride, x.stride}, dilation{y.dilation - 1, x.dilation - 1},
      before{y.pad, x.pad}, after{behind(y), behind(x)};
  const auto method = dnnl::algorithm::convolution_direct;
  const dnnl::convolution_forward::primitive_desc forward(
      dnnl::convolution_forward::desc(dnnl::prop_kind::forward_training, method, from, kernel, to, stride,
                                      dilation, before, after),
      engine);
  const auto run = [](const dnnl::primitive& primitive, std::unordered_map<int, memory> arguments) {
    return [primitive, arguments = std::move(arguments)] {
      primitive.execute(stream, arguments);
      stream.wait();
    };
  };
  if (pass == ConvolutionPass::kForward) {
    return run(dnnl::convolution_forward(forward),
               {{DNNL_ARG_SRC, filled(forward.src_desc(), engine)},
                {DNNL_ARG_WEIGHTS, filled(forward.weights_desc(), engine)},
                {DNNL_ARG_DST, filled(forward.dst_desc(), engine)}});
  }
  if (pass == ConvolutionPass::kInputGradient) {
    const dnnl::convolution_backward_data::primitive_desc how(
        dnnl::convolution_backward_data::desc(method, from, kernel, to, stride, dilation, before, after),
        engine, forward);
    return run(dnnl::convolution_backward_data(how),
               {{DNNL_ARG_DIFF_SRC, filled(how.diff_src_desc(), engine)},
                {DNNL_ARG_WEIGHTS, filled(how.weights_desc(), engine)},
                {DNNL_ARG_DIFF_DST, filled(how.diff_dst_desc(), engine)}});
  }
  const dnnl::convolution_backward_weights::primitive_desc how(
      dnnl::convolution_backward_weights::desc(method, from, kernel, to, stride, dilation, before, after),
      engine, forward);
  return run(dnnl::convolution_backward_weights(how),
             {{DNNL_ARG_SRC, filled(how.src_desc(), engine)},
              {DNNL_ARG_DIFF_WEIGHTS, filled(how.diff_weights_desc(), engine)},
              {DNNL_ARG_DIFF_DST, filled(how.diff_dst_desc(), engine)}});
}

}  // namespace mirrorscale::kernels::bench
