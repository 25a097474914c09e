#include "emulated_cuda/capture.h"
#include <memory>

using namespace mirrorscale::emulated_cuda;

struct CUgraph_st {
  Steps content;
};

/// Lane 0 is the stream that launches; each further lane keeps a thread, so that branches run at the same
/// time and a missing dependency between them shows.
struct CUgraphExec_st {
  Steps content;
  int device = 0;
  std::vector<Stream> lanes;
};

namespace mirrorscale::emulated_cuda {

cudaError_t make_graph(Steps steps, cudaGraph_t* graph) {
  *graph = new CUgraph_st{std::move(steps)};
  const Guard guard(everything().lock);
  ++everything().live.graphs;
  return cudaSuccess;
}

namespace {

void count_graphs(std::uint64_t change) {
  const Guard guard(everything().lock);
  everything().live.graphs += change;
}

bool same_shape(const Steps& a, const Steps& b) {
  if (a.steps.size() != b.steps.size() || a.lanes != b.lanes || a.events != b.events) return false;
  for (std::size_t i = 0; i < a.steps.size(); ++i) {
    const Step &x = a.steps[i], &y = b.steps[i];
    if (x.what != y.what || x.lane != y.lane || x.event != y.event) return false;
    if (x.operation && x.operation->kind != y.operation->kind) return false;
  }
  return true;
}

cudaError_t instantiate(cudaGraphExec_t* exec, cudaGraph_t graph) {
  if (const auto state = usable()) return state;
  if (!graph) return cudaErrorInvalidValue;
  auto made = std::make_unique<CUgraphExec_st>();
  made->content = graph->content;
  made->device = made->content.lanes.empty() ? current_device() : made->content.lanes.front();
  for (std::size_t lane = 1; lane < made->content.lanes.size(); ++lane) {
    made->lanes.push_back(start_stream(made->content.lanes[lane], cudaStreamNonBlocking, 0));
    const Guard guard(everything().lock);
    device_of(made->content.lanes[lane]).streams.push_back(made->lanes.back());
  }
  *exec = made.release();
  count_graphs(1);
  return cudaSuccess;
}

cudaError_t launch(CUgraphExec_st& exec, CUstream_st& stream) {
  if (const auto sticky = device_of(stream.device).sticky.load()) return static_cast<cudaError_t>(sticky);
  {
    const Guard guard(everything().lock);
    ++device_of(stream.device).counters.graph_launches;
  }
  std::vector<Ref<Instance>> events;
  for (int i = 0; i < exec.content.events; ++i) events.push_back(make_ref<Instance>());
  for (const Step& step : exec.content.steps) {
    CUstream_st& lane = step.lane == 0 ? stream : *exec.lanes[static_cast<std::size_t>(step.lane - 1)];
    switch (step.what) {
      case Step::What::kOperation:
        push_operation(lane, step.operation);
        break;
      case Step::What::kRecord:
        push_record(lane, events[static_cast<std::size_t>(step.event)]);
        break;
      case Step::What::kWait:
        push_wait(lane, events[static_cast<std::size_t>(step.event)]);
        break;
    }
  }
  return cudaSuccess;
}

}  // namespace
}  // namespace mirrorscale::emulated_cuda

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  const Unseen unseen;
  return report(make_graph({}, graph));
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  const Unseen unseen;
  return report(instantiate(exec, graph));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long) {
  const Unseen unseen;
  return report(instantiate(exec, graph));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t, cudaStream_t) {
  return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t handle) {
  const Unseen unseen;
  if (const auto state = usable()) return report(state);
  if (!exec) return report(cudaErrorInvalidValue);
  const Stream stream = resolve(handle, "cudaGraphLaunch");
  if (!stream || stream->device != exec->device) return report(cudaErrorInvalidResourceHandle);
  if (const auto refused = refuse_on_capturing(*stream)) return report(refused);
  return report(launch(*exec, *stream));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* result) {
  const Unseen unseen;
  if (!exec || !graph) return report(cudaErrorInvalidValue);
  const bool same = same_shape(exec->content, graph->content);
  if (result)
    *result = {same ? cudaGraphExecUpdateSuccess : cudaGraphExecUpdateErrorTopologyChanged, nullptr, nullptr};
  if (!same) return report(cudaErrorGraphExecUpdateFailure);
  exec->content = graph->content;
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  const Unseen unseen;
  if (!exec) return report(cudaErrorInvalidValue);
  for (const Stream& lane : exec->lanes) close_stream(*lane);
  delete exec;
  count_graphs(~std::uint64_t{0});
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  const Unseen unseen;
  if (!graph) return report(cudaErrorInvalidValue);
  delete graph;
  count_graphs(~std::uint64_t{0});
  return cudaSuccess;
}

/// Counts the operations; the handles themselves stand for nothing.
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  if (!graph || !count) return report(cudaErrorInvalidValue);
  std::size_t operations = 0;
  for (const Step& step : graph->content.steps) operations += step.what == Step::What::kOperation;
  for (std::size_t i = 0; nodes && i < *count; ++i) nodes[i] = nullptr;
  *count = operations;
  return cudaSuccess;
}

}  // extern "C"
