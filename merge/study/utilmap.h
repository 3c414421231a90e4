// When each rank's GPUs computed and communicated: nsys's nccl_gpu_time_util_map.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool utilmap_wants(std::string_view path);
Result<Table> utilmap(const StudyRun& run, const StudyOptions& options);

inline constexpr By kUtilmapGroupings[] = {By::kRank, By::kGpu, By::kNode};

inline constexpr Study kUtilmap = {
    .name = "utilmap",
    .answers = "when did each rank's GPUs compute and communicate?",
    .definitions =
        R"(utilmap: rank (or GPU, node: --by) by time. Machine formats have one row a rank and bin, of 100 bins of equal length over
the scope; formats for people one row a rank, with a bar a class, of 32 bins.

  Scope is, without --steps, --segment or --window, that of the steady steps, or where no step is marked all of the run in which
  a window was open.

  compute     time in which a compute kernel ran, as a share of the bin's time in scope, of all GPUs of the row. Times are
              unions, as in breakdown: kernels that overlap count once, and no share exceeds 1.
  comm        time in which communication ran, exposed or not. both: in which compute and communication ran at once.
  wall_ns     the bin's recorded time in scope, summed over GPUs; shares are missing where it is 0 (in bars: a dot).
  Bars: the height of a block is the share, in eighths; a space is less than a sixteenth.
)",
    .takes = kTakesRanks | kTakesTime,
    .is_wanted = utilmap_wants,
    .stream = utilmap,
    .groupings = kUtilmapGroupings};

}  // namespace jaxprof::study
