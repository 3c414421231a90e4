#include "tests/unit/cupti/gpu_truth.h"

#include <gtest/gtest.h>

#include "agent/spool/varint.h"

namespace jaxprof::test {

using spool::EventKind;
namespace field = spool::gpu_field;

std::map<KernelKey, LogLine> true_kernels(const GpuRun& run) {
  std::map<KernelKey, LogLine> kernels;
  for (const LogLine& line : run.log("kernel")) {
    kernels[{std::stoull(line.at("correlation")), std::stoull(line.at("graph_node"))}] = line;
  }
  return kernels;
}

void expect_all_kernels(const GpuRun& run, const rundir::SpoolTrace& trace) {
  std::map<KernelKey, LogLine> truth = true_kernels(run);
  ASSERT_FALSE(truth.empty());
  for (const spool::Event& event : run.activities(trace, EventKind::kGpuKernel)) {
    const auto found = truth.find({event.fields[field::kCorrelation], event.fields[field::kKernelGraphNode]});
    ASSERT_NE(found, truth.end()) << "a kernel that never ran, or twice: " << trace.text(event.id);
    const LogLine& line = found->second;
    EXPECT_EQ(trace.text(event.id), line.at("name"));
    EXPECT_EQ(spool::unfold_sign(event.fields[field::kDuration]),
              std::stoll(line.at("end_raw_ns")) - std::stoll(line.at("begin_raw_ns")));
    EXPECT_NEAR(static_cast<double>(event.stamp), std::stod(line.at("begin_realtime_ns")), 1e6);
    const spool::GpuLaneState* lane = trace.gpu().lane(event.fields[field::kLane]);
    ASSERT_NE(lane, nullptr);
    EXPECT_EQ(std::to_string(lane->stream), line.at("stream"));
    EXPECT_EQ(std::to_string(lane->device), line.at("device"));
    truth.erase(found);
  }
  EXPECT_TRUE(truth.empty()) << truth.size() << " kernels are missing";
}

std::set<std::uint64_t> recorded_correlations(const GpuRun& run, const rundir::SpoolTrace& trace) {
  std::set<std::uint64_t> found;
  for (const spool::Event& event : run.activities(trace, EventKind::kGpuKernel)) {
    found.insert(event.fields[field::kCorrelation]);
  }
  return found;
}

std::set<std::uint64_t> launched_in(const GpuRun& run, const std::set<std::string>& steps) {
  std::set<std::uint64_t> found;
  for (const LogLine& launch : run.log("launch")) {
    if (steps.contains(launch.at("step"))) found.insert(std::stoull(launch.at("correlation")));
  }
  return found;
}

}  // namespace jaxprof::test
