#include "tests/puppets/user_thread.h"

#include <atomic>
#include <memory>

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
  wait_for_launch();
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
                      .is_captured = is_captured_,
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
    wait_for_launch();
    write_records();
  }
}

void UserThread::append(const Call& call, std::size_t n_record) {
  for (Task& task : make_tasks(call, n_record, settings_.carrier)) {
    events_.start_group_api(*call.comm, depth_, is_captured_);
    events_.start_api(call, task, is_captured_);
    Plan& plan = plan_of(call, task.carrier);
    (is_p2p(task.function) ? plan.p2ps : plan.collectives).push_back(task);
    events_.stop_api(task);
  }
}

Plan& UserThread::plan_of(const Call& call, Carrier carrier) {
  for (Plan& plan : plans_) {
    if (plan.comm == call.comm && plan.carrier == carrier) {
      return plan;
    }
  }
  return plans_.emplace_back(Plan{.comm = call.comm,
                                  .stream = call.stream,
                                  .carrier = carrier,
                                  .is_captured = is_captured_,
                                  .collectives = {},
                                  .p2ps = {}});
}

void UserThread::leave() {
  events_.leave_group();
  if (--depth_ > 0) {
    return;
  }
  if (settings_.launch == LaunchThread::kAsync) {
    launcher_ = std::thread([this] { launch(); });
  } else {
    launch();
  }
  events_.stop_group_api();
}

// What an application does by asking ncclCommGetAsyncError.
void UserThread::wait_for_launch() {
  if (launcher_.joinable()) {
    launcher_.join();
  }
}

void UserThread::launch() {
  number_tasks();
  std::vector<bool> is_planned(records_.size());
  for (Plan& plan : plans_) {
    for (const auto* const tasks : {&plan.collectives, &plan.p2ps}) {
      for (const Task& task : *tasks) {
        is_planned[task.n_record] = true;
      }
    }
    launch_plan(std::move(plan));
  }
  plans_.clear();
  for (std::size_t i = 0; i < records_.size(); ++i) {  // single-rank communicators: a copy, no plan
    const Call& call = records_[i].call;
    if (!is_planned[i] && call.count > 0) {
      call.stream->launch({.calls = {{call, records_[i].n_call}}, .kernel = {}, .before = {}, .after = {}});
    }
  }
}

// NCCL numbers collectives in the order of the plan; what goes into a graph has the next number, and does not use it.
void UserThread::number_tasks() {
  for (Plan& plan : plans_) {
    plan.arrange();
    for (Task& task : plan.collectives) {
      std::uint64_t& next = plan.comm->sequence[index_of(task.function)];
      task.sequence = next;
      next += plan.is_captured ? 0 : 1;
      records_[task.n_record].sequence = task.sequence;
      records_[task.n_record].tuning = task.tuning;
    }
  }
}

std::vector<Stream::QueuedCall> UserThread::calls_of(const Plan& plan) const {
  std::vector<bool> is_of_plan(records_.size());
  for (const auto* const tasks : {&plan.collectives, &plan.p2ps}) {
    for (const Task& task : *tasks) {
      is_of_plan[task.n_record] = true;
    }
  }
  std::vector<Stream::QueuedCall> calls;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    if (is_of_plan[i] && records_[i].call.count > 0) {
      calls.push_back({records_[i].call, records_[i].n_call});
    }
  }
  return calls;
}

// The launch, and right after it what NCCL reports of the plan. A graph with network operations has a node that reports
// them, on each launch of the graph, with the parents that they had when it was captured.
void UserThread::launch_plan(Plan plan_to_launch) {
  const auto plan = std::make_shared<Plan>(std::move(plan_to_launch));
  Stream::Launch launch{.calls = calls_of(*plan), .kernel = {}, .before = {}, .after = {}};
  if (plan->carrier == Carrier::kCopyEngines) {
    events_.report_copies(*plan);
    plan->stream->launch(std::move(launch));
    return;
  }
  launch.kernel = kernel_name(*plan);
  launch.n_channels = kernel_channels(*plan);
  const bool is_reported_by_cuda =
      plan->is_captured ? plan->comm->n_nodes > 1 : settings_.launch == LaunchThread::kCallback;
  if (is_reported_by_cuda) {
    launch.before = [this, plan] { report(*plan); };
  }
  ProxyThread* const proxy = plan->comm->proxy.get();
  const auto is_reported = std::make_shared<std::atomic<bool>>(is_reported_by_cuda);
  if (proxy != nullptr && (plugin_.mask() & profiler_abi::kKernelChannel) != 0) {
    launch.after = [plan, proxy, is_reported](std::int64_t begin_raw_ns, std::int64_t end_raw_ns) {
      is_reported->wait(false);
      for (const Task& task : plan->collectives) proxy->post_kernel(task, begin_raw_ns, end_raw_ns);
      for (const Task& task : plan->p2ps) proxy->post_kernel(task, begin_raw_ns, end_raw_ns);
    };
  }
  events_.start_kernel_launch(*plan);
  plan->stream->launch(std::move(launch));
  events_.stop_kernel_launch(*plan);
  if (!is_reported_by_cuda) {
    report(*plan);
    is_reported->store(true);
    is_reported->notify_all();
  }
}

void UserThread::report(Plan& plan) const {
  events_.report_plan(plan, [&plan](const Task& task) {
    if (plan.comm->proxy != nullptr) {
      plan.comm->proxy->post(task);
    }
  });
}

void UserThread::begin_capture() {
  is_captured_ = true;
  stream_.begin_capture();
}

void UserThread::end_capture() {
  stream_.end_capture();
  is_captured_ = false;
}

void UserThread::write_records() {
  for (const CallRecord& record : records_) {
    log_.call(record);
  }
  records_.clear();
}

}  // namespace jaxprof::puppets
