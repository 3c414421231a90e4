#include "tests/unit/cupti/sink_double.h"

#include <memory>
#include <mutex>

#include "agent/collect/event_sink.h"

namespace {

struct Held {
  std::mutex mutex;
  std::vector<std::string> strings;
  std::vector<std::string> states;
  std::uint64_t drops[static_cast<int>(jaxprof::Drop::kCount)] = {};
};
Held& held() {
  static Held it;
  return it;
}

}  // namespace

namespace jaxprof::collect {

namespace detail {
std::atomic<ClockId> event_clock{ClockId::kMonotonicRaw};
constinit thread_local ThreadSink* thread_sink __attribute__((tls_model("initial-exec"))) = nullptr;
}  // namespace detail

void count_drop(Drop drop, std::uint64_t count) noexcept {
  const std::scoped_lock lock(held().mutex);
  held().drops[static_cast<int>(drop)] += count;
}

spool::StringId intern(const char* text, std::size_t length) noexcept {
  const std::scoped_lock lock(held().mutex);
  std::vector<std::string>& strings = held().strings;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    if (strings[i] == std::string_view(text, length)) return static_cast<spool::StringId>(i + 1);
  }
  strings.emplace_back(text, length);
  return static_cast<spool::StringId>(strings.size());
}
spool::StringId intern(const char* text) noexcept {
  return text != nullptr ? intern(text, std::strlen(text)) : spool::kNoString;
}

bool append_state(spool::StateKind kind, void* fixed, std::size_t fixed_bytes, const void*, std::size_t) noexcept {
  const std::scoped_lock lock(held().mutex);
  static_cast<spool::StateHeader*>(fixed)->kind = static_cast<std::uint16_t>(kind);
  held().states.emplace_back(static_cast<const char*>(fixed), fixed_bytes);
  return true;
}

const SessionPlan& session_plan() noexcept {
  static const auto plan = std::make_unique<SessionPlan>();
  return *plan;
}
ProcessSlot* process_slot() noexcept {
  return nullptr;
}
void profiler_started() noexcept {}
void profiler_stopped() noexcept {}
void set_gpu_collector(const GpuCollector*) noexcept {}
void tell_gpu_collector() noexcept {}
void wake_for_activities() noexcept {}

}  // namespace jaxprof::collect

namespace jaxprof::test {

SinkDouble::SinkDouble() {
  const std::scoped_lock lock(held().mutex);
  held().strings.clear();
  held().states.clear();
  for (std::uint64_t& count : held().drops) count = 0;
}

std::string SinkDouble::text(spool::StringId id) const {
  const std::scoped_lock lock(held().mutex);
  return id >= 1 && id <= held().strings.size() ? held().strings[id - 1] : "(no string)";
}

std::uint64_t SinkDouble::drops(Drop drop) const {
  const std::scoped_lock lock(held().mutex);
  return held().drops[static_cast<int>(drop)];
}

std::vector<std::string> SinkDouble::raw_states(spool::StateKind kind) const {
  const std::scoped_lock lock(held().mutex);
  std::vector<std::string> found;
  for (const std::string& state : held().states) {
    spool::StateHeader header;
    std::memcpy(&header, state.data(), sizeof header);
    if (header.kind == static_cast<std::uint16_t>(kind)) found.push_back(state);
  }
  return found;
}

}  // namespace jaxprof::test
