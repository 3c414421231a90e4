#include "agent/cupti/resources.h"

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {
namespace {

bool find_context(const Functions& functions, abi::Context context, std::uint32_t* id) noexcept {
  return functions.get_context_id != nullptr && functions.get_context_id(context, id) == abi::kSuccess;
}

void register_context(const Functions& functions, abi::Context context) noexcept {
  spool::GpuContextState state{};
  if (!find_context(functions, context, &state.context) || functions.get_device_id == nullptr ||
      functions.get_device_id(context, &state.device) != abi::kSuccess) {
    return;
  }
  collect::append_state(spool::StateKind::kGpuContext, &state, sizeof state);
}

void register_stream(const Functions& functions, const abi::ResourceData& data) noexcept {
  spool::GpuStreamState state{};
  if (!find_context(functions, data.context, &state.context) || functions.get_stream_id == nullptr ||
      functions.get_stream_id(data.context, data.stream, 0, &state.stream) != abi::kSuccess) {
    return;
  }
  state.address = reinterpret_cast<std::uintptr_t>(data.stream);
  collect::append_state(spool::StateKind::kGpuStream, &state, sizeof state);
}

// Of the launch that is open on the thread, or a clone of such a node: graphs are instantiated after their capture.
void register_graph_node(const Functions& functions, bool is_clone, const abi::GraphData& graph,
                         NcclNodes* nodes) noexcept {
  // A thread without a sink has written no event, so it has no launch either.
  const collect::ThreadSink* sink = collect::present_thread_sink();
  spool::GraphNodeState state{};
  state.launch = sink != nullptr ? sink->nccl_launch : 0;
  if (functions.get_graph_node_id == nullptr || (state.launch == 0 && !is_clone)) return;
  if (is_clone && functions.get_graph_node_id(graph.original_node, &state.original) != abi::kSuccess)
    state.original = 0;
  if (state.launch == 0 && !nodes->has(state.original)) return;
  if (functions.get_graph_node_id(graph.node, &state.node) != abi::kSuccess || state.node == 0) return;
  if (!nodes->add(state.node)) return collect::count_drop(Drop::kStateLogFull);
  std::uint32_t graph_id = 0;
  if (functions.get_graph_id != nullptr && functions.get_graph_id(graph.graph, &graph_id) == abi::kSuccess) {
    state.graph = graph_id;
  }
  state.stamp = collect::read_stamp();
  collect::append_state(spool::StateKind::kGraphNode, &state, sizeof state);
}

}  // namespace

void register_resource(const Functions& functions, abi::CallbackId id, const abi::ResourceData& data,
                       NcclNodes* nodes) noexcept {
  switch (id) {
    case abi::kContextCreated:
      register_context(functions, data.context);
      break;
    case abi::kStreamCreated:
      register_stream(functions, data);
      break;
    case abi::kGraphNodeCreated:
    case abi::kGraphNodeCloned:
      if (data.descriptor != nullptr) {
        register_graph_node(functions, id == abi::kGraphNodeCloned,
                            *static_cast<const abi::GraphData*>(data.descriptor), nodes);
      }
      break;
    default:
      break;
  }
}

}  // namespace jaxprof::cupti
