#include "tests/unit/gpu/watched_gpus.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <thread>

namespace jaxprof::test {

using namespace netsampler;

WatchedGpus::WatchedGpus(const Variables& variables, GpuSettings settings) : sampler(std::move(settings)) {
  std::vector<std::string> names;
  for (const auto& [name, text] : variables) {
    const bool is_whole = name.starts_with("JAXPROF_") || name.starts_with("LD_");
    names.push_back(is_whole ? name : "FAKE_NVML_" + name);
    setenv(names.back().c_str(), text.c_str(), 1);
  }
  is_started = sampler.start(&why);
  for (const std::string& name : names) unsetenv(name.c_str());  // the probe has its copy
}

GpuSettings WatchedGpus::quick() {
  GpuSettings settings;
  settings.probe = JAXPROF_PROBE;
  settings.sysfs_root = "/no/such/sysfs";
  settings.hz = 20;
  return settings;
}

void WatchedGpus::watch(const std::function<bool(const WatchedGpus&)>& is_enough) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!is_enough(*this)) {
    if (std::chrono::steady_clock::now() > until) {
      ADD_FAILURE() << "not seen within a minute; " << all.rows.size() << " rows; notes: " << notes();
      return;
    }
    if (pollfd wait{sampler.descriptor(), POLLIN, 0}; wait.fd >= 0) {
      ::poll(&wait, 1, 20);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    const bool was_running = sampler.is_running();
    GpuUpdate update = sampler.poll();
    all.boards.insert(all.boards.end(), update.boards.begin(), update.boards.end());
    all.rows.insert(all.rows.end(), update.rows.begin(), update.rows.end());
    all.notes.insert(all.notes.end(), update.notes.begin(), update.notes.end());
    if (!was_running) break;
  }
}

void WatchedGpus::watch_to_end() {
  watch([](const WatchedGpus& gpus) { return !gpus.sampler.is_running(); });
}

std::vector<GpuRow> WatchedGpus::rows_of(std::uint32_t board) const {
  std::vector<GpuRow> rows;
  for (const GpuRow& row : all.rows) {
    if (row.board == board) rows.push_back(row);
  }
  return rows;
}

std::string WatchedGpus::notes() const {
  std::string text;
  for (const GpuNote& note : all.notes) text += note.text + "\n";
  return text;
}

std::uint64_t value(const GpuRow& row, GpuColumn column) {
  return row.values[static_cast<std::size_t>(column)];
}

std::pair<std::string, std::string> library(const std::string& name) {
  return {"JAXPROF_LIBNVML", std::string(JAXPROF_LIBRARIES) + "/" + name + "/libnvidia-ml.so.1"};
}

}  // namespace jaxprof::test
