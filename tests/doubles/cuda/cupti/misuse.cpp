#include "tests/doubles/cuda/cupti/misuse.h"

#include <unistd.h>

#include <string>

#include "tests/doubles/record_file.h"

namespace jaxprof::fake_cuda {
namespace {

const int kProcess = getpid();  // when the library was loaded
thread_local CallbackKind running = CallbackKind::kNone;

const doubles::RecordFile& report() {
  static const auto* const file = new doubles::RecordFile(doubles::RecordFile::from_environment("FAKE_CUPTI_REPORT"));
  return *file;
}

// Every count by name; `visit(name, counter)`.
template <typename Visit>
void each_count(Counts& all, const Visit& visit) {
  visit("violations", all.violations);
  visit("cuda_in_callback", all.cuda_in_callback);
  visit("flush_in_callback", all.flush_in_callback);
  visit("lock_across", all.lock_across);
  visit("calls_in_child", all.calls_in_child);
  visit("no_descriptors", all.no_descriptors);
  visit("buffer_not_zeroed", all.buffer_not_zeroed);
  visit("finalize_calls", all.finalize_calls);
  visit("timestamp_callbacks", all.timestamp_callbacks);
  visit("subscriptions", all.subscriptions);
  visit("refused_subscriptions", all.refused_subscriptions);
  visit("enables", all.enables);
  visit("disables", all.disables);
  visit("flushes", all.flushes);
  visit("forced_flushes", all.forced_flushes);
  visit("buffers_requested", all.buffers_requested);
  visit("buffers_requested_on_worker", all.buffers_requested_on_worker);
  visit("buffers_completed", all.buffers_completed);
  visit("null_buffers", all.null_buffers);
  visit("records", all.records);
  visit("dropped_records", all.dropped_records);
  visit("abandoned_records", all.abandoned_records);
  visit("external_ids", all.external_ids);
  visit("correlation_pushes", all.correlation_pushes);
  visit("hardware_traces", all.hardware_traces);
  visit("small_stack", all.small_stack);
  visit("idle_flushes", all.idle_flushes);
}

// Last of all that the process does by exit(): destructors run after its own functions.
__attribute__((destructor)) void write_counts() {
  if (getpid() != kProcess) return;
  doubles::RecordLine line("counts");
  each_count(counts(), [&line](const char* name, const std::atomic<std::uint64_t>& count) {
    line.unsigned_number(name, count.load());
  });
  report().write(line);
}

}  // namespace

Counts& counts() {
  static auto* const all = new Counts{};
  return *all;
}

void violation(std::atomic<std::uint64_t>& counter, const char* kind, const char* where) {
  ++counter;
  ++counts().violations;
  doubles::RecordLine line("violation");
  report().write(line.add("kind", kind).text("where", where));
}

CallbackKind running_callback() {
  return running;
}

CallbackScope::CallbackScope(CallbackKind kind) : before_(running) {
  running = kind;
}

CallbackScope::~CallbackScope() {
  running = before_;
}

bool is_forked_child(const char* function) {
  if (getpid() == kProcess) return false;
  violation(counts().calls_in_child, "calls_in_child", function);
  return true;
}

}  // namespace jaxprof::fake_cuda

extern "C" void fake_cupti_counts(FakeCuptiCounts* told) {
  auto* next = reinterpret_cast<std::uint64_t*>(told);  // the same members in the same order
  jaxprof::fake_cuda::each_count(
      jaxprof::fake_cuda::counts(),
      [&next](const char*, const std::atomic<std::uint64_t>& count) { *next++ = count.load(); });
}
