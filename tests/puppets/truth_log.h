// What the job really did, by its own account: the puppet's log is the truth that tests hold a profile against, so
// it is stamped by the puppet around its own calls and written before anything else can go wrong. One text line an
// item; LOG.md lists the lines and their fields.
#pragma once

#include <optional>
#include <string>

#include "tests/doubles/record_file.h"
#include "tests/puppets/communicator.h"
#include "tests/puppets/plan.h"

namespace jaxprof::puppets {

// One API call, filled while it runs and while its plan is launched.
struct CallRecord {
  Call call;
  std::uint64_t n_call;                   // ordinal among the communicator's calls of this function, call order
  std::optional<std::uint64_t> sequence;  // NCCL's counter; only collectives that are launched as such have one
  Tuning tuning{"-", "-", 0};
  std::optional<std::uint64_t> n_group;  // ordinal of the explicit group, per process
  bool is_captured = false;              // into a CUDA graph: it moves data when that is launched
  std::int64_t iteration;
  std::int64_t slept_ns;  // the deliberate delay before the call
  std::int64_t before_raw_ns = 0;
  std::int64_t before_realtime_ns = 0;
  std::int64_t after_raw_ns = 0;
};

class TruthLog {
 public:
  // `path_template`: %r rank, %p process id, %h host; empty for no log.
  TruthLog(const std::string& path_template, int rank);
  bool is_open() const { return file_.is_open(); }

  void header(int n_ranks, int node, const std::string& api) const;
  void plugin(const std::string& status) const;
  void comm(const Communicator& comm, std::uint64_t parent, int color, int key) const;
  void call(const CallRecord& record) const;
  // How the data of a call moved, by the account of who moved it. CLOCK_MONOTONIC_RAW.
  struct Execution {
    std::int64_t begin_raw_ns = 0;  // of this call
    std::int64_t end_raw_ns = 0;
    std::int64_t kernel_begin_raw_ns = 0;  // of the kernel, which may carry out several calls
    std::int64_t kernel_end_raw_ns = 0;
    std::string kernel;  // its symbol, "" where no driver launched one
    unsigned n_blocks = 0;
    std::uint32_t correlation = 0;  // of the driver call that launched it, or the graph
    std::uint32_t stream = 0;       // CUPTI's number
    std::uint64_t graph_node = 0;
    std::optional<std::uint64_t> replay;  // of a captured graph, from 0
  };
  void transfer(const Call& call, std::uint64_t n_call, const Execution& how) const;
  void group(std::uint64_t n_group, std::size_t n_calls, std::int64_t begin_raw_ns, std::int64_t end_raw_ns) const;
  void iteration(std::int64_t iteration, std::int64_t begin_raw_ns, std::int64_t begin_realtime_ns,
                 std::int64_t end_raw_ns) const;
  // Something done to the profiler beside the calls, and how many events that was.
  void hazard(const std::string& name, std::uint64_t n_events) const;
  void footer(std::uint64_t n_calls, std::uint64_t digest) const;

 private:
  const int rank_;
  const doubles::RecordFile file_;
};

}  // namespace jaxprof::puppets
