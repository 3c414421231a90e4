// NCCL's NVTX ranges as an injection library sees them, those of 2.28.9 (checked against the real library with a
// recorder, see README.md) or those of 2.24, whose payloads name no communicator and come with the push: domain "NCCL"
// made with the first range, each function's payload schema registered just before its first push, then its name as a
// registered string; payloads as bytes with NCCL's static schema ids. Communicator making and splitting deliver their
// payload on pop. NCCL_NVTX_DISABLE=1 silences all of it, as with NCCL.
#pragma once

#include "tests/puppets/communicator.h"

namespace jaxprof::puppets {

class NvtxRanges {
 public:
  // `has_comms` false: as NCCL up to 2.24.
  explicit NvtxRanges(bool is_wanted, bool has_comms = true);
  bool is_enabled() const { return is_enabled_; }

  // Registers the reduction operations; NCCL does it when it first initialises. Later calls do nothing.
  void register_reductions() const;
  void push_call(const Call& call) const;
  void push_group_start() const;
  void push_group_end() const;
  void pop() const;
  // Communicators: NCCL from 2.27 on samples a split before the child has an id, and gives the parent's ranks.
  void push_comm_init(const Communicator& comm) const;
  void pop_comm_init(const Communicator& comm) const;
  void push_comm_split(const Communicator& parent, int color, int key) const;
  void pop_comm_split(const Communicator& parent, int color, int key) const;
  void push_comm_destroy(const Communicator& comm) const;
  // The calling thread's name, to the tool.
  void name_thread(const char* name) const;

 private:
  bool is_enabled_;
  bool has_comms_;
};

}  // namespace jaxprof::puppets
