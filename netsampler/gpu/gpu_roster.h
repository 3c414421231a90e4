// The boards that the probe has told of, and what each of its records adds. Records come from another process, so each
// is checked: numbers in order, samples of boards only, texts that end. Pure; one thread an object.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netsampler/gpu/gpu_board.h"
#include "netsampler/gpu/probe_record.h"

namespace jaxprof::netsampler {

// What came in a span of time, in its order within each list.
struct GpuUpdate {
  std::vector<GpuBoard> boards;  // new ones, and those whose facts changed (lost)
  std::vector<GpuRow> rows;
  std::vector<GpuNote> notes;
};

class GpuRoster {
 public:
  // `numa_of` tells the NUMA node of a PCI address, -1 if unknown.
  explicit GpuRoster(std::function<int(const std::string& pci)> numa_of) : numa_of_(std::move(numa_of)) {}

  // Adds to `update` what the record says. False if it makes no sense; nothing is changed then.
  bool apply(const ProbeRecord& record, GpuUpdate* update);

  // By number, instances included.
  const std::vector<GpuBoard>& boards() const { return boards_; }
  // A row has come: the driver has set up all boards.
  bool has_rows() const { return has_rows_; }
  // The probe has said why there are no values.
  bool has_reason() const { return has_reason_; }

 private:
  bool add_board(const ProbeGpu& gpu, GpuUpdate* update);
  bool add_row(const ProbeSample& sample, GpuUpdate* update);
  bool add_note(const ProbeNote& note, GpuUpdate* update);

  std::function<int(const std::string&)> numa_of_;
  std::vector<GpuBoard> boards_;
  std::vector<std::optional<GpuRow>> last_rows_;  // by board
  bool has_rows_ = false;
  bool has_reason_ = false;
};

}  // namespace jaxprof::netsampler
