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

}  // namespace

void add_gpus(Sections& out, const RunTables& run, const EventCounts& counts) {
  out.begin("gpus");
  add_devices(out, run);
  add_modes(out, run);
  out.count("kernels", counts.n_kernels);
  out.count("kernels in CUDA graphs", counts.n_kernels_in_graphs);
  out.count("copies and sets", counts.n_memops);
  out.count("API calls", counts.n_api);
  out.count("whole graphs", counts.n_graphs);
  out.count("without time", counts.n_with_flaw(kWorkNoTime));
  out.count("end before start", counts.n_with_flaw(kWorkEndFirst));
  out.count("start before launch", counts.n_with_flaw(kWorkBeforeLaunch));
  out.count("outside of every window", counts.n_with_flaw(kWorkOutside));
  double residual_ns = -1;
  for (const double own_ns : run.processes.gpu_clock_residual_ns) {
    if (!std::isnan(own_ns)) residual_ns = std::max(residual_ns, own_ns);
  }
  if (residual_ns >= 0) out.amount("clock residual, largest", residual_ns, "ns");
}

}  // namespace jaxprof::study
