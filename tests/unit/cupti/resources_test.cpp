#include "agent/cupti/resources.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "agent/collect/event_sink.h"
#include "agent/cupti/nccl_nodes.h"
#include "tests/unit/cupti/sink_double.h"

namespace jaxprof::cupti {
namespace {

// CUPTI numbers a node by its graph and its place in it; here the handle is that number.
abi::Result node_number(abi::GraphNode node, std::uint64_t* number) {
  *number = reinterpret_cast<std::uintptr_t>(node);
  return abi::kSuccess;
}
abi::Result graph_number(abi::Graph graph, std::uint32_t* number) {
  *number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(graph));
  return abi::kSuccess;
}
constexpr std::uint64_t node_of(std::uint64_t graph, std::uint64_t place) {
  return graph << 32 | place;
}

class GraphNodesTest : public testing::Test {
 protected:
  GraphNodesTest() {
    functions_.get_graph_node_id = node_number;
    functions_.get_graph_id = graph_number;
    collect::detail::thread_sink = &thread_;
  }
  ~GraphNodesTest() override { collect::detail::thread_sink = nullptr; }

  void make(std::uint64_t node, std::uint64_t launch = 0) {
    thread_.nccl_launch = launch;
    tell(abi::kGraphNodeCreated, node, 0);
    thread_.nccl_launch = 0;
  }
  void clone(std::uint64_t original, std::uint64_t node) { tell(abi::kGraphNodeCloned, node, original); }
  std::vector<spool::GraphNodeState> registered() const {
    return sink_.states<spool::GraphNodeState>(spool::StateKind::kGraphNode);
  }

  test::SinkDouble sink_;
  std::unique_ptr<NcclNodes> nodes_ = std::make_unique<NcclNodes>();

 private:
  void tell(abi::CallbackId id, std::uint64_t node, std::uint64_t original) {
    abi::GraphData graph{};
    graph.graph = reinterpret_cast<abi::Graph>(node >> 32);
    graph.node = reinterpret_cast<abi::GraphNode>(node);
    graph.original_node = reinterpret_cast<abi::GraphNode>(original);
    register_resource(functions_, id, {nullptr, nullptr, &graph}, nodes_.get());
  }

  Functions functions_;
  collect::ThreadSink thread_;
};

TEST_F(GraphNodesTest, RegistersThoseOfALaunchOfNccl) {
  make(node_of(1, 4), 77);
  ASSERT_EQ(registered().size(), 1U);
  EXPECT_EQ(registered()[0].node, node_of(1, 4));
  EXPECT_EQ(registered()[0].graph, 1U);
  EXPECT_EQ(registered()[0].original, 0U);
  EXPECT_EQ(registered()[0].launch, 77U);
}

TEST_F(GraphNodesTest, RegistersClonesOfClones) {
  make(node_of(1, 4), 77);
  clone(node_of(1, 4), node_of(2, 4));  // into a graph that has the first as a child
  clone(node_of(2, 4), node_of(3, 4));  // and that is instantiated
  ASSERT_EQ(registered().size(), 3U);
  EXPECT_EQ(registered()[1].original, node_of(1, 4));
  EXPECT_EQ(registered()[2].node, node_of(3, 4));
  EXPECT_EQ(registered()[2].original, node_of(2, 4));
  EXPECT_EQ(registered()[2].launch, 0U);
}

// The nodes of a training job, all of which are cloned when the graph is instantiated: with 48 bytes each they would be
// more than the log of registrations holds, with all else that is in it.
TEST_F(GraphNodesTest, LeavesTheLogToOthersHoweverManyNodesThereAre) {
  constexpr std::uint64_t kNodes = 400'000;
  constexpr std::uint64_t kNccl = 1000;  // one in so many
  for (std::uint64_t place = 1; place <= kNodes; ++place) make(node_of(1, place), place % kNccl == 0 ? place : 0);
  for (std::uint64_t place = 1; place <= kNodes; ++place) clone(node_of(1, place), node_of(2, place));
  const std::vector<spool::GraphNodeState> states = registered();
  ASSERT_EQ(states.size(), 2 * kNodes / kNccl);
  std::set<std::uint64_t> launched;
  for (const spool::GraphNodeState& state : states) {
    if (state.launch != 0) launched.insert(state.node);
  }
  for (const spool::GraphNodeState& state : states) {
    EXPECT_EQ((state.node & UINT32_MAX) % kNccl, 0U);
    EXPECT_TRUE(state.launch != 0 || launched.contains(state.original)) << state.node;
  }
  EXPECT_EQ(sink_.drops(Drop::kStateLogFull), 0U);
}

TEST_F(GraphNodesTest, CountsWhatIsBeyondItsBound) {
  for (std::uint64_t place = 1; place <= NcclNodes::kMaxNodes + 5; ++place) make(node_of(1, place), 7);
  EXPECT_EQ(registered().size(), NcclNodes::kMaxNodes);
  EXPECT_EQ(sink_.drops(Drop::kStateLogFull), 5U);
  clone(node_of(1, NcclNodes::kMaxNodes + 1), node_of(2, 1));
  EXPECT_EQ(sink_.drops(Drop::kStateLogFull), 5U) << "of one that is not known";
}

TEST(NcclNodes, HasWhatSeveralThreadsAdd) {
  const auto nodes = std::make_unique<NcclNodes>();
  constexpr std::uint64_t kEach = 20'000;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&nodes, thread] {
        // half of them are the next thread's too
        for (std::uint64_t i = 0; i < kEach; ++i) EXPECT_TRUE(nodes->add(1 + thread * kEach / 2 + i));
      });
    }
  }
  for (std::uint64_t node = 1; node <= 5 * kEach / 2; ++node) EXPECT_TRUE(nodes->has(node)) << node;
  EXPECT_FALSE(nodes->has(0));
  EXPECT_FALSE(nodes->has(5 * kEach / 2 + 1));
}

}  // namespace
}  // namespace jaxprof::cupti
