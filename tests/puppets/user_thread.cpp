#include "tests/puppets/user_thread.h"

#include <atomic>

#include "tests/puppets/clock.h"
#include "tests/puppets/proxy_thread.h"

namespace jaxprof::puppets {
namespace {

std::uint64_t next_group() {  // explicit groups are numbered per process
  static std::atomic<std::uint64_t> n_groups{0};
  return n_groups++;
}

}  // namespace

void UserThread::group_start() {
  ranges_.push_group_start();
  is_in_group_ = true;
  group_begin_raw_ns_ = raw_ns();
  events_.enter_group();
  enter();
  ranges_.pop();
}

void UserThread::group_end() {
  ranges_.push_group_end();
  leave();
  ranges_.pop();
  const std::uint64_t n_group = next_group();
  for (CallRecord& record : records_) {
    record.n_group = n_group;
  }
  log_.group(n_group, records_.size(), group_begin_raw_ns_, raw_ns());
  is_in_group_ = false;
  write_records();
}

void UserThread::call(const Call& call, std::int64_t slept_ns) {
  const std::size_t n_record = records_.size();
  records_.push_back({.call = call,
                      .n_call = call.comm->n_calls[index_of(call.function)]++,
                      .sequence = {},
                      .n_group = {},
                      .iteration = iteration_,
                      .slept_ns = slept_ns});
  const std::int64_t before_realtime_ns = realtime_ns();
  const std::int64_t before_raw_ns = raw_ns();
  ranges_.push_call(call);
  events_.enter_group();
  enter();
  append(call, n_record);
  leave();
  ranges_.pop();
  CallRecord& record = records_[n_record];
  record.after_raw_ns = raw_ns();
  record.before_raw_ns = before_raw_ns;
  record.before_realtime_ns = before_realtime_ns;
  ++n_calls_;
  if (!is_in_group_) {
    write_records();
  }
}

void UserThread::append(const Call& call, std::size_t n_record) {
  for (Task& task : make_tasks(call, n_record)) {
    events_.start_group_api(*call.comm, depth_);
    events_.start_api(call, task);
    Plan& plan = plan_of(*call.comm);
    (is_p2p(task.function) ? plan.p2ps : plan.collectives).push_back(task);
    events_.stop_api(task);
  }
}

Plan& UserThread::plan_of(Communicator& comm) {
  for (Plan& plan : plans_) {
    if (plan.comm == &comm) {
      return plan;
    }
  }
  return plans_.emplace_back(Plan{.comm = &comm, .stream = &stream_, .collectives = {}, .p2ps = {}});
}

void UserThread::leave() {
  events_.leave_group();
  if (--depth_ == 0) {
    launch();
    events_.stop_group_api();
  }
}

void UserThread::launch() {
  std::vector<Stream::QueuedCall> calls;
  for (const CallRecord& record : records_) {
    if (record.call.count > 0) {
      calls.push_back({record.call, record.n_call});
    }
  }
  bool is_queued = calls.empty();
  for (Plan& plan : plans_) {
    plan.arrange();
    events_.start_kernel_launch(plan);
    if (!is_queued) {  // the first plan's launch starts the transfers of the group
      stream_.launch(std::move(calls));
      is_queued = true;
    }
    events_.stop_kernel_launch(plan);
    launch_plan(plan);
  }
  if (!is_queued) {  // single-rank communicators: a copy, no plan
    stream_.launch(std::move(calls));
  }
  plans_.clear();
}

// What NCCL does right after the launch: report the plan and hand its network operations to the proxy thread.
void UserThread::launch_plan(Plan& plan) {
  events_.start_group(plan);
  for (Task& task : plan.collectives) {
    std::uint64_t& sequence = plan.comm->sequence[index_of(task.function)];
    events_.start_task(plan, task);
    records_[task.n_record].sequence = sequence++;
    records_[task.n_record].tuning = task.tuning;
  }
  for (Task& task : plan.p2ps) {
    events_.start_task(plan, task);
  }
  for (const auto* const tasks : {&plan.collectives, &plan.p2ps}) {
    for (const Task& task : *tasks) {
      if (plan.comm->proxy != nullptr) {
        plan.comm->proxy->post(task);
      }
    }
  }
  for (const auto* const tasks : {&plan.collectives, &plan.p2ps}) {
    for (const Task& task : *tasks) {
      events_.stop_task(task);
    }
  }
  events_.stop_group(plan);
}

void UserThread::write_records() {
  for (const CallRecord& record : records_) {
    log_.call(record);
  }
  records_.clear();
}

}  // namespace jaxprof::puppets
