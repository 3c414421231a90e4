#include "merge/export/event_names.h"

#include <fmt/format.h>

namespace jaxprof::exporting {

using namespace runfile;

std::string name_of_node(const RunTables& run, std::uint32_t node) {
  if (node >= run.nodes.host.size()) return "an unknown node";
  const std::string_view host = run.strings.text(run.nodes.host[node]);
  return host.empty() ? fmt::format("node {}", node) : std::string(host);
}

std::string name_of_process(const RunTables& run, std::size_t process) {
  const ProcessTable& t = run.processes;
  std::string name = t.rank[process] < 0 ? fmt::format("process {}", process) : fmt::format("rank {}", t.rank[process]);
  name += " (" + name_of_node(run, t.node[process]);
  if (t.local_rank[process] >= 0) name += fmt::format(", local rank {}", t.local_rank[process]);
  if (t.pid[process] >= 0) name += fmt::format(", pid {}", t.pid[process]);
  return name + ")";
}

std::string name_of_gpu(const RunTables& run, std::int32_t device) {
  const auto row = static_cast<std::size_t>(device);
  if (device < 0 || row >= run.devices.ordinal.size()) return "GPU ?";
  const std::int32_t ordinal = run.devices.ordinal[row];
  return ordinal >= 0 ? fmt::format("GPU {}", ordinal) : fmt::format("GPU of row {}", row);
}

std::string name_of_comm(const RunTables& run, std::uint32_t comm) {
  if (comm >= run.comms.comm.size()) return "?";
  const std::string_view name = run.strings.text(run.comms.name[comm]);
  if (!name.empty()) return std::string(name);
  const std::uint64_t hash = run.comms.hash[comm];
  return hash != kNoRow ? fmt::format("{:#x}", hash) : fmt::format("{}", comm);
}

}  // namespace jaxprof::exporting
