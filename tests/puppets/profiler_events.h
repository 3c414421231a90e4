// When does NCCL 2.28 tell the plugin what? Each function here is one place in NCCL's code where it may call the
// plugin, with NCCL's conditions: an event starts if its own bit or the bit of any descendant is set, the mask is the
// one read at the API call, and the API handles live in thread-local storage that is not cleared where NCCL does not
// clear it. So a plugin that leaves *handle unwritten gets the previous handle back, as with NCCL.
#pragma once

#include "tests/puppets/plan.h"
#include "tests/puppets/profiler_plugin.h"

namespace jaxprof::puppets {

class ProfilerEvents {
 public:
  explicit ProfilerEvents(const ProfilerPlugin& plugin) : plugin_(plugin) {}

  // ---- user thread, inside API calls -----------------------------------------------------------------------------
  // A group of the application opens or an implicit one within an already reported group: one level deeper.
  void enter_group() const;
  // One level up; at the outermost level reports GroupEndApiStart.
  void leave_group() const;
  // First task of an outermost group: starts GroupApi and reports GroupStartApiStop. `depth` counts open groups.
  void start_group_api(const Communicator& comm, int depth) const;
  // After the launches of the outermost group.
  void stop_group_api() const;
  // Starts CollApi or P2pApi, and notes mask and handles in `task`.
  void start_api(const Call& call, Task& task) const;
  void stop_api(const Task& task) const;

  // ---- launching thread --------------------------------------------------------------------------------------------
  void start_kernel_launch(Plan& plan) const;
  void stop_kernel_launch(const Plan& plan) const;
  void start_group(Plan& plan) const;
  void stop_group(const Plan& plan) const;
  void start_task(const Plan& plan, Task& task) const;
  void stop_task(const Task& task) const;

 private:
  const ProfilerPlugin& plugin_;
};

}  // namespace jaxprof::puppets
