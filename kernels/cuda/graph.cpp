#include "kernels/cuda/graph.h"

#include "kernels/cuda/owned.h"

namespace mirrorscale::kernels::cuda {
namespace {

using Graph = Owned<cudaGraph_t, cudaGraphDestroy>;
using GraphExec = Owned<cudaGraphExec_t, cudaGraphExecDestroy>;

class RecordedGraph final : public RecordedOps {
 public:
  RecordedGraph(cudaStream_t stream, GraphExec graph) : stream_(stream), graph_(std::move(graph)) {}
  void replay() override { check(cudaGraphLaunch(graph_.get(), stream_), "launch a graph"); }

 private:
  cudaStream_t stream_;
  GraphExec graph_;
};

}  // namespace

std::unique_ptr<RecordedOps> record_graph(cudaStream_t stream, const std::function<void()>& body) {
  // Other threads may allocate and wait meanwhile: their devices are others.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "begin to record a graph");
  cudaGraph_t raw{};
  try {
    body();
  } catch (...) {
    if (cudaStreamEndCapture(stream, &raw) == cudaSuccess) Graph(raw).reset();
    throw;
  }
  check(cudaStreamEndCapture(stream, &raw), "end the recording of a graph");
  const Graph graph(raw);
  cudaGraphExec_t exec{};
  check(cudaGraphInstantiate(&exec, graph.get(), 0), "make a graph ready to run");
  return std::make_unique<RecordedGraph>(stream, GraphExec(exec));
}

}  // namespace mirrorscale::kernels::cuda
