#include "launcher/limit_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <system_error>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/base/disk_room.h"
#include "agent/base/log.h"
#include "agent/contract/run_layout.h"
#include "launcher/announcement.h"
#include "launcher/slot_text.h"
#include "launcher/time_limit.h"

namespace jaxprof::launcher {
namespace {

constexpr auto kPeriod = std::chrono::seconds(1);
constexpr int kLastLooks = 100;
constexpr auto kLastLookPause = std::chrono::milliseconds(10);
constexpr unsigned kMarkLimitS = 10;

DeadlineSettings settings_of(const Options& options, const Task& task) {
  const std::string folder = task.node_folder ? task.node_folder->path() : "";
  const std::uint64_t random = std::hash<std::string>()(task.node.host + task.name + task.plan.run.run_id);
  return deadline_settings(Env(), options.margin_ns, folder, random);
}

// "process 77: its spool could not be written (No space left on device)", of the first such process.
std::string describe_write_failure(const SessionPage& page) {
  const std::uint32_t claimed = std::min(page.claimed_slots.load(std::memory_order_acquire), kMaxProcessSlots);
  for (std::uint32_t i = 0; i < claimed; ++i) {
    const ProcessSlot& slot = page.slots[i];
    const auto lost = slot.drops[static_cast<int>(Drop::kSpoolWriteFailed)].load(std::memory_order_acquire);
    if (lost > 0) return fmt::format("process {}: {}", slot.pid, text_of(slot.note));
  }
  return "a spool could not be written";
}

}  // namespace

std::string describe_stop(StopReason reason, const Task& task, const Deadline& deadline) {
  const std::string who = task.plan.rank.is_known() ? fmt::format("rank {} on {}", task.plan.rank.rank, task.node.host)
                                                    : "a task on " + task.node.host;
  switch (reason) {
    case StopReason::kDeadline:
      return fmt::format("recording stopped {} s before the job's time limit at {}; the job goes on",
                         deadline.margin_ns() / 1'000'000'000, time_of_day(deadline.end_s().value_or(0)));
    case StopReason::kSpoolLimit:
      return fmt::format("recording of {} stopped: its spools have {}, and --spool-limit is {}; the job goes on", who,
                         readable_bytes(static_cast<std::int64_t>(task.page->spool_bytes.load())),
                         readable_bytes(static_cast<std::int64_t>(task.page->plan.spool_limit_bytes)));
    case StopReason::kDiskReserve: {
      // How much is free by now may be much more; the reserve is as it was.
      const auto room = disk_room_of(task.spool_directory.c_str()).value_or(DiskRoom{});
      return fmt::format("recording of {} stopped: less than {} were free on the disk of {}; the job goes on", who,
                         readable_bytes(static_cast<std::int64_t>(room.reserve_bytes())), task.spool_directory);
    }
    case StopReason::kWriteFailed:
      return fmt::format("recording of {} stopped: {}; the job goes on", who, describe_write_failure(*task.page));
    case StopReason::kNone:
      break;
  }
  return {};
}

LimitWatch::LimitWatch(const Options& options, const Task& task)
    : options_(options), task_(task), deadline_(settings_of(options, task)) {}

void LimitWatch::start() {
  try {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
  } catch (const std::system_error&) {
    return;
  }
}

void LimitWatch::stop() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void LimitWatch::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    if (look()) return;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, kPeriod, [] { return false; });
  }
  // The job has ended. A stop that has come in this second is said all the same; a question to shared storage may hang.
  for (int i = 0; i < kLastLooks && task_.page->stop.load() != StopReason::kNone && !say_once(); ++i) {
    std::this_thread::sleep_for(kLastLookPause);
  }
}

bool LimitWatch::look() {
  if (task_.page->stop.load() == StopReason::kNone && deadline_.poll(clock_ns(CLOCK_REALTIME))) {
    stop_recording(task_.page, StopReason::kDeadline);
  }
  return task_.page->stop.load() != StopReason::kNone && say_once();
}

// The run's tasks stop alike, and the one that makes the mark says it. True once that is settled.
bool LimitWatch::say_once() {
  if (is_said_) return true;
  const StopReason reason = task_.page->stop.load();
  if (!mark_) {
    const std::string mark = std::string("stop-") + stop_reason_name(reason);
    mark_ = ChildAnswer::of_new_mark(run_layout::mark_path(task_.plan.state_directory, mark), kMarkLimitS);
    if (!mark_) return false;
  }
  const auto answer = mark_->poll();
  if (!answer) return false;
  is_said_ = true;
  // A time limit that is kept is no fault.
  const bool is_wanted = !options_.is_quiet || reason != StopReason::kDeadline;
  if (*answer == "made" && is_wanted) say(describe_stop(reason, task_, deadline_));
  return true;
}

}  // namespace jaxprof::launcher
