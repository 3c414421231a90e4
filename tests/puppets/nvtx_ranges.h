// The NVTX ranges of NCCL 2.28.9, as an injection library sees them (checked against the real library with a recorder,
// see README.md): domain "NCCL" made with the first range, each function's payload schema registered just before its
// first push, then its name as a registered string; payloads as bytes with NCCL's static schema ids. Communicator
// making and splitting deliver their payload on pop. NCCL_NVTX_DISABLE=1 silences all of it, as with NCCL.
#pragma once

#include <sys/types.h>

#include "tests/puppets/communicator.h"

namespace jaxprof::puppets {

class NvtxRanges {
 public:
  explicit NvtxRanges(bool is_wanted);
  bool is_enabled() const { return is_enabled_; }

  // Registers the reduction operations; NCCL does it when it first initialises. Later calls do nothing.
  void register_reductions() const;
  void push_call(const Call& call) const;
  // `api` is a string literal such as "ncclGroupStart". A range without payload.
  void push_plain(const char* api) const;
  void pop() const;
  void pop_comm_init(const Communicator& comm) const;
  // NCCL from 2.27 on samples a split before the child has an id, and gives the parent's ranks and device.
  void pop_comm_split(const Communicator& parent, int color, int key) const;
  void push_comm_destroy(const Communicator& comm) const;

 private:
  bool is_enabled_;
};

// A range on this thread for the length of a scope.
class CallRange {
 public:
  CallRange(const NvtxRanges& ranges, const Call& call) : ranges_(ranges) { ranges_.push_call(call); }
  CallRange(const NvtxRanges& ranges, const char* api) : ranges_(ranges) { ranges_.push_plain(api); }
  ~CallRange() { ranges_.pop(); }
  CallRange(const CallRange&) = delete;
  CallRange& operator=(const CallRange&) = delete;

 private:
  const NvtxRanges& ranges_;
};

void nvtx_name_thread(pid_t thread, const char* name);

// The job's own ranges: "step" in domain "puppet", with the iteration as int64 payload.
class StepRange {
 public:
  StepRange(bool is_enabled, std::int64_t iteration);
  ~StepRange();
  StepRange(const StepRange&) = delete;
  StepRange& operator=(const StepRange&) = delete;

 private:
  const bool is_enabled_;
};

}  // namespace jaxprof::puppets
