#include "tests/puppets/cuda_truth.h"

#include <cstdlib>

#include "tests/puppets/clock.h"

namespace jaxprof::puppets {
namespace {

using doubles::RecordLine;

std::string rank() {
  for (const char* const variable : {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}) {
    if (const char* const value = std::getenv(variable)) return value;
  }
  return "0";
}

std::string expand(std::string path) {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const auto replace_all = [&path](const std::string& macro, const std::string& value) {
    for (auto at = path.find(macro); at != std::string::npos; at = path.find(macro, at + value.size())) {
      path.replace(at, macro.size(), value);
    }
  };
  replace_all("%r", rank());
  replace_all("%p", std::to_string(getpid()));
  replace_all("%h", host);
  return path;
}

const char* kind_name(FakeCudaKind kind) {
  switch (kind) {
    case kFakeCudaKernel:
      return "kernel";
    case kFakeCudaCopy:
      return "copy";
    case kFakeCudaFill:
      return "fill";
    case kFakeCudaHost:
      return "host";
    case kFakeCudaGraph:
      return "graph";
  }
  return "unknown";
}

}  // namespace

CudaTruth::CudaTruth(const std::string& path_template) : file_(expand(path_template)) {}

void CudaTruth::header(int n_devices) const {
  RecordLine line("header");
  line.add("rank", rank()).number("n_devices", n_devices);
  file_.write(line.number("raw_ns", raw_ns()).number("realtime_ns", realtime_ns()));
}

void CudaTruth::kernel(const FakeCudaExecution& execution, std::int64_t step, std::int64_t begin_realtime_ns) const {
  RecordLine line("kernel");
  line.add("name", execution.name).number("step", step).number("device", execution.device);
  line.number("context", execution.context).number("stream", execution.stream);
  line.number("correlation", execution.correlation).number("graph", execution.graph);
  line.unsigned_number("graph_node", execution.graph_node);
  line.number("begin_raw_ns", execution.begin_ns).number("end_raw_ns", execution.end_ns);
  file_.write(line.number("begin_realtime_ns", begin_realtime_ns));
}

void CudaTruth::operation(const FakeCudaOperation& operation) const {
  RecordLine line(kind_name(operation.kind));
  line.add("name", operation.name).number("device", operation.device).number("context", operation.context);
  line.number("stream", operation.stream).number("correlation", operation.correlation);
  line.number("graph", operation.graph).unsigned_number("graph_node", operation.graph_node);
  line.unsigned_number("bytes", operation.bytes).number("begin_raw_ns", operation.begin_raw_ns);
  file_.write(line.number("end_raw_ns", operation.end_raw_ns));
}

void CudaTruth::launch(const char* what, std::int64_t step, std::uint32_t stream, std::uint32_t correlation,
                       std::int64_t before_raw_ns, std::int64_t after_raw_ns) const {
  RecordLine line("launch");
  line.add("name", what).number("step", step).number("stream", stream).number("correlation", correlation);
  file_.write(line.number("before_raw_ns", before_raw_ns).number("after_raw_ns", after_raw_ns));
}

void CudaTruth::profiler(const char* what, std::int64_t before_raw_ns, std::int64_t after_raw_ns) const {
  RecordLine line("profiler");
  file_.write(line.add("call", what).number("before_raw_ns", before_raw_ns).number("after_raw_ns", after_raw_ns));
}

void CudaTruth::iteration(std::int64_t step, std::int64_t begin_raw_ns, std::int64_t end_raw_ns) const {
  RecordLine line("iteration");
  file_.write(line.number("iteration", step).number("begin_raw_ns", begin_raw_ns).number("end_raw_ns", end_raw_ns));
}

void CudaTruth::rival(const char* what, int result) const {
  RecordLine line("rival");
  file_.write(line.add("call", what).number("result", result));
}

void CudaTruth::footer() const {
  RecordLine line("footer");
  file_.write(line.number("raw_ns", raw_ns()).number("realtime_ns", realtime_ns()));
}

}  // namespace jaxprof::puppets
