#include "agent/cupti/status.h"

#include "agent/base/text.h"
#include "agent/collect/event_sink.h"
#include "agent/cupti/collector.h"
#include "agent/cupti/notices.h"

namespace jaxprof::cupti {

namespace {

constinit Notices notices;
char end_note[kNoteBytes];
std::atomic<bool> has_end_note{false};

void write_status(GpuMode mode, const char* note) noexcept {
  const Library& library = collector.library;
  if (ProcessSlot* slot = collect::process_slot(); slot != nullptr) {
    slot->cupti_version.store(library.version, std::memory_order_relaxed);
    TextBuffer(slot->gpu_note, sizeof slot->gpu_note).append(note);
    slot->gpu_mode.store(mode, std::memory_order_release);
  }
  spool::GpuCollectorState state{};
  state.mode = static_cast<std::uint32_t>(mode);
  state.version = library.version;
  state.library = library.path[0] != '\0' ? collect::intern(library.path) : spool::kNoString;
  state.note = note[0] != '\0' ? collect::intern(note) : spool::kNoString;
  collect::append_state(spool::StateKind::kGpuCollector, &state, sizeof state);
}

}  // namespace

void publish_status(GpuMode mode, const char* note) noexcept {
  notices.post(mode, note, write_status);
}

GpuMode recording_mode() noexcept {
  return collector.subscriber.is_shared() ? GpuMode::kShared : GpuMode::kAlone;
}

void tell_end_of_cupti(const char* message) noexcept {
  TextBuffer note(end_note, sizeof end_note);
  note.append("CUPTI met a fatal error and ended itself");
  if (message != nullptr && message[0] != '\0') {
    note.append(": ");
    note.append(message);
  }
  publish_status(GpuMode::kUnavailable, end_note);
  has_end_note.store(true, std::memory_order_release);
}

void tell_what_was_before_end() noexcept {
  if (!has_end_note.load(std::memory_order_acquire) || !collector.encoder.kernel_names().has_any()) return;
  char text[kNoteBytes];
  TextBuffer note(text, sizeof text);
  note.append(end_note);
  note.append("; GPUs were recorded until then");
  publish_status(GpuMode::kUnavailable, text);
}

// A forked child shares the page, and its buffers are none.
void note_buffer_held() noexcept {
  ProcessSlot* slot = collect::process_slot();
  if (slot != nullptr && !collector.is_forked.load(std::memory_order_relaxed)) {
    slot->gpu_buffers_held.fetch_add(1, std::memory_order_relaxed);
  }
}

void note_buffer_done() noexcept {
  note_buffers_written_off(1);
}

void note_buffers_written_off(std::uint32_t count) noexcept {
  if (ProcessSlot* slot = collect::process_slot(); slot != nullptr) {
    slot->gpu_buffers_held.fetch_sub(count, std::memory_order_relaxed);
  }
}

}  // namespace jaxprof::cupti
