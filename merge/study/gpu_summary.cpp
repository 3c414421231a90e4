#include "merge/study/gpu_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "merge/runfile/rank_ranges.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

std::int64_t rows_of(const std::vector<std::uint16_t>& flags) {
  return static_cast<std::int64_t>(flags.size());
}

void add_devices(Sections& out, const RunTables& run) {
  std::map<std::string, std::int64_t> by_name;
  for (const StringId name : run.devices.name) {
    const std::string_view text = run.strings.text(name);
    ++by_name[text.empty() ? "model unknown" : std::string(text)];
  }
  std::string detail;
  for (const auto& [name, n] : by_name) detail += fmt::format("{}{} x {}", detail.empty() ? "" : ", ", n, name);
  out.count("devices", static_cast<std::int64_t>(run.devices.device.size()), detail);
}

// "CUPTI 13.0.1" of 130001.
std::string version_words(std::uint32_t version) {
  if (version == kNoIndex) return "CUPTI of unknown version";
  if (version < 1000) return fmt::format("CUPTI API {}", version);
  return fmt::format("CUPTI {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

void add_modes(Sections& out, const RunTables& run) {
  std::map<std::pair<GpuMode, std::string>, std::vector<std::int32_t>> modes;
  for (std::size_t i = 0; i < run.processes.gpu_mode.size(); ++i) {
    const GpuMode mode = run.processes.gpu_mode[i];
    const std::string note(run.strings.text(run.processes.gpu_note[i]));
    const bool is_recorded = mode == GpuMode::kShared || mode == GpuMode::kAlone;
    std::string detail = is_recorded ? version_words(run.processes.cupti_version[i]) : "";
    if (!note.empty()) detail += (detail.empty() ? "" : "; ") + note;
    modes[{mode, detail}].push_back(run.processes.rank[i]);
  }
  for (const auto& [key, ranks] : modes) {
    const auto& [mode, detail] = key;
    std::string name = "recorded, " + std::string(word(mode));
    std::string reason = detail;
    if (mode == GpuMode::kMissing) {
      name = "recorded, not told";
      if (reason.empty()) reason = "CUDA was not used there";
    }
    if (mode == GpuMode::kNotAsked) name = "not asked for";
    out.count(name, static_cast<std::int64_t>(ranks.size()),
              rank_ranges(ranks) + (reason.empty() ? "" : ": " + reason));
  }
}

void add_flaw(Sections& out, const RunTables& run, std::uint16_t flag, const char* item) {
  const auto in = [flag](const std::vector<std::uint16_t>& flags) {
    return std::count_if(flags.begin(), flags.end(), [flag](std::uint16_t f) { return (f & flag) != 0; });
  };
  out.count(item, in(run.kernels.flags) + in(run.memops.flags) + in(run.api.flags) + in(run.graphs.flags));
}

}  // namespace

void add_gpus(Sections& out, const RunTables& run) {
  out.begin("gpus");
  add_devices(out, run);
  add_modes(out, run);
  out.count("kernels", rows_of(run.kernels.flags));
  out.count("kernels in CUDA graphs", std::count_if(run.kernels.graph_node.begin(), run.kernels.graph_node.end(),
                                                    [](std::uint64_t node) { return node != kNoRow; }));
  out.count("copies and sets", rows_of(run.memops.flags));
  out.count("API calls", rows_of(run.api.flags));
  out.count("whole graphs", rows_of(run.graphs.flags));
  add_flaw(out, run, kWorkNoTime, "without time");
  add_flaw(out, run, kWorkEndFirst, "end before start");
  add_flaw(out, run, kWorkBeforeLaunch, "start before launch");
  add_flaw(out, run, kWorkOutside, "outside of every window");
  double residual_ns = -1;
  for (const double own_ns : run.processes.gpu_clock_residual_ns) {
    if (!std::isnan(own_ns)) residual_ns = std::max(residual_ns, own_ns);
  }
  if (residual_ns >= 0) out.amount("clock residual, largest", residual_ns, "ns");
}

}  // namespace jaxprof::study
