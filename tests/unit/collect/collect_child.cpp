// Scenarios that use the event sink as a collector does, without NVTX or NCCL in between.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "agent/collect/event_sink.h"
#include "tests/unit/collect/child_program.h"

namespace jaxprof::test {
namespace {

using collect::ThreadSink;
using spool::EventKind;

bool attach() {
  return collect::attach(kHookNvtx, 1);
}

// Writes a mark with `value`, as a collector does; true if it was recorded.
bool mark(std::uint64_t value, std::uint32_t payload_bytes = 0) {
  if (!collect::is_capturing()) return false;
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return false;
  std::uint64_t* fields = collect::begin(sink, EventKind::kNvtxMark, 0, collect::read_stamp(), 2, payload_bytes);
  if (fields == nullptr) return false;
  fields[0] = 0;
  fields[1] = value;
  for (std::uint32_t i = 0; i < payload_bytes / 8; ++i) fields[2 + i] = value;
  collect::commit(sink);
  return true;
}

void one_event() {
  report("attached", attach());
  report("recorded", mark(17));
}

void nothing_but_attach() {
  report("attached", attach());
}

// More than the rings hold, as fast as possible.
void flood() {
  attach();
  constexpr int kThreads = 4;
  constexpr std::uint64_t kEach = 200'000;
  std::atomic<std::int64_t> recorded{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&recorded] {
      std::int64_t mine = 0;
      for (std::uint64_t i = 0; i < kEach; ++i)
        mine += mark(i, i % 5 == 0 ? static_cast<std::uint32_t>(8 * (i % 40)) : 0) ? 1 : 0;
      recorded += mine;
    });
  }
  for (std::thread& thread : threads) thread.join();
  report("emitted", kThreads * kEach);
  report("recorded", recorded);
}

// More threads than there are rings, one after the other in small groups.
void many_threads() {
  attach();
  constexpr int kGroups = 150;
  constexpr int kGroup = 8;
  for (int g = 0; g < kGroups; ++g) {
    std::vector<std::thread> threads;
    for (int t = 0; t < kGroup; ++t) {
      threads.emplace_back([number = g * kGroup + t] { mark(static_cast<std::uint64_t>(number)); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  report("emitted", kGroups * kGroup);
}

// More threads at once than there are rings.
// More threads than there are rings, all alive at once. They come one after the other: the wait for the lock is
// bounded.
void crowd() {
  attach();
  constexpr int kThreads = 1040;
  std::latch all_are_there(kThreads + 1);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    std::latch is_there(1);
    threads.emplace_back([&] {
      mark(1);
      is_there.count_down();
      all_are_there.arrive_and_wait();
    });
    is_there.wait();
  }
  all_are_there.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  report("emitted", kThreads);
}

void strings_overflow() {
  attach();
  std::int64_t lost = 0;
  const std::string filler(1000, 'x');
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = std::to_string(i) + filler;
    if (collect::intern(text.data(), text.size()) == spool::kLostString) ++lost;
  }
  report("lost", lost);
  report("first_again", collect::intern(("0" + filler).c_str()));
}

void long_string() {
  attach();
  const std::string text(collect::kMaxStringBytes + 10, 'y');
  report("id", collect::intern(text.c_str()));
}

void strings_of_all_threads() {
  attach();
  std::vector<std::thread> threads;
  std::vector<std::vector<spool::StringId>> ids(8);
  for (std::vector<spool::StringId>& mine : ids) {
    threads.emplace_back([&mine] {
      for (int i = 0; i < 2000; ++i) mine.push_back(collect::intern(("name " + std::to_string(i)).c_str()));
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::int64_t lost = 0;
  std::int64_t different = 0;
  for (std::size_t i = 0; i < 2000; ++i) {
    spool::StringId known = spool::kLostString;
    for (const auto& mine : ids) {
      if (mine[i] == spool::kLostString) {
        ++lost;  // the lock was not to be had in time; counted
      } else if (known == spool::kLostString) {
        known = mine[i];
      } else if (mine[i] != known) {
        ++different;
      }
    }
  }
  report("lost", lost);
  report("different", different);
}

void fork_child() {
  attach();
  mark(1);
  const pid_t pid = fork();
  if (pid == 0) {
    for (int i = 0; i < 10; ++i) mark(99);
    collect::intern("of the child");
    report("child_attached", collect::attach(kHookNccl, 5));
    exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  report("child_status", status);
  mark(2);
}

void fork_child_that_execs() {
  attach();
  mark(1);
  const pid_t pid = fork();
  if (pid == 0) {
    execl("/proc/self/exe", "collect_child", "one_event", nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  report("child_status", status);
}

void killed_without_exit() {
  attach();
  for (std::uint64_t i = 0; i < 100; ++i) mark(i);
  _exit(7);
}

void late_marks() {
  for (int i = 0; i < 5; ++i) mark(2);
}
void events_after_end() {
  std::atexit(late_marks);  // before the agent's own handler, so it runs after it
  attach();
  mark(1);
}

// Waits until the session page's slot says `state`; the drain thread looks ten times a second.
bool waits_for(SlotState state) {
  for (int i = 0; i < 2000; ++i) {
    if (collect::process_slot()->state.load() == state) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// Marks with payloads until the recording is stopped; the limit that the test has set is met on the way.
void until_stopped() {
  attach();
  std::int64_t recorded = 0;
  for (int i = 0; i < 20'000 && collect::process_slot()->state.load() == SlotState::kRecording; ++i) {
    for (int j = 0; j < 16; ++j) recorded += mark(7, 800) ? 1 : 0;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  report("stopped", waits_for(SlotState::kEnded));
  report("recorded", recorded);
  for (int i = 0; i < 5; ++i) report("late" + std::to_string(i), mark(7));
  report("late_string", collect::intern("nobody has said this before") == spool::kLostString);
}

void cannot_write_its_spool() {
  attach();
  mark(1);
  const rlimit limit{100'000, 100'000};
  setrlimit(RLIMIT_FSIZE, &limit);
  const SessionPage* page = map_session_page(getenv(kSessionVariable));
  for (int i = 0; i < 20'000 && page->stop.load() == StopReason::kNone; ++i) {
    for (int j = 0; j < 16; ++j) mark(7, 800);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void is_stopped_by_its_wrapper() {
  attach();
  mark(1);
  SessionPage* page = map_session_page(getenv(kSessionVariable));
  report("told", stop_recording(page, StopReason::kDeadline));
  report("told_again", stop_recording(page, StopReason::kSpoolLimit));
  report("stopped", waits_for(SlotState::kEnded));
  mark(2);
}

// The stop and exit() come at once.
void exits_as_it_is_stopped() {
  attach();
  for (std::uint64_t i = 0; i < 100; ++i) mark(i);
  stop_recording(map_session_page(getenv(kSessionVariable)), StopReason::kDeadline);
}

void all_attach_at_once() {
  std::atomic<int> attached{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&attached, t] {
      if (attach()) attached.fetch_add(1);
      mark(static_cast<std::uint64_t>(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
  report("attached", attached);
}

void inside_a_record() {
  attach();
  ThreadSink* sink = collect::thread_sink();
  std::uint64_t* fields = collect::begin(sink, EventKind::kNvtxMark, 0, collect::read_stamp(), 2);
  report("nested", mark(5));  // as a signal handler would
  fields[0] = 0;
  fields[1] = 4;
  collect::commit(sink);
  report("after", mark(6));
}

constexpr Scenario kScenarios[] = {
    {"one_event", one_event},
    {"nothing_but_attach", nothing_but_attach},
    {"flood", flood},
    {"many_threads", many_threads},
    {"crowd", crowd},
    {"strings_overflow", strings_overflow},
    {"long_string", long_string},
    {"strings_of_all_threads", strings_of_all_threads},
    {"fork_child", fork_child},
    {"fork_child_that_execs", fork_child_that_execs},
    {"killed_without_exit", killed_without_exit},
    {"events_after_end", events_after_end},
    {"until_stopped", until_stopped},
    {"cannot_write_its_spool", cannot_write_its_spool},
    {"is_stopped_by_its_wrapper", is_stopped_by_its_wrapper},
    {"exits_as_it_is_stopped", exits_as_it_is_stopped},
    {"all_attach_at_once", all_attach_at_once},
    {"inside_a_record", inside_a_record},
};

}  // namespace

std::span<const Scenario> scenarios() {
  return kScenarios;
}

}  // namespace jaxprof::test
