// When does NCCL tell the plugin what? Each function here is one place in NCCL's code where it may call the plugin,
// with NCCL's conditions: an event starts if its own bit or the bit of any descendant is set, the mask is the one read
// at the API call, and the API handles live in thread-local storage that is not cleared where NCCL does not clear it.
// So a plugin that leaves *handle unwritten gets the previous handle back, as with NCCL. Up to interface version 4
// there are no events of API calls and launches, and a collective's parent is its Group, without which it is not told.
#pragma once

#include "tests/puppets/plan.h"
#include "tests/puppets/profiler_plugin.h"

namespace jaxprof::puppets {

class ProfilerEvents {
 public:
  ProfilerEvents(const ProfilerPlugin& plugin, std::uint64_t user_tag) : plugin_(plugin), user_tag_(user_tag) {}

  // ---- user thread, inside API calls -----------------------------------------------------------------------------
  // A group of the application opens or an implicit one within an already reported group: one level deeper.
  void enter_group() const;
  // One level up; at the outermost level reports GroupEndApiStart.
  void leave_group() const;
  // First task of an outermost group: starts GroupApi and reports GroupStartApiStop. `depth` counts open groups.
  void start_group_api(const Communicator& comm, int depth, bool is_captured) const;
  // After the launches of the outermost group.
  void stop_group_api() const;
  // Starts CollApi or P2pApi, and notes mask and handles in `task`.
  void start_api(const Call& call, Task& task, bool is_captured) const;
  void stop_api(const Task& task) const;

  // ---- launching thread, or CUDA's callback thread but for the launch ----------------------------------------------
  void start_kernel_launch(Plan& plan) const;
  void stop_kernel_launch(const Plan& plan) const;
  // Starts and stops of the plan's Group and of its tasks; `post` is called for each task in between.
  template <typename Post>
  void report_plan(Plan& plan, const Post& post) const {
    start_plan(plan);
    for (const auto* const tasks : {&plan.collectives, &plan.p2ps}) {
      for (const Task& task : *tasks) {
        post(task);
      }
    }
    stop_plan(plan);
  }
  // CeColl of the plan's collectives, with what lies inside.
  void report_copies(Plan& plan) const;

 private:
  const ProfilerCalls& calls() const { return plugin_.calls(); }
  void start_plan(Plan& plan) const;
  void stop_plan(const Plan& plan) const;
  void start_task(const Plan& plan, Task& task) const;
  void stop_task(const Task& task) const;

  const ProfilerPlugin& plugin_;
  const std::uint64_t user_tag_;
};

}  // namespace jaxprof::puppets
