// The first question to a run file: what is in it, and what is not. Nothing is left out because it is zero: a reader
// who looks for losses finds the line that says that there are none.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

// No column of events: those are counted where they lie.
bool summary_wants(std::string_view path);
// Of the whole run, whatever the options.
Result<Table> summary_of_file(const StudyRun& run, const StudyOptions& options);
// The same of a run with all its columns in memory.
Table summary(const runfile::RunTables& run, const StudyOptions& options = {});

inline constexpr Study kSummary = {"summary",
                                   "what is in the run file, what is missing or dropped, and are the calls matched?",
                                   R"(summary: rows (section, item, value, unit, detail).

  job         what was run and how it was selected.
  tasks       tasks by state, and every rank that is not profiled with its reason.
              profiled: at least one of its processes left a spool. unprofiled: its wrapper decided against it. no_agent:
              no process of it loaded the agent. missing: nothing was found of it. failed: its spool is unreadable.
              A rank that the selection left out is no task here.
  environment variables of the tasks' commands: how many, and those in which ranks differ that should be alike (see env).
  events      rows by kind. An NCCL call is one rank's call; "parts of calls" are the Sends and Receives that NCCL makes of
              one AllToAll, Gather or Scatter, and are not counted as calls.
  calls       with kernel: the GPU work that carried it out is in the file, told by one of four paths.
              external: NCCL's plugin marked the launch. scope: the launch lies inside the call, of the same thread. graph:
              the work is a node of a CUDA graph that was captured with the call. order: the k-th NCCL kernel of a stream
              is taken for its k-th call, which is approximate. grouped: it shared a group call with other calls.
              Every call is one of three: matched to an instance; point-to-point, a Send or Recv of the user's, of which
              there are no instances; or unmatched, with the reason.
              NCCL kernels in graphs, without call: those of CUDA graphs that no path gave to a call, with the reason.
  gpus        devices, who recorded them, and what is wrong with the records. residual: by how much a reading of CUPTI's
              clock lies off the line between its neighbours, at most.
  gpu clocks  of GPUs that the observers of nodes watched, over the readings in which they were busy: the largest share of them in
              which the clock was held back by the power limit, by temperature or by the power supply; and the lowest SM clock.
  network     nodes with an observer, ports by driver and by where their counters were read; readings that were left out because
              the observer was late; what it cost, over all nodes.
  windows     when events were kept. opened at: the step that opened a segment, where one did. spread of openings: last
              minus first opening of a segment over the processes, on the run's time axis; where the nodes' clocks have no
              known bound, the largest within a node.
  instances   collective calls matched over the members of their communicator by (communicator, function, sequence).
              partial: not every member was seen. mismatch: members disagree about type, size or reduction. unresolved: its
              members are on several nodes whose clocks have no known bound, so which one came last is not known.
  losses      events that were dropped, by cause. 0 is written out.
  diagnostics what else the merge found, by code; with --all every finding of /diagnostics in a row of its own.
  time        begin: the first stamp of any process, by the wall clock. span: from there to the last stamp.
  clocks      how the nodes' clocks were aligned, and how far apart they may be.

It is of the whole run: --op and --ranks are for other studies.
)",
                                   kTakesAll,
                                   summary_wants,
                                   nullptr,
                                   summary_of_file};

}  // namespace jaxprof::study
