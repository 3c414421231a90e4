#include "merge/assembly/board_rows.h"

#include <string_view>

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

// CUPTI tells the 16 bytes, NVML the text with its prefix: GPU- of a board, MIG- of an instance.
std::string_view bytes_of(std::string_view uuid) {
  const std::size_t dash = uuid.find('-');
  return dash == std::string_view::npos ? std::string_view() : uuid.substr(dash + 1);
}

// The row of a process's GPU on that node with that UUID, or a new one.
std::size_t row_of(std::uint32_t node, std::string_view uuid, runfile::DeviceTable* table) {
  const std::string_view bytes = bytes_of(uuid);
  for (std::size_t row = 0; row < table->device.size(); ++row) {
    if (!bytes.empty() && table->node[row] == node && bytes_of(table->uuid[row].view()) == bytes) return row;
  }
  const std::size_t row = runfile::add_row(*table);
  table->device[row] = static_cast<std::uint32_t>(row);
  table->node[row] = node;
  return row;
}

}  // namespace

std::vector<std::size_t> fill_board_rows(const RunSources& sources, const std::vector<SampledSubject>& gpus,
                                         runfile::RunTables* run) {
  runfile::DeviceTable& table = run->devices;
  std::vector<std::size_t> rows;
  for (const SampledSubject& subject : gpus) {
    const SamplePart& last = subject.parts.back();
    const rundir::NodeGpu& gpu = sources.observers[last.observer].trace.gpus().at(last.number);
    const std::size_t row = row_of(subject.node, gpu.uuid, &table);
    rows.push_back(row);
    table.uuid[row] = gpu.uuid;
    table.pci[row] = gpu.pci;
    if (!gpu.name.empty()) table.name[row] = run->strings.intern(gpu.name);
    if (table.memory_bytes[row] == runfile::kNoRow && gpu.state.memory_bytes > 0) {
      table.memory_bytes[row] = gpu.state.memory_bytes;
    }
    if (gpu.state.numa >= 0) table.numa[row] = gpu.state.numa;
    table.driver[row] = run->strings.intern(gpu.driver);
    if (gpu.state.power_limit_mw > 0) table.power_limit_mw[row] = gpu.state.power_limit_mw;
    if (gpu.state.sm_clock_max_mhz > 0 && gpu.state.sm_clock_max_mhz < runfile::kNoIndex) {
      table.sm_clock_max_mhz[row] = static_cast<std::uint32_t>(gpu.state.sm_clock_max_mhz);
    }
  }
  return rows;
}

}  // namespace jaxprof::assembly
